"""Pairs of near classes, fixed by quasi-identifiers alone: no function here is given a sensitive value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.kernels.boxes import Costs
    from indistinct.kernels.partition import Partition

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

# the nearest of those that are left are paired in so many passes; who is left over then joins a pair near it
PASSES = 4
# comparisons of two classes in a pass: so many, but at least LEAST_WINDOW on either side
COMPARISONS = 40_000_000
LEAST_WINDOW = 100


def pairs_of(costs: Costs, partition: Partition, near: Int64) -> Int64:
    """int64[g]: the number of the pair of each class, which is that of its first class.

    ``near`` int64[g] is an order of classes that keeps near ones near. The two of a pair are those whose union adds
    least loss, the cheapest pairs first; a class that may be mixed with no other is its own pair.
    """
    classes = len(near)
    pair = np.full(classes, -1, np.int64)
    for _ in range(PASSES):
        free = np.flatnonzero(pair < 0)
        if len(free) < 2:
            break
        nearest, added = _nearest(costs, partition, free, free, near)
        for i in np.lexsort((free, added)).tolist():
            one, other = int(free[i]), int(nearest[i])
            if other >= 0 and pair[one] < 0 and pair[other] < 0:
                pair[one] = pair[other] = min(one, other)
    left, paired = np.flatnonzero(pair < 0), np.flatnonzero(pair >= 0)
    nearest, _ = _nearest(costs, partition, left, paired, near)
    pair[left] = np.where(nearest >= 0, pair[nearest], left)
    return _first(pair)


def _first(pair: Int64) -> Int64:
    """Call every pair by its first class."""
    _, first, number = np.unique(pair, return_index=True, return_inverse=True)
    return first.astype(np.int64)[number.reshape(-1)]


def _nearest(costs: Costs, partition: Partition, asking: Int64, partners: Int64, near: Int64) -> tuple[Int64, Float64]:
    from indistinct.kernels.nearest_pairs import nearest_partners

    ordered = partners[np.lexsort((partners, near[partners]))]
    place = np.searchsorted(near[ordered], near[asking]).astype(np.int64)
    window = max(LEAST_WINDOW, COMPARISONS // max(1, 2 * len(asking)))
    found, added = np.empty(len(asking), np.int64), np.empty(len(asking), np.float64)
    nearest_partners(costs, partition, asking, ordered, place, window, found, added)
    return found, added
