"""The pages of the site: the reference names everything public, and the menu leads to pages that exist."""

import inspect
import re
import tomllib
from pathlib import Path

import pytest
import typer

import indistinct as ind
from indistinct.cli.app import application
from indistinct.policy.privacy import MODEL_CLASSES
from scripts import load

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def reference():
    return load(ROOT / "docs" / "reference.py")


@pytest.fixture(scope="module")
def pages(reference, tmp_path_factory):
    target = tmp_path_factory.mktemp("site") / "pages"
    reference.main(target)
    return target


def headings(page):
    return re.findall(r"^## `([^`]*)`$", page.read_text(encoding="utf-8"), re.MULTILINE)


def paths(nav):
    for entry in nav:
        if isinstance(entry, str):
            yield entry
        else:
            for inside in entry.values():
                yield from paths(inside if isinstance(inside, list) else [inside])


def commands(group, before=()):
    for name, command in group.commands.items():
        yield from commands(command, (*before, name)) if hasattr(command, "commands") else [" ".join((*before, name))]


@pytest.mark.slow
def test_the_reference_names_everything_public(pages):
    reference = pages / "docs" / "reference"
    assert headings(reference / "python.md") == ind.__all__
    assert sorted(headings(reference / "commands.md")) == sorted(commands(typer.main.get_command(application())))
    assert set(ind.Policy.json_schema()["$defs"]) < set(headings(reference / "policy-schema.md"))


PUBLIC_FUNCTIONS = [name for name in ind.__all__ if inspect.isfunction(getattr(ind, name))]


@pytest.mark.parametrize("name", PUBLIC_FUNCTIONS)
def test_public_functions_say_what_they_take_give_and_raise(name):
    function = getattr(ind, name)
    docstring = inspect.getdoc(function)
    for section in ("Parameters", "Returns", "Raises"):
        assert f"\n\n{section}\n{'-' * len(section)}\n" in docstring
    listed = docstring.partition("\nParameters\n")[2].partition("\n\n")[0].splitlines()[1:]
    named = [word.lstrip("*") for line in listed if not line.startswith(" ") for word in line.split(", ")]
    assert sorted(named) == sorted(inspect.signature(function).parameters)
    assert ("\nExamples\n" in docstring) == (">>>" in docstring)


def test_models_name_their_sources():
    without = {kind.__name__ for kind in MODEL_CLASSES if "\nReferences\n----------\n" not in inspect.getdoc(kind)}
    assert without == {"Tiered"}  # this program's own
    assert all("\nExamples\n--------\n>>> " in inspect.getdoc(kind) for kind in MODEL_CLASSES)


@pytest.mark.slow
def test_the_menu_leads_to_every_page(pages):
    project = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    listed = list(paths(project["nav"]))
    there = {page.relative_to(pages).as_posix() for page in pages.rglob("*.md")}
    assert sorted(listed) == sorted(there)
    for page in pages.rglob("*.md"):
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            assert link.startswith("http") or (page.parent / link).exists(), f"{page.name}: {link}"
    assert project["theme"]["font"] is False  # pages fetch nothing from outside


def test_sections_of_docstrings_become_lists_and_examples_code(reference):
    docstring = """Add.

    Parameters
    ----------
    a, b
        Two numbers,
        or texts.

    Returns
    -------
    int
        The sum.

    Examples
    --------
    >>> add(1, 2)
    3
    """
    assert list(reference.text_of(docstring)) == [
        "Add.", "",
        "**Parameters**", "", "- `a, b`", "  Two numbers,", "  or texts.", "",
        "**Returns**", "", "- `int`", "  The sum.", "",
        "**Examples**", "", "```python", ">>> add(1, 2)", "3", "```",
    ]  # fmt: skip
