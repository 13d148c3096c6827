from __future__ import annotations

from fractions import Fraction

import pytest

from indistinct.errors import DataError, PolicyError
from indistinct.hierarchies import dates

pytestmark = pytest.mark.small

ALL = ["day", "month", "quarter", "half", "year", "decade", "century"]


def test_labels_of_all_levels():
    found = dates.build("d", ["2024-03-31", "1905-11-02"], levels=ALL)
    assert [level.labels for level in found.levels[1:]] == [
        ("1905-11-02", "2024-03-31"),
        ("1905-11", "2024-03"),
        ("1905-Q4", "2024-Q1"),
        ("1905-H2", "2024-H1"),
        ("1905", "2024"),
        ("1900-1909", "2020s"),  # "1900s" would be the century too
        ("1900s", "2000s"),
        ("*",),
    ]


def test_iso_weeks_begin_on_monday_and_follow_the_iso_year():
    found = dates.build("d", ["2024-12-29", "2024-12-30", "2025-01-01"], levels=["week"])
    assert found.levels[1].labels == ("2024-W52", "2025-W01")
    assert found.levels[1].node_of.tolist() == [0, 1, 1]


def test_costs_are_lengths_in_days_clipped_to_the_domain():
    found = dates.build(
        "d", ["2024-02-10", "2024-03-05"], levels=["month", "year"], domain=["2024-01-01", "2024-12-31"]
    )
    assert found.levels[1].costs == (Fraction(29, 365), Fraction(31, 365))
    assert found.levels[2].costs == (1,)
    table = dates.build("d", ["2024-02-10", "2024-03-05"], levels=["day", "month"])
    assert table.levels[1].costs == (0, 0)  # a day of pure dates is the value
    assert table.levels[2].costs == (Fraction(20, 24), Fraction(4, 24))


def test_moments_lie_in_days():
    found = dates.build("d", ["2024-03-01 23:59:59", "2024-03-02 00:00:00", "2024-03-05"], levels=["day", "month"])
    assert found.levels[1].labels == ("2024-03-01", "2024-03-02", "2024-03-05")
    length = Fraction(3 * 86400 + 1, 86400)
    assert found.levels[1].costs[0] == Fraction(1, 86400) / length
    assert found.levels[1].costs[1] == 1 / length


def test_missing_and_degenerate_columns():
    found = dates.build("d", ["2024-03-01", None], levels=["month"])
    assert found.levels[1].node_of.tolist() == [0, 1]
    assert (found.cost(0, 1), found.cost(0, 0)) == (1, 0)
    assert dates.build("d", [], levels=["month"]).size == 0
    assert dates.build("d", [None], levels=["month"]).cost(0, 0) == 0


def test_the_ends_of_the_calendar():
    found = dates.build("d", ["0001-01-01", "9999-12-31"], levels=ALL)
    assert [level.labels for level in found.levels[5:8]] == [
        ("0001", "9999"),
        ("0000-0009", "9990s"),
        ("0000s", "9900s"),
    ]
    assert dates.build("d", ["0001-01-01"], levels=["week"]).levels[1].labels == ("0001-W01",)


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (["week", "month"], "a week may lie in two months"),
        (["week", "year"], "a week may lie in two years"),
        (["year", "month"], "from fine to coarse"),
        (["month", "month"], "from fine to coarse"),
        (["fortnight"], 'no level "fortnight"'),
        ([], "no levels"),
        ("month", "no levels"),
    ],
)
def test_levels_that_do_not_nest(levels, message):
    with pytest.raises(PolicyError, match=message):
        dates.build("d", ["2024-01-01"], levels=levels)


def test_values_that_are_no_dates():
    with pytest.raises(DataError, match='"2024-13-01"'):
        dates.build("d", ["2024-13-01"], levels=["year"])
