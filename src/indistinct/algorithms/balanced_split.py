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

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Places:
    """One place for each row of each bucket: ``row`` (-1: a counterfeit), ``bucket``, ``value`` int64[p].

    ``codes`` int32[p, d] say where a place lies (a counterfeit lies where some row of its bucket does); ``weight``
    float64[d] is the cost of a step. ``height`` int64[buckets]: rows of each value.
    """

    row: Int64
    bucket: Int64
    value: Int64
    codes: Int32
    weight: NDArray[np.float64]
    height: Int64


def balanced_split(places: Places) -> Int64:
    """int64[p]: the group of each place: one place of each value of its bucket.

    Buckets are halved until they are groups: by the quasi-identifier along which the halves have the smallest ranges,
    each value divided alike.
    """
    node, height = places.bucket.copy(), places.height.copy()
    values = int(places.value.max(initial=0)) + 1
    while True:
        active = np.flatnonzero(height[node] > 1)
        if not len(active):
            return node
        best = np.full(len(height), np.inf)
        right = np.zeros(len(active), np.bool_)
        for a in range(places.codes.shape[1]):
            side = _halved(node[active] * values + places.value[active], places.codes[active, a], height[node[active]] // 2)
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


def _halved(unit: Int64, code: Int32, left: Int64) -> NDArray[np.bool_]:
    """Say which places go right: of each unit the first ``left`` in the order of the codes stay."""
    order = np.lexsort([code, unit])
    ordered = unit[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    rank = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    right = np.empty(len(order), np.bool_)
    right[order] = rank >= left[order]
    return right


def _cost(places: Places, active: Int64, part: Int64, parts: int) -> NDArray[np.float64]:
    """float64[parts]: weighted widths of the ranges of the real rows of each part."""
    real = places.row[active] >= 0
    order = np.argsort(part[real], kind="stable")
    ordered = part[real][order]
    cost = np.zeros(parts)
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    codes = places.codes[active[real]][order]
    width = np.maximum.reduceat(codes, first, axis=0) - np.minimum.reduceat(codes, first, axis=0)
    cost[ordered[first]] = width @ places.weight
    return cost
