"""Places in groups for the rows that the groups left over.

Slots are those of ``kernels.grouping``; slot s is *near* slot t iff ``low[t] <= place[s] <= high[t]``, all ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

# tries after the budget of refusals is spent
FEW = 16


@kernel
def joins(windows: Int64, near: Int64, size: int, low: int, high: int, place: int) -> int:
    """How many members are near a row that would join a group, or -1 - r if somebody's risk would then exceed 1/2.

    All rows from ``place`` up to place r are refused as well. ``windows`` int64[3, >= size] holds low, high and place of
    each member, ``near`` how many others are near it.
    """
    count = 0
    for i in range(size):
        if low <= windows[2, i] <= high:
            count += 1
        if windows[0, i] <= place <= windows[1, i] and 2 * (near[i] + 1) > size + 1:
            return -1 - windows[1, i]
    return -1 - place if 2 * count > size + 1 else count


@kernel
def place_leftovers(
    class_start: Int64,
    low: Int64,
    high: Int64,
    place: Int64,
    left: Int64,
    k: int,
    bounded: int,
    members: Int32,
    class_of: Int32,
    groups: int,
    budget: int,
    reasons: Int64,
) -> None:
    """Let rows that are in no group join one, values ascending, each the first group of its class that takes it.

    ``members`` int32[groups, 2k] holds k slots in each row and is filled further; ``left`` is reduced. With the flag
    ``bounded`` no row's risk may exceed 1/2, else only the size 2k counts. ``reasons`` int64[2] counts the rows left
    over: because no group had room, because no group with room could take them.

    A group that has refused a value refuses it again until it changes, so one pass over the groups serves all rows of a
    value; once ``budget`` groups have refused, a value asks only a few groups, beginning where the last one was taken.
    """
    size = np.zeros(groups, np.int64)
    near = np.zeros((groups, 2 * k), np.int32) if bounded else np.zeros((1, 1), np.int32)
    following = np.zeros(groups + 1, np.int64)  # the next group that may have room
    refused = np.full(groups, -1, np.int64)  # up to which place a group refuses rows until it changes
    # the group at hand, copied: members lie far apart in memory
    hand = -1
    windows = np.zeros((3, 2 * k), np.int64)
    met = np.zeros(2 * k, np.int64)
    begin = 0
    for c in range(len(class_start) - 1):
        end = begin
        while end < groups and class_of[end] == c:
            size[end] = k
            following[end] = end + 1
            end += 1
        head, resume = begin, -1
        for slot in range(class_start[c], class_start[c + 1]):
            if left[slot] == 0:
                continue
            asked, before, group = 0, -1, head
            if budget <= 0 and resume >= 0:
                before, group = resume, resume
            while group < end and left[slot] > 0:
                if place[slot] <= refused[group]:
                    budget -= 1
                    asked += 1
                else:
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
                            count = joins(windows, met, size[group], low[slot], high[slot], place[slot])
                            if count < 0:
                                refused[group] = -1 - count
                                budget -= 1
                                asked += 1
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
                        resume = group
                after = following[group]
                if size[group] < 2 * k:
                    before = group
                elif group == head:
                    head = after
                elif before >= 0 and before != group:
                    following[before] = after
                if budget <= 0 and asked >= FEW:
                    break
                group = after
            if left[slot] > 0:
                while head < end and size[head] == 2 * k:
                    head = following[head]
                reasons[1 if head < end else 0] += left[slot]
        begin = end
