"""Algorithms that order rows along a curve or deal them out of buckets, against their slow twins and their bounds."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indistinct as ind
import naive_curves
import naive_partition as naive
from indistinct.algorithms.curve import curve_keys, curve_order
from indistinct.algorithms.literature.sabre import buckets
from indistinct.algorithms.literature.t_closeness_first import buckets_of, least_size, rank_bound
from indistinct.hierarchies import suppression, taxonomy
from indistinct.tables.records import Reference
from naive import emd_equal, emd_ordered
from partition_tables import COLUMNS, as_sets, classes, policy_of, tables, with_sensitive

# --- the Hilbert curve -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "bits"), [(1, 3), (2, 3), (3, 2), (4, 2)])
def test_the_curve_visits_every_point_by_steps_of_one(d, bits):
    points = np.array(list(product(range(2**bits), repeat=d)))
    order = np.lexsort(curve_keys(points, bits)[::-1])
    assert (np.abs(np.diff(points[order], axis=0)).sum(axis=1) == 1).all()


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(rows=tables, k=st.sampled_from([1, 2, 3]))
def test_hilbert_cuts_the_curve_at_least_loss(area_file, rows, k):
    two = [(age, area) for age, area, _ in rows]  # on more columns curves of equal worth differ
    found = classes([(*row, "f") for row in two], policy_of(area_file, "hilbert", [ind.KAnonymity(k)]))
    if len(rows) < k:
        assert found is None
        return
    groups = [[row[:2] for row in group] for group in found]
    assert min(map(len, groups)) >= k
    along = naive_curves.curve(two, COLUMNS[:2])
    places = [sorted(along.index(row) for row in group) for group in groups]
    assert [place for group in sorted(places) for place in group] == [along.index(row) for row in along]
    assert sum(len(group) * naive.lm(group, two, COLUMNS[:2]) for group in groups) == naive_curves.hilbert(
        two, COLUMNS[:2], k
    )


def test_long_keys_are_split_into_words():
    points = np.array(list(product(range(2), repeat=3)))
    wide = np.repeat(points, 30, axis=1)  # 90 columns of one bit
    words = curve_keys(wide, 1)
    assert len(words) == 2
    assert len({tuple(word[i] for word in words) for i in range(len(wide))}) == 8


def test_columns_of_one_value_do_not_matter():
    codes = np.array([[0, 0], [2, 0], [1, 0]], np.int32)
    assert curve_order(codes, [3, 1]).tolist() == [0, 2, 1]
    assert curve_order(codes[:, 1:], [1]).tolist() == [0, 1, 2]


# --- t-closeness first, SABRE ----------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(rows=with_sensitive, k=st.sampled_from([1, 2, 3]), t=st.sampled_from(["1/10", "1/4", "1/2"]))
def test_t_closeness_first_is_its_loop(area_file, rows, k, t):
    models = [ind.KAnonymity(k), ind.TCloseness("ill", t, distance="equal")]
    found = classes(rows, policy_of(area_file, "t_closeness_first", models))
    if len(rows) < k:
        assert found is None
        return

    def holds(part):
        return len(part) >= k and naive.equal_distance(part, rows) <= Fraction(t)

    assert as_sets(found) == as_sets(naive_curves.t_closeness_first(rows, COLUMNS, t, k, holds))


@pytest.mark.parametrize(
    ("n", "k", "bound"), [(12, 3, "3/22"), (12, 4, "1/11"), (10, 2, "2/9"), (15, 3, "1/7"), (9, 3, "1/8")]
)
def test_the_bound_of_buckets_is_attained(n, k, bound):
    bucket = buckets_of(n, k)
    choices = [np.flatnonzero(bucket == b).tolist() for b in range(k)]
    worst = max(rank_distance(chosen, n) for chosen in product(*choices))
    assert worst == rank_bound(n, k) == Fraction(bound)


def rank_distance(chosen, n):
    """Ordered distance of some ranks from all ranks, by its definition."""
    total, below = Fraction(0), Fraction(0)
    for rank in range(n - 1):
        below += Fraction(chosen.count(rank), len(chosen)) - Fraction(1, n)
        total += abs(below)
    return total / (n - 1)


def test_the_size_for_t_leaves_few_rows_over():
    for n, k in product(range(2, 60), range(1, 8)):
        size = least_size(n, Fraction(1, 10), min(k, n))
        assert rank_bound(n, size) <= Fraction(1, 10) or size == n
        assert n % size <= n // size


ORDERED = {"type": "ordinal", "order": ["x", "y", "z"]}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(rows=with_sensitive, k=st.sampled_from([1, 2, 3]), t=st.sampled_from(["1/10", "1/4", "1/2"]))
@pytest.mark.parametrize("distance", ["equal", "ordered"])
def test_sabre_is_its_two_phases(distance, area_file, rows, k, t):
    two = [(age, area, "f", ill) for age, area, _, ill in rows]
    models = [ind.KAnonymity(k), ind.TCloseness("ill", t, distance=distance)]
    found = classes(two, policy_of(area_file, "sabre", models, ill=ORDERED if distance == "ordered" else None))
    if len(rows) < k:
        assert found is None
        return
    histogram = Counter(row[-1] for row in rows)
    shares = {value: Fraction(histogram[value], len(rows)) for value in "xyz" if histogram[value]}
    buckets = naive_curves.sabre_buckets(shares, distance, Fraction(t))
    emd = (lambda ours: emd_equal(ours, histogram)) if distance == "equal" else (
        lambda ours: emd_ordered(ours, histogram, list(shares)))  # fmt: skip

    def holds(part):
        return len(part) >= k and emd(Counter(row[-1] for row in part)) <= Fraction(t)

    # on more columns curves of equal worth differ
    expected = naive_curves.sabre([(age, area, ill) for age, area, _, ill in two], COLUMNS[:2], buckets, holds)
    assert as_sets([[(*row[:2], row[3]) for row in group] for group in found]) == as_sets(expected)


def test_buckets_of_the_specification():
    # shares 1/2, 1/4, 1/6, 1/12: {a}, {b, c, d} may be wrong about 1/2 - 1/12 = 5/12
    values = suppression.build("s", ["a", "b", "c", "d"])
    counts = np.array([6, 3, 2, 1])
    assert buckets(Reference(values, counts, 12), "equal", Fraction(5, 12)) == [(0, 0), (1, 3)]
    assert buckets(Reference(values, counts, 12), "equal", Fraction(1)) == [(0, 3)]
    assert buckets(Reference(values, counts, 12), "equal", Fraction(0)) == [(0, 0), (1, 1), (2, 2), (3, 3)]


@pytest.mark.slow
@given(
    counts=st.lists(st.integers(1, 9), min_size=2, max_size=7),
    t=st.sampled_from([Fraction(0), Fraction(1, 9), Fraction(1, 4), Fraction(1, 2)]),
    distance=st.sampled_from(["equal", "ordered"]),
)
def test_classes_in_proportion_to_buckets_stay_within_t(counts, t, distance):
    values = suppression.build("s", [str(at) for at in range(len(counts))])
    found = buckets(Reference(values, np.array(counts), sum(counts)), distance, t)
    assert [code for lo, hi in found for code in range(lo, hi + 1)] == list(range(len(counts)))
    shares = [Fraction(count, sum(counts)) for count in counts]
    for chosen in product(*[range(lo, hi + 1) for lo, hi in found]):
        taken = [Fraction(0)] * len(counts)
        for code, (lo, hi) in zip(chosen, found, strict=True):  # the whole mass of a bucket on one value
            taken[code] += sum(shares[lo : hi + 1])
        gaps = [ours - theirs for ours, theirs in zip(taken, shares, strict=True)]
        if distance == "equal":
            assert sum(gap for gap in gaps if gap > 0) <= t
        else:
            assert sum(abs(sum(gaps[: at + 1])) for at in range(len(gaps) - 1)) / (len(gaps) - 1) <= t


ILLNESSES = {
    "a": ("a", "u", "x", "*"), "b": ("b", "u", "x", "*"), "c": ("c", "v", "x", "*"), "d": ("d", "w", "y", "*"),
    "e": ("e", "w", "y", "*"),
}  # fmt: skip


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    counts=st.lists(st.integers(1, 9), min_size=5, max_size=5),
    t=st.sampled_from([Fraction(0), Fraction(1, 9), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]),
    distance=st.sampled_from(["equal", "ordered", "hierarchical"]),
    levels=st.booleans(),
)
def test_buckets_are_their_loop(counts, t, distance, levels):
    tree = ILLNESSES if levels or distance == "hierarchical" else None
    values = taxonomy.build("s", list(tree), list(tree.values())) if tree else suppression.build("s", list(ILLNESSES))
    found = buckets(Reference(values, np.array(counts), sum(counts)), distance, t)
    shares = {value: Fraction(count, sum(counts)) for value, count in zip(ILLNESSES, counts, strict=True)}
    expected = naive_curves.sabre_buckets(shares, distance, t, tree)
    assert [list(ILLNESSES)[lo : hi + 1] for lo, hi in found] == expected


def test_buckets_follow_a_tree():
    tree = taxonomy.build(
        "s", ["a", "b", "c", "d"], [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*")]
    )
    reference = Reference(tree, np.array([1, 1, 1, 1]), 4)
    assert buckets(reference, "hierarchical", Fraction(1, 2)) == [(0, 1), (2, 3)]
    assert buckets(reference, "hierarchical", Fraction(1, 4)) == [(0, 0), (1, 1), (2, 3)]
