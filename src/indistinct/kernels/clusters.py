"""Greedy clusters of units by the loss of their box: k-member.

The units not placed yet stand in ``rest``, ascending; costs that differ by less than ``EQUAL`` are equal, and the
lower unit is taken.
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

EQUAL = 1e-9


@lean
def grow_clusters(
    costs: Costs,
    reach: Int32,
    mass: Int64,
    k: int,
    rest: Int64,
    left: int,
    seed: int,
    cluster: int,
    most: int,
    class_of: Int32,
    box: Int32,
) -> tuple[int, int, int]:
    """Form at most ``most`` clusters of size k or more while ``rest[:left]`` has that size.

    Each begins with the unit farthest from the ``seed`` before it and takes the unit that adds least
    ``rows * loss of the box`` until it holds k. ``mass`` int64[n, 2]: rows, and what counts for k. ``class_of`` gets
    the numbers of the clusters from ``cluster`` on. Returns what is left, the last seed and the next number.
    """
    size = np.int64(0)
    for i in range(left):
        size += mass[rest[i], 1]
    formed = 0
    while formed < most and left > 0 and size >= k:
        far, at = -1.0, np.int64(0)
        for i in range(left):
            loss = union_loss(costs, reach[seed], reach[rest[i]])
            if loss > far + EQUAL:
                far, at = loss, np.int64(i)
        seed = rest[at]
        copy(box, reach[seed])
        rows, held, loss_now = np.int64(0), np.int64(0), 0.0
        while True:
            unit = rest[at]
            widen(box, reach[unit], costs.ends)
            rows += mass[unit, 0]
            held += mass[unit, 1]
            class_of[unit] = cluster
            for i in range(at, left - 1):
                rest[i] = rest[i + 1]
            left -= 1
            if held >= k or left == 0:
                break
            loss_now = union_loss(costs, box, box)
            best, at = np.inf, np.int64(0)
            for i in range(left):
                other = rest[i]
                added = (rows + mass[other, 0]) * union_loss(costs, box, reach[other]) - rows * loss_now
                if added < best - EQUAL:
                    best, at = added, np.int64(i)
                    if best <= 0.0:  # nothing adds less
                        break
        size -= held
        cluster += 1
        formed += 1
    return left, seed, cluster


@lean
def join_clusters(
    costs: Costs, reach: Int32, mass: Int64, rest: Int64, left: int, clusters: int, class_of: Int32, boxes: Int32
) -> None:
    """Put each unit of ``rest[:left]`` into the cluster where it adds least; ``boxes`` int32[clusters, w] and rows."""
    for i in range(left):
        unit = rest[i]
        best, at = np.inf, np.int64(0)
        for c in range(clusters):
            rows = boxes[c, boxes.shape[1] - 1]
            box = boxes[c, : boxes.shape[1] - 1]
            added = (rows + mass[unit, 0]) * union_loss(costs, box, reach[unit]) - rows * union_loss(costs, box, box)
            if added < best - EQUAL:
                best, at = added, np.int64(c)
        widen(boxes[at, : boxes.shape[1] - 1], reach[unit], costs.ends)
        boxes[at, boxes.shape[1] - 1] += mass[unit, 0]
        class_of[unit] = at
