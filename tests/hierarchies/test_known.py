"""Hierarchies out of the box: nested, by the definitions of the codes, and read back by the program."""

import csv
import tomllib
from pathlib import Path

import pytest

import indistinct.hierarchies
from cli_bench import run
from indistinct.errors import DataError
from indistinct.hierarchies.countries import countries, is_country
from indistinct.hierarchies.known import atc, bands, frequent, icd10, times, zip3
from indistinct.hierarchies.taxonomy import check, read_taxonomy

CHAPTERS = {
    "D48.1": "C00-D49",
    "D50.0": "D50-D90",
    "H59.9": "H00-H59",
    "H60": "H60-H95",
    "T14.0": "S00-T98",
    "U07.1": "U00-U99",
}
AREAS = {"02139": "021**", "03601": "000", "82190": "000", "x": "other codes"}
QUARTERS = {"0:05": "00:00-05:59", "05:59": "00:00-05:59", "06:00": "06:00-11:59", "23:59": "18:00-23:59"}


@pytest.mark.parametrize(("build", "expected"), [(icd10, CHAPTERS), (zip3, AREAS), (times, QUARTERS)])
def test_the_level_below_the_root(build, expected):
    assert {row[0]: row[-2] for row in build(expected)} == expected


@pytest.mark.parametrize(
    "rows",
    [
        icd10(["J18", "J18.1", "I10", "C50.9", "unbek.", "K35", "other codes"]),
        atc(["C09AA05", "C09AA", "C09", "N02BE01", "?"]),
        zip3(["02139", "02139-4307", "021394307", "03601", "?"]),
        times(["14:35", "9:00", "23:59:59", "25:00", "other times"]),
        bands(["<20", "20-29", "30-39", "40-49", "90+", ">=90", "50"]),
        frequent({"a": 9, "other": 3, "c": 1, "": 2}, keep=2),
        countries(["Germany", "DE", "AQ", "FSM", "Samoa", "Bavaria", "U.S.", "other countries", "Europe"]),
    ],
)
def test_they_are_hierarchies_with_one_root(rows):
    assert list(check(rows).top_labels) == ["*"]


def test_spellings_of_one_band_meet_first_and_neighbours_next():
    rows = {row[0]: row[1:] for row in bands(["20-29", "30-39", "40-49", "90+", ">=90"])}
    assert rows["90+"] == rows[">=90"]
    assert rows["20-29"][0] == "[20, 29]"
    assert rows["20-29"][1] == rows["30-39"][1] == "[20, 39]"
    assert rows["40-49"][1] == rows["90+"][1] == "[40, ...)"
    with pytest.raises(DataError, match="no band"):
        bands(["20-29", "old"])


@pytest.mark.parametrize(
    ("values", "kind", "label"),
    [
        (["J18.1", "K35.2", "I10", "E11.9"], "auto", "J00-J99"),
        (["C09AA05", "N02BE01", "A10BA02", "C07AB02"], "auto", "C09*"),
        (["20-29", "30-39", "90+"], "auto", "[20, 39]"),
        (["14:35", "09:15"], "auto", "12:00-17:59"),
        (["02139-4307", "02139"], "zip3", "021**"),
        (["Germany", "United-States", "Iran", "Viet Nam"], "auto", "Western Europe"),
        (["DE", "us"], "countries", "Northern America"),
        (["a", "a", "b"], "frequent", "other"),
    ],
)
def test_the_command_writes_a_file_that_covers_the_column(tmp_path, values, kind, label):
    table, output = tmp_path / "t.csv", tmp_path / "h.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["x"], *([value] for value in values * 3)])
    answer = run("hierarchy", "build", table, "-c", "x", "-o", output, "--kind", kind, "--keep", "1")
    assert answer.returncode == 0, answer.stderr
    assert label in {cell for row in read_taxonomy(output) for cell in row}
    assert run("hierarchy", "check", output, "--for", table, "-c", "x").returncode == 0


def test_every_country_has_one_place_and_its_spellings_meet():
    """ISO 3166-1 has 249 codes; M49 has 22 subregions of five regions beside Antarctica."""
    file = Path(indistinct.hierarchies.__file__).with_name("countries.toml")
    regions = tomllib.loads(file.read_text(encoding="utf-8"))
    lines = [line for own in regions.values() for part in own.values() for line in part.strip().splitlines()]
    codes = [line.split()[:2] for line in lines]
    assert len(lines) == len({two for two, _ in codes}) == len({three for _, three in codes}) == 249
    assert all(len(two) == 2 and len(three) == 3 for two, three in codes)
    assert sum(len(own) for name, own in regions.items() if name != "Antarctica") == 22
    names = [line[7:].split("|") for line in lines]
    assert len(countries(name for own in names for name in own)) == sum(map(len, names))
    rows = {row[0]: row[1:] for row in countries(["GB", "gbr", "England", "the United Kingdom"])}
    assert set(rows.values()) == {("United Kingdom", "Northern Europe", "Europe", "*")}
    assert not is_country("")
