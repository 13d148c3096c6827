"""How far a group that refuses a row refuses the rows beyond it too."""

from fractions import Fraction

import numpy as np
import pytest

from indistinct.kernels.leftovers import joins
from indistinct.models.eps_i_k_anonymity import neighbourhoods_of
from indistinct.models.numbers import Numbers

pytestmark = pytest.mark.small

VALUES = [90, 95, 98, 100, 101, 105, 106, 120, 131]
NARROW = VALUES.index(98) + 1  # 90, 95 and 98 have eps 1, the others eps 10


def asked(members, value):
    """What a group of these values answers, and how many others each member has near it."""
    numbers = Numbers("wage", np.array(VALUES), 1, np.ones(len(VALUES), np.int64), np.arange(len(VALUES)))
    interval = (np.arange(len(VALUES)) >= NARROW).astype(np.int64)
    around = neighbourhoods_of(numbers, interval, [Fraction(1), Fraction(10)])
    place = np.arange(len(VALUES))
    own = [VALUES.index(member) for member in members]
    windows = np.stack([around.low[own], around.high[own], place[own]])
    near = np.array([((place[own] >= low) & (place[own] <= high)).sum() - 1 for low, high, _ in windows.T])
    slot = VALUES.index(value)
    return joins(windows, near, len(own), around.low, around.high, place, slot, len(VALUES))


def refused_up_to(members, value):
    answer = asked(members, value)
    assert answer < 0
    return VALUES[-1 - answer]


def test_a_row_joins_where_no_risk_exceeds_one_half():
    assert asked([90, 131], 100) == 1  # 90 is near 100
    assert asked([90, 98], 101) == 1  # 98 is; 101 - 10 > 90


def test_a_row_with_most_of_the_group_near_it_is_refused_while_they_are_near():
    assert refused_up_to([90, 98], 100) == 100  # the window of 101 begins at 91
    assert refused_up_to([95, 98], 100) == 105  # that of 106 at 96
    assert refused_up_to([90, 95, 98, 131], 100) == 100  # three of five are too many


def test_a_member_with_half_of_the_group_near_it_refuses_all_rows_near_it():
    assert refused_up_to([100, 105, 120, 95], 101) == 106  # 100 has 105 and 95 near it, and reaches to 110
