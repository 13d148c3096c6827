"""Groups of one row of each value, improved: the rows of one value are dealt anew among groups, at least loss.

With the other rows of h groups fixed, which of their h rows of one value goes into which group is an assignment
problem: ``cost[g, r]`` is the LM cost of the label that covers the others of group g and row r. It is solved exactly,
for one value after the other, round after round; no step loses, and every group keeps its values. Groups exchange rows
within a *pool*: people of an old bucket have to stay in it, newcomers may change with each other wherever they are.

A pool of more than ``MOST`` groups is cut along the order of its groups, elsewhere in every round.

Source of the assignment problem: H. W. Kuhn, Naval Research Logistics Quarterly 2 (1955), 83-97,
doi:10.1002/nav.3800020109. Solving it value after value is this project's choice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.balanced_split import box_costs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from indistinct.algorithms.balanced_split import Places

    Bools = NDArray[np.bool_]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

# h groups take h^2 costs and up to h^3 steps; benchmarks/months.py, third month, LM: 48 .1286, 96 .1222, 192 .1196
MOST = 96
ROUNDS = 6  # most rounds; no round is made after one that gains nothing
NOWHERE = np.iinfo(np.int32).max  # a counterfeit widens no range


def rematched(places: Places, group: Int64, free: Bools) -> Int64:
    """int64[p]: the group of each place once places of one value have changed at a gain. Loss does not rise.

    ``group`` has at most one place of each value, all of one bucket. Places that are ``free`` may go to other buckets.
    """
    group = group.copy()
    bucket_of = np.empty(int(group.max(initial=-1)) + 1, np.int64)
    bucket_of[group] = places.bucket
    for turn in range(ROUNDS):
        gained = 0
        members = _members(group)
        along = np.where(members >= 0, places.row[members], -1).max(axis=1)  # rows are numbered along a curve
        for pool in (bucket_of[group], np.where(free, 0, -1)):
            for own in _streams(pool, places.value):
                for window in _windows(own[np.lexsort([group[own], along[group[own]]])], turn):
                    gained += _dealt(places, group, members, window)
        if not gained:
            break
    return group


def _streams(pool: Int64, value: Int64) -> Iterator[Int64]:
    """Yield the places of each pool and value, where there are several."""
    moving = np.flatnonzero(pool >= 0)
    order = moving[np.lexsort([value[moving], pool[moving]])]
    new = np.flatnonzero((np.diff(pool[order]) != 0) | (np.diff(value[order]) != 0)) + 1
    yield from (own for own in np.split(order, new) if len(own) > 1)


def _members(group: Int64) -> Int64:
    """int64[groups, most]: the places of each group, -1 where it has fewer."""
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    found = np.full((len(sizes), int(sizes.max(initial=0))), -1, np.int64)
    begin = np.cumsum(sizes) - sizes
    found[group[order], np.arange(len(order)) - begin[group[order]]] = order
    return found


def _windows(own: Int64, turn: int) -> Iterator[Int64]:
    """Cut the places of one value and pool, in the order of their groups, into parts of at most ``MOST``."""
    if len(own) <= MOST:
        yield own
        return
    begin = MOST // 2 * (turn % 2)
    for start in range(-begin, len(own), MOST):
        window = own[max(start, 0) : start + MOST]
        if len(window) > 1:
            yield window


def _dealt(places: Places, group: Int64, members: Int64, window: Int64) -> int:
    """Deal the places of a window among their groups at least cost; how many changed, 0 where nothing is gained."""
    from scipy.optimize import linear_sum_assignment

    where = group[window]
    others = members[where]
    present = (others >= 0) & (others != window[:, None])
    present[present] = places.row[others[present]] >= 0
    codes = places.codes[others]
    low = np.where(present[:, :, None], codes, NOWHERE).min(axis=1)
    high = np.where(present[:, :, None], codes, -1).max(axis=1)
    own = places.codes[window]
    real = (places.row[window] >= 0)[:, None]
    cost = _costs(places, low, high, np.where(real, own, NOWHERE), np.where(real, own, -1))
    rows, chosen = linear_sum_assignment(cost.T)
    if cost.T[rows, chosen].sum() >= cost.trace() - 1e-9:
        return 0
    moved = chosen != np.arange(len(window))
    at = (others == window[:, None]).argmax(axis=1)
    members[where[chosen], at[chosen]] = window
    group[window] = where[chosen]
    return int(moved.sum())


def _costs(places: Places, low: Int32, high: Int32, own_low: Int32, own_high: Int32) -> Float64:
    """float64[groups, places]: what a group costs with a place."""
    cost = np.zeros((len(low), len(own_low)))
    for a, hierarchy in enumerate(places.quasi):
        lo = np.minimum(low[:, a, None], own_low[None, :, a]).ravel()
        hi = np.maximum(high[:, a, None], own_high[None, :, a]).ravel()
        empty = lo > hi  # a group of counterfeits alone has no label yet
        lo[empty] = hi[empty] = 0
        cost += float(hierarchy.weight) * box_costs(hierarchy, lo, hi).reshape(cost.shape)
    return cost
