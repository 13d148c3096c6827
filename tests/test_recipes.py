"""The recipes of CONTRIBUTING.md, followed to the letter on a copy of the code, and without each of their steps."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^### (An? \w+)\n(.*?)(?=^### An? |^## |\Z)", TEXT, re.DOTALL | re.MULTILINE))
# a comment that says what to do with the block below it
STEP = re.compile(r"^<!-- (new|in|run|works)(?: (.*?))? -->\n(?:```\w+\n(.*?)```$)?", re.DOTALL | re.MULTILINE)
PLACE = re.compile(r'(\S+) (after|before|within) "(.*?)"( instead)?')
COPIED = ("src", "docs", "README.md", "README.zh-CN.md", "pyproject.toml", "examples")
# tests of documents and records that an addition has to pass as it stands
ALIKE = ("test_docs_policy.py", "test_docs_register.py")
# what every addition has to pass before any table is read, and what it can do
CHECK = """
import json, sys
from pathlib import Path
import pyarrow as pa
import indistinct as ind
import records, test_records
root = Path(ind.__file__).parents[2]
assert root == Path.cwd(), root
found = [*records.problems(root), *test_records.strays(test_records.SOURCE, test_records.own_files())]
frame = pa.table
ind.Policy.json_schema()
def audit(table, policy):
    return ind.audit(frame(table), policy)
attack = ind.attack
ind.attack = lambda table, **how: attack(frame(table), **how)
if found:
    sys.exit("; ".join(found))
"""


def steps(recipe):
    """What a recipe does, in order: kind, where, text."""
    return [match.groups() for match in STEP.finditer(RECIPES[recipe]) if match[1] != "works"]


def works(recipe):
    (found,) = [match[3] for match in STEP.finditer(RECIPES[recipe]) if match[1] == "works"]
    return found


def follow(root, step):
    """Do one step on a copy."""
    kind, where, text = step
    if kind == "new":
        assert not (root / where).exists()
        (root / where).write_text(text, encoding="utf-8")
    elif kind == "in":
        name, side, start, instead = PLACE.fullmatch(where).groups()
        if side == "within":
            whole = (root / name).read_text(encoding="utf-8")
            assert whole.count(start) == 1
            (root / name).write_text(whole.replace(start, text.strip()), encoding="utf-8")
            return
        lines = (root / name).read_text(encoding="utf-8").splitlines(keepends=True)
        at = next(number for number, line in enumerate(lines) if line.startswith(start))
        lines[at : at + 1] = [text] if instead else [lines[at], text] if side == "after" else [text, lines[at]]
        (root / name).write_text("".join(lines), encoding="utf-8")


def places(recipe):
    """The files that a recipe touches."""
    pages = {"docs/register.py": "docs/register.md"}
    return {pages.get(where, PLACE.fullmatch(where)[1] if kind == "in" else where) for kind, where, _ in steps(recipe)}


def copied(folder):
    """Copy what recipes touch and what checks them."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "figures"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def run(root, code):
    paths = os.pathsep.join([str(root / "src"), str(ROOT / "tests")])
    # the kernels of a copy would be compiled anew
    environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *code]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


def follow_all(root, done):
    """Do steps on a copy, the commands among them last."""
    for step in done:
        follow(root, step)
    for kind, where, _ in done:
        if kind == "run":
            run(root, [where])  # what it refuses is found by the check


def checked(root, recipes):
    """Say whether a copy has all that its recipes ask for."""
    found = run(root, ["-c", CHECK + "".join(works(recipe) for recipe in recipes)])
    if found.returncode:
        return found
    (root / "tests").mkdir()
    for name in ALIKE:
        shutil.copy(ROOT / "tests" / name, root / "tests")
    return run(root, ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", "tests"])


def built(root, recipe, left_out):
    """Follow a recipe, without one step."""
    follow_all(root, [step for number, step in enumerate(steps(recipe)) if number != left_out])
    return checked(root, [recipe])


def test_there_are_five_recipes():
    assert list(RECIPES) == ["A model", "A format", "A loss", "An attack", "An algorithm"]


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_says_how_many_places_it_touches(recipe):
    files, new = re.search(r"Places: (\d+) files(?:, of which (\d+) (?:is|are) new)?", RECIPES[recipe]).groups()
    assert len(places(recipe)) == int(files)
    assert sum(kind == "new" for kind, _, _ in steps(recipe)) == int(new or 0)


@pytest.mark.slow
def test_all_recipes_work_one_after_the_other(tmp_path):
    root = copied(tmp_path)
    follow_all(root, [step for recipe in RECIPES for step in steps(recipe)])
    found = checked(root, RECIPES)
    assert found.returncode == 0, found.stderr + found.stdout


@pytest.mark.recipes
def test_what_the_recipes_add_passes_the_linters(tmp_path):
    root = copied(tmp_path)
    follow_all(root, [step for recipe in RECIPES for step in steps(recipe)])
    for linter in (("ruff", "check", "src"), ("ruff", "format", "--check", "src"), ("mypy", "src")):
        found = run(root, ["-m", *linter])
        assert found.returncode == 0, found.stdout


FORGOTTEN = [(recipe, number) for recipe in RECIPES for number in range(len(steps(recipe)))]


@pytest.mark.recipes
@pytest.mark.parametrize(
    ("recipe", "number"), FORGOTTEN, ids=[f"{recipe}: {steps(recipe)[number][1]}" for recipe, number in FORGOTTEN]
)
def test_a_forgotten_place_is_found(recipe, number, tmp_path):
    found = built(copied(tmp_path), recipe, number)
    assert found.returncode != 0
    assert (found.stderr + found.stdout).strip()
