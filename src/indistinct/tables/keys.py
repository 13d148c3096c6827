"""A growing table of distinct keys with their counts, fed batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

KEY_BITS = 62


SMALL_BATCH = 1 << 17
SMALL_USED = 1 << 16


def pack(columns: Sequence[Int32], bits: Sequence[int]) -> Int64:
    """Put the codes of several columns side by side into one key, the first in the lowest bits."""
    if not columns:
        return np.zeros(0, np.int64)
    keys = columns[-1].astype(np.int64)
    for column, width in zip(columns[-2::-1], bits[-2::-1], strict=True):  # in place: half the time of shifted copies
        keys <<= width
        keys |= column
    return keys


class Numbering:
    """Gives every distinct key the next number 0, 1, ... and counts its rows.

    While the keys are few, a Python dictionary holds them, so that a small table is counted without loading numba
    (0.4 s); a compiled hash table takes over after that. ``distinct`` int64[used] are the keys by number.

    >>> numbering = Numbering()
    >>> numbering.add(np.array([7, 9, 7])).tolist(), numbering.counts.tolist()
    ([0, 1, 0], [2, 1])
    """

    def __init__(self) -> None:
        self.used = 0
        self._small: dict[int, int] | None = {}
        self._distinct = np.zeros(0, np.int64)
        self._counts = np.zeros(0, np.int64)
        self._slots = np.zeros((0, 2), np.int64)

    @property
    def distinct(self) -> Int64:
        """int64[used]: the keys by number."""
        return self._distinct[: self.used]

    @property
    def counts(self) -> Int64:
        """int64[used]: the rows of each key (a view)."""
        return self._counts[: self.used]

    def add(self, keys: Int64, *, keep: bool = True) -> Int32:
        """Count one batch of keys; return the number of each (nothing unless ``keep``)."""
        if self._small is not None and (len(keys) > SMALL_BATCH or self.used > SMALL_USED):
            self._small = None
            self._enlarge(self.used)
        return self._compiled(keys, keep=keep) if self._small is None else self._interpreted(keys, self._small)

    def rename(self, keys: Int64) -> None:
        """Give the numbers 0..used-1 other keys."""
        self._distinct[: self.used] = keys
        if self._small is None:
            self._enlarge(self.used)
        else:
            self._small = {key: number for number, key in enumerate(keys.tolist())}

    def _interpreted(self, keys: Int64, known: dict[int, int]) -> Int32:
        distinct, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        arrival = np.argsort(first)
        numbers = np.empty(len(distinct), np.int32)
        numbers[arrival] = [known.setdefault(key, len(known)) for key in distinct[arrival].tolist()]
        self.used = len(known)
        self._reserve(self.used)
        self._distinct[numbers] = distinct
        self._counts[numbers] += counts
        return numbers[inverse.reshape(-1)]

    def _compiled(self, keys: Int64, *, keep: bool) -> Int32:
        from indistinct.kernels.counting import number_keys

        out = np.empty(len(keys) if keep else 0, np.int32)
        done = 0
        while done < len(keys):
            done, self.used = number_keys(keys, self._slots, self._distinct, self._counts, self.used, done, out)
            if done < len(keys):
                self._enlarge(4 * self.used)
        return out

    def _reserve(self, room: int) -> None:
        more = room - len(self._distinct)
        if more > 0:
            self._distinct = np.concatenate([self._distinct, np.zeros(more, np.int64)])
            self._counts = np.concatenate([self._counts, np.zeros(more, np.int64)])

    def _enlarge(self, room: int) -> None:
        """Make the hash table hold at least ``room`` keys at half load, and enter those that are known."""
        from indistinct.kernels.counting import rehash

        size = max(1 << 12, 1 << (2 * room).bit_length())
        self._reserve(size // 2)
        self._slots = np.full((size, 2), -1, np.int64)
        rehash(self._distinct, self.used, self._slots)


class KeyTable:
    """Counts rows by the codes of several columns, whose dictionaries may grow from batch to batch.

    Columns are packed into one 62-bit key; when a dictionary outgrows its bits the distinct keys found so far are
    packed anew (the cost grows with cells, not with rows). Columns that do not fit beside the others are folded: the
    number of the key so far becomes the first field of a further key.

    >>> table = KeyTable(2)
    >>> table.add([np.array([0, 0, 1], np.int32), np.array([5, 5, 5], np.int32)]).tolist()
    [0, 0, 1]
    >>> table.codes().tolist(), table.counts.tolist()
    ([[0, 5], [1, 5]], [2, 1])
    """

    def __init__(self, columns: int) -> None:
        self.bits = [0] * columns  # so that the first batch finds out whether one key has room for all
        self.rest: KeyTable | None = None  # counts the columns from ``split`` on, with our numbers as its first column
        self.split = columns
        self.keys = Numbering()

    @property
    def counts(self) -> Int64:
        """int64[.]: rows of each distinct combination, in order of arrival."""
        return self.rest.counts if self.rest else self.keys.counts

    def add(self, columns: Sequence[Int32], *, keep: bool = True) -> Int32:
        """Count one batch of equally long code columns; return the number of each row's key (empty unless ``keep``)."""
        self._make_room([int(column.max(initial=0)) for column in columns])
        keys = pack(columns[: self.split], self.bits[: self.split])
        own = self.keys.add(keys, keep=keep or self.rest is not None)
        return self.rest.add([own, *columns[self.split :]], keep=keep) if self.rest else own

    def codes(self) -> Int32:
        """int32[., columns]: the codes of each distinct combination, in order of arrival."""
        own = np.empty((self.keys.used, self.split), np.int32)
        shift = 0
        for position, bits in enumerate(self.bits[: self.split]):
            own[:, position] = (self.keys.distinct >> shift) & ((1 << bits) - 1)
            shift += bits
        if self.rest is None:
            return own
        rest = self.rest.codes()
        return np.concatenate([own[rest[:, 0]], rest[:, 1:]], axis=1)

    def _make_room(self, largest: list[int]) -> None:
        needed = [max(bits, value.bit_length()) for bits, value in zip(self.bits, largest, strict=True)]
        if needed == self.bits:
            return
        # one spare bit, so that a dictionary that keeps growing is not packed anew for every batch
        wanted = [bits if bits == old else bits + 1 for bits, old in zip(needed, self.bits, strict=True)]
        split = int(np.searchsorted(np.cumsum(wanted), KEY_BITS, side="right"))
        columns = [np.ascontiguousarray(column) for column in self.codes().T]
        if self.rest is None and split == len(wanted):
            self.bits = wanted
            self.keys.rename(pack(columns, wanted))
        else:
            self._fold(columns, wanted, max(1, split))

    def _fold(self, known: list[Int32], bits: list[int], split: int) -> None:
        """Start again with the first ``split`` columns here and the others in ``rest``; numbers stay as they were."""
        counts = self.counts.copy()
        self.bits, self.split = bits, split
        self.keys, self.rest = Numbering(), KeyTable(1 + len(bits) - split)
        if len(counts):
            numbers = self.keys.add(pack(known[:split], bits[:split]))
            self.rest.add([numbers, *known[split:]])
            self.counts[:] = counts
