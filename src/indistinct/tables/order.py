"""Sorting rows of codes, and finding the runs of equal ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.tables.keys import KEY_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]


def lexicographic_order(codes: Int32, sizes: Sequence[int]) -> Int64:
    """Return the order that sorts rows of codes, packing columns into as few 62-bit keys as possible.

    ``codes`` int32[rows, columns], 0 <= codes < ``sizes`` in each column (not checked); ties keep their order.

    >>> lexicographic_order(np.array([[1, 0], [0, 5], [0, 2]], np.int32), [2, 6]).tolist()
    [2, 1, 0]
    """
    keys: list[Int64] = []
    used = KEY_BITS + 1
    for position, size in enumerate(sizes):
        bits = max(1, int(size - 1).bit_length())
        if used + bits > KEY_BITS:
            keys.append(np.zeros(len(codes), np.int64))
            used = 0
        keys[-1] = (keys[-1] << bits) | codes[:, position]
        used += bits
    if not keys:
        return np.arange(len(codes))
    return np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])


def run_starts(rows: Int32) -> NDArray[np.bool_]:
    """Say of each row whether it differs from the one before; the first always does.

    >>> run_starts(np.array([[0, 1], [0, 1], [2, 1]], np.int32)).tolist()
    [True, False, True]
    """
    starts = np.ones(len(rows), np.bool_)
    starts[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return starts
