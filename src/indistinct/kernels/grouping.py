"""Groups whose members come from the largest buckets, and places for what is left over.

A *slot* is one sensitive value inside one class, with the number of its rows. Everything that is compared is a rank, so
comparing is exact: two slots are *separated* iff their stretches ``begins..ends`` (closed, int64[slots]) do not meet;
slot s is *near* slot t iff ``low[t] <= place[s] <= high[t]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    UInt64 = NDArray[np.uint64]

FREE = -1
# tries after the budget of refusals is spent
FEW = 16


@kernel
def sift_up(heap: Int64, at: int) -> None:
    """Move a new key of a heap (least first) to its place."""
    key = heap[at]
    while at > 0:
        parent = (at - 1) >> 1
        if heap[parent] <= key:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = key


@kernel
def sift_down(heap: Int64, size: int) -> None:
    """Move the first key of a heap to its place."""
    key, at = heap[0], 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = key


@kernel
def first_after(ranks: Int64, bound: int, begin: int, end: int) -> int:
    """First position in ``begin..end`` whose rank (ascending there) is above a bound."""
    while begin < end:
        middle = (begin + end) >> 1
        if ranks[middle] > bound:
            end = middle
        else:
            begin = middle + 1
    return begin


@kernel
def first_separated(left: Int64, begins: Int64, ends: Int64, begin: int, end: int, chosen: Int32, taken: int) -> int:
    """First slot in ``begin..end`` (one bucket: stretches ascend) with rows left that is separated from all chosen."""
    slot = begin
    while slot < end:
        if left[slot] == 0:
            slot += 1
            continue
        beyond = slot
        for other in chosen[:taken]:
            if begins[slot] <= ends[other] and begins[other] <= ends[slot]:
                beyond = first_after(begins, ends[other], slot + 1, end)
                break
        if beyond == slot:
            return slot
        slot = beyond
    return end


@kernel
def form_groups(
    class_start: Int64,
    bucket: Int64,
    begins: Int64,
    ends: Int64,
    left: Int64,
    k: int,
    members: Int32,
    class_of: Int32,
) -> int:
    """Form groups of ``k`` separated rows of different buckets, largest buckets first, inside each class.

    Slots of class c are ``class_start[c]:class_start[c + 1]``, ascending by value; ``bucket`` is ascending inside a
    class. ``left`` int64[slots] is reduced to what is in no group. ``members`` int32[., >= k], filled with FREE
    beforehand, gets the slots of each group; ``class_of`` its class. Returns the number of groups. Ties of equally
    large buckets go to the one of smaller values.
    """
    most = 0
    for c in range(len(class_start) - 1):
        most = max(most, class_start[c + 1] - class_start[c])
    start = np.zeros(most + 1, np.int64)
    first = np.zeros(most, np.int64)
    rows = np.zeros(most, np.int64)
    heap = np.zeros(most, np.int64)
    out = np.zeros(most, np.int64)
    chosen = np.zeros(k, np.int32)
    owner = np.zeros(k, np.int64)
    groups = 0
    for c in range(len(class_start) - 1):
        buckets, total = 0, 0
        for slot in range(class_start[c], class_start[c + 1]):
            if slot == class_start[c] or bucket[slot] != bucket[slot - 1]:
                start[buckets] = slot
                first[buckets] = slot
                rows[buckets] = 0
                buckets += 1
            rows[buckets - 1] += left[slot]
            total += left[slot]
        start[buckets] = class_start[c + 1]
        size = 0
        for b in range(buckets):
            if rows[b] > 0:
                heap[size] = (total - rows[b]) * buckets + b
                sift_up(heap, size)
                size += 1
        while size >= k:
            taken, popped = 0, 0
            while taken < k and size > 0:
                b = heap[0] % buckets
                size -= 1
                heap[0] = heap[size]
                sift_down(heap, size)
                out[popped] = b
                popped += 1
                slot = first_separated(left, begins, ends, first[b], start[b + 1], chosen, taken)
                if slot < start[b + 1]:
                    chosen[taken] = slot
                    owner[taken] = b
                    taken += 1
            if taken < k:
                break
            for i in range(k):
                members[groups, i] = chosen[i]
                left[chosen[i]] -= 1
                rows[owner[i]] -= 1
            class_of[groups] = c
            groups += 1
            for i in range(popped):
                b = out[i]
                if rows[b] > 0:
                    while left[first[b]] == 0:
                        first[b] += 1
                    heap[size] = (total - rows[b]) * buckets + b
                    sift_up(heap, size)
                    size += 1
    return groups


@kernel
def joins(windows: Int64, near: Int64, size: int, low: int, high: int, place: int) -> int:
    """How many members are near a row that would join a group; -1 if somebody's risk would then exceed 1/2.

    ``windows`` int64[3, >= size] holds low, high and place of each member, ``near`` how many others are near it.
    """
    count = 0
    for i in range(size):
        if low <= windows[2, i] <= high:
            count += 1
        if windows[0, i] <= place <= windows[1, i] and 2 * (near[i] + 1) > size + 1:
            return -1
    return -1 if 2 * count > size + 1 else count


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


@kernel
def rows_by_slot(slot_of_part: Int32, count: Int64, start: Int64, words: UInt64, part: Int32) -> None:
    """List the part of every row, slot by slot, the rows of a slot in the order that random ``words`` decide.

    Rows of slot s go to ``part[start[s]:start[s + 1]]``; parts of slot -1 are left out. Shuffled by exchanges from the
    end (Fisher and Yates); the remainder of a 64-bit word is as good as uniform. No words: the order of the parts.
    """
    at = start[:-1].copy()
    for p in range(len(slot_of_part)):
        slot = slot_of_part[p]
        if slot >= 0:
            for _ in range(count[p]):
                part[at[slot]] = p
                at[slot] += 1
    if len(words) == 0:
        return
    for slot in range(len(start) - 1):
        begin = start[slot]
        for i in range(start[slot + 1] - 1, begin, -1):
            j = begin + np.int64(words[i] % np.uint64(i - begin + 1))
            part[i], part[j] = part[j], part[i]


@kernel
def groups_by_slot(place_slot: Int32, place_group: Int32, start: Int64, group: Int32) -> None:
    """List the groups of the places, slot by slot, in their order; what has no place keeps what ``group`` holds."""
    at = start[:-1].copy()
    for p in range(len(place_slot)):
        slot = place_slot[p]
        group[at[slot]] = place_group[p]
        at[slot] += 1
