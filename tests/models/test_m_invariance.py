"""The checks of m-invariance: groups, signatures, and what an attacker can intersect."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct.errors import DataError
from indistinct.models.m_invariance import candidates, is_m_invariant, is_m_unique, same_signature, signatures

FIRST = [[("Bob", "dyspepsia"), ("Ann", "bronchitis")], [("Cat", "flu"), ("Dan", "gastritis")]]
SECOND = [[("Bob", "dyspepsia"), ("Dan", "gastritis")], [("Cat", "flu"), (None, "gastritis")]]


def test_an_intersection_discloses():
    assert is_m_unique(FIRST, 2)
    assert is_m_unique(SECOND, 2)
    assert same_signature([FIRST, SECOND]) == {"Bob": False, "Cat": True, "Dan": False}
    assert not is_m_invariant([FIRST, SECOND], 2)
    assert candidates([FIRST, SECOND])["Bob"] == {"dyspepsia"}
    assert is_m_invariant([FIRST], 2)
    assert not is_m_invariant([FIRST], 3)


def test_a_signature_is_kept_after_an_absence():
    assert same_signature([FIRST, [[("Eve", "flu"), (None, "gastritis")]], SECOND])["Bob"] is False


def test_equal_values_and_empty_releases_are_not_unique():
    assert not is_m_unique([[("Bob", "flu"), ("Ann", "flu")]], 2)
    assert not is_m_unique([], 2)


def test_what_is_outside_the_model_is_an_error():
    with pytest.raises(DataError, match="two rows"):
        signatures([[("Bob", "flu")], [("Bob", "gastritis")]])
    with pytest.raises(DataError, match="value of a person changes"):
        same_signature([FIRST, [[("Bob", "flu"), (None, "dyspepsia")]]])


@pytest.mark.slow
@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=2, max_size=4, unique=True), min_size=1, max_size=4))
def test_invariant_sequences_leave_m_candidates(groups):
    release = [[(f"{number}{value}", value) for value in group] for number, group in enumerate(groups)]
    m = min(map(len, groups))
    assert is_m_invariant([release, release[::-1]], m)
    assert all(len(values) >= m for values in candidates([release, release]).values())
