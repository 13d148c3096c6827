"""Groups whose members come from the largest buckets.

A *slot* is one sensitive value inside one class, with the number of its rows. Everything that is compared is a rank, so
comparing is exact: two slots are *separated* iff their stretches ``begins..ends`` (closed, int64[slots]) do not meet.

The largest buckets of a class in turn, without looking at those that what is chosen hides: a tournament tree knows the
largest bucket of any *run* of neighbouring buckets, and a heap the largest of each run that is not hidden. A chosen row
hides the buckets around it and leaves a run on either side. So a group costs O(k log B) for B buckets, however many of
them lie within the neighbourhoods of its rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel, step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

FREE = -1
# the key of a bucket without rows, after all others
EMPTY = np.iinfo(np.int64).max


@step
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


@step
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


@step
def least_key(tree: Int64, leaves: int, begin: int, end: int) -> int:
    """Least key of the leaves ``begin..end`` of a tournament tree: leaf i is node ``leaves + i``, node 1 the root."""
    best = EMPTY
    low, high = begin + leaves, end + leaves
    while low < high:
        if low & 1:
            best = min(best, tree[low])
            low += 1
        if high & 1:
            high -= 1
            best = min(best, tree[high])
        low >>= 1
        high >>= 1
    return best


@step
def set_key(tree: Int64, node: int, key: int) -> None:
    """Give a leaf of a tournament tree another key."""
    tree[node] = key
    node >>= 1
    while node > 0:
        best = min(tree[2 * node], tree[2 * node + 1])
        if tree[node] == best:
            break
        tree[node] = best
        node >>= 1


@step
def first_after(ranks: Int64, bound: int, begin: int, end: int) -> int:
    """First position in ``begin..end`` whose rank (ascending there) is above a bound."""
    while begin < end:
        middle = (begin + end) >> 1
        if ranks[middle] > bound:
            end = middle
        else:
            begin = middle + 1
    return begin


@step
def first_live(following: Int64, slot: int) -> int:
    """First slot from this one on with rows left; ``following[s]`` is s while it has, else a later slot to ask."""
    while following[slot] != slot:
        following[slot] = following[following[slot]]
        slot = following[slot]
    return slot


@step
def first_separated(
    following: Int64, begins: Int64, ends: Int64, begin: int, end: int, chosen: Int64, taken: int
) -> int:
    """First slot in ``begin..end`` (one bucket: stretches ascend) with rows left that is separated from all chosen."""
    slot = first_live(following, begin)
    while slot < end:
        beyond = slot
        for i in range(taken):
            other = chosen[i]
            if begins[slot] <= ends[other] and begins[other] <= ends[slot]:
                beyond = first_after(begins, ends[other], slot + 1, end)
                break
        if beyond == slot:
            return slot
        slot = first_live(following, beyond)
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
    class, and no stretch begins after a later one ends. ``left`` int64[slots] is reduced to what is in no group.
    ``members`` int32[., >= k], filled with FREE beforehand, gets the slots of each group; ``class_of`` its class.
    Returns the number of groups. Ties of equally large buckets go to the one of smaller values.
    """
    most = 0
    for c in range(len(class_start) - 1):
        most = max(most, class_start[c + 1] - class_start[c])
    start = np.zeros(most + 1, np.int64)
    rows = np.zeros(most, np.int64)
    tree = np.zeros(2 * most, np.int64)
    farthest = np.zeros(most, np.int64)  # the last beginning of a stretch up to each bucket
    nearest = np.zeros(most, np.int64)  # the first end of a stretch from each bucket on
    heap = np.zeros(most + 1, np.int64)
    run = np.zeros((most, 2), np.int64)  # the run of which a bucket in the heap is the largest
    chosen = np.zeros(k, np.int64)
    owner = np.zeros(k, np.int64)
    following = np.arange(len(left) + 1)
    for slot in range(len(left)):
        if left[slot] == 0:
            following[slot] = slot + 1
    groups = 0
    for c in range(len(class_start) - 1):
        buckets, total = 0, 0
        for slot in range(class_start[c], class_start[c + 1]):
            if slot == class_start[c] or bucket[slot] != bucket[slot - 1]:
                start[buckets] = slot
                rows[buckets] = 0
                farthest[buckets] = begins[slot] if buckets == 0 else farthest[buckets - 1]
                buckets += 1
            farthest[buckets - 1] = max(farthest[buckets - 1], begins[slot])
            rows[buckets - 1] += left[slot]
            total += left[slot]
        start[buckets] = class_start[c + 1]
        end = EMPTY
        for b in range(buckets - 1, -1, -1):
            for slot in range(start[b], start[b + 1]):
                end = min(end, ends[slot])
            nearest[b] = end
            tree[buckets + b] = (total - rows[b]) * buckets + b if rows[b] > 0 else EMPTY
        for node in range(buckets - 1, 0, -1):
            tree[node] = min(tree[2 * node], tree[2 * node + 1])
        while buckets > 0:
            taken, size = 0, 0
            low, hidden_from, hidden_to, high = 0, 0, 0, buckets
            while taken < k:
                for begin, end in ((low, hidden_from), (hidden_to, high)):
                    key = least_key(tree, buckets, begin, end)
                    if key != EMPTY:
                        heap[size] = key
                        sift_up(heap, size)
                        size += 1
                        run[key % buckets, 0], run[key % buckets, 1] = begin, end
                if size == 0:
                    break
                b = heap[0] % buckets
                size -= 1
                heap[0] = heap[size]
                sift_down(heap, size)
                low, high = run[b]
                slot = first_separated(following, begins, ends, start[b], start[b + 1], chosen, taken)
                if slot < start[b + 1]:
                    chosen[taken] = slot
                    owner[taken] = b
                    taken += 1
                    hidden_from = first_after(nearest, begins[slot] - 1, low, b)
                    hidden_to = first_after(farthest, ends[slot], b + 1, high)
                else:
                    hidden_from, hidden_to = b, b + 1
            if taken < k:
                break
            for i in range(k):
                slot, b = chosen[i], owner[i]
                members[groups, i] = slot
                left[slot] -= 1
                if left[slot] == 0:
                    following[slot] = slot + 1
                rows[b] -= 1
                set_key(tree, buckets + b, (total - rows[b]) * buckets + b if rows[b] > 0 else EMPTY)
            class_of[groups] = c
            groups += 1
    return groups
