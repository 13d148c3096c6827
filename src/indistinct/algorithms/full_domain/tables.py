"""Class tables of nodes: kept within a memory budget, each made from the smallest stored one below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

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

    ``counts`` [g, m]: dense histograms of the sensitive attributes, side by side. ``single`` and ``at`` carry the
    persons, see ``kernels.rollup.add_persons``.
    """

    keys: Int64
    rows: Int64
    sizes: Int64
    counts: Int32 | None
    single: Int64 | None
    at: Int32 | None

    @property
    def bytes(self) -> int:
        """Memory of the arrays."""
        return sum(
            part.nbytes
            for part in (self.keys, self.rows, self.counts, self.single, self.at)
            if part is not None
        )


class Tables:
    """Class tables by node, each rolled up from the smallest stored one below it, least recently used out."""

    def __init__(self, frequencies: Frequencies, lattice: Lattice, counts: Int32 | None, room: int) -> None:
        self.lattice = lattice
        self.room = room
        self.used_bytes = 0
        self.rolled = 0  # classes read so far, a measure of work
        tuples = len(lattice.keys)
        self._slots = np.empty(1 << max(4, (2 * tuples - 1).bit_length()), np.int32)
        self._keys, self._rows = np.empty_like(lattice.keys), np.empty(tuples, np.int64)
        self.member = np.empty(tuples, np.int32)
        self._nodes = np.zeros((64, len(lattice.quasi)), np.int64)
        self._sizes = np.zeros(64, np.int64)
        self._stored: list[Table] = []
        self._place: dict[Node, int] = {}
        self._by_place: list[Node] = []
        persons = frequencies.persons
        single = at = person = None
        if persons is not None:
            single = np.ascontiguousarray(persons.single, dtype=np.int64)
            owner = np.repeat(np.arange(tuples, dtype=np.int32), np.diff(persons.start))
            order = np.argsort(persons.ids, kind="stable")
            at, person = owner[order], np.ascontiguousarray(persons.ids[order], dtype=np.int32)
        self._person = person
        rows = frequencies.tuple_rows
        tuples_table = Table(lattice.keys, rows, rows if single is None else single, counts, single, at)
        bottom = (0,) * len(lattice.quasi)
        first = self._make(tuples_table, np.full(len(bottom), -1, np.int64), np.zeros(len(bottom), np.int64))
        self.bottom_member = self.member.copy()
        self._store(bottom, first)

    def of(self, node: Node) -> Table:
        """Table of a node."""
        place = self._place.pop(node, None)
        if place is not None:
            self._place[node] = place
            return self._stored[place]
        source = self._source(node)
        if self._sizes[source] > DIRECT:
            source = self._prepare(node, source)
        return self._roll(node, source)

    def _roll(self, node: Node, source: int) -> Table:
        used = self._by_place[source]
        self._place[used] = self._place.pop(used)
        table = self._make(self._stored[source], self._nodes[source], np.array(node, np.int64))
        self._store(node, table)
        return table

    def _source(self, node: Node) -> int:
        from indistinct.kernels.lattice import smallest_below

        return smallest_below(self._nodes, self._sizes, len(self._stored), np.array(node, np.int64))

    def _prepare(self, node: Node, source: int) -> int:
        """Generalize one attribute after the other, widest first, and keep what arises: other nodes start from it."""
        for a in self.lattice.chain:
            below = self._by_place[source]
            if below[a] == node[a]:
                continue
            above = (*below[:a], node[a], *below[a + 1 :])
            if above == node:
                break
            self._roll(above, source)
            source = self._place[above]
            if self._sizes[source] <= DIRECT:
                break
        return source

    def _make(self, table: Table, source: Int64, target: Int64) -> Table:
        from indistinct.kernels.rollup import add_counts, add_persons, roll_up, roll_up_wide

        lattice = self.lattice
        length = len(table.rows)
        self.rolled += length
        most = 1
        for a, p in enumerate(target.tolist()):
            most *= int(lattice.nodes[a, p])
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
        rows = self._rows[:found].copy()
        counts = single = at = None
        sizes = rows
        if table.counts is not None:
            counts = np.zeros((found, table.counts.shape[1]), table.counts.dtype)
            add_counts(table.counts, member, counts)
        if table.single is not None and table.at is not None:
            single, at, sizes = np.zeros(found, np.int64), np.empty_like(table.at), np.empty(found, np.int64)
            add_persons(table.single, table.at, self._person, member, single, at, sizes)
        return Table(self._keys[:found].copy(), rows, sizes, counts, single, at)

    def _store(self, node: Node, table: Table) -> None:
        self.used_bytes += table.bytes
        place = len(self._stored)
        if place == len(self._nodes):
            self._nodes = np.concatenate([self._nodes, np.zeros_like(self._nodes)])
            self._sizes = np.concatenate([self._sizes, np.zeros_like(self._sizes)])
        self._nodes[place], self._sizes[place] = node, len(table.rows)
        self._stored.append(table)
        self._by_place.append(node)
        self._place[node] = place
        while self.used_bytes > self.room and len(self._stored) > 2:
            self._drop(next(other for other in self._place if self._place[other] != 0 and other != node))

    def _drop(self, node: Node) -> None:
        """Forget a table; the last one takes its place."""
        place, last = self._place.pop(node), len(self._stored) - 1
        self.used_bytes -= self._stored[place].bytes
        if place != last:
            self._nodes[place], self._sizes[place] = self._nodes[last], self._sizes[last]
            self._stored[place], self._by_place[place] = self._stored[last], self._by_place[last]
            self._place[self._by_place[place]] = place
        self._stored.pop()
        self._by_place.pop()

    def member_of(self, node: Node) -> tuple[Table, Int32]:
        """Table of a node made from the tuples at once, and the class int32[u] of every tuple."""
        bottom = self._stored[0]
        table = self._make(bottom, self._nodes[0], np.array(node, np.int64))
        return table, self.member[: len(bottom.rows)][self.bottom_member]
