"""The sparse criteria of the searches against the dense ones, which the exact models are tested with."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from indistinct.algorithms.local.guards import absorbing, guards_of
from indistinct.kernels import criteria
from indistinct.kernels.criteria import BAND, violation
from indistinct.kernels.guards import KIND, scratch_of, shortfall, shortfalls
from indistinct.kernels.units import units_of
from indistinct.models.contract import Criterion

pytestmark = pytest.mark.small

NOTHING = np.zeros(0)
NO_TREE = np.zeros((0, 0), np.int32)


def seeded(seed):
    return Random(seed)  # noqa: S311  # the same instances every time


def units_with(values, counts=None):
    """Units of one sensitive value each."""
    values = np.asarray(values, np.int32).reshape(len(values), -1)
    n = len(values)
    counts = np.ones(n, np.int64) if counts is None else np.asarray(counts, np.int64)
    mass = np.stack([counts, counts], axis=1)
    return units_of(np.zeros((n, 8), np.int32), mass, np.arange(n + 1, dtype=np.int64), values, counts)


def criterion(kind, *parameters, shares=NOTHING, tree=NO_TREE):
    return Criterion(kind, "s", np.array(parameters, np.float64), True, False, shares, tree)  # noqa: FBT003


def tree_of(random, m):
    levels = [np.arange(m)]
    while levels[-1].max() > 0:
        below = levels[-1]
        node, merged = 0, [0]
        for value in range(1, m):
            if below[value] != below[value - 1] and random.random() < 0.4:
                node += 1
            merged.append(node)
        if len(levels) == 4:
            merged = [0] * m
        levels.append(np.array(merged))
    return np.stack(levels).astype(np.int32)


def instance(random, kind, m):
    shares = np.array([random.randint(1, 9) for _ in range(m)], np.float64)
    shares /= shares.sum()
    t = random.choice([0.0, 0.1, 0.3, 0.6])
    return {
        "alpha": lambda: criterion(criteria.ALPHA, random.choice([0.3, 0.5]), shares=NOTHING),
        "alpha of some": lambda: criterion(criteria.ALPHA, 0.4, 0, m - 1, shares=NOTHING),
        "distinct": lambda: criterion(criteria.DISTINCT, random.randint(1, 4)),
        "entropy": lambda: criterion(criteria.ENTROPY, random.choice([1.5, 2, 3])),
        "recursive": lambda: criterion(criteria.RECURSIVE, random.choice([0.5, 2, 4]), random.randint(1, 4)),
        "equal": lambda: criterion(criteria.T_EQUAL, t, shares=shares),
        "ordered": lambda: criterion(criteria.T_ORDERED, t, shares=shares),
        "last first": lambda: criterion(criteria.T_ORDERED, t, 1, shares=shares),
        "hierarchical": lambda: criterion(criteria.T_HIERARCHICAL, t, shares=shares, tree=tree_of(random, m)),
    }[kind]()


KINDS = ("alpha", "alpha of some", "distinct", "entropy", "recursive")
DISTANCES = ("equal", "hierarchical", "ordered", "last first")


@pytest.mark.parametrize("kind", [*KINDS, *DISTANCES])
def test_same_verdicts_as_the_dense_form(kind):
    for seed in range(60):
        random = seeded(seed)
        m = random.choice([1, 2, 3, 8, 40])
        one = instance(random, kind, m)
        guards = guards_of([one], ["s"], [m])
        values = [random.randrange(m) for _ in range(random.choice([1, 2, 5, 30]))]
        units = units_with(values)
        scratch = scratch_of(guards, len(values))
        short = shortfall(units, guards, np.arange(len(values), dtype=np.int32), scratch)
        dense = np.bincount(values, minlength=m).astype(np.int64)
        rows = len(values)
        v = violation(one.kind, one.parameters, dense, rows, rows, one.shares, one.tree)
        assert not scratch.bins.any()  # left clean for the next
        if abs(v) > 2 * BAND:
            assert (short > 0) == (v > 0), (seed, v, short)
        if v > 2 * BAND and kind in {*DISTANCES, "alpha", "entropy"}:
            assert short == pytest.approx(v, abs=1e-9)


def test_equality_follows_the_definitions():
    scratch_ids = np.arange(4, dtype=np.int32)

    def short(one, values, m):
        guards = guards_of([one], ["s"], [m])
        return shortfall(units_with(values), guards, scratch_ids[: len(values)], scratch_of(guards, 4))

    # alpha and t allow equality, recursive does not; uniform values have exactly their number as entropy l
    assert short(criterion(criteria.ALPHA, 0.5), [0, 0, 1, 1], 2) == 0
    assert short(criterion(criteria.T_EQUAL, 0.5, shares=np.array([0.5, 0.5])), [0, 0], 2) == 0
    assert short(criterion(criteria.RECURSIVE, 1, 2), [0, 0, 1, 1], 2) > 0
    assert short(criterion(criteria.RECURSIVE, 1.1, 2), [0, 0, 1, 1], 2) == 0
    assert short(criterion(criteria.ENTROPY, 3), [0, 1, 2], 3) == 0
    assert short(criterion(criteria.ENTROPY, 3), [0, 1, 2, 2], 3) > 0


def test_several_criteria_and_columns_add_up():
    values = np.array([[0, 0], [0, 1], [1, 1]], np.int32)
    one = criterion(criteria.DISTINCT, 3)
    other = Criterion(criteria.ALPHA, "r", np.array([0.5]), True, False)  # noqa: FBT003
    recursive = criterion(criteria.RECURSIVE, 3, 2)
    guards = guards_of([recursive, one, other], ["s", "r"], [2, 2])
    ids = np.arange(3, dtype=np.int32)
    units, scratch = units_with(values), scratch_of(guards, 3)
    # s has counts 2, 1: one of three values is missing; r has counts 1, 2: 2/3 exceeds 1/2; 2 < 3 * 1 holds
    assert shortfall(units, guards, ids, scratch) == pytest.approx(1 / 3 + (2 / 3 - 1 / 2))
    kept = absorbing(guards)
    assert kept.spec[:, KIND].tolist() == [criteria.DISTINCT]
    assert shortfall(units, kept, ids, scratch) == pytest.approx(1 / 3)
    result = np.empty(2)
    shortfalls(units, kept, ids, np.array([[0, 1], [0, 3]]), result, scratch)
    assert result.tolist() == pytest.approx([2 / 3, 1 / 3])


def test_large_domains_cost_their_members_only():
    m = 200_000
    shares = np.full(m, 1 / m)
    guards = guards_of([criterion(criteria.T_ORDERED, 0.1, shares=shares)], ["s"], [m])
    values = [m // 4, 3 * m // 4]
    units, scratch = units_with(values), scratch_of(guards, 2)
    # two points at the quarters of a uniform distribution: area 4 * (1/4)^2 / 2 = 1/8
    assert shortfall(units, guards, np.arange(2, dtype=np.int32), scratch) == pytest.approx(1 / 8 - 0.1, abs=1e-4)
    assert not scratch.bins.any()
