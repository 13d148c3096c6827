"""Cutting a table at medians while no part is crowded around one sensitive number (the one-sided condition)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]


class Axes(NamedTuple):
    """What the attributes cost and where they may be cut, in flat arrays.

    int64[d]: ``levels`` (0: a range), ``size`` (codes), ``missing`` (its code or -1), ``at_node`` and ``at_price``
    (starts). ``node`` int32[.]: node of each code at each level; ``price`` float64[.]: cost of that node; for a range
    the lower bounds, then the upper bounds.
    """

    levels: Int64
    size: Int64
    missing: Int64
    at_node: Int64
    at_price: Int64
    node: Int32
    price: Float64


class Tree(NamedTuple):
    """Parts of cells, first the given ones, then those that they were cut into; int64[.] each.

    ``start``, ``end``: stretch of the cells; ``parent`` (-1: none); ``leaf``: 1 where a part was not cut; ``rows``;
    ``neighbours``: the largest number of them with a rank in ``low[r]..r``.
    """

    start: Int64
    end: Int64
    parent: Int64
    leaf: Int64
    rows: Int64
    neighbours: Int64


@kernel
def neighbours_of(cells: Int64, rows: Int64, rank: Int64, low: Int64) -> tuple[int, int]:
    """Rows of some cells, sorted by rank, and the largest number of rows with a rank in ``low[r]..r``."""
    total = window = most = 0
    tail = 0
    for i in range(len(cells)):
        r = rank[cells[i]]
        window += rows[cells[i]]
        total += rows[cells[i]]
        if i + 1 < len(cells) and rank[cells[i + 1]] == r:
            continue
        while rank[cells[tail]] < low[r]:
            window -= rows[cells[tail]]
            tail += 1
        most = max(most, window)
    return total, most


@kernel
def _covering(axes: Axes, a: int, lo: int, hi: int) -> int:
    """Smallest level at which one node covers two codes; the number of levels where none does."""
    for level in range(axes.levels[a]):
        at = axes.at_node[a] + level * axes.size[a]
        if axes.node[at + lo] == axes.node[at + hi]:
            return level
    return axes.levels[a]


@kernel
def _width(axes: Axes, a: int, lo: int, hi: int) -> float:
    """Cost of the box, 0 for a single value."""
    if lo == hi:
        return 0.0
    if axes.levels[a] == 0:
        if hi == axes.missing[a]:
            return 1.0
        return axes.price[axes.at_price[a] + axes.size[a] + hi] - axes.price[axes.at_price[a] + lo]
    level = _covering(axes, a, lo, hi)
    return 2.0 if level == axes.levels[a] else axes.price[axes.at_price[a] + level * axes.size[a] + lo]


@kernel
def _border(axes: Axes, a: int, lo: int, hi: int, weight: Int64, total: int) -> int:
    """First code of the right side: the border of a child, or any code of a range, that is nearest to the half."""
    if axes.levels[a] == 0 and hi == axes.missing[a]:
        return hi
    child = max(_covering(axes, a, lo, hi) - 1, 0)
    at = axes.at_node[a] + child * axes.size[a]
    left, best, nearest = 0, -1, total + 1
    for code in range(lo + 1, hi + 1):
        left += weight[code - 1]
        if axes.levels[a] > 0 and axes.node[at + code] == axes.node[at + code - 1]:
            continue
        if abs(2 * left - total) < nearest:
            best, nearest = code, abs(2 * left - total)
    return best


@kernel
def cut(
    cells: Int64, codes: Int32, rows: Int64, rank: Int64, low: Int64, m: int, axes: Axes, tree: Tree, given: int
) -> int:
    """Cut the ``given`` parts of ``tree`` and their parts while both sides have at least m times their crowd.

    Cells of a part are sorted by ``rank`` and stay so. Attributes are tried by width, the widest first, ties to the
    earlier. Returns the number of parts in the tree.
    """
    d = codes.shape[1]
    used = given
    for part in range(given):
        tree.rows[part], tree.neighbours[part] = neighbours_of(
            cells[tree.start[part] : tree.end[part]], rows, rank, low
        )
    lo, hi = np.empty(d, np.int64), np.empty(d, np.int64)
    width = np.empty(d, np.float64)
    weight = np.zeros(axes.size.max() + 1, np.int64)
    side = np.empty(len(cells), np.int64)
    node = 0
    while node < used:
        start, end = tree.start[node], tree.end[node]
        own = cells[start:end]
        for a in range(d):
            lo[a], hi[a] = codes[own[0], a], codes[own[0], a]
        total = 0
        for i in range(len(own)):
            total += rows[own[i]]
            for a in range(d):
                code = codes[own[i], a]
                lo[a] = min(lo[a], code)
                hi[a] = max(hi[a], code)
        for a in range(d):
            width[a] = _width(axes, a, lo[a], hi[a])
        done = False
        while not done and total >= 2 * m:
            a = 0
            for other in range(1, d):
                if width[other] > width[a]:
                    a = other
            if width[a] <= 0.0:
                break
            width[a] = -1.0
            weight[lo[a] : hi[a] + 1] = 0
            for i in range(len(own)):
                weight[codes[own[i], a]] += rows[own[i]]
            border = _border(axes, a, lo[a], hi[a], weight, total)
            if border < 0:
                continue
            left = 0
            for i in range(len(own)):
                if codes[own[i], a] < border:
                    side[left] = own[i]
                    left += 1
            right = left
            for i in range(len(own)):
                if codes[own[i], a] >= border:
                    side[right] = own[i]
                    right += 1
            one, neighbours = neighbours_of(side[:left], rows, rank, low)
            other_rows, other_neighbours = neighbours_of(side[left:right], rows, rank, low)
            if left == 0 or left == right or one < m * neighbours or other_rows < m * other_neighbours:
                continue
            own[:] = side[:right]
            tree.start[used], tree.end[used] = start, start + left
            tree.start[used + 1], tree.end[used + 1] = start + left, end
            tree.rows[used], tree.neighbours[used] = one, neighbours
            tree.rows[used + 1], tree.neighbours[used + 1] = other_rows, other_neighbours
            for child in range(used, used + 2):
                tree.parent[child] = node
                tree.leaf[child] = 1
            tree.leaf[node] = 0
            used += 2
            done = True
        node += 1
    return used
