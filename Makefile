# On a fresh machine with Python 3.11 or later and make, `make demo` and `make test` each do all they need.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
READY := $(VENV)/.ready
# versions that the tests passed with; make CONSTRAINTS= takes the newest
CONSTRAINTS ?= -c constraints.txt
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check $(CONSTRAINTS)
PYTEST := $(BIN)/python -m pytest -q
# each worker takes half, and what the other has left: one long file keeps nobody waiting
TWO := -n 2 --dist worksteal
# the same generated examples in every run; make test EXAMPLES= draws others
EXAMPLES ?= --hypothesis-seed=0
# scripts say no types; what they call has some, and finds a name or an argument that is gone
SCRIPTS := benchmarks experiments/proximity tools examples/attacks examples/hospital examples/stays docs docs/schemas
UNTYPED := --allow-untyped-defs --allow-incomplete-defs --allow-untyped-calls --allow-any-generics --no-warn-return-any \
	$(addprefix --disable-error-code ,union-attr index var-annotated import-not-found)
# what a plain clone lacks or takes many minutes; pytest counts the tests left out in its last line ("deselected")
PLAIN := not thorough and not recipes and not nulls and not optima and not adult and not browser and not engine and not pdf
# make mutants MUTANTS='--sample 200 --seed 5' draws more, and others
MUTANTS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test test-interpreted test-compiling test-fast test-thorough test-adult test-recipes test-pdf test-engines test-studio nulls optima cov lint check lines oldest bench mutants docs release clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(CORE): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo 'indistinct needs Python 3.11 or later: make PYTHON=python3.12 ...'; exit 1; }
	@echo 'Setting up $(VENV) with what indistinct needs to run (about a minute, once) ...'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --editable .
	@touch $@

$(READY): $(CORE)
	@echo 'Adding what its tests and linters need (about a minute, once) ...'
	@$(PIP) --editable '.[dev]'
	@touch $@

demo: $(CORE) ## anonymize the bundled hospital table and say what was reached
	@$(BIN)/indistinct demo

test: $(READY) ## all tests of a plain clone: the small ones with the compiler off, those that compile, all others
	$(MAKE) --jobs=2 test-interpreted test-compiling
	$(PYTEST) $(TWO) -m 'not compiling and $(PLAIN)' $(EXAMPLES)

test-interpreted: $(READY)
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m 'small and $(PLAIN)' $(EXAMPLES)

# in one process: two would compile everything twice
test-compiling: $(READY)
	$(PYTEST) -m 'compiling and $(PLAIN)' $(EXAMPLES)

test-fast: $(READY) ## for daily work: without what takes seconds
	$(PYTEST) $(TWO) -m 'not slow and $(PLAIN)' $(EXAMPLES)

test-thorough: $(READY) ## every model with every algorithm and more random tables, of which make test takes a sample
	$(PYTEST) $(TWO) -m thorough $(EXAMPLES)

test-adult: $(READY) ## what needs the Adult table: benchmarks/prepare_adult.py makes it from the public file
	$(PYTEST) -m adult $(EXAMPLES)

nulls: $(READY) ## attacks on people who are not in the release: how often intervals hold 0; some minutes
	$(PYTEST) -m nulls

optima: $(READY) ## local against the proven optimum of 1,400 small tables; takes long
	$(PYTEST) $(TWO) -m optima -rP

test-recipes: $(READY) ## what CONTRIBUTING.md tells, without each of its steps in turn: each must be missed
	$(PYTEST) -n 2 -m recipes $(EXAMPLES)

test-pdf: $(READY) ## the report as PDF: installs WeasyPrint; Pango has to be on the system
	$(PIP) --editable '.[pdf]'
	$(PYTEST) -m pdf

test-engines: $(READY) ## engines beside the local one: installs drivers; PostgreSQL and Java 17 have to be on the system
	$(PIP) --editable '.[postgresql,spark]'
	$(PYTEST) -m engine tests/engines tests/test_docs_snippets.py

test-studio: $(READY) ## the studio in a browser: installs Playwright; Chromium has to be on the system; pictures in build/studio
	$(PIP) playwright
	$(PYTEST) -m browser

cov: $(READY) ## coverage: of the small tests with the compiler off, so that kernels count, and of those for daily work
	NUMBA_DISABLE_JIT=1 $(PYTEST) $(TWO) -m 'small and $(PLAIN)' $(EXAMPLES) --cov --cov-report= --cov-fail-under=0
	$(PYTEST) $(TWO) -m 'not slow and $(PLAIN)' $(EXAMPLES) --cov --cov-append --cov-report=term:skip-covered

lint: $(READY) ## style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	for folder in $(SCRIPTS); do $(BIN)/mypy $(UNTYPED) $$folder/*.py || exit 1; done
	$(BIN)/lint-imports

check: lint test ## lint and test

lines: $(READY) ## lines of code by package; $(BIN)/python tools/lines.py REVISION counts another
	@$(BIN)/python tools/lines.py

oldest: ## the tests under the oldest versions that pyproject.toml allows, in an environment of its own
	$(PYTHON) -m venv build/oldest
	build/oldest/bin/python tools/oldest.py > build/oldest.txt
	build/oldest/bin/python -m pip install --quiet --disable-pip-version-check -c build/oldest.txt --editable '.[dev]'
	build/oldest/bin/python -m pytest -q -n 2 -m 'not slow and $(PLAIN)' $(EXAMPLES)

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
	$(PIP) --editable '.[docs]'
	@touch $@

release: $(READY) ## build wheel and sdist, check them, install the wheel into an empty environment and run the demo there
	rm -rf dist build/release
	$(PIP) build twine
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv build/release
	build/release/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	build/release/bin/indistinct --version
	build/release/bin/indistinct demo --output build/release/demo

clean: ## remove the environment and everything that was built
	rm -rf $(VENV) build dist demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
