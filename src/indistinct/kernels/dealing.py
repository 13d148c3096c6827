"""Which row of a slot gets which of its places in groups; slots are those of ``kernels.grouping``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    UInt64 = NDArray[np.uint64]


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
