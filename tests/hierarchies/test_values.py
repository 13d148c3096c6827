from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indistinct.errors import DataError, PolicyError
from indistinct.hierarchies import build_hierarchy, values
from indistinct.hierarchies.values import cast, exact, look_alikes, number_text, parse_number, scale

pytestmark = pytest.mark.small


def test_cast_gives_typed_values():
    assert list(cast("a", ["5", "-3", "+7", " 8 ", "4.0", "1e2", None], "integer")) == [5, -3, 7, 8, 4, 100, None]
    assert list(cast("a", ["0.10", "2", ".5"], "decimal")) == [Decimal("0.1"), Decimal(2), Decimal("0.5")]
    assert list(cast("a", ["0,10", "1"], "decimal", decimal=",")) == [Decimal("0.1"), Decimal(1)]
    assert list(cast("a", ["2024-02-29"], "date")) == [date(2024, 2, 29)]
    assert list(cast("a", ["2024-02-29 13:30:00"], "date")) == [datetime(2024, 2, 29, 13, 30)]  # noqa: DTZ001
    assert list(cast("a", ["29.2.2024"], "date", format="%d.%m.%Y")) == [date(2024, 2, 29)]
    assert list(cast("a", ["high", "low"], "ordinal", order=["low", "mid", "high"])) == [2, 0]
    assert list(cast("a", ["02138", "2138"])) == ["02138", "2138"]
    assert cast("a", ["1", "2"], "integer")[:1] == [1]


@pytest.mark.parametrize(
    ("type_", "text", "expected"),
    [
        ("integer", "abc", "a whole number"),
        ("integer", "5.5", "a whole number"),
        ("integer", "1_000", "a whole number"),
        ("integer", "", "a whole number"),
        ("integer", "9" * 500, "a whole number"),
        ("decimal", "1,5", 'a number with the decimal mark "."'),
        ("decimal", "nan", "a number"),
        ("decimal", "-", "a number"),
        ("decimal", ".", "a number"),
        ("date", "31.03.2024", "a date like 2024-03-31"),
        ("date", "2024-02-30", "a date"),
        ("date", "2024-W01-1", "a date"),
        ("ordinal", "huge", 'in its order "low" and "high"'),
    ],
)
def test_a_text_of_another_type_is_named(type_, text, expected):
    order = ["low", "high"] if type_ == "ordinal" else None
    with pytest.raises(DataError) as caught:
        cast("size", [text], type_, order=order)
    assert "size" in caught.value.message
    assert f'"{text}"' in caught.value.message
    assert expected in caught.value.message
    assert caught.value.where == {"column": "size"}


def test_five_bad_texts_are_named_and_the_rest_counted():
    with pytest.raises(DataError, match=r'"a0", "a1", "a2", "a3", "a4" and 3 more are not a whole number'):
        cast("n", [f"a{i}" for i in range(8)], "integer")


def test_policy_mistakes_are_policy_errors():
    with pytest.raises(PolicyError, match='no type "number"'):
        cast("a", ["1"], "number")
    with pytest.raises(PolicyError, match="needs its order"):
        cast("a", ["1"], "ordinal")
    with pytest.raises(PolicyError, match='names "x" twice'):
        cast("a", ["x"], "ordinal", order=["x", "y", "x"])
    with pytest.raises(PolicyError, match="no date format"):
        cast("a", ["2024"], "date", format="%Q")
    with pytest.raises(PolicyError, match="decimal mark"):
        cast("a", ["1"], "decimal", decimal=";")
    with pytest.raises(PolicyError, match="text, which has no scale"):
        values.positions("a", ["x"], "text")
    with pytest.raises(PolicyError, match='no type "number"'):
        scale("a", ["1"], "number")


def test_spellings_of_one_number_are_one_value():
    found = cast("age", ["05", "5", "5.0", "7", None], "integer")
    assert found.canonical == {"05": "5", "5.0": "5"}
    assert found.notes == ('column "age": "05" and "5" are one value, published as "5"; so are 1 more spellings',)
    ages = scale("age", ["05", "5.0", "10", "5", None], "integer")
    assert ages.texts == ("5", "10")
    assert ages.spellings == {"05": "5", "5.0": "5"}
    assert ages.missing


def test_of_equally_short_spellings_the_first_by_code_point_stands():
    assert scale("x", ["1.0", "+1."], "decimal").texts == ("+1.",)
    assert scale("x", ["5,", "05"], "decimal", decimal=",").spellings == {"5,": "05"}


