from __future__ import annotations

from fractions import Fraction

import pytest

from indistinct.errors import HierarchyError, PolicyError
from indistinct.hierarchies import masking, suppression

pytestmark = pytest.mark.small


def test_each_level_hides_one_more_character_and_zeros_stay():
    found = masking.build("zip", ["02138", "02139", "02141", "10115"])
    assert found.levels[1].labels == ("0213*", "0214*", "1011*")
    assert found.levels[2].labels == ("021**", "101**")
    assert found.levels[4].labels == ("0****", "1****")
    assert found.levels[5].labels == ("*",)
    assert found.height == 5
    assert found.levels[1].costs == (Fraction(1, 3), 0, 0)
    assert found.levels[2].costs == (Fraction(2, 3), 0)
    assert found.levels[5].costs == (1,)


def test_from_the_left():
    found = masking.build("code", ["1A", "2A", "1B"], side="left", character="#")
    assert found.texts == ("1A", "2A", "1B")
    assert found.levels[1].labels == ("#A", "#B")


def test_values_of_different_length():
    found = masking.build("code", ["abc", "ab", "abd", "xy"])
    assert found.texts == ("ab", "xy", "abc", "abd")
    assert found.levels[1].labels == ("a*", "x*", "ab*")
    assert found.levels[2].labels == ("**", "a**")
    assert found.levels[2].node_of.tolist() == [0, 0, 1, 1]
    assert found.height == 3


def test_missing_counts_as_a_value():
    found = masking.build("zip", ["11", "12", None])
    assert found.levels[1].costs == (Fraction(1, 2), 0)
    assert found.levels[1].node_of.tolist() == [0, 0, 1]
    assert found.label(0, 2) == "*"


def test_degenerate_columns():
    assert masking.build("zip", []).height == 1
    assert masking.build("zip", [None]).cost(0, 0) == 0
    assert masking.build("zip", ["12"]).levels[2].costs == (0,)
    assert masking.build("zip", ["", "12"]).levels[1].labels == ("", "1*")
    assert masking.build("zip", ["a", "b"]).levels[1].labels == ("*",)
    assert masking.build("zip", ["*"]).height == 1


@pytest.mark.parametrize(
    ("texts", "character"),
    [(["1*", "12", "13"], "*"), (["*", "a"], "*"), (["1#", "12"], "#"), (["*", "ab"], "#")],
)
def test_one_label_for_two_sets_is_refused(texts, character):
    with pytest.raises(HierarchyError, match=r'masking of column "code": the label "[*#1]+" would stand'):
        masking.build("code", texts, character=character)


def test_another_character_helps():
    assert masking.build("code", ["5", "12"], character="#").levels[1].labels == ("#", "1#")


def test_mistakes():
    with pytest.raises(PolicyError, match='goes from "right" or "left"'):
        masking.build("zip", ["1"], side="middle")
    with pytest.raises(PolicyError, match="needs one character"):
        masking.build("zip", ["1"], character="**")


def test_suppression_is_the_value_or_everything():
    found = suppression.build("religion", ["b", None, "a"])
    assert found.texts == ("a", "b", None)
    assert (found.label(0, 0), found.label(0, 1), found.label(0, 2), found.label(2, 2)) == ("a", "*", "*", None)
    assert (found.cost(0, 0), found.cost(0, 1), found.height) == (0, 1, 1)
    assert suppression.build("x", ["a"]).levels[1].costs == (0,)
    assert suppression.build("n", ["10", "9"], type="integer").texts == ("9", "10")
    with pytest.raises(HierarchyError, match=r'holds the value "\*"'):
        suppression.build("x", ["a", "*"])
