"""Prepare the field's benchmark table from the public file, with the hierarchies that tools of the field use.

    python benchmarks/prepare_adult.py adult.data [--output data/adult]

``adult.data`` is the training file of "Adult" in the UCI Machine Learning Repository (Becker and Kohavi 1996, an
extract of the census of 1994, CC BY 4.0; 32,561 lines without a header). Rows with a missing value are left out, as
everywhere in the literature: 30,162 stay. The groups of values are those of the ARX project (Apache-2.0), so that
losses can be compared.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

# position of the column in the public file
COLUMNS = {
    "sex": 9, "age": 0, "race": 8, "marital-status": 5, "education": 3, "native-country": 13, "workclass": 1,
    "occupation": 6, "salary-class": 14,
}  # fmt: skip
FIELDS = 15
# from the leaf upwards; "*" follows everywhere
GROUPS: dict[str, dict[tuple[str, ...], str]] = {
    "sex": {(): "Male Female"},
    "race": {(): "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"},
    "salary-class": {(): ">50K <=50K"},
    "marital-status": {
        ("spouse present",): "Married-civ-spouse Married-AF-spouse",
        ("spouse not present",): "Divorced Never-married Separated Widowed Married-spouse-absent",
    },
    "education": {
        ("Primary School", "Primary education"): "Preschool 1st-4th 5th-6th",
        ("High School", "Secondary education"): "7th-8th 9th 10th 11th 12th HS-grad",
        ("Undergraduate", "Higher education"): "Some-college Bachelors",
        ("Professional Education", "Higher education"): "Prof-school Assoc-acdm Assoc-voc",
        ("Graduate", "Higher education"): "Masters Doctorate",
    },
    "workclass": {
        ("Non-Government",): "Private Self-emp-not-inc Self-emp-inc",
        ("Government",): "Federal-gov Local-gov State-gov",
        ("Unemployed",): "Without-pay Never-worked",
    },
    "occupation": {
        ("Technical",): "Tech-support Craft-repair Prof-specialty Machine-op-inspct",
        ("Nontechnical",): "Sales Exec-managerial Handlers-cleaners",
        ("Other",): "Other-service Adm-clerical Farming-fishing Transport-moving Priv-house-serv "
        "Protective-serv Armed-Forces",
    },
    "native-country": {
        ("North America",): "United-States Puerto-Rico Canada Outlying-US(Guam-USVI-etc) Cuba Honduras Jamaica Mexico "
        "Dominican-Republic Haiti Guatemala El-Salvador",
        ("South America",): "Ecuador Columbia Nicaragua Trinadad&Tobago Peru",
        ("Europe",): "England Germany Greece Italy Poland Portugal Ireland France Hungary Scotland Yugoslavia "
        "Holand-Netherlands",
        ("Asia",): "Cambodia India Japan China Iran Philippines Vietnam Laos Taiwan Thailand Hong",
        ("Africa",): "South",
    },
}  # fmt: skip


def rows_of(path: Path) -> list[list[str]]:
    """The complete rows of the public file, with the columns in the order of ``COLUMNS``."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if row]
    short = next((number for number, row in enumerate(rows, 1) if len(row) != FIELDS), None)
    if short is not None:
        raise SystemExit(f"{path.name} line {short}: {len(rows[short - 1])} fields where adult.data has {FIELDS}")
    return [[row[at] for at in COLUMNS.values()] for row in rows if "?" not in row]


def hierarchy_of(name: str) -> list[list[str]]:
    """One row per value: the value, then its groups up to the root."""
    if name == "age":
        return [[str(age), *(_band(age, width) for width in (5, 10, 20)), "*"] for age in range(1, 101)]
    return [[leaf, *groups, "*"] for groups, leaves in GROUPS[name].items() for leaf in leaves.split()]


def _band(age: int, width: int) -> str:
    start = (age - 1) // width * width  # ARX puts 20 into 15-19; kept, so that losses can be compared
    return f"{start}-{start + width - 1}"


def prepare(source: Path, folder: Path) -> int:
    """Write the table and its hierarchies; the number of rows."""
    rows = rows_of(source)
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "adult.csv", [list(COLUMNS), *rows])
    for name in COLUMNS:
        _write(folder / f"adult_hierarchy_{name}.csv", hierarchy_of(name))
    return len(rows)


def _write(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";", lineterminator="\n").writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="adult.data of the public repository")
    parser.add_argument("--output", type=Path, default=Path(__file__).resolve().parents[1] / "data" / "adult")
    given = parser.parse_args()
    print(f"{prepare(given.source, given.output):,} rows in {given.output}")


if __name__ == "__main__":
    main()
