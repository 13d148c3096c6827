from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct.errors import DataError
from indistinct.hierarchies import write_taxonomy
from indistinct.hierarchies.labels import Interval, Mask, Members, Reader, covers, parse

pytestmark = pytest.mark.small

NUMBERS = ["-10", "-5", "5", "10", "20", "29", "30", "40", "90", "104", None]
DATES = ["1905-06-01", "1999-12-31", "2000-01-01", "2024-03-31", "2024-04-01", None]


def covered(label, texts, *args, **kwargs):
    return [text for text, yes in zip(texts, covers(label, texts, *args, **kwargs), strict=True) if yes]


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("5", "5"),
        ("20.0", "20"),
        ("-10--5", "-10 -5"),
        ("[-10, -5]", "-10 -5"),
        ("[-10,-5[", "-10"),
        ("\N{MINUS SIGN}10\N{EN DASH}5", "-10 -5 5"),
        ("5-10", "5 10"),
        ("5 - 10", "5 10"),
        ("[5 - 10]", "5 10"),
        ("[5..10)", "5"),
        ("[5;10]", "5 10"),
        ("[5 to 10]", "5 10"),
        ("[20, 30)", "20 29"),
        ("[20, 30[", "20 29"),
        ("[20, 29]", "20 29"),
        ("(20,30]", "29 30"),
        ("]20,30]", "29 30"),
        ("(20,30)", "29"),
        ("20-29", "20 29"),
        ("[-1e1, 0.5e1]", "-10 -5 5"),
        ("<20", "-10 -5 5 10"),
        ("< 5", "-10 -5"),
        ("<=40", "-10 -5 5 10 20 29 30 40"),
        ("\N{LESS-THAN OR EQUAL TO}-5", "-10 -5"),
        (">40", "90 104"),
        (">=90", "90 104"),
        ("90+", "90 104"),
        ("[90, inf)", "90 104"),
        ("(-\N{INFINITY}, -5)", "-10"),
        ("{5, 10, 7}", "5 10"),
        ("{5.0}", "5"),
        ("1*", "10"),
        ("*0", "10 20 30 40 90"),
        ("[30, 20]", ""),
        ("flu", ""),
        ("", ""),
        ("[a, b]", ""),
        ("[999, 1000]", ""),
    ],
)
def test_labels_of_numbers(label, wanted):
    assert covered(label, NUMBERS, "integer") == wanted.split()


def test_the_token_covers_everything_and_missing_only_missing():
    assert covered("*", NUMBERS, "integer") == NUMBERS
    assert covered("?", NUMBERS, "integer", token="?") == NUMBERS  # noqa: S106
    assert covered(None, NUMBERS, "integer") == [None]
    assert covered(None, ["a"]) == []


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("2024-03-31", "2024-03-31"),
        ("2024-03", "2024-03-31"),
        ("03/2024", "2024-03-31"),
        ("03.2024", "2024-03-31"),
        ("2024/04", "2024-04-01"),
        ("2024-13", ""),
        ("2024-Q1", "2024-03-31"),
        ("Q1 2024", "2024-03-31"),
        ("2024-Q5", ""),
        ("2024-H1", "2024-03-31 2024-04-01"),
        ("2024-W13", "2024-03-31"),
        ("2024-W14", "2024-04-01"),
        ("2024-W60", ""),
        ("2024", "2024-03-31 2024-04-01"),
        ("0000", ""),
        ("2020s", "2024-03-31 2024-04-01"),
        ("1900s", "1905-06-01 1999-12-31"),
        ("1900-1909", "1905-06-01"),
        ("1999-2000", "1999-12-31 2000-01-01"),
        ("9990-9999", ""),
        ("[2024-03-01, 2024-04-01)", "2024-03-31"),
        ("[2024-03-01, 2024-04-01]", "2024-03-31 2024-04-01"),
        ("(2024-03-31, 2024-04-01]", "2024-04-01"),
        ("[2024-03 - 2024-04]", "2024-03-31 2024-04-01"),
        ("[1990, 2000[", "1999-12-31"),
        ("(1999, 2024]", "2000-01-01 2024-03-31 2024-04-01"),
        ("<2000", "1905-06-01 1999-12-31"),
        ("<=1999", "1905-06-01 1999-12-31"),
        (">1999", "2000-01-01 2024-03-31 2024-04-01"),
        (">=2024-04", "2024-04-01"),
        ("2024+", "2024-03-31 2024-04-01"),
        ("2024-03-**", "2024-03-31"),
        ("{2000-01-01, 1999-12-31}", "1999-12-31 2000-01-01"),
        ("[x, 2024]", ""),
        ("<x", ""),
        ("x+", ""),
    ],
)
def test_labels_of_dates(label, wanted):
    assert covered(label, DATES, "date") == wanted.split()


def test_moments_and_formats():
    moments = ["2024-03-31 00:00:00", "2024-03-31 10:00:00", "2024-04-01 00:00:00"]
    assert covered("2024-03-31", moments, "date") == moments[:2]
    assert covered("[2024-03-31, 2024-03-31]", moments, "date") == moments[:2]
    assert covered("[2024-03-31 10:00:00, 2024-04-01)", moments, "date") == moments[1:2]
    assert covered("(2024-03-31 10:00:00, 2024-04-01 00:00:00]", moments, "date") == moments[2:]
    written = {"type": "date", "format": "%d.%m.%Y"}
    assert covered("[01.03.2024, 31.03.2024]", ["31.03.2024", "01.04.2024"], **written) == ["31.03.2024"]
    assert covered("2024-03", ["31.03.2024", "01.04.2024"], **written) == ["31.03.2024"]


