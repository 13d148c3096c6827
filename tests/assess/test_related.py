"""Columns that say the same are found by profile and draft, as the draft reads them, and proposed together."""

from datetime import date, timedelta

import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.assess.draft import draft

ROWS = 300


@pytest.fixture(scope="module")
def table():
    admitted = [date(2023, 1, 1) + timedelta(i * 37 % 700) for i in range(ROWS)]
    stay = [1 + i * i % 13 for i in range(ROWS)]
    discharged = [day + timedelta(days) for day, days in zip(admitted, stay, strict=True)]
    unit = [f"u{i * 11 % 24}" for i in range(ROWS)]
    columns = {
        "Aufnahmedatum": [f"{day:%d.%m.%Y}" for day in admitted],
        "Verweildauer": [str(days) for days in stay],
        "Entlassungsdatum": [f"{day:%d.%m.%Y}" for day in discharged],
        "Aufnahmejahr": [str(day.year) for day in admitted],
        "Abteilung": [f"w{int(name[1:]) // 4}" for name in unit],
        "Station": unit,
        **{f"kind_{name}": [str(int(i % 3 == place)) for i in range(ROWS)] for place, name in enumerate("abc")},
        "smoker": [str(i * 7 % 5 // 4) for i in range(ROWS)],
    }
    for row in (7, 70, 170):
        columns["Entlassungsdatum"][row] = "00.00.0000"
    return pa.table(columns)


@pytest.fixture(scope="module")
def warnings(table):
    found = ind.profile(table, max_size=0).document["warnings"]
    return [(one["column"], one["message"]) for one in found if one["kind"] in ("restates", "one-hot")]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("Entlassungsdatum", ("Aufnahmedatum", "Verweildauer")),  # admission and stay, in German dates, with dirt
        ("Abteilung", ("Station",)),
        ("Aufnahmejahr", ("Aufnahmedatum",)),
        ("kind_a", ("kind_b", "kind_c", "exactly one")),
    ],
)
def test_what_follows_from_others_is_named(warnings, column, words):
    assert [text for name, text in warnings if name == column and all(word in text for word in words)], warnings


def test_what_only_looks_like_it_is_not(warnings):
    assert not any("smoker" in text for _, text in warnings)
    assert not any(name == "Station" and '"Abteilung" is published' in text for name, text in warnings)


def test_a_draft_lists_them_and_stays_a_policy(table):
    text = draft(table)
    block = text.split("# Columns that tell each other")[1].split("[[privacy]]")[0]
    assert all(word in block for word in ("Entlassungsdatum", "Abteilung", "kind_a"))
    assert all(line.startswith("#") for line in block.strip().splitlines()[1:])
    assert ind.Policy.load(text).quasi_identifiers


def test_two_ones_in_a_row_are_no_one_hot_set():
    columns = {f"c{place}": [str(int(i % 3 == place)) for i in range(ROWS)] for place in range(3)}
    columns["c0"][0], columns["c1"][0] = "1", "1"
    found = ind.profile(pa.table(columns), max_size=0).document["warnings"]
    assert not [one for one in found if one["kind"] == "one-hot"]
