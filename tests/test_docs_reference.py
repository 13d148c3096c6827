"""The pages of the site: the reference names everything public, and the menu leads to pages that exist."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
import typer

import indistinct as ind
from indistinct.cli.app import app

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    target = tmp_path_factory.mktemp("site") / "pages"
    module.main(target)
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


def test_the_reference_names_everything_public(pages):
    reference = pages / "docs" / "reference"
    assert headings(reference / "python.md") == ind.__all__
    assert sorted(headings(reference / "commands.md")) == sorted(commands(typer.main.get_command(app)))
    assert set(ind.Policy.json_schema()["$defs"]) < set(headings(reference / "policy-schema.md"))


def test_the_menu_leads_to_every_page(pages):
    project = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    listed = list(paths(project["nav"]))
    there = {page.relative_to(pages).as_posix() for page in pages.rglob("*.md")}
    assert sorted(listed) == sorted(there)
    for page in pages.rglob("*.md"):
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            assert link.startswith("http") or (page.parent / link).exists(), f"{page.name}: {link}"
    assert project["theme"]["font"] is False  # pages fetch nothing from outside