def test_texts_and_masks():
    zips = ["02138", "02139", "12139", "213"]
    assert covered("0213*", zips) == ["02138", "02139"]
    assert covered("**139", zips) == ["02139", "12139"]
    assert covered("*****", zips) == zips[:3]
    assert covered("021##", zips, character="#") == ["02138", "02139"]
    assert covered("2138", zips) == []  # a code is no number
    assert covered("02130-02139", zips) == ["02138", "02139"]
    assert covered("[2000, 3000)", ["02138", "x", "213"]) == ["02138"]
    assert covered("*1*", ["a1b"]) == covered("a*b", ["a1b"]) == []
    assert covered("a, b", ["a", "b"]) == []
    assert covered("{a, b}", ["a", "b", "c"]) == ["a", "b"]
    assert covered("[x, y)", ["[x, y)"]) == ["[x, y)"]


def test_labels_of_a_hierarchy_file():
    rows = [("a", "x", "all"), ("b", "x", "all"), ("c", "y", "all")]
    texts = ["c", "a", "b", None]
    assert covered("x", texts, rows=rows) == ["a", "b"]
    assert covered("all", texts, rows=rows) == texts
    assert covered("a", texts, rows=rows) == ["a"]
    assert covered("z", texts, rows=rows) == []
    assert covered("all", texts, rows=[("", "none", "all"), *rows]) == texts
    assert covered("none", texts, rows=[("", "none", "all"), *rows]) == [None]
    assert covered("low", ["A", "C", None], rows=[("A", "low"), ("C", "high")]) == ["A"]


def test_files_of_numbers_are_read_by_value():
    rows = [("17", "0-19", "*"), ("18", "0-19", "*"), ("20", "20-39", "*")]
    assert covered("0-19", ["017", "18", "20"], "integer", rows=rows) == ["017", "18"]
    days = [("2024-01-01", "winter", "*")]
    assert covered("winter", ["01.01.2024", "01.02.2024"], "date", rows=days, format="%d.%m.%Y") == ["01.01.2024"]


def test_specifications(tmp_path):
    write_taxonomy(tmp_path / "h.csv", [("a", "x", "*"), ("b", "y", "*")])
    assert covered("x", ["a", "b"], spec={"file": "h.csv"}, base=tmp_path) == ["a"]
    assert covered("x", ["a", "b"], spec={"file": str(tmp_path / "h.csv")}) == ["a"]
    assert covered("y", ["a", "b"], spec={"rows": [("b", "y")]}) == ["b"]
    assert covered("1#", ["12", "1#"], spec={"kind": "masking", "character": "#"}) == ["12", "1#"]


def test_ordinal_labels():
    order = ["I", "II", "III, late", "IV"]
    ordinal = {"type": "ordinal", "order": order}
    assert covered("[II, III, late]", order, **ordinal) == ["II", "III, late"]
    assert covered("[III, late, IV]", order, **ordinal) == ["III, late", "IV"]
    assert covered("II", order, **ordinal) == ["II"]
    assert covered("[II, V]", order, **ordinal) == covered("V", order, **ordinal) == []


def test_several_labels_and_pairs():
    table = covers(["[0, 10]", None, "*"], ["5", None, "20"], "integer")
    assert table.tolist() == [[True, False, False], [False, True, False], [True, True, True]]
    reader = Reader(["5", None, "20"], "integer")
    pairs = reader.agrees(["[0, 10]", None, "*"], np.array([2, 0, 1, 0, 2]), np.array([1, 0, 1, 2, 2]))
    assert pairs.tolist() == [True, True, True, False, True]
    assert reader.agrees([], np.zeros(0, np.int64), np.zeros(0, np.int64)).tolist() == []


def test_spellings_of_a_number_are_all_covered():
    assert covered("[5, 6]", ["5", "05", "7"], "integer") == ["5", "05"]
    assert covered("5", ["5", "05", "7"], "integer") == ["5", "05"]


def test_numbers_beyond_int64():
    assert covered("[0, 1e40]", ["5", "1" + "0" * 40], "integer") == ["5", "1" + "0" * 40]
    assert covered("<1e40", ["5", "6"], "integer") == ["5", "6"]


def test_patterns():
    assert parse("[20, 30)", "integer") == Interval(Fraction(20), Fraction(30), low_closed=True, high_closed=False)
    assert parse("0213*") == Mask("0213", "", 5)
    assert parse("{a}") == Members(frozenset({"a"}))
    assert parse("17") is None
    assert parse("17", "integer") == Interval(Fraction(17), Fraction(17))
    assert parse("1.7", "decimal", decimal=",") == parse("1,7", "decimal", decimal=",")


def test_originals_must_be_of_their_type():
    with pytest.raises(DataError):
        covers("[0, 1)", ["x"], "integer")


VALUES = ["5", "12", "7.5", "-3", "1e2", "0213", "0299", "*", "[0, 10]", "abc", "a", None]
LABELS = [*VALUES, "[5, 12)", "(5, 12]", "<=7", ">90", "02**", "{5, abc}", "0-10", "[12, 5]", "**"]


@pytest.mark.slow
@given(st.lists(st.sampled_from(VALUES), unique=True, min_size=1), st.sampled_from(["integer", "decimal", "text"]))
def test_pairs_agree_as_labels_cover(values, type):
    """An interval is not spelled out for pairs; the answer is that of spelling it out."""
    if type != "text":
        values = [value for value in values if value in ("5", "12", "-3", None)] or ["5"]
    reader = Reader(values, type)
    label, value = (part.ravel() for part in np.indices((len(LABELS), len(values))))
    table = np.array([reader.covers(text) for text in LABELS])
    assert reader.agrees(LABELS, label, value).tolist() == table.ravel().tolist()
