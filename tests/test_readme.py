"""README and docs: links lead somewhere, the Chinese README says the same; their commands: test_docs_snippets."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from indistinct.models.registry import MODELS
from indistinct.policy import ALGORITHMS

ROOT = Path(__file__).resolve().parents[1]
READMES = ("README.md", "README.zh-CN.md")
PAGES = [*(ROOT / name for name in READMES), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def anchors(page):
    """Names that a page's headings can be linked by, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    for link, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", page.read_text(encoding="utf-8")):
        if not link.startswith("http"):
            target = page.parent / link if link else page
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), f"{link}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_tables_have_a_head_and_headings_stand_alone(page):
    text = re.sub(r"```.*?```", "```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert re.fullmatch(r"\|( -+ \|)+", table.splitlines()[1]), table
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table
    for lines in re.findall(r"^(?!\n).*\n#+ .*$|^#+ .*\n(?!\n).+$|^[^|\n].*\n\|.*$", text, re.MULTILINE):
        pytest.fail(f"a blank line is missing: {lines}")


def test_every_page_is_in_the_list_of_pages():
    index = text_of("docs/index.md")
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert name == "index.md" or f"]({name})" in index, name


def test_the_chinese_readme_has_the_same_code():
    ours, theirs = (re.findall(r"```\w+\n.*?```", text_of(name), re.DOTALL) for name in READMES)
    assert ours == theirs
    assert len({len(re.findall(r"^#+ ", text_of(name), re.MULTILINE)) for name in READMES}) == 1


@pytest.mark.parametrize("name", READMES)
def test_readme_names_all_commands_models_and_algorithms(name):
    text = text_of(name)
    assert [model for model in MODELS if f"`{model}`" not in text] == []
    assert [algorithm for algorithm in ALGORITHMS if f"`{algorithm}`" not in text] == []
    commands = "profile audit policy hierarchy anonymize verify explain compare risk attack utility releases demo"
    assert [command for command in commands.split() if f"`{command}`" not in text] == []


def test_make_explains_itself():
    make = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True, env={**os.environ, "MAKEFLAGS": ""}
    )
    for target in ("demo", "test", "lint", "check", "bench", "docs"):
        assert f"make {target}" in make.stdout
