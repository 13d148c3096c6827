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
    "recursive l=4": (
        criteria.RECURSIVE,
        ["3", 4],
        lambda c: max(c) < 3 * sum(sorted(c, reverse=True)[3:]),
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


@pytest.mark.slow
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


def value_by_definition(kind, parameters, counts, tree):
    """The table of ``criteria``, in fractions but for the logarithm."""
    rows, shares = sum(counts), shares_of(counts)
    first = Fraction(parameters[0])
    if kind == criteria.ALPHA:
        concerned = [int(code) for code in parameters[1:]] or range(len(counts))
        return max(shares[code] for code in concerned) - first
    if kind == criteria.DISTINCT:
        return first - min(sum(x > 0 for x in counts), rows) - Fraction(1, 2)
    if kind == criteria.ENTROPY:
        return log(first) + sum(p * log(p) for p in shares if p)
    if kind == criteria.RECURSIVE:
        tail = sum(sorted(counts, reverse=True)[int(parameters[1]) - 1 :])
        return (max(counts) - first * tail) / (rows * max(1, first))
    if kind == criteria.T_ORDERED:
        turn = -1 if len(parameters) > 1 and parameters[1] else 0
        return ordered(shares[turn:] + shares[:turn], REFERENCE[turn:] + REFERENCE[:turn]) - first
    return (equal(shares, REFERENCE) if kind == criteria.T_EQUAL else hierarchical(shares, REFERENCE, tree)) - first


def max_share_is(counts, numbers):
    """Whether the largest share concerned is alpha as doubles: what the model promises to be a tie."""
    concerned = [int(code) for code in numbers[1:]] or range(len(counts))
    return max(counts[code] for code in concerned) / sum(counts) == numbers[0]


@pytest.mark.parametrize("name", MODELS)
def test_value_is_that_of_the_table_and_ties_that_doubles_know_are_decided(name):
    kind, parameters, _ = MODELS[name]
    tree = TREES.get(name, NO_TREE)
    numbers = [float(Fraction(p)) for p in parameters]
    for counts in HISTOGRAMS:
        value = criteria.violation(*arguments(kind, numbers, counts, REFERENCE, tree))
        wanted = value_by_definition(kind, numbers, counts, tree)
        if kind == criteria.ALPHA and max_share_is(counts, numbers):
            assert value == -2 * criteria.BAND, counts  # not too frequent
        elif kind == criteria.RECURSIVE and wanted == 0:
            assert value == 2 * criteria.BAND, counts  # strict
        else:
            assert value == pytest.approx(float(wanted), abs=1e-12), counts


def test_equal_shares_are_decided_however_near_the_threshold():
    """An evenly spread class of d values has effective l = d: no rounding is left."""
    for length, holds in ((3.0, True), (3.0 + 1e-10, False), (3.0 - 1e-10, True)):
        for counts in ((1, 1, 1, 0), (0, 7, 7, 7)):
            value = criteria.violation(*arguments(criteria.ENTROPY, [length], counts, REFERENCE))
            assert value == (-2 if holds else 2) * criteria.BAND
    near = 3.0 * (1 + 1e-4)  # outside the band the value itself tells
    assert criteria.violation(*arguments(criteria.ENTROPY, [near], (1, 1, 1, 0), REFERENCE)) == pytest.approx(
        1e-4, rel=1e-3
    )


def test_a_tie_of_shares_is_no_violation_and_next_to_it_is_left_undecided():
    half = [0.5]
    assert criteria.violation(*arguments(criteria.ALPHA, half, (2, 1, 1, 0), REFERENCE)) == -2 * criteria.BAND
    large = 10**9
    for counts, sign in (((large + 1, large - 1, 0, 0), 1), ((large - 1, large - 1, 2, 0), -1)):
        value = criteria.violation(*arguments(criteria.ALPHA, half, counts, REFERENCE))
        assert 0 < sign * value < criteria.BAND


def test_recursion_next_to_a_tie_is_left_undecided():
    large = 10**10
    for counts, wanted in (((large + 1, large), 1), ((2 * large, large, large + 1), -1)):
        value = criteria.violation(*arguments(criteria.RECURSIVE, [1.0, 2], counts, REFERENCE))
        assert 0 < wanted * value < criteria.BAND
    assert criteria.violation(*arguments(criteria.RECURSIVE, [1.0, 2], (large, large), [0.5, 0.5])) == 2 * criteria.BAND
    assert criteria.violation(*arguments(criteria.RECURSIVE, [4.0, 2], (4, 1), [0.5, 0.5])) == 2 * criteria.BAND


# how many rows have to go, by hand: (kind, parameters, counts, least)
BY_HAND = [
    (criteria.ALPHA, [0.5], (9, 2, 1, 0), 6),  # 3 of 6 remain of the most frequent
    (criteria.ALPHA, [0.5], (4, 0, 0, 0), 4),  # one value alone is always too much
    (criteria.ALPHA, [0.25], (3, 3, 3, 3), 0),
    (criteria.ALPHA, [0.25, 1], (1, 3, 2, 0), 2),  # 1 of 4 remains of the value concerned
    (criteria.RECURSIVE, [1.0, 2], (9, 2, 1, 0), 7),  # 2 < 3
    (criteria.RECURSIVE, [2.0, 3], (9, 9, 2, 1), 8),  # below 2 (2 + 1) = 6: 5 and 5
    (criteria.RECURSIVE, [0.5, 1], (6, 3, 2, 0), 2),  # 4 of 9 are below half
    (criteria.ENTROPY, [2.0], (9, 2, 0, 0), 7),  # two of each
    (criteria.ENTROPY, [3.0], (9, 2, 0, 0), 11),  # two values never reach three
    (criteria.T_EQUAL, [0.0], (4, 3, 1, 1), 1),  # 4, 2, 1, 1 is the reference
    (criteria.T_EQUAL, [0.0], (4, 3, 1, 0), 8),
    (criteria.T_ORDERED, [0.0], (4, 3, 1, 1), 1),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "parameters", "counts", "least"), BY_HAND)
@pytest.mark.parametrize("factor", [1, 1000, 10**6])
def test_rows_to_remove_by_hand(kind, parameters, counts, least, factor):
    """The bound is never above what has to go, whatever the size of the numbers, and near it where it is known."""
    bound = criteria.removable(*arguments(kind, parameters, [count * factor for count in counts], REFERENCE))
    if kind == criteria.RECURSIVE and least and factor > 1:
        # strict: one row more per capped value goes than in proportion, or fewer by the rounding of what is kept
        rest = [count * factor for count in counts]
        tail = sum(sorted(rest, reverse=True)[parameters[1] - 1 :])
        cap = -int(-parameters[0] * tail // 1) - 1
        assert bound <= sum(max(0, count - cap) for count in rest)
    else:
        assert bound <= least * factor
    assert bound >= 0.25 * least * factor


@pytest.mark.parametrize("counts", [(1, 2, 2, 0), (2, 1, 1, 0), (1, 1, 2, 0), (0, 1, 3, 3), (3, 1, 1, 1), (2, 2, 4, 4)])
def test_entropy_of_unequal_shares_at_the_threshold_is_left_undecided(counts):
    length = 2.0 ** sum(-float(p) * log(p) / log(2) for p in shares_of(counts) if p)
    for near in (length, length * (1 + 1e-11), length * (1 - 1e-11)):
        assert abs(criteria.violation(*arguments(criteria.ENTROPY, [near], counts, REFERENCE))) < criteria.BAND
        assert criteria.removable(*arguments(criteria.ENTROPY, [near], counts, REFERENCE)) == 0
