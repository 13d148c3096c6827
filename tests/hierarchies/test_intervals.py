from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from indistinct.errors import DataError, HierarchyError, PolicyError
from indistinct.hierarchies import intervals
from indistinct.hierarchies.labels import covers

pytestmark = pytest.mark.small


def labels(hierarchy, level):
    return [hierarchy.levels[level].labels[node] for node in hierarchy.levels[level].node_of]


def test_a_value_on_a_boundary_opens_the_next_interval():
    ages = intervals.build("age", ["0", "9", "10", "19", "20"], widths=[10])
    assert labels(ages, 1) == ["[0, 10)", "[0, 10)", "[10, 20)", "[10, 20)", "[20, 30)"]


def test_levels_and_costs_of_integers():
    ages = intervals.build("age", ["20", "29", "30", "95"], widths=[5, 10, 20], domain=[0, 100])
    assert labels(ages, 1) == ["[20, 25)", "[25, 30)", "[30, 35)", "[95, 100)"]
    assert labels(ages, 3) == ["[20, 40)", "[20, 40)", "[20, 40)", "[80, 100)"]
    # closed bounds: 20..24 are four steps, 20..29 nine, 20..39 nineteen of the hundred of the domain
    assert [level.costs[0] for level in ages.levels] == [0, Fraction(4, 100), Fraction(9, 100), Fraction(19, 100), 1]
    assert ages.root == ages.levels[-1].labels[0] == "*"
    assert ages.height == 4


def test_costs_are_clipped_to_the_domain():
    ages = intervals.build("age", ["18", "23"], widths=[10])
    assert ages.levels[1].costs == (Fraction(1, 5), Fraction(3, 5))  # 18..19 and 20..23 of 18..23


def test_decimals_cost_their_published_bounds():
    sizes = intervals.build("x", ["0.5", "1.25", "3.5"], type="decimal", widths=["0.5", 1])
    assert labels(sizes, 1) == ["[0.5, 1)", "[1, 1.5)", "[3.5, 4)"]
    assert sizes.levels[1].costs == (Fraction(1, 6), Fraction(1, 6), 0)
    assert sizes.levels[2].costs == (Fraction(1, 6), Fraction(1, 3), Fraction(1, 6))  # [0, 1) clipped to 0.5


def test_floats_of_a_policy_are_read_exactly():
    tenths = intervals.build("x", ["0.1", "0.2", "0.3"], type="decimal", widths=[0.1])
    assert labels(tenths, 1) == ["[0.1, 0.2)", "[0.2, 0.3)", "[0.3, 0.4)"]
    halves = intervals.build("x", ["0.1", "0.7"], type="decimal", widths=[Decimal("0.5")])
    assert labels(halves, 1) == ["[0, 0.5)", "[0.5, 1)"]


def test_bottom_and_top_coding_on_every_level():
    ages = intervals.build("age", ["-3", "-1", "0", "85", "90", "104"], widths=[10, 20], bottom=0, top=90)
    for level in (1, 2):
        assert labels(ages, level)[:2] == ["<0", "<0"]
        assert labels(ages, level)[4:] == ["90+", "90+"]
    assert labels(ages, 2)[2:4] == ["[0, 20)", "[80, 90)"]  # the interval ends where the top begins
    # -3..-1 are two steps, 90..104 fourteen of the 107 from -3 to 104
    assert ages.levels[1].costs[0] == Fraction(2, 107)
    assert ages.levels[1].costs[-1] == Fraction(14, 107)


def test_tails_of_decimals():
    found = intervals.build("x", ["-0.5", "0.5", "9.5"], type="decimal", widths=[1], bottom=0, top=9)
    assert found.levels[1].labels == ("<0", "[0, 1)", "9+")
    assert found.levels[1].costs == (Fraction(1, 20), Fraction(1, 10), Fraction(1, 20))


def test_breaks_nest_and_name_values_outside():
    ages = intervals.build("age", ["20", "25", "61"], breaks=[[18, 25, 60, 100], [18, 60, 100]])
    assert labels(ages, 1) == ["[18, 25)", "[25, 60)", "[60, 100)"]
    assert labels(ages, 2) == ["[18, 60)", "[18, 60)", "[60, 100)"]
    with pytest.raises(HierarchyError, match=r'"age" holds "105" outside all intervals, which span \[18, 100\)'):
        intervals.build("age", ["20", "25", "61", "105"], breaks=[[18, 25, 60, 100]])
    with pytest.raises(HierarchyError, match='"100"'):
        intervals.build("age", ["100"], breaks=[[18, 100]])


