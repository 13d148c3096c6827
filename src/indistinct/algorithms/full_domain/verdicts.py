"""What a node must suppress, what that costs, and what it says about every more special node.

Three bounds hold for a node D below N (D no more general in any attribute). A class C of N that violates a model
is split by D into parts. If the model is *absorbing* (a part of a violating class violates), all rows of C are
suppressed at D. If it is *merge-closed* (the union of satisfying classes satisfies), the parts that D keeps make up a
satisfying sub-multiset of C, so at least m(C) rows go, the fewest whose removal leaves C empty or satisfying. With
least(N) = sum of m(C), and c_D(C) the highest cost that a row of C can have at D,

    suppressed(D) >= least(N),   n penalty(D) >= sum over C of m(C) (1 - c_D(C)).

Models without either property give no bound: only base(D) <= loss(D) is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.full_domain.tables import Table, Tables
from indistinct.models import MODELS, criteria, evaluate
from indistinct.models.contract import Context, K
from indistinct.tables.classes import classes_of
from indistinct.tables.records import SUPPRESSED, Assignment, Classes, Histogram

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from indistinct.algorithms.full_domain.lattice import Lattice
    from indistinct.models.contract import Criterion
    from indistinct.policy.privacy import Privacy
    from indistinct.tables.records import Frequencies

    Int8 = NDArray[np.int8]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]
    Node = tuple[int, ...]

TABLE_BYTES = 256 << 20  # memory for class tables
NARROW = 128  # sensitive values up to which dense counts pay ...
DENSE_NARROW = 1 << 28  # ... while tuples x values are no more than this
DENSE = 1 << 23  # and the same for any number of values


@dataclass(slots=True)
class Verdict:
    """What one node suppresses.

    ``lost``: rows in violating classes. ``least``: rows that this node and every one below it must suppress.
    ``penalty`` (times n): sum of 1 - cost over the lost rows; None where ``lost`` is above the limit, then nobody
    needs it. ``relief`` float64[d, L] (times n): ``least`` - sum over a of ``relief[a, D[a]]`` is a bound of the
    penalty of every node D below; None where ``least`` is 0 or above the limit. It is overwritten by the next verdict.
    """

    lost: int
    least: int
    penalty: float | None
    relief: Float64 | None


class Judge:
    """Gives the verdicts on the nodes of a lattice.

    Models with compiled criteria are tested on dense class histograms, undecided classes by the exact test of the
    model; other models, and attributes with very many values, are tested exactly on sparse classes.
    """

    def __init__(
        self, frequencies: Frequencies, lattice: Lattice, privacy: Sequence[Privacy], limit: int
    ) -> None:
        self.frequencies = frequencies
        self.lattice = lattice
        self.limit = limit
        self.context = Context(frequencies.references)
        self.privacy = tuple(privacy)
        self.k = 0
        self.tests: list[tuple[Criterion, int, int]] = []
        self.fast: list[Privacy] = []
        self.slow: list[Privacy] = []
        self._settled: dict[bytes, bool] = {}
        counts = self._sort_out()
        self.tables = Tables(frequencies, lattice, counts, TABLE_BYTES)
        tuples = len(lattice.keys)
        self._lost, self._least = np.empty(tuples, np.int64), np.empty(tuples, np.int64)
        self._undecided = np.zeros(tuples, np.int8)
        self._sums = np.zeros(int(lattice.offsets[-1]))
        self._relief, self._spared = np.zeros(lattice.base.shape), np.zeros(lattice.base.shape)
        self.absorbing = all(test.absorbing for test, _, _ in self.tests)
        self.merge_closed = all(test.merge_closed for test, _, _ in self.tests)

    def _sort_out(self) -> Int32 | None:
        """Divide the models into size conditions, dense tests and slow ones; returns the dense counts of the tuples."""
        from indistinct.kernels.rollup import scatter

        frequencies = self.frequencies
        tuples = len(self.lattice.keys)
        size = {hierarchy.attribute: hierarchy.size for hierarchy in frequencies.sensitive}
        columns: dict[str, int] = {}
        width = 0
        for privacy in self.privacy:
            found = criteria((privacy,), self.context)
            names = {test.attribute for test in found or () if test.attribute is not None}
            new = sum(size[name] for name in names - columns.keys())
            room = DENSE_NARROW if all(size[name] <= NARROW for name in names) else DENSE
            if found is None or (new and tuples * (width + new) > room):
                self.slow.append(privacy)
                continue
            self.fast.append(privacy)
            for test in found:
                if test.kind == K:
                    self.k = max(self.k, int(test.parameters[0]))
                elif test.attribute is not None:
                    if test.attribute not in columns:
                        columns[test.attribute] = width
                        width += size[test.attribute]
                    first = columns[test.attribute]
                    self.tests.append((test, first, first + size[test.attribute]))
        self.tests.sort(key=lambda item: not item[0].absorbing)  # cheap and final ones first
        self.columns = columns
        if not width:
            return None
        counts = np.zeros((tuples, width), np.int32 if frequencies.total < 1 << 31 else np.int64)
        for name, first in columns.items():
            scatter(frequencies.tuple_of, frequencies.sensitive_codes(name), frequencies.rows, first, counts)
        return counts

    def verdict(self, node: Node, cutoff: float = np.inf) -> Verdict:
        """Judge a node. Slow models are left out where the loss is above ``cutoff`` without them."""
        table, lost, least = self._losses(node, cutoff)
        at_least = int(least.sum())
        gone = at_least if lost is least else int(lost.sum())
        if at_least > self.limit:
            return Verdict(gone, at_least, None, None)
        relief = self._charge(node, table, least, self._relief) if at_least else None
        penalty = None
        if gone <= self.limit:
            spared = relief if lost is least or not gone else self._charge(node, table, lost, self._spared)
            penalty = float(gone)
            if gone and spared is not None:
                penalty -= sum(spared[a, p] for a, p in enumerate(node))
        return Verdict(gone, at_least, penalty, relief)

    def losses(self, node: Node) -> tuple[Table, Int64]:
        """Return the classes of a node and the rows that each of them loses: all of its rows or 0."""
        table, lost, _ = self._losses(node, np.inf)
        return table, lost

    def exact_loss(self, node: Node) -> Fraction:
        """Exact loss of a node."""
        table, lost = self.losses(node)
        return self.lattice.exact_loss(node, table.keys, lost)

    def assignment(self, node: Node, notes: tuple[str, ...], *, proven: bool | None) -> Assignment:
        """Send every tuple to its class at a node and suppress the violating classes."""
        frequencies = self.frequencies
        table, member = self.tables.member_of(node)
        lost, _ = self._losses_of(node, table, member, np.inf)
        kept = lost == 0
        number = np.where(kept, np.cumsum(kept) - 1, SUPPRESSED).astype(np.int32)
        return Assignment(
            np.arange(len(frequencies.rows), dtype=np.int32),
            frequencies.rows,
            number[member][frequencies.tuple_of],
            int(kept.sum()),
            self.lattice.level_vector(node),
            notes,
            proven,
        )

    def _charge(self, node: Node, table: Table, amounts: Int64, relief: Float64) -> Float64:
        from indistinct.kernels.rollup import charge, relieve

        lattice, vector = self.lattice, np.array(node, np.int64)
        charge(
            table.keys,
            amounts,
            vector,
            lattice.words,
            lattice.shifts,
            lattice.masks,
            lattice.offsets,
            lattice.free,
            self._sums,
        )
        relieve(
            vector,
            lattice.offsets,
            lattice.free,
            lattice.nodes,
            lattice.representative_starts,
            lattice.representatives,
            lattice.dearest_starts,
            lattice.dearest,
            self._sums,
            relief,
        )
        return relief

    def _losses(self, node: Node, cutoff: float) -> tuple[Table, Int64, Int64]:
        if self.slow:
            table, member = self.tables.member_of(node)
            return table, *self._losses_of(node, table, member, cutoff)
        table = self.tables.of(node)
        return table, *self._test(table)

    def _losses_of(self, node: Node, table: Table, member: Int32, cutoff: float) -> tuple[Int64, Int64]:
        """Rows that each class loses, and rows that it and its parts must lose."""
        lost, least = self._test(table)
        if not self.slow or int(least.sum()) > self.limit:
            return lost, least
        if np.isfinite(cutoff):
            relief = self._charge(node, table, lost, self._spared)
            penalty = float(lost.sum()) - sum(relief[a, p] for a, p in enumerate(node))
            if self.lattice.base_of(node) + penalty / self.lattice.total > cutoff:
                return lost, least
        classes = classes_of(self.frequencies, Assignment.of_tuples(self.frequencies, member))
        if lost is least:
            least = lost.copy()
        for privacy in self.slow:
            self._mark(privacy, ~evaluate(privacy, classes, self.context).satisfied, table.rows, lost, least)
        return lost, least

    def _test(self, table: Table) -> tuple[Int64, Int64]:
        """Apply the size condition and the dense tests; one array twice where both answers are the same."""
        from indistinct.kernels.judges import too_small

        length = len(table.rows)
        lost = least = self._lost[:length]
        gone = too_small(table.sizes, table.rows, self.k, lost)
        if not self.tests or table.counts is None:
            return Losses(table, lost, least, gone, gone)
        if not self.absorbing:
            least = self._least[:length]
            least[:] = lost
        undecided = self._undecided[:length]
        doubtful = sum(test(table, lost, least, undecided) for test in self.tests)
        if doubtful:
            open_classes = np.flatnonzero(undecided & (lost == 0))
            undecided[:] = 0
            self._settle(table, open_classes, lost, least)
        return Losses.of(table, lost, least)

    def _settle(self, table: Table, which: NDArray[np.intp], lost: Int64, least: Int64) -> None:
        """Decide classes at a threshold by the exact tests."""
        if table.counts is None or not len(which):
            return
        names = [(table.counts[i].tobytes(), int(table.sizes[i])) for i in which]
        new = np.array([name not in self._settled for name in names])
        if new.any():
            classes = self._classes(table.counts[which[new]], table.rows[which[new]], table.sizes[which[new]])
            satisfied = np.ones(len(classes), np.bool_)
            for privacy in self.fast:
                satisfied &= evaluate(privacy, classes, self.context).satisfied
            self._settled.update(
                zip((names[i] for i in np.flatnonzero(new)), satisfied.tolist(), strict=True)
            )
        for i, name in zip(which.tolist(), names, strict=True):
            if not self._settled[name]:
                lost[i] = table.rows[i]
                if lost is not least and self.merge_closed:
                    least[i] = max(least[i], 1)

    def _classes(self, counts: Int32, rows: Int64, sizes: Int64) -> Classes:
        histograms = {}
        for name, first in self.columns.items():
            block = counts[:, first : first + self.context.references[name].hierarchy.size]
            owner, value = np.nonzero(block)
            start = np.searchsorted(owner, np.arange(len(rows) + 1)).astype(np.int64)
            histograms[name] = Histogram(start, value.astype(np.int32), block[owner, value].astype(np.int64))
        none = np.zeros(0, np.int32)
        persons = None if self.frequencies.persons is None else sizes
        return Classes(
            rows,
            persons,
            tuple(self.columns),
            histograms,
            none,
            np.zeros((0, len(self.columns)), np.int32),
            rows[:0],
        )

    def _mark(
        self, privacy: Privacy, violated: NDArray[np.bool_], rows: Int64, lost: Int64, least: Int64
    ) -> None:
        """Enter the violating classes of a model that says nothing about how many rows must go."""
        lost[violated] = rows[violated]
        if MODELS[privacy.model].absorbing:
            least[violated] = rows[violated]
        elif MODELS[privacy.model].merge_closed:
            least[violated] = np.maximum(least[violated], 1)
