"""m-invariance generalization on counts: division, balancing, assignment, split, against the definitions."""

from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_invariance as naive
from indistinct.algorithms.balanced_split import Places, box_costs
from indistinct.algorithms.eligibility import most_groups, postponed, spared
from indistinct.algorithms.m_invariance import m_invariance
from indistinct.algorithms.rematching import MOST, rematched
from indistinct.errors import InfeasibleError
from indistinct.hierarchies import build_hierarchy
from indistinct.policy import Policy
from indistinct.tables.count import frequencies_of, silent
from indistinct.tables.records import Signatures

VALUES = "abcd"
COUNTS = st.lists(st.integers(0, 6), min_size=1, max_size=4)


@pytest.mark.slow
@pytest.mark.small
@given(COUNTS, st.integers(2, 3))
def test_the_fewest_wait(counts, m):
    assert int(postponed(np.array(counts), m).sum()) == naive.can_wait(counts, m)
    eligible = max(counts) * m <= sum(counts)
    assert (naive.can_wait(counts, m) == 0) is eligible  # m-eligible: no value has a share above 1 / m
    assert most_groups(np.array(counts), m) * m <= sum(counts)


@pytest.mark.slow
@pytest.mark.small
@given(COUNTS, st.integers(2, 3), st.integers(0, 3), st.integers(0, 8))
def test_as_many_are_taken_as_leave_the_fewest_behind(counts, m, value, wanted):
    value %= len(counts)
    left = [
        naive.can_wait([c - t * (v == value) for v, c in enumerate(counts)], m)
        for t in range(min(wanted, counts[value]) + 1)
    ]
    best = max(t for t, waiting in enumerate(left) if waiting == min(left))
    assert spared(np.array(counts), value, wanted, m) == best


def counted(people, signatures):
    """Frequencies of people (age, value, number of the signature or -1)."""
    age = build_hierarchy("age", [str(n) for n in range(10)], spec={"kind": "range"}, type="integer")
    ill = build_hierarchy("ill", list(VALUES), spec=None)
    cells = sorted(Counter(people).items())
    codes = np.array([[a, VALUES.index(v)] for (a, v, _), _ in cells], np.int32)
    found = frequencies_of((age,), (ill,), codes, np.array([number for _, number in cells]))
    start = np.cumsum([0, *map(len, signatures)])
    value = np.array([VALUES.index(v) for s in signatures for v in s], np.int32)
    told = Signatures(np.array([s for (_, _, s), _ in cells], np.int32), start, value)
    return type(found)(found.quasi, found.sensitive, found.codes, found.rows, found.start, found.references,
                       signatures=told)  # fmt: skip


def policy(m, limit):
    return Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}},
            "ill": {"role": "sensitive"},
        },
        privacy=[{"model": "m_invariance", "attribute": "ill", "m": m}],
        suppression={"limit": limit},
        person={"key": "id"},
    )


SIGNATURES = ("ab", "abc", "cd")
OLD = st.tuples(st.integers(0, 9), st.sampled_from(["a0", "b0", "a1", "b1", "c1", "c2", "d2"]))
NEW = st.tuples(st.integers(0, 9), st.sampled_from(VALUES))


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.lists(OLD, max_size=12), st.lists(NEW, max_size=12))
def test_groups_are_unique_and_keep_signatures(old, new):
    people = [(age, which[0], int(which[1])) for age, which in old] + [(age, value, -1) for age, value in new]
    if not people:
        return
    frequencies = counted(people, SIGNATURES)
    try:
        found = m_invariance(frequencies, policy(2, 1), silent)
    except InfeasibleError:
        assert not old  # with everybody waiting nothing would be left; somebody with a signature never waits
        assert naive.can_wait(Counter(v for _, v in new).values(), 2) == len(new)
        return
    cells = sorted(Counter(people))
    groups = [[] for _ in range(found.classes)]
    waiting = []
    for cell, count, group in zip(found.cell.tolist(), found.count.tolist(), found.class_of.tolist(), strict=True):
        (waiting if group < 0 else groups[group]).extend([cells[cell]] * count)
    assert Counter(one for group in [*groups, waiting] for one in group) == Counter(people)
    assert all(signature == -1 for _, _, signature in waiting)
    assert found.reasons.get("postponed", 0) == len(waiting)
    fakes = [[] for _ in groups]
    for group, code in found.counterfeits.tolist():
        fakes[group].append(VALUES[code])
    for group, added in zip(groups, fakes, strict=True):
        assert group  # no group is nobody's
        values = sorted([value for _, value, _ in group] + added)
        assert len(set(values)) == len(values) >= 2
        assert {"".join(values)} >= {SIGNATURES[s] for _, _, s in group if s >= 0}
    # a bucket is as high as the value that most of its persons have: not one counterfeit more than that
    needed = 0
    for number, signature in enumerate(SIGNATURES):
        held = Counter(value for _, value, s in people if s == number)
        needed += max(held.values(), default=0) * len(signature) - held.total()
    fillers = sum(s == -1 for group in groups for _, _, s in group if any(t >= 0 for _, _, t in group))
    assert len(found.counterfeits) <= needed
    assert len(found.counterfeits) + fillers >= needed


