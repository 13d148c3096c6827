from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct.errors import DataError, PolicyError
from indistinct.hierarchies import build_hierarchy, check, read_taxonomy, write_taxonomy
from indistinct.hierarchies.draft import calendar, draft, looks_like_codes, lump, neighbours, prefixes, quantiles

pytestmark = pytest.mark.small


def test_quantiles_are_round_and_nested():
    # quarters of 0..99 lie at 25, 50, 75: 20, 50, 80 are the roundest numbers near them
    rows = {row[0]: row[1:] for row in quantiles("age", {str(age): 1 for age in range(100)}, bins=(4, 2))}
    assert rows["19"] == ("<20", "<50", "*")
    assert rows["20"] == ("[20, 50)", "<50", "*")
    assert rows["79"] == ("[50, 80)", "50+", "*")
    assert rows["80"] == ("80+", "50+", "*")


def test_quantiles_follow_the_rows():
    rows = quantiles("x", {"1": 97, "2": 1, "3": 1, "100": 1}, bins=(2,))
    assert all(len(row) == 2 for row in rows)  # one value holds the middle: nothing to cut
    rows = quantiles("x", {"1": 50, "2": 25, "3": 25}, bins=(2,))
    assert [row[1] for row in rows] == ["<2", "2+", "2+"]


def test_quantiles_of_decimals_and_spellings():
    rows = quantiles("x", {"0,5": 1, "0,50": 1, "1,5": 2}, type="decimal", decimal=",", bins=(2,))
    assert [row[0] for row in rows] == ["0,5", "1,5"]
    assert [row[1] for row in rows] == ["<1", "1+"]


def test_degenerate_numbers():
    assert quantiles("x", {}) == []
    assert quantiles("x", {"7": 3}) == [("7", "*")]


def test_calendar():
    assert calendar("d", ["2024-03-31", "2024-04-01"], levels=["quarter"]) == [
        ("2024-03-31", "2024-Q1", "*"),
        ("2024-04-01", "2024-Q2", "*"),
    ]


def test_prefixes_of_codes_of_one_length_are_masks():
    # four codes, three beginnings of four digits, three of three (left out), two of two, two of one (left out)
    assert prefixes(["02138", "02139", "02241", "10115"]) == [
        ("02138", "0213*", "02***", "*"),
        ("02139", "0213*", "02***", "*"),
        ("02241", "0224*", "02***", "*"),
        ("10115", "1011*", "10***", "*"),
    ]


def test_prefixes_of_icd_codes():
    # "J18.1" loses two characters before it meets "J18"; "K35" stays itself until its letter stands alone
    assert prefixes(["J18", "J18.1", "J20", "K35"]) == [
        ("J18", "J18*", "J*", "*"),
        ("J18.1", "J18*", "J*", "*"),
        ("J20", "J20", "J*", "*"),
        ("K35", "K35", "K*", "*"),
    ]
    assert prefixes([]) == []
    assert prefixes(["a"]) == [("a", "*")]
    assert prefixes(["", "ab", "ac"]) == [("", "(empty)", "*"), ("ab", "a*", "*"), ("ac", "a*", "*")]


def test_lumping_reaches_the_least_number():
    assert lump({"a": 9, "b": 8, "c": 1, "d": 1}, 5) == [
        ("a", "a", "*"),
        ("b", "other", "*"),
        ("c", "other", "*"),
        ("d", "other", "*"),
    ]
    assert lump({"a": 9, "c": 3, "d": 2}, 5) == [("a", "a", "*"), ("c", "other", "*"), ("d", "other", "*")]
    assert lump({"a": 9, "b": 8}, 5) == [("a", "*"), ("b", "*")]
    assert lump({"a": 1, "b": 1}, 5) == [("a", "*"), ("b", "*")]
    assert lump({"other": 9, "b": 5, "c": 1}, 5)[1] == ("b", "other values", "*")
    with pytest.raises(PolicyError, match="1 or more"):
        lump({"a": 1}, 0)


def test_ordinal_neighbours():
    rows = neighbours("x", ["a"], order=["a", "b", "c", "d", "e"])
    assert rows[0] == ("a", "[a, b]", "[a, d]", "*")
    assert rows[4] == ("e", "e", "e", "*")
    assert neighbours("x", [], order=["a", "b"]) == [("a", "*"), ("b", "*")]
    with pytest.raises(DataError):
        neighbours("x", ["z"], order=["a"])


def test_the_type_chooses():
    assert draft("n", {"1": 5, "2": 5, None: 3}, type="integer") == [("1", "<2", "*"), ("2", "2+", "*")]
    assert draft("d", {"2024-03-31": 1}, type="date")[0][1:] == ("2024-03", "2024-Q1", "2024", "2020s", "*")
    assert draft("o", {"a": 1}, type="ordinal", order=["a", "b", "c"])[0] == ("a", "[a, b]", "*")
    assert draft("z", {"101": 1, "102": 1, "201": 1})[0] == ("101", "10*", "*")
    assert draft("s", {"f": 9, "m": 9, "x": 1}) == [("m", "m", "*"), ("f", "other", "*"), ("x", "other", "*")]
    assert looks_like_codes([]) is False


values = st.one_of(
    st.tuples(st.just("integer"), st.dictionaries(st.integers(-300, 300).map(str), st.integers(1, 50), max_size=40)),
    st.tuples(
        st.just("decimal"),
        st.dictionaries(st.integers(-9999, 9999).map(lambda n: f"{n / 100:.2f}"), st.integers(1, 50), max_size=40),
    ),
    st.tuples(st.just("date"), st.dictionaries(st.dates().map(str), st.integers(1, 50), max_size=20)),
    st.tuples(st.just("text"), st.dictionaries(st.text("abc01", max_size=4), st.integers(1, 50), max_size=20)),
    st.tuples(st.just("text"), st.dictionaries(st.text("01", min_size=3, max_size=3), st.integers(1, 9), max_size=8)),
)


@pytest.mark.slow
@given(values)
@settings(max_examples=80, deadline=None)
def test_every_draft_is_a_hierarchy_that_can_be_edited_and_read_back(tmp_path_factory, column):
    type_, counts = column
    rows = draft("x", counts, type=type_)
    if not rows:
        return
    check(rows)
    path = tmp_path_factory.mktemp("draft") / "x.csv"
    write_taxonomy(path, rows)
    assert read_taxonomy(path) == rows
    assert build_hierarchy("x", list(counts), spec={"file": path.name}, base=path.parent, type=type_).size >= 1
