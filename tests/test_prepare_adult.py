"""The script that prepares the Adult table, on lines of the form of the public file."""

import csv
from pathlib import Path

import pytest

from scripts import load

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "prepare_adult.py"
LINES = """\
39, State-gov, 1, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2, 0, 4, United-States, <=50K
54, ?, 2, Some-college, 10, Married-civ-spouse, ?, Husband, Black, Female, 0, 0, 60, South, >50K
28, Private, 3, HS-grad, 9, Divorced, Sales, Wife, Other, Female, 0, 0, 40, Cuba, >50K

"""


@pytest.fixture(scope="module")
def script():
    return load(SCRIPT)


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=";"))


def test_complete_rows_stay_in_order_with_their_nine_columns(script, tmp_path):
    (tmp_path / "adult.data").write_text(LINES, encoding="utf-8")
    assert script.prepare(tmp_path / "adult.data", tmp_path / "out") == 2
    assert read(tmp_path / "out" / "adult.csv") == [
        list(script.COLUMNS),
        ["Male", "39", "White", "Never-married", "Bachelors", "United-States", "State-gov", "Adm-clerical", "<=50K"],
        ["Female", "28", "Other", "Divorced", "HS-grad", "Cuba", "Private", "Sales", ">50K"],
    ]


def test_every_value_has_one_path_to_the_root(script):
    for name in script.COLUMNS:
        rows = script.hierarchy_of(name)
        assert len({row[0] for row in rows}) == len(rows)
        assert {len(row) for row in rows} == {len(rows[0])}
        assert {row[-1] for row in rows} == {"*"}


def test_a_file_of_another_form_is_refused_with_its_line(script, tmp_path):
    (tmp_path / "adult.data").write_text("39, State-gov\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="line 1: 2 fields"):
        script.prepare(tmp_path / "adult.data", tmp_path / "out")


@pytest.mark.adult
def test_hierarchies_are_those_of_the_field(script, adult_folder):
    for name in script.COLUMNS:
        theirs = read(adult_folder / f"adult_hierarchy_{name}.csv")
        assert sorted(theirs) == sorted(script.hierarchy_of(name)), name
