# On a fresh machine with Python 3.11 or later and make, `make demo` and `make test` each do all they need.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# the same generated examples in every run; make test EXAMPLES= draws others
EXAMPLES ?= --hypothesis-seed=0
# make mutants MUTANTS='--sample 200 --seed 5' draws more, and others
MUTANTS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test lint check bench mutants docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo 'indistinct needs Python 3.11 or later: make PYTHON=python3.12 ...'; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(BIN)/python -m compileall -q src # also where Python is told to write no compiled files
	@touch $@

demo: $(READY) ## anonymize the bundled hospital table and say what was reached
	$(BIN)/indistinct demo

test: $(READY) ## all tests, then the small ones again with the compiler off
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -m small $(EXAMPLES)
	$(BIN)/python -m pytest -q -n 2 $(EXAMPLES)

lint: $(READY) ## style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test ## lint and test

bench: $(READY) ## time the main jobs on this machine in a minute
	$(BIN)/python benchmarks/run.py --small

mutants: $(VENV)/.mutants ## change models at random places and count the changes that no test notices; an hour
	$(BIN)/python tests/mutants.py $(MUTANTS)

$(VENV)/.mutants: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[mutants]'
	@touch $@

docs: $(VENV)/.docs ## the documentation as a site in build/site; no network but to install the tool, once
	$(BIN)/python docs/reference.py build/pages
	$(BIN)/zensical build --clean --strict

$(VENV)/.docs: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

clean: ## remove the environment and everything that was built
	rm -rf $(VENV) build dist demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
