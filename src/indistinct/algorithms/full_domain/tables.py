"""Class tables of nodes: kept within a memory budget, each made from the smallest stored one below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.algorithms.full_domain import pool
from indistinct.kernels.lattice import smallest_below
from indistinct.kernels.rollup import add_counts, add_persons, roll_up, roll_up_wide

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.algorithms.full_domain.lattice import Lattice
    from indistinct.tables.records import Frequencies

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Node = tuple[int, ...]

DIRECT = 4000  # a table of so few classes is rolled up at once, without intermediate tables


@dataclass(slots=True)
class Table:
    """The classes of one node: keys int64[g, W], rows and sizes (persons where there are any) int64[g].

    ``counts`` [g, m]: dense histograms of the sensitive attributes, side by side. ``single`` and ``at`` carry
    the persons, see ``kernels.rollup.add_persons``. ``buffers`` hold the arrays.
    """

    keys: Int64
    rows: Int64
    sizes: Int64
    counts: Int32 | None
    single: Int64 | None
    at: Int32 | None
    buffers: tuple[pool.Buffer, ...] = ()


class Tables:
    """Class tables by node, each rolled up from the smallest stored one below it, least recently used out."""

    def __init__(self, frequencies: Frequencies, lattice: Lattice, counts: Int32 | None, room: int) -> None:
        self.lattice = lattice
        self.room = room
        self.used = 0  # bytes
        self.rolled = 0  # classes read so far, a measure of work
        tuples, width = len(lattice.keys), len(lattice.quasi)
        self._lengths = lattice.nodes.tolist()
        self._slots = np.empty(1 << max(4, (2 * tuples - 1).bit_length()), np.int32)
        self._keys, self._rows = np.empty_like(lattice.keys), np.empty(tuples, np.int64)
        self.member = np.empty(tuples, np.int32)
        self._nodes = np.zeros((64, width), np.int64)
        self._sizes = np.zeros(64, np.int64)
        self._stored: list[Table] = []
        self._place: dict[Node, int] = {}
        self._by_place: list[Node] = []
        persons = frequencies.persons
        single = at = self._person = None
        if persons is not None:
            single = np.ascontiguousarray(persons.single, dtype=np.int64)
            owner = np.repeat(np.arange(tuples, dtype=np.int32), np.diff(persons.start))
            order = np.argsort(persons.ids, kind="stable")
            at, self._person = owner[order], np.ascontiguousarray(persons.ids[order], dtype=np.int32)
        rows = frequencies.tuple_rows
        first = Table(lattice.keys, rows, rows, counts, single, at)
        if at is None and all(h.size == nodes[0] for h, nodes in zip(lattice.quasi, self._lengths, strict=True)):
            self.member[:] = np.arange(tuples)
        else:
            first = self._make(first, np.full(width, -1, np.int64), np.zeros(width, np.int64))
        self.bottom_member = self.member.copy()
        self._store((0,) * width, np.zeros(width, np.int64), first)

    def close(self) -> None:
        """Give the memory back; no table may be used any more."""
        while self._stored:
            for buffer in self._stored.pop().buffers:
                pool.give(buffer)

    def of(self, node: Node, vector: Int64) -> Table:
        """Table of a node, given as tuple and as vector."""
        place = self._place.pop(node, None)
        if place is not None:
            self._place[node] = place
            return self._stored[place]
        source = smallest_below(self._nodes, self._sizes, len(self._stored), vector)
        if self._sizes[source] > DIRECT:
            source = self._prepare(node, source)
        return self._roll(node, vector, source)

    def _roll(self, node: Node, vector: Int64, source: int) -> Table:
        used = self._by_place[source]
        self._place[used] = self._place.pop(used)
        table = self._make(self._stored[source], self._nodes[source], vector)
        self._store(node, vector, table)
        return table

    def _prepare(self, node: Node, source: int) -> int:
        """Generalize one attribute after the other, widest first, and keep what arises for other nodes."""
        for a in self.lattice.chain:
            below = self._by_place[source]
            if below[a] == node[a]:
                continue
            above = (*below[:a], node[a], *below[a + 1 :])
            if above == node:
                break
            self._roll(above, np.array(above, np.int64), source)
            source = self._place[above]
            if self._sizes[source] <= DIRECT:
                break
        return source

    def _make(self, table: Table, source: Int64, target: Int64) -> Table:
        lattice = self.lattice
        length = len(table.rows)
        self.rolled += length
        most = 1
        for lengths, p in zip(self._lengths, target.tolist(), strict=True):
            most *= lengths[p]
            if most >= length:
                most = length
                break
        slots = self._slots[: 1 << max(4, (2 * most - 1).bit_length())]
        shared = (lattice.shifts, lattice.masks, lattice.starts, lattice.moves, slots)
        member = self.member[:length]
        if lattice.keys.shape[1] == 1:
            found = roll_up(
                table.keys.reshape(-1),
                table.rows,
                source,
                target,
                *shared,
                self._keys.reshape(-1),
                self._rows,
                member,
            )
        else:
            found = roll_up_wide(
                table.keys, table.rows, source, target, lattice.words, *shared, self._keys, self._rows, member
            )
        keys, rows = self._keys[:found].copy(), self._rows[:found].copy()
        sizes = rows
        counts = single = at = None
        buffers: tuple[pool.Buffer, ...] = ()
        if table.counts is not None:
            counts, buffer = zeros(found, table.counts.shape[1], table.counts.dtype)
            buffers = (buffer,)
            add_counts(table.counts, member, counts)
        if table.single is not None and table.at is not None and self._person is not None:
            single, at = np.zeros(found, np.int64), np.empty_like(table.at)
            sizes = np.empty(found, np.int64)
            add_persons(table.single, table.at, self._person, member, single, at, sizes)
        return Table(keys, rows, sizes, counts, single, at, buffers)

    def _store(self, node: Node, vector: Int64, table: Table) -> None:
        self.used += _bytes(table)
        place = len(self._stored)
        if place == len(self._nodes):
            self._nodes = np.concatenate([self._nodes, np.zeros_like(self._nodes)])
            self._sizes = np.concatenate([self._sizes, np.zeros_like(self._sizes)])
        self._nodes[place], self._sizes[place] = vector, len(table.rows)
        self._stored.append(table)
        self._by_place.append(node)
        self._place[node] = place
        while self.used > self.room and len(self._stored) > 2:
            self._drop(next(other for other, at in self._place.items() if at != 0 and other != node))

    def _drop(self, node: Node) -> None:
        """Forget a table; the last one takes its place."""
        place, last = self._place.pop(node), len(self._stored) - 1
        gone = self._stored[place]
        if place != last:
            self._nodes[place], self._sizes[place] = self._nodes[last], self._sizes[last]
            self._stored[place], self._by_place[place] = self._stored[last], self._by_place[last]
            self._place[self._by_place[place]] = place
        self._stored.pop()
        self._by_place.pop()
        self.used -= _bytes(gone)
        for buffer in gone.buffers:
            pool.give(buffer)

    def member_of(self, vector: Int64) -> tuple[Table, Int32]:
        """Table of a node made from the bottom at once, and the class int32[u] of every tuple."""
        bottom = self._stored[0]
        table = self._make(bottom, self._nodes[0], vector)
        return table, self.member[: len(bottom.rows)][self.bottom_member]


def zeros(rows: int, columns: int, dtype: np.dtype[Any]) -> tuple[Int32, pool.Buffer]:
    """Matrix of zeros in pooled memory, and the buffer to give back."""
    buffer = pool.take(rows * columns * dtype.itemsize)
    matrix = buffer[: rows * columns * dtype.itemsize].view(dtype).reshape(rows, columns)
    matrix[:] = 0
    return matrix, buffer


def _bytes(table: Table) -> int:
    size = 16 * len(table.rows) + 8 * table.keys.size
    if table.counts is not None:
        size += table.counts.nbytes
    if table.at is not None:
        size += table.at.nbytes
    return size
