"""One number for each combination of values in some columns, and working space to find those that occur once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Bool = NDArray[np.bool_]

KEY_LIMIT = 2**62


def combined(columns: Sequence[Int32], sizes: Sequence[int]) -> Int64:
    """Return one key for each row, equal exactly where all columns agree; int64[rows].

    ``columns`` hold codes 0 <= code < size. Keys are numbered densely where the product of the sizes is too large.

    >>> combined([np.array([0, 1, 0], np.int32), np.array([2, 0, 2], np.int32)], [2, 3]).tolist()
    [2, 3, 2]
    """
    keys = columns[0].astype(np.int64)
    room = sizes[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        if room * size >= KEY_LIMIT:
            distinct, keys = np.unique(keys, return_inverse=True)
            keys, room = keys.reshape(-1).astype(np.int64), len(distinct)
        keys = keys * size + column
        room *= size
    return keys


class Space:
    """Working space of a hash table for up to ``rows`` keys; one thread at a time."""

    def __init__(self, rows: int) -> None:
        size = max(16, 1 << (2 * rows).bit_length())
        self._slots = np.zeros(size, np.int64)
        self._owner = np.zeros(size, np.int32)
        self._stamps = np.zeros(size, np.int32)
        self._stamp = 0
        self._previous = np.zeros(0, np.int32)

    def alone(self, keys: Int64) -> Bool:
        """Say of each key whether no other is equal; bool[len(keys)]."""
        from indistinct.kernels.uniqueness import mark_alone

        self._stamp += 1
        out = np.zeros(len(keys), np.bool_)
        mark_alone(keys, self._slots, self._owner, self._stamps, self._stamp, out)
        return out

    def first_repetition(self, keys: Int64) -> tuple[int, int]:
        """Return the first two positions with equal keys, (-1, -1) if all differ."""
        from indistinct.kernels.uniqueness import first_repetition

        self._stamp += 1
        first, second = first_repetition(keys, self._slots, self._owner, self._stamps, self._stamp)
        return int(first), int(second)

    def never_met(self, keys: Int64, table: Int32, others: Sequence[int], pairs: int) -> tuple[list[int], bool]:
        """Go through the pairs of rows with equal keys, and return the columns on which none of them agrees.

        ``table`` int32[rows, columns], row-major; ``others`` are the columns asked for. Ends when none is left, or
        after so many ``pairs``. The second value says whether all pairs with equal keys were seen.
        """
        from indistinct.kernels.uniqueness import never_met

        self._stamp += 1
        if len(self._previous) < len(keys):
            self._previous = np.zeros(len(keys), np.int32)
        left = np.array(others, np.int64)
        number, seen_all = never_met(
            keys, table, left, pairs, self._slots, self._owner, self._stamps, self._stamp, self._previous
        )
        return left[:number].tolist(), bool(seen_all)
