"""Counting packed keys with an open-addressing hash table.

A row's codes are packed into one non-negative int64; the table gives every distinct key the next number 0, 1, ...
in order of arrival (the caller renumbers canonically afterwards).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

EMPTY = -1


@kernel
def slot_of(key: int, mask: int) -> int:
    """Return the home slot of a key (multiplicative hashing with folded high bits)."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(mask))


@kernel
def number_keys(
    keys: Int64, slots: Int64, distinct: Int64, counts: Int64, used: int, first: int, out: Int32
) -> tuple[int, int]:
    """Number and count ``keys[first:]`` until they end or the table is half full.

    ``slots`` int64[2^p, 2] holds keys (EMPTY = free), each beside its number, so that both come with one access to
    memory; ``distinct`` and ``counts`` are indexed by number. With ``len(out) == len(keys)`` the number of every row is
    kept. Returns the rows done and ``used``.
    """
    mask = len(slots) - 1
    room = min(len(slots) // 2, len(distinct))
    keep = len(out) == len(keys)
    for row in range(first, len(keys)):
        key = keys[row]
        slot = slot_of(key, mask)
        while slots[slot, 0] != EMPTY and slots[slot, 0] != key:
            slot = (slot + 1) & mask
        if slots[slot, 0] == EMPTY:
            if used >= room:
                return row, used
            slots[slot, 0] = key
            slots[slot, 1] = used
            distinct[used] = key
            counts[used] = 0
            used += 1
        number = slots[slot, 1]
        counts[number] += 1
        if keep:
            out[row] = number
    return len(keys), used


@kernel
def rehash(distinct: Int64, used: int, slots: Int64) -> None:
    """Enter the known keys into a larger, empty table."""
    mask = len(slots) - 1
    for number in range(used):
        slot = slot_of(distinct[number], mask)
        while slots[slot, 0] != EMPTY:
            slot = (slot + 1) & mask
        slots[slot, 0] = distinct[number]
        slots[slot, 1] = number
