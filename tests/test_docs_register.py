"""docs/register.md is what its script makes of the code; only the numbers of lines may lag behind a little."""

import re
from pathlib import Path

import pytest

import test_golden
from indistinct.losses import LOSSES
from indistinct.models import MODELS
from indistinct.policy import ALGORITHMS
from scripts import load

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "register.md").read_text(encoding="utf-8")
ROW = re.compile(
    r"^\| `(?P<name>\w+)` \| (?P<file>\S+) \| (?P<lines>\d+) \| (?P<source>.+) \| (?P<cases>[^|]*) \|$", re.MULTILINE
)


@pytest.fixture(scope="module")
def register():
    return load(ROOT / "docs" / "register.py")


def without_lines(page):
    return re.sub(r"\| \d+ \|", "|", page)


def test_the_page_is_made_from_the_code(register):
    assert without_lines(register.page()) == without_lines(PAGE), "run: python docs/register.py"
    for row in ROW.finditer(PAGE):
        real = register.lines_of(ROOT / row["file"])
        assert abs(int(row["lines"]) - real) <= real / 4, f"{row['name']}: run python docs/register.py"


def test_everything_stands_there_once_with_its_source():
    names = [row["name"] for row in ROW.finditer(PAGE)]
    assert names == [*ALGORITHMS, *MODELS, *LOSSES]
    for row in ROW.finditer(PAGE):
        assert re.search(r"doi:10\.|\b(19|20)\d\d\b|this project", row["source"]), row["name"]


def test_the_page_is_the_same_without_the_golden_folder(register, monkeypatch, tmp_path):
    monkeypatch.setattr(register, "GOLDEN", tmp_path / "none")
    assert without_lines(register.page()) == without_lines(PAGE)


def test_every_check_of_a_model_or_an_algorithm_is_known(register):
    elsewhere = ("attack", "metrics", "hipaa", "dp.laplace")  # neither a model nor an algorithm
    checks = {target for target in test_golden.CHECKS if not target.startswith(elsewhere)}
    assert checks == set(register.EXERCISED)
