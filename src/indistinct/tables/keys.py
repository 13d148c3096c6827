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
        self.used = 0
        self._slots = np.full(1 << 12, -1, np.int64)
        self._numbers = np.zeros(1 << 12, np.int32)
        self._distinct = np.zeros(1 << 11, np.int64)
        self._counts = np.zeros(1 << 11, np.int64)

    @property
    def counts(self) -> Int64:
        """int64[used]: rows of each distinct key, in order of arrival."""
        return self.rest.counts if self.rest else self._counts[: self.used]

    def add(self, columns: Sequence[Int32], *, keep: bool = True) -> Int32:
        """Count one batch of equally long code columns; return the number of each row's key (empty unless ``keep``)."""
        from indistinct.kernels.counting import number_keys, pack

        self._make_room([int(column.max(initial=0)) for column in columns])
        keys = np.zeros(len(columns[0]) if columns else 0, np.int64)
        shift = 0
        for column, bits in zip(columns[: self.split], self.bits, strict=False):
            pack(keys, column, shift)
            shift += bits
        own = keep or self.rest is not None
        out = np.empty(len(keys) if own else 0, np.int32)
        done = 0
        while done < len(keys):
            done, self.used = number_keys(
                keys, self._slots, self._numbers, self._distinct, self._counts, self.used, done, out
            )
            if done < len(keys):
                self._grow()
        return self.rest.add([out, *columns[self.split :]], keep=keep) if self.rest else out

    def codes(self) -> Int32:
        """int32[used, columns]: the codes of each distinct key, in order of arrival."""
        own = np.empty((self.used, self.split), np.int32)
        shift = 0
        for position, bits in enumerate(self.bits[: self.split]):
            own[:, position] = (self._distinct[: self.used] >> shift) & ((1 << bits) - 1)
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
        total = np.cumsum(wanted)
        split = int(np.searchsorted(total, KEY_BITS, side="right"))
        known, counts = self.codes(), self.counts
        if self.rest is None and split == len(wanted):
            self._repack(known, wanted)
        else:
            self._fold(known, counts, wanted, max(1, split))

    def _repack(self, known: Int32, bits: list[int]) -> None:
        from indistinct.kernels.counting import pack, rehash

        self.bits = bits
        keys = np.zeros(self.used, np.int64)
        shift = 0
        for position, width in enumerate(bits[: self.split]):
            pack(keys, np.ascontiguousarray(known[:, position]), shift)
            shift += width
        self._distinct[: self.used] = keys
        self._slots.fill(-1)
        rehash(self._distinct, self.used, self._slots, self._numbers)

    def _fold(self, known: Int32, counts: Int64, bits: list[int], split: int) -> None:
        """Start again with the first ``split`` columns here and the others in ``rest``; numbers stay as they were."""
        fresh = KeyTable(split)
        fresh.bits = bits[:split]
        rest = KeyTable(1 + len(bits) - split)
        columns = [np.ascontiguousarray(known[:, i]) for i in range(known.shape[1])]
        if len(known):
            numbers = fresh.add(columns[:split])
            rest.add([numbers, *columns[split:]])
            target = rest
            while target.rest:
                target = target.rest
            target._counts[: target.used] = counts  # noqa: SLF001  # the last table of the chain is ours
        self.bits, self.split, self.rest, self.used = fresh.bits + bits[split:], split, rest, fresh.used
        self._slots, self._numbers = fresh._slots, fresh._numbers
        self._distinct, self._counts = fresh._distinct, fresh._counts

    def _grow(self) -> None:
        from indistinct.kernels.counting import rehash

        size = 4 * len(self._slots)
        self._slots = np.full(size, -1, np.int64)
        self._numbers = np.zeros(size, np.int32)
        self._distinct = np.concatenate([self._distinct, np.zeros(size // 2 - len(self._distinct), np.int64)])
        self._counts = np.concatenate([self._counts, np.zeros(size // 2 - len(self._counts), np.int64)])
        rehash(self._distinct, self.used, self._slots, self._numbers)
