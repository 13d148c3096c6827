from __future__ import annotations

from fractions import Fraction

import pytest

from indistinct.errors import DataError, PolicyError
from indistinct.hierarchies import ranges
from indistinct.hierarchies.labels import covers

pytestmark = pytest.mark.small

DAYS = ["2024-01-15", "2024-02-10", "2024-03-31"]


def boxes(found):
    return {found.label(code, code) for code in range(found.size - (found.missing >= 0))}


def test_members_publish_smallest_and_largest():
    ages = ranges.build("age", ["29", "20", "24", None, "60"], domain=[0, 100])
    assert ages.texts == ("20", "24", "29", "60", None)
    assert (ages.label(0, 2), ages.label(1, 1)) == ("[20, 29]", "24")
    assert (ages.cost(0, 2), ages.cost(1, 1), ages.cost(0, 3)) == (Fraction(9, 100), 0, Fraction(40, 100))
    assert (ages.cost(0, 4), ages.label(0, 4)) == (1, "*")
    assert (ages.cost(4, 4), ages.label(4, 4)) == (0, None)
    assert ages.lower.tolist() == [0.2, 0.24, 0.29, 0.6, 0.0]
    assert ages.upper.tolist() == ages.lower.tolist()
    assert [level.costs for level in ages.levels[1:]] == [(1,)]
    assert ages.height == 1
    assert not ages.is_fixed


def test_the_domain_is_that_of_the_table_by_default():
    ages = ranges.build("age", ["20", "30", "60"])
    assert ages.cost(0, 1) == Fraction(1, 4)
    assert ages.cost(0, 2) == 1


def test_negative_bounds_are_read_back():
    found = ranges.build("delta", ["-10", "-5", "5", "10"])
    assert (found.label(0, 1), found.label(2, 3)) == ("[-10, -5]", "[5, 10]")
    assert covers("[-10, -5]", ["-10", "-5", "5", "10"], "integer").tolist() == [True, True, False, False]


def test_integers_snap_to_closed_ranges():
    ages = ranges.build("age", ["20", "23", "29", "61"], bounds="snapped", step=5, domain=[20, 70])
    assert (ages.label(0, 0), ages.label(0, 2), ages.label(1, 3)) == ("[20, 24]", "[20, 29]", "[20, 64]")
    assert (ages.cost(0, 0), ages.cost(0, 2)) == (Fraction(4, 50), Fraction(9, 50))


def test_the_grid_of_whole_numbers_is_never_one_of_ones():
    ages = ranges.build("age", ["020", "23"], bounds="snapped")
    assert (ages.label(0, 0), ages.label(0, 1)) == ("[20, 21]", "[20, 23]")


def test_decimals_snap_by_default_and_costs_stay_in_the_domain():
    sizes = ranges.build("x", ["1.71", "1.79", "1.93"], type="decimal", step="0.05")
    assert sizes.label(0, 1) == "[1.7, 1.8)"
    assert sizes.label(0, 2) == "[1.7, 1.95)"
    assert (sizes.cost(0, 2), sizes.cost(0, 1)) == (1, Fraction(9, 22))  # clipped: 1.71 to 1.8 of 1.71 to 1.93


@pytest.mark.parametrize(
    ("width", "whole", "step"),
    [
        (90, False, 2),
        (50, False, 1),
        (49, False, 1),
        (260, False, 10),
        (500, False, 10),
        (3, True, 2),
        ("3/100", False, "1/1000"),
    ],
)
def test_the_default_step_is_a_round_fiftieth(width, whole, step):
    assert ranges.default_step(Fraction(width), whole=whole) == Fraction(step)


def test_dates_snap_to_months_or_to_a_given_grid():
    days = ranges.build("d", DAYS, type="date")
    assert (days.label(0, 0), days.label(0, 2)) == ("[2024-01-01, 2024-02-01)", "[2024-01-01, 2024-04-01)")
    assert (days.cost(0, 2), days.cost(1, 1)) == (1, Fraction(29, 76))  # February of 76 days
    quarters = ranges.build("d", DAYS, type="date", step="quarter")
    assert quarters.label(1, 1) == "[2024-01-01, 2024-04-01)"
    week = ranges.build("d", DAYS, type="date", step=7)
    assert week.label(2, 2) == "[2024-03-28, 2024-04-04)"  # 19810 days since 1970 are 2830 weeks


def test_the_ends_of_the_calendar():
    found = ranges.build("d", ["0001-01-02", "9999-12-30"], type="date")
    assert (found.label(0, 0), found.label(1, 1)) == ("[0001-01-01, 0001-02-01)", "[9999-12-01, 9999-12-31]")
    grid = ranges.build("d", ["0001-01-02", "9999-12-31"], type="date", step=1000)
    for code, text in enumerate(grid.texts):
        assert covers(grid.label(code, code), grid.texts, "date").tolist() == [text == other for other in grid.texts]