def test_no_counterfeit_and_nobody_waits_where_newcomers_are_eligible():
    people = [(age, value, -1) for age, value in product(range(5), "abc")]
    found = m_invariance(counted(people, ()), policy(3, 0), silent)
    assert (found.classes, len(found.counterfeits), found.reasons) == (5, 0, {})


def test_a_bucket_is_split_by_nearness():
    people = [(0, "a", 0), (9, "a", 0), (1, "b", 0), (8, "b", 0)]
    found = m_invariance(counted(people, ("ab",)), policy(2, 0), silent)
    group = dict(zip(found.cell.tolist(), found.class_of.tolist(), strict=True))
    cells = sorted(people)
    ages = {frozenset(cells[c][0] for c in group if group[c] == g) for g in range(found.classes)}
    assert ages == {frozenset({0, 1}), frozenset({8, 9})}


@pytest.mark.small
@pytest.mark.parametrize("spec", [{"kind": "range"}, {"kind": "suppress"}, {"kind": "intervals", "widths": [2, 6]}])
def test_costs_of_boxes_are_those_of_the_hierarchy(spec):
    texts = ["0", "1", "4", "9", None]
    hierarchy = build_hierarchy("age", texts, spec=spec, type="integer")
    pairs = [(lo, hi) for lo in range(5) for hi in range(lo, 5)]
    found = box_costs(hierarchy, *np.array(pairs, np.int32).T)
    assert found.tolist() == pytest.approx([float(hierarchy.cost(lo, hi)) for lo, hi in pairs])


RANGE = build_hierarchy("age", [str(n) for n in range(10)], spec={"kind": "range"}, type="integer")


def width(ages):
    return max(ages, default=0) - min(ages, default=0)


def widths(places, group):
    """Widths of the ranges of ages of all groups, counterfeits left out."""
    ages = [[] for _ in range(group.max() + 1)]
    for own, row, code in zip(group.tolist(), places.row.tolist(), places.codes[:, 0].tolist(), strict=True):
        if row >= 0:
            ages[own].append(code)
    return sum(map(width, ages))


def dealt(buckets):
    """Places of buckets, each a list of groups of (value, age, is a newcomer); an age of None is a counterfeit's."""
    found = [
        (bucket, number, value, age, free)
        for bucket, groups in enumerate(buckets)
        for number, group in enumerate(groups)
        for value, age, free in group
    ]
    begin = np.cumsum([0, *map(len, buckets)])
    bucket = np.array([one[0] for one in found])
    places = Places(
        np.array([-1 if one[3] is None else i for i, one in enumerate(found)]),
        bucket,
        np.array([one[2] for one in found]),
        np.array([[one[3] or 0] for one in found], np.int32),
        (RANGE,),
        np.array(list(map(len, buckets))),
    )
    group = np.array([begin[b] + number for b, number, *_ in found])
    return places, group, np.array([one[4] and one[3] is not None for one in found])


AGE = st.integers(0, 9)
PAIR = st.tuples(
    st.tuples(st.just(0), AGE, st.booleans()), st.tuples(st.just(1), st.one_of(st.none(), AGE), st.booleans())
)


@pytest.mark.slow
@pytest.mark.small
@settings(deadline=None)
@given(st.lists(st.lists(PAIR, min_size=1, max_size=4), min_size=1, max_size=3))
def test_rows_change_places_at_a_gain_only_and_stay_where_they_have_to(buckets):
    places, group, free = dealt(buckets)
    found = rematched(places, group, free)
    assert widths(places, found) <= widths(places, group)
    assert sorted(zip(found.tolist(), places.value.tolist(), strict=True)) == sorted(
        zip(group.tolist(), places.value.tolist(), strict=True)
    )
    bucket_of = dict(zip(group.tolist(), places.bucket.tolist(), strict=True))
    stays = ~free
    assert [bucket_of[g] for g in found[stays].tolist()] == places.bucket[stays].tolist()


@pytest.mark.slow
@pytest.mark.small
@settings(deadline=None)
@given(st.lists(st.tuples(AGE, AGE), min_size=2, max_size=5))
def test_two_values_are_matched_at_the_least_loss_there_is(ages):
    places, group, free = dealt([[((0, first, False), (1, second, False)) for first, second in ages]])
    least = min(
        sum(abs(first - second) for (first, _), second in zip(ages, order, strict=True))
        for order in permutations([second for _, second in ages])
    )
    assert widths(places, rematched(places, group, free)) == least


def test_large_buckets_are_matched_in_windows():
    ages = [(i % 10, (i + 5) % 10) for i in range(3 * MOST)]
    places, group, free = dealt([[((0, first, False), (1, second, False)) for first, second in ages]])
    found = rematched(places, group, free)
    assert widths(places, group) == 15 * MOST
    assert widths(places, found) < 15 * MOST / 10