def test_top_coding_takes_values_outside_breaks():
    ages = intervals.build("age", ["20", "25", "61", "105"], breaks=[18, 25, 60], top=60)
    assert labels(ages, 1) == ["[18, 25)", "[25, 60)", "60+", "60+"]


def test_an_interval_of_one_whole_number_is_written_as_the_value():
    ages = intervals.build("age", ["020", "21"], widths=[1, 2])
    assert labels(ages, 1) == ["020", "21"]
    assert ages.levels[1].costs == (0, 0)
    halves = intervals.build("age", ["3", "4"], widths=["2.5"])
    assert labels(halves, 1) == ["[2.5, 5)", "[2.5, 5)"]


def test_origin_shifts_the_grid_and_negative_numbers_go_down():
    years = intervals.build("year", ["1998", "2003"], widths=[10], origin=1995)
    assert labels(years, 1) == ["[1995, 2005)", "[1995, 2005)"]
    low = intervals.build("delta", ["-10", "-1", "0"], widths=[10])
    assert labels(low, 1) == ["[-10, 0)", "[-10, 0)", "[0, 10)"]


def test_decimal_comma():
    found = intervals.build("x", ["0,5", "1,25"], type="decimal", decimal=",", widths=["0.5"])
    assert labels(found, 1) == ["[0,5; 1)", "[1; 1,5)"]
    assert covers("[1; 1,5)", ["0,5", "1,25"], "decimal", decimal=",").tolist() == [False, True]


def test_missing_joins_only_the_root():
    ages = intervals.build("age", ["1", None, "2"], widths=[10])
    assert [level.node_of.tolist() for level in ages.levels] == [[0, 1, 2], [0, 0, 1], [0, 0, 0]]
    assert ages.label(2, 2) is None
    assert ages.node_label(1, 1) is None
    assert ages.label(0, 2) == "*"
    assert (ages.cost(2, 2), ages.cost(0, 1), ages.cost(0, 2)) == (0, 1, 1)


@pytest.mark.parametrize(("texts", "size"), [([], 0), ([None], 1), (["7"], 1)])
def test_degenerate_columns_cost_nothing(texts, size):
    found = intervals.build("age", texts, widths=[5], top=90)
    assert found.size == size
    assert all(cost == 0 for level in found.levels for cost in level.costs)


def test_one_value_and_missing():
    found = intervals.build("age", ["7", None], widths=[5])
    assert found.cost(0, 0) == 0
    assert found.cost(0, 1) == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"widths": [5, 12]}, "width 12 .* must be a multiple of the width before it, 5"),
        ({"widths": [5, 5]}, "must be a multiple"),
        ({"widths": [0]}, "above 0"),
        ({"widths": []}, "must not be empty"),
        ({"widths": ["a"]}, "must be a number"),
        ({}, "either widths or breaks"),
        ({"widths": [5], "breaks": [[1, 2]]}, "either widths or breaks"),
        ({"breaks": [[1, 1]]}, "ascending"),
        ({"breaks": [[1]]}, "two or more"),
        ({"breaks": [[0, 5, 10], [0, 6, 10]]}, "break 6 .* would not nest"),
        ({"widths": [5], "bottom": 9, "top": 9}, "must be below top"),
        ({"widths": ["1/3"]}, "cannot be written"),
        ({"widths": [5], "type": "text"}, "need type integer or decimal"),
    ],
)
def test_policy_mistakes(wrong, message):
    with pytest.raises(PolicyError, match=message):
        intervals.build("age", ["3", "7"], **wrong)


def test_bad_values_are_data_errors():
    with pytest.raises(DataError, match='"age" is declared integer, but "x" is not a whole number'):
        intervals.build("age", ["3", "x"], widths=[5])
    with pytest.raises(DataError, match="outside its domain"):
        intervals.build("age", ["3"], widths=[5], domain=[5, 9])


def test_bounds_beyond_int64():
    found = intervals.build("x", ["0", "1" + "0" * 30], widths=[10**29, 10**30], top=10**40)
    assert found.levels[1].labels == (f"[0, {10**29})", f"[{10**30}, {10**30 + 10**29})")
    assert found.levels[1].costs[1] == 0
