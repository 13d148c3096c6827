"""Compiled criteria against definitions in fractions, and their bounds against brute force."""

from fractions import Fraction
from itertools import product
from math import log

import numpy as np
import pytest

from indistinct.kernels import criteria
from indistinct.models import contract

pytestmark = pytest.mark.small

NO_TREE = np.zeros((0, 0), np.int32)
# four values in two groups of two, and a root: distance 1/2 inside a group, 1 across
TREE = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]], np.int32)
LOPSIDED = np.array([[0, 1, 2, 3], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]], np.int32)


def arguments(kind, parameters, counts, shares, tree=NO_TREE):
    rows = sum(counts)
    return (
        kind, np.array(parameters, float), np.array(counts, np.int64), rows, rows,
        np.array([float(share) for share in shares]), tree,
    )  # fmt: skip


def equal(p, q):
    return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2


def ordered(p, q):
    if len(p) == 1:
        return Fraction(0)
    return sum(abs(sum(p[: i + 1]) - sum(q[: i + 1])) for i in range(len(p))) / (len(p) - 1)


def hierarchical(p, q, tree):
    """Recursion over the tree: height / H times the smaller of surplus and deficit below a node."""
    height = len(tree) - 1
    total = Fraction(0)
    for level in range(1, height + 1):
        for node in set(tree[level].tolist()):
            below = {}
            for i, value in enumerate(tree[level - 1].tolist()):
                if tree[level][i] == node:
                    below[value] = below.get(value, 0) + p[i] - q[i]
            surplus = sum(x for x in below.values() if x > 0)
            deficit = -sum(x for x in below.values() if x < 0)
            total += Fraction(level, height) * min(surplus, deficit)
    return total


def shares_of(counts):
    return [Fraction(count, sum(counts)) for count in counts]


REFERENCE = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 8)]
MODELS = {
    "alpha": (criteria.ALPHA, ["2/5"], lambda c: max(shares_of(c)) <= Fraction(2, 5)),
    "alpha of one value": (criteria.ALPHA, ["1/3", 0], lambda c: shares_of(c)[0] <= Fraction(1, 3)),
    "distinct": (criteria.DISTINCT, [3], lambda c: sum(x > 0 for x in c) >= 3),
    "entropy": (criteria.ENTROPY, ["2.5"], lambda c: -sum(p * log(p) for p in shares_of(c) if p) >= log(2.5)),
    "recursive": (
        criteria.RECURSIVE,
        ["1.5", 3],
        lambda c: max(c) < Fraction(3, 2) * sum(sorted(c, reverse=True)[2:]),
    ),
    "recursive l=1": (criteria.RECURSIVE, ["0.5", 1], lambda c: 2 * max(c) < sum(c)),
    "ordered": (criteria.T_ORDERED, ["1/5"], lambda c: ordered(shares_of(c), REFERENCE) <= Fraction(1, 5)),
    "ordered, last first": (
        criteria.T_ORDERED,
        ["1/5", 1],
        lambda c: ordered(shares_of(c[-1:] + c[:-1]), REFERENCE[-1:] + REFERENCE[:-1]) <= Fraction(1, 5),
    ),
    "equal": (criteria.T_EQUAL, ["1/4"], lambda c: equal(shares_of(c), REFERENCE) <= Fraction(1, 4)),
    "tree": (
        criteria.T_HIERARCHICAL,
        ["1/5"],
        lambda c: hierarchical(shares_of(c), REFERENCE, TREE) <= Fraction(1, 5),
    ),
    "lopsided tree": (
        criteria.T_HIERARCHICAL,
        ["1/6"],
        lambda c: hierarchical(shares_of(c), REFERENCE, LOPSIDED) <= Fraction(1, 6),
    ),
}
TREES = {"tree": TREE, "lopsided tree": LOPSIDED}
HISTOGRAMS = [c for c in product(range(5), repeat=4) if sum(c)]


