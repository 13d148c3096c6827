"""The best partition of units in a row into groups of neighbours: shortest paths from cut to cut.

``best[j] = min over i of best[i] + cost(i + 1 .. j)`` over groups whose size is k or more and whose size without their
first unit is below 2k - 1: for units of size 1 that is k to 2k - 1. A longer group is tried only where nothing shorter
reaches j. ``cut[j]`` remembers the best i; of equal costs the shorter last group is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import lean
from indistinct.kernels.boxes import Costs, copy, union_loss, widen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

# relative difference of sums that count as equal, as in ``distances``; not measured
EQUAL = 1e-9


@lean
def cheapest_boxes(
    costs: Costs, reach: Int32, mass: Int64, k: int, first: int, last: int, best: Float64, cut: Int64, box: Int32
) -> None:
    """Extend ``best`` and ``cut`` from ``first`` to ``last``; the cost of a group is its rows times its box's loss.

    ``reach`` int32[n, w] and ``mass`` int64[n, 2] (rows, size) in the order of the line; ``box`` int32[w] is scratch.
    """
    for j in range(first, last):
        copy(box, reach[j - 1])
        rows, size = np.int64(0), np.int64(0)
        best[j], cut[j] = np.inf, 0
        for i in range(j - 1, -1, -1):
            if size >= 2 * k - 1 and best[j] < np.inf:
                break
            widen(box, reach[i], costs.ends)
            rows += mass[i, 0]
            size += mass[i, 1]
            if size >= k and best[i] < np.inf:
                total = best[i] + rows * union_loss(costs, box, box)
                if total < best[j] - EQUAL:
                    best[j], cut[j] = total, i


@lean
def least_squares(places: Float64, mass: Int64, k: int, first: int, last: int, best: Float64, cut: Int64) -> None:
    """Extend ``best`` and ``cut``; the cost of a group is the sum of squares of its ``places`` about their mean.

    Sums are taken of differences to the last place of the group, so that nothing cancels.
    """
    for j in range(first, last):
        anchor = places[j - 1]
        rows, size, total, squares = np.int64(0), np.int64(0), 0.0, 0.0
        best[j], cut[j] = np.inf, 0
        for i in range(j - 1, -1, -1):
            if size >= 2 * k - 1 and best[j] < np.inf:
                break
            away = places[i] - anchor
            rows += mass[i, 0]
            size += mass[i, 1]
            total += mass[i, 0] * away
            squares += mass[i, 0] * away * away
            if size >= k and best[i] < np.inf:
                cost = best[i] + squares - total * total / rows
                if cost < best[j] - EQUAL * (1.0 + best[j] if best[j] < np.inf else 0.0):
                    best[j], cut[j] = cost, i