def test_member_dates_keep_their_format():
    found = ranges.build("d", ["31.03.2024", "15.01.2024"], type="date", format="%d.%m.%Y", bounds="members")
    assert found.label(0, 1) == "[15.01.2024, 31.03.2024]"
    assert covers(found.label(0, 1), ["31.03.2024", "01.04.2024"], "date", format="%d.%m.%Y").tolist() == [True, False]


def test_regions_of_integers_tile_the_domain():
    ages = ranges.build("age", ["20", "25", "28"], bounds="region", domain=[10, 40])
    # half way: floor(45 / 2) = 22, floor(53 / 2) = 26
    assert [ages.label(code, code) for code in range(3)] == ["[10, 22]", "[23, 26]", "[27, 40]"]
    assert [ages.cost(code, code) for code in range(3)] == [Fraction(12, 30), Fraction(3, 30), Fraction(13, 30)]
    assert ages.cost(0, 2) == 1


def test_regions_of_decimals_meet_half_way():
    found = ranges.build("x", ["0", "0.5", "0.75"], type="decimal", bounds="region")
    assert [found.label(code, code) for code in range(3)] == ["[0, 0.25)", "[0.25, 0.625)", "[0.625, 0.75]"]
    assert found.cost(1, 1) == Fraction(1, 2)


def test_regions_of_dates_and_moments():
    days = ranges.build("d", DAYS, type="date", bounds="region")
    assert [days.label(code, code) for code in (0, 1)] == ["[2024-01-15, 2024-01-28]", "[2024-01-29, 2024-03-06]"]
    moments = ranges.build("d", ["2024-01-01 00:00:00", "2024-01-01 03:00:00"], type="date", bounds="region")
    assert boxes(moments) == {"[2024-01-01, 2024-01-01 01:30:00)", "[2024-01-01 01:30:00, 2024-01-01 03:00:00]"}


def test_ordinal_ranges_count_ranks():
    order = ["a", "b", "c", "d", "e"]
    found = ranges.build("x", ["d", "a", "c"], type="ordinal", order=order)
    assert (found.label(0, 1), found.cost(0, 1), found.cost(0, 2)) == ("[a, c]", Fraction(2, 4), Fraction(3, 4))
    pairs = ranges.build("x", ["d", "a", "e"], type="ordinal", order=order, bounds="snapped", step=2)
    assert (pairs.label(0, 0), pairs.label(1, 1), pairs.label(2, 2)) == ("[a, b]", "[c, d]", "e")
    assert pairs.cost(0, 2) == 1
    regions = ranges.build("x", ["a", "c"], type="ordinal", order=order, bounds="region")
    assert [regions.label(code, code) for code in (0, 1)] == ["[a, b]", "[c, e]"]


@pytest.mark.parametrize("bounds", ranges.BOUNDS)
@pytest.mark.parametrize("type_", ["integer", "decimal", "date"])
def test_degenerate_columns(bounds, type_):
    text = "2024-01-01" if type_ == "date" else "7"
    for texts in ([], [None], [text], [text, None]):
        found = ranges.build("x", texts, type=type_, bounds=bounds)
        assert found.size == len(texts)
        assert all(found.cost(code, code) == 0 for code in range(found.size))
    assert found.label(0, 0) == text
    assert found.cost(0, 1) == 1


def test_decimal_comma_parts_bounds_by_semicolons():
    found = ranges.build("x", ["0,5", "1,25"], type="decimal", decimal=",", bounds="members")
    assert found.label(0, 1) == "[0,5; 1,25]"
    assert covers(found.label(0, 1), ["0,5", "1,3"], "decimal", decimal=",").tolist() == [True, False]


def test_spellings_are_one_value():
    found = ranges.build("age", ["05", "5", "7"])
    assert found.texts == ("5", "7")
    assert found.codes() == {"5": 0, "7": 1, "05": 0}


def test_mistakes():
    with pytest.raises(PolicyError, match='no bounds "open"'):
        ranges.build("age", ["1"], bounds="open")
    with pytest.raises(PolicyError, match="a step, which goes with"):
        ranges.build("age", ["1"], step=5)
    for step in (0, "0.5", "month"):
        with pytest.raises(PolicyError, match="step of column"):
            ranges.build("age", ["1", "2"], bounds="snapped", step=step)
    with pytest.raises(PolicyError, match="ordered type"):
        ranges.build("age", ["1"], type="text")
    with pytest.raises(DataError, match="outside its domain"):
        ranges.build("age", ["1"], domain=[2, 3])
    with pytest.raises(PolicyError, match="needs its order"):
        ranges.build("x", ["a"], type="ordinal")


def test_bounds_beyond_int64():
    found = ranges.build("x", ["0", "1" + "0" * 30, "3" + "0" * 30], bounds="region")
    assert found.cost(0, 0) == Fraction(1, 6)
    assert found.label(2, 2) == f"[{2 * 10**30 + 1}, {3 * 10**30}]"
