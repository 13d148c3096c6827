"""Tests on dense class histograms: the compiled judge of each criterion with its arguments bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.models.contract import ENTROPY, T_EQUAL, T_HIERARCHICAL, T_ORDERED

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from indistinct.algorithms.full_domain.tables import Table
    from indistinct.models.contract import Criterion

    Int8 = NDArray[np.int8]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]
    DenseTest = Callable[[Table, Int64, Int64, Int8], int]

LOGARITHMS = 4096  # counts whose c ln c is looked up


def dense_test(criterion: Criterion, columns: tuple[int, int], k: int) -> DenseTest:
    """Bind a criterion to the columns ``first:last`` of its attribute and to the size condition ``k``.

    The test takes a table and the arrays ``lost``, ``least`` and ``undecided`` of ``kernels.judges`` and returns the
    number of undecided classes; a criterion that is not merge-closed leaves ``least`` alone.
    """
    if criterion.kind == ENTROPY:
        test = _entropy(criterion, columns, k)
    elif criterion.kind in {T_EQUAL, T_ORDERED, T_HIERARCHICAL} and len(criterion.shares) > 1:
        test = _distance(criterion, columns, k)
    else:
        test = _any(criterion, columns, k)
    if criterion.merge_closed:
        return test
    return lambda table, lost, least, undecided: test(table, lost, least.copy(), undecided)


def _any(criterion: Criterion, columns: tuple[int, int], k: int) -> DenseTest:
    from indistinct.kernels.judges import judge

    own = (criterion.kind, criterion.parameters, criterion.shares, criterion.tree, k)

    def test(table: Table, lost: Int64, least: Int64, undecided: Int8) -> int:
        return judge(*own, table.counts, *columns, table.rows, table.sizes, lost, least, undecided)

    return test


def _entropy(criterion: Criterion, columns: tuple[int, int], k: int) -> DenseTest:
    from indistinct.kernels.judges import cap_ratios, judge_entropy

    length = float(criterion.parameters[0])
    counts = np.arange(LOGARITHMS, dtype=np.float64)
    logarithms = counts * np.log(np.maximum(counts, 1.0))
    own = (length, logarithms, cap_ratios(length, columns[1] - columns[0]), k)

    def test(table: Table, lost: Int64, least: Int64, undecided: Int8) -> int:
        return judge_entropy(*own, table.counts, *columns, table.rows, lost, least, undecided)

    return test


def _distance(criterion: Criterion, columns: tuple[int, int], k: int) -> DenseTest:
    from indistinct.kernels.judges import judge_distance

    shares = criterion.shares
    ordered = criterion.kind == T_ORDERED
    order = np.arange(len(shares), dtype=np.int32)
    parent = np.full(len(shares), -1, np.int32)
    masses, sets = shares, 1
    if ordered:
        if len(criterion.parameters) > 1 and criterion.parameters[1] > 0:
            order = np.roll(order, 1)
        below = np.cumsum(shares[order])[:-1]
        masses, sets = np.column_stack([below, 1.0 - below]).reshape(-1), len(shares) - 1
    elif criterion.kind == T_HIERARCHICAL:
        parent, masses, sets = _groups(criterion.tree, shares)
    own = (float(criterion.parameters[0]), ordered, order, parent, np.ascontiguousarray(masses), sets, k)

    def test(table: Table, lost: Int64, least: Int64, undecided: Int8) -> int:
        return judge_distance(*own, table.counts, *columns, table.rows, lost, least, undecided)

    return test


def _groups(tree: Int32, shares: Float64) -> tuple[Int32, Float64, int]:
    """Parents and masses of the nodes below the root, height by height, and the number of heights."""
    heights = tree[:-1]
    offsets = np.cumsum([0, *(int(nodes.max()) + 1 for nodes in heights)])
    parent = np.full(int(offsets[-1]), -1, np.int32)
    masses = np.zeros(int(offsets[-1]))
    for height, nodes in enumerate(heights):
        np.add.at(masses, offsets[height] + nodes, shares)
        if height + 1 < len(heights):
            parent[offsets[height] + nodes] = offsets[height + 1] + heights[height + 1]
    return parent, masses, len(heights)
