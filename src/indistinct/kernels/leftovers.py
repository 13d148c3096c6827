"""Places in groups for the rows that the groups left over.

Slots are those of ``kernels.grouping``; slot s is *near* slot t iff ``low[t] <= place[s] <= high[t]``, all ranks. Slots
of one interval lie side by side, and in it ``low`` and ``high`` ascend.

A group that refuses a row refuses it until the group changes, and mostly all rows beyond it up to some place: while its
member that has half of the group near it is near them too, or while they have the same half of the group near them.
That place is kept in a tournament tree over the groups, so that the first group that may take a row is found in
O(log g). A member is the reason of a refusal once, or once for each interval whose rows have it in their window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel
from indistinct.kernels.grouping import EMPTY, first_after, set_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]


@kernel
def joins(windows: Int64, near: Int64, size: int, low: Int64, high: Int64, place: Int64, slot: int, end: int) -> int:
    """How many members are near a row that would join a group, or -1 - p if somebody's risk would then exceed 1/2.

    The group as it is refuses all rows from this one up to place p. ``windows`` int64[3, >= size] holds low, high and
    place of each member, ``near`` how many others are near it; the interval of ``slot`` ends before slot ``end``.
    """
    count = 0
    for i in range(size):
        if low[slot] <= windows[2, i] <= high[slot]:
            count += 1
        if windows[0, i] <= place[slot] <= windows[1, i] and 2 * (near[i] + 1) > size + 1:
            return -1 - windows[1, i]
    if 2 * count <= size + 1:
        return count
    # as many of the members near it, the farthest on, as are too many: while the first of them is near, so are all
    too_many = (size + 1) // 2 + 1
    places = np.sort(windows[2, :size])
    first = places[np.searchsorted(places, high[slot], "right") - too_many]
    return -1 - place[first_after(low, first, slot, end) - 1]


@kernel
def place_leftovers(
    class_start: Int64,
    interval: Int64,
    low: Int64,
    high: Int64,
    place: Int64,
    left: Int64,
    k: int,
    bounded: int,
    members: Int32,
    class_of: Int32,
    groups: int,
    reasons: Int64,
) -> None:
    """Let rows that are in no group join one, values ascending, each the first group of its class that takes it.

    ``members`` int32[groups, 2k] holds k slots in each row and is filled further; ``left`` is reduced. With the flag
    ``bounded`` no row's risk may exceed 1/2, else only the size 2k counts. ``reasons`` int64[2] counts the rows left
    over: because no group had room, because no group with room could take them.
    """
    size = np.full(groups, k, np.int64)
    near = np.zeros((groups, 2 * k), np.int32) if bounded else np.zeros((1, 1), np.int32)
    refused = np.zeros(4 * groups + 2, np.int64)  # a tree: up to which place each group refuses rows; EMPTY: it is full
    # the group at hand, copied: members lie far apart in memory
    hand = -1
    windows = np.zeros((3, 2 * k), np.int64)
    met = np.zeros(2 * k, np.int64)
    begin = 0
    for c in range(len(class_start) - 1):
        own = 0
        while begin + own < groups and class_of[begin + own] == c:
            own += 1
        leaves = 1
        while leaves < own:
            leaves *= 2
        refused[leaves : leaves + own] = -1
        refused[leaves + own : 2 * leaves] = EMPTY
        for node in range(leaves - 1, 0, -1):
            refused[node] = min(refused[2 * node], refused[2 * node + 1])
        end = class_start[c]
        for slot in range(class_start[c], class_start[c + 1]):
            while end <= slot or (end < class_start[c + 1] and interval[end] == interval[slot]):
                end += 1
            while left[slot] > 0 and refused[1] < place[slot]:
                node = 1
                while node < leaves:
                    node = 2 * node if refused[2 * node] < place[slot] else 2 * node + 1
                group, until = begin + node - leaves, EMPTY
                if bounded and group != hand:
                    if hand >= 0:
                        for i in range(size[hand]):
                            near[hand, i] = met[i]
                    hand = group
                    for i in range(size[group]):
                        other = members[group, i]
                        windows[0, i] = low[other]
                        windows[1, i] = high[other]
                        windows[2, i] = place[other]
                        met[i] = near[group, i]
                while size[group] < 2 * k and left[slot] > 0:
                    if bounded:
                        count = joins(windows, met, size[group], low, high, place, slot, end)
                        if count < 0:
                            until = -1 - count
                            break
                        for i in range(size[group]):
                            if windows[0, i] <= place[slot] and place[slot] <= windows[1, i]:
                                met[i] += 1
                        windows[0, size[group]] = low[slot]
                        windows[1, size[group]] = high[slot]
                        windows[2, size[group]] = place[slot]
                        met[size[group]] = count
                    members[group, size[group]] = slot
                    size[group] += 1
                    left[slot] -= 1
                if size[group] == 2 * k or until < EMPTY:
                    set_key(refused, node, until)
            if left[slot] > 0:
                reasons[int(refused[1] < EMPTY)] += left[slot]
        begin += own
