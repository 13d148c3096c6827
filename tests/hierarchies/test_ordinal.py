from __future__ import annotations

from fractions import Fraction

import pytest

from indistinct.errors import DataError, PolicyError
from indistinct.hierarchies import identity, ordinal

pytestmark = pytest.mark.small

ORDER = ["none", "mild", "moderate", "severe", "fatal"]


def test_sizes_group_neighbours_of_the_whole_order():
    found = ordinal.build("pain", ["fatal", "mild", "moderate", None], order=ORDER, sizes=[2, 4])
    assert found.texts == ("mild", "moderate", "fatal", None)
    assert found.levels[1].labels[:3] == ("[none, mild]", "[moderate, severe]", "fatal")
    assert found.levels[2].labels[:2] == ("[none, severe]", "fatal")
    assert found.levels[1].costs == (Fraction(1, 4), Fraction(1, 4), 0, 0)
    assert found.levels[2].costs == (Fraction(3, 4), 0, 0)
    assert found.cost(0, 3) == 1


def test_listed_groups():
    groups = [[["none"], ["mild", "moderate"], ["severe", "fatal"]], [ORDER[:3], ORDER[3:]]]
    found = ordinal.build("pain", ORDER, order=ORDER, groups=groups)
    assert found.levels[1].labels == ("none", "[mild, moderate]", "[severe, fatal]")
    assert found.levels[2].labels == ("[none, moderate]", "[severe, fatal]")
    assert found.levels[2].node_of.tolist() == [0, 0, 0, 1, 1]


def test_domain_in_ranks():
    found = ordinal.build("pain", ["none", "mild"], order=ORDER, sizes=[4], domain=["none", "moderate"])
    assert found.levels[1].costs == (1,)


def test_one_value_order():
    assert ordinal.build("x", ["a"], order=["a"], sizes=[1]).levels[1].costs == (0,)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sizes": [2, 3]}, "size 3 .* must be a multiple of the size before it, 2"),
        ({"sizes": [0]}, "whole numbers from 1"),
        ({"sizes": ["1/2"]}, "whole numbers from 1"),
        ({"sizes": []}, "whole numbers from 1"),
        ({}, "either sizes or groups"),
        ({"groups": [[["none", "moderate"], ["mild", "severe", "fatal"]]]}, "must list neighbours"),
        ({"groups": [[["none", "mild"]]]}, 'leave out "moderate"'),
        ({"groups": [[ORDER, ["x"]]]}, "must list neighbours"),
        ({"groups": [[ORDER[:2], ORDER[2:]], [ORDER[:3], ORDER[3:]]]}, "level 2, cut through a group of level 1"),
    ],
)
def test_groups_that_are_none(wrong, message):
    with pytest.raises(PolicyError, match=message):
        ordinal.build("pain", ["none"], order=ORDER, **wrong)


def test_values_outside_the_order_are_errors():
    with pytest.raises(DataError, match='"huge" is not in its order'):
        ordinal.build("pain", ["huge"], order=ORDER, sizes=[2])
    with pytest.raises(PolicyError, match="needs its order"):
        ordinal.build("pain", ["none"], order=None, sizes=[2])


def test_identity_follows_the_declared_order():
    assert identity.build("pain", ["mild", "fatal", "none"], type="ordinal", order=ORDER).texts == (
        "none",
        "mild",
        "fatal",
    )
    wage = identity.build("wage", ["9", "10", "100"], type="integer")
    assert (wage.texts, wage.is_ordered, wage.is_fixed, wage.kind) == (("9", "10", "100"), True, True, "identity")
    assert identity.build("wage", ["9", "10", "100"]).texts == ("10", "100", "9")
    assert not identity.build("wage", ["9", "10"]).is_ordered