@pytest.mark.parametrize("name", MODELS)
def test_sign_is_the_verdict_outside_the_band(name):
    kind, parameters, holds = MODELS[name]
    numbers = [float(Fraction(p)) for p in parameters]
    for counts in HISTOGRAMS:
        value = criteria.violation(*arguments(kind, numbers, counts, REFERENCE, TREES.get(name, NO_TREE)))
        if abs(value) >= criteria.BAND:
            assert (value < 0) == holds(counts), counts


@pytest.mark.parametrize("name", MODELS)
def test_removable_never_exceeds_the_least_removal(name):
    kind, parameters, holds = MODELS[name]
    numbers = [float(Fraction(p)) for p in parameters]
    good = np.array([c for c in HISTOGRAMS if holds(c)])
    gaps = 0
    for counts in HISTOGRAMS:
        given = arguments(kind, numbers, counts, REFERENCE, TREES.get(name, NO_TREE))
        bound = criteria.removable(*given)
        inside = good[(good <= np.array(counts)).all(axis=1)]
        least = sum(counts) - int(inside.sum(axis=1).max()) if len(inside) else sum(counts)
        assert 0 <= bound <= least, counts
        assert (bound > 0) == (least > 0) or abs(criteria.violation(*given)) < criteria.BAND, counts
        gaps += least - bound
    assert gaps <= 1.2 * len(HISTOGRAMS)  # the bounds are worth having


def test_integer_criteria_are_never_undecided():
    for size, k in product(range(1, 6), range(1, 6)):
        value = criteria.violation(*arguments(criteria.K, [k], (size,), [1]))
        assert abs(value) >= 0.5
        assert (value < 0) == (size >= k)
    kind, parameters, counts, rows, _, shares, tree = arguments(criteria.DISTINCT, [2], (5, 5), [0.5, 0.5])
    assert criteria.violation(kind, parameters, counts, rows, 2, shares, tree) == -0.5
    assert criteria.violation(kind, parameters, counts, rows, 1, shares, tree) == 0.5  # one person


def test_absorbing_criteria_remove_all_or_nothing():
    assert criteria.removable(*arguments(criteria.K, [5], (1, 3), [0.5, 0.5])) == 4
    assert criteria.removable(*arguments(criteria.K, [4], (1, 3), [0.5, 0.5])) == 0
    assert criteria.removable(*arguments(criteria.DISTINCT, [3], (1, 3), [0.5, 0.5])) == 4


def test_degenerate_columns():
    assert criteria.violation(*arguments(criteria.T_ORDERED, [0.0], (4,), [1])) == 0
    assert criteria.violation(*arguments(criteria.T_HIERARCHICAL, [0.0], (4,), [1], np.zeros((1, 1), np.int32))) == 0
    assert criteria.violation(*arguments(criteria.RECURSIVE, [1e12, 3], (4, 4), [0.5, 0.5])) > 0  # l > m
    assert criteria.removable(*arguments(criteria.RECURSIVE, [1e12, 3], (4, 4), [0.5, 0.5])) >= 0
    assert criteria.removable(*arguments(criteria.T_EQUAL, [0.0], (7, 0), [0.5, 0.5])) == 7


def test_counts_near_the_limits_of_32_bits():
    big = 2**31 - 1
    assert criteria.violation(*arguments(criteria.RECURSIVE, [1.0, 2], (big, big + 1), [0.5, 0.5])) > 0
    assert criteria.removable(*arguments(criteria.RECURSIVE, [0.9, 2], (3 * big, 1), [0.5, 0.5])) == 3 * big + 1


def test_kinds_are_those_of_the_contract():
    names = ["K", "ALPHA", "DISTINCT", "ENTROPY", "RECURSIVE", "T_ORDERED", "T_EQUAL", "T_HIERARCHICAL"]
    assert [getattr(criteria, name) for name in names] == [getattr(contract, name) for name in names]
