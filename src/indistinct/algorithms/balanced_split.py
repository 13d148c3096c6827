"""The split of m-invariance: a bucket with equally many rows of each value into groups of one row of each.

Buckets are halved, and halves again: along the quasi-identifier for which the ranges of both halves are smallest, with
every value divided alike. Counterfeits have no quasi-identifiers; they stand beside some row of their bucket and widen
no range.

Source: X. Xiao, Y. Tao, SIGMOD 2007, 689-700, doi:10.1145/1247480.1247556.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.local.costs import prices
from indistinct.tables.order import lexicographic_order, run_starts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class Places:
    """One place for each row of each bucket: ``row`` (-1: a counterfeit), ``bucket``, ``value`` int64[p].

    ``codes`` int32[p, d] say where a place lies in ``quasi`` (a counterfeit lies where some row of its bucket does).
    ``height`` int64[buckets]: rows of each value.
    """

    row: Int64
    bucket: Int64
    value: Int64
    codes: Int32
    quasi: tuple[Hierarchy, ...]
    height: Int64


def balanced_split(places: Places) -> Int64:
    """int64[p]: the group of each place: one place of each value of its bucket.

    Buckets are halved until they are groups: by the quasi-identifier along which the halves have the smallest ranges,
    each value divided alike.
    """
    node, height = places.bucket.copy(), places.height.copy()
    while True:
        active = np.flatnonzero(height[node] > 1)
        if not len(active):
            return node
        best = np.full(len(height), np.inf)
        right = np.zeros(len(active), np.bool_)
        for a in range(places.codes.shape[1]):
            keys = np.column_stack([node[active], places.value[active], places.codes[active, a]]).astype(np.int32)
            side = _halved(keys, height[node[active]] // 2)
            cost = _cost(places, active, node[active] * 2 + side, 2 * len(height))
            cost = cost[::2] * (height // 2) + cost[1::2] * (height - height // 2)
            better = cost < best
            best[better] = cost[better]
            chosen = better[node[active]]
            right[chosen] = side[chosen]
        new = len(height) + np.cumsum(height > 1) - 1
        left_height = np.where(height > 1, height // 2, height)
        own = node[active]
        node[active[right]] = new[own[right]]
        height = np.concatenate([left_height, (height - left_height)[height > 1]])


def _halved(keys: Int32, left: Int64) -> NDArray[np.bool_]:
    """Say which places go right: of equal (node, value), the first two columns, the first ``left`` by code stay."""
    order = lexicographic_order(keys, [int(column.max()) + 1 for column in keys.T])
    first = np.flatnonzero(run_starts(keys[order, :2]))
    rank = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    right = np.empty(len(order), np.bool_)
    right[order] = rank >= left[order]
    return right


def _cost(places: Places, active: Int64, part: Int64, pieces: int) -> Float64:
    """float64[parts]: weighted LM cost of the labels of the real rows of each part."""
    real = places.row[active] >= 0
    order = np.argsort(part[real], kind="stable")
    ordered = part[real][order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    codes = places.codes[active[real]][order]
    lo, hi = np.minimum.reduceat(codes, first, axis=0), np.maximum.reduceat(codes, first, axis=0)
    cost = np.zeros(pieces)
    for a, hierarchy in enumerate(places.quasi):
        cost[ordered[first]] += float(hierarchy.weight) * box_costs(hierarchy, lo[:, a], hi[:, a])
    return cost


def box_costs(hierarchy: Hierarchy, lo: Int32, hi: Int32) -> Float64:
    """LM cost of each box of codes as ``Hierarchy.cost``, as doubles.

    >>> from indistinct.hierarchies import suppression
    >>> box_costs(suppression.build("sex", ["f", "m"]), np.array([0, 0], np.int32), np.array([0, 1], np.int32)).tolist()
    [0.0, 1.0]
    """
    if hierarchy.lower is not None and hierarchy.upper is not None:
        width: Float64 = hierarchy.upper[hi] - hierarchy.lower[lo]
        width[(hi == hierarchy.missing) & (lo < hi)] = 1.0
        return width
    cost = np.ones(len(lo))
    for level in range(hierarchy.height, -1, -1):
        node_of = hierarchy.levels[level].node_of
        same = node_of[lo] == node_of[hi]
        cost[same] = prices(hierarchy, level)[lo[same]]
    return cost