def test_dates_with_and_without_midnight_are_one_value():
    found = cast("d", ["2024-01-01", "2024-01-01 00:00:00", "2024-01-02"], "date")
    assert found.canonical == {"2024-01-01 00:00:00": "2024-01-01"}
    days = scale("d", ["2024-01-01 00:00:00", "2024-01-01"], "date")
    assert (days.texts, days.unit, days.positions.tolist()) == (("2024-01-01",), 1, [19723])


def test_mixed_utc_offsets_are_refused():
    assert scale("d", ["2024-01-01T10:00:00+01:00", "2024-01-02T10:00:00+01:00"], "date").unit == values.DAY
    with pytest.raises(DataError, match="offsets"):
        scale("d", ["2024-01-01T10:00:00+01:00", "2024-01-01T10:00:00"], "date")


def test_canonical_order():
    assert scale("n", ["10", "9", "-1", "100"], "integer").texts == ("-1", "9", "10", "100")
    assert scale("n", ["0.5", "10", "0.25"], "decimal").texts == ("0.25", "0.5", "10")
    assert scale("d", ["01.02.2024", "02.01.2024"], "date", format="%d.%m.%Y").texts == ("02.01.2024", "01.02.2024")
    assert scale("t", ["b", "a", "B", "ä"]).texts == ("B", "a", "b", "ä")


def test_numbers_beyond_int64_stay_exact():
    huge = ["1" + "0" * 40, "1" + "0" * 39 + "1", "0.5"]
    found = scale("n", huge, "decimal")
    assert found.positions.dtype == object
    assert list(found.fractions) == [Fraction(1, 2), Fraction(10**40), Fraction(10**40 + 1)]
    assert values.times(np.array([2**59]), 4).tolist() == [2**61]


@pytest.mark.parametrize(
    ("value", "wanted"), [(3, 3), ("0.25", Fraction(1, 4)), (0.1, Fraction(1, 10)), ("1/6", Fraction(1, 6))]
)
def test_exact_numbers_of_a_specification(value, wanted):
    assert exact(value, "x") == wanted


@pytest.mark.parametrize("value", [None, True, "a", float("nan"), float("inf"), [1]])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(PolicyError, match="step must be a number"):
        exact(value, "step")


def test_numbers_are_written_without_exponent():
    assert [number_text(n, 100) for n in (0, 5, -5, 120, 1200, -101)] == ["0", "0.05", "-0.05", "1.2", "12", "-1.01"]
    with pytest.raises(PolicyError, match="1/3 cannot be written"):
        number_text(1, 3)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6))
@settings(max_examples=50, deadline=None)
def test_numbers_survive_writing_and_reading(number):
    text = str(number)
    digits, places = parse_number(text)
    assert Fraction(digits) / Fraction(10) ** places == Fraction(text)
    if places >= 0:
        assert Fraction(number_text(digits, 10**places)) == Fraction(text)


def test_look_alikes_are_grouped_and_quoted():
    assert look_alikes(["north", "north ", "North", "south", None]) == [("North", "north", "north ")]
    assert look_alikes(["n\N{COMBINING TILDE}", "\N{LATIN SMALL LETTER N WITH TILDE}"]) != []
    assert look_alikes(["a", "b", "A", "c d", "c  d"]) == [("A", "a"), ("c  d", "c d")]
    assert (
        look_alikes(["1", "2", "a"]) == look_alikes([]) == look_alikes(["a ", "b"]) == look_alikes(["aB", "ac"]) == []
    )
    assert look_alikes(["", " "]) == [("", " ")]
    assert look_alikes(["aB", "Ab"]) == [("Ab", "aB")]


def test_domains():
    with pytest.raises(DataError, match=r'holds "120" outside its domain \[0, 110\]'):
        build_hierarchy("age", ["5", "120"], spec={"kind": "range"}, type="integer", domain=[0, 110])
    with pytest.raises(PolicyError, match="must be a pair"):
        build_hierarchy("age", ["5"], spec={"kind": "range"}, type="integer", domain=[0])
    with pytest.raises(PolicyError, match="must ascend"):
        build_hierarchy("age", ["5"], spec={"kind": "range"}, type="integer", domain=[9, 0])
    with pytest.raises(PolicyError, match="must be a date"):
        build_hierarchy("d", ["2024-01-01"], spec={"kind": "range"}, type="date", domain=["x", "y"])
    given = {"spec": {"kind": "range", "bounds": "members"}, "type": "date", "format": "%d.%m.%Y"}
    for domain in (["01.01.2024", "31.01.2024"], [date(2024, 1, 1), date(2024, 1, 31)], ["2024-01-01", "2024-01-31"]):
        days = build_hierarchy("d", ["04.01.2024", "10.01.2024"], domain=domain, **given)
        assert days.cost(0, 1) == Fraction(6, 30)
