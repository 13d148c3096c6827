"""Tests on dense class histograms: the compiled judge of each criterion with its arguments bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.models.contract import DISTINCT, ENTROPY, RECURSIVE, T_EQUAL, T_HIERARCHICAL, T_ORDERED

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

_COUNTS = np.arange(4096, dtype=np.float64)
_LOGARITHMS = _COUNTS * np.log(np.maximum(_COUNTS, 1.0))  # c ln c of small counts


def dense_test(criterion: Criterion, columns: tuple[int, int], k: int) -> DenseTest:
    """Bind a criterion to the columns ``first:last`` of its attribute and to the size condition ``k``.

    The test takes a table and the arrays ``lost``, ``least`` and ``undecided`` of ``kernels.judges`` and returns the
    number of undecided classes; a criterion that is not merge-closed leaves ``least`` alone.
    """
    call, own = _judge(criterion, columns[1] - columns[0])

    def test(table: Table, lost: Int64, least: Int64, undecided: Int8) -> int:
        bound = least if criterion.merge_closed else least.copy()
        return call(*own, k, table.counts, *columns, table.rows, table.sizes, lost, bound, undecided)

    return test


def _judge(criterion: Criterion, values: int) -> tuple[Callable[..., int], tuple[object, ...]]:
    """Return the kernel of a criterion and the arguments that are its own."""
    from indistinct.kernels import judges

    parameters = criterion.parameters
    if criterion.kind == DISTINCT:
        return judges.judge_distinct, (int(parameters[0]),)
    if criterion.kind == RECURSIVE:
        return judges.judge_recursive, (float(parameters[0]), int(parameters[1]))
    if criterion.kind == ENTROPY:
        length = float(parameters[0])
        return judges.judge_entropy, (length, _LOGARITHMS, judges.cap_ratios(length, values))
    if criterion.kind in {T_EQUAL, T_ORDERED, T_HIERARCHICAL} and values > 1:
        return judges.judge_distance, _distance(criterion)
    return judges.judge, (criterion.kind, parameters, criterion.shares, criterion.tree)


def _distance(criterion: Criterion) -> tuple[object, ...]:
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
    return float(criterion.parameters[0]), ordered, order, parent, np.ascontiguousarray(masses), sets


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
