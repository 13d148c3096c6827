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

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.algorithms.full_domain import pool
from indistinct.algorithms.full_domain.dense import dense_test
from indistinct.algorithms.full_domain.tables import Tables, zeros
from indistinct.models import MODELS, criteria, evaluate
from indistinct.models.contract import Context, K
from indistinct.tables.classes import classes_of
from indistinct.tables.records import SUPPRESSED, Assignment, Classes, Histogram

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from indistinct.algorithms.full_domain.dense import DenseTest
    from indistinct.algorithms.full_domain.lattice import Lattice
    from indistinct.algorithms.full_domain.tables import Table
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


class Verdict(NamedTuple):
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


class Losses(NamedTuple):
    """Rows int64[g] that each class of a table loses, and that it and its parts at least lose; with the sums.

    ``undecided``: classes that count as satisfying for the time being, or None.
    """

    table: Table
    lost: Int64
    least: Int64
    lost_rows: int
    least_rows: int
    undecided: NDArray[np.intp] | None


class Judge:
    """Gives the verdicts on the nodes of a lattice.

    Models with compiled criteria are tested on dense class histograms, undecided classes by the exact test of the
    model; other models, and attributes with very many values, are tested exactly on sparse classes.
    """

    def __init__(self, frequencies: Frequencies, lattice: Lattice, privacy: Sequence[Privacy], limit: int) -> None:
        self.frequencies = frequencies
        self.lattice = lattice
        self.limit = limit
        self.context = Context(frequencies.references)
        self.privacy = tuple(privacy)
        self.k = 0
        self.tests: list[DenseTest] = []
        self.absorbing = self.merge_closed = True  # all dense tests
        self.fast: list[Privacy] = []
        self.slow: list[Privacy] = []
        self.columns: dict[str, int] = {}
        self._decided: dict[tuple[bytes, int], bool] = {}
        self.base_terms: list[list[float]] = lattice.base.tolist()
        tuples = len(lattice.keys)
        counts, self._buffer = self._dense_counts(self._sort_out())
        self.tables = Tables(frequencies, lattice, counts, TABLE_BYTES)
        self._lost, self._least = np.empty(tuples, np.int64), np.empty(tuples, np.int64)
        self._undecided = np.zeros(tuples, np.int8)
        self._sums = np.zeros(int(lattice.offsets[-1]), np.int64)
        self._relief, self._spared = np.zeros(lattice.base.shape), np.zeros(lattice.base.shape)

    def close(self) -> None:
        """Give the memory back."""
        self.tables.close()
        if self._buffer is not None:
            pool.give(self._buffer)
            self._buffer = None

    def _sort_out(self) -> int:
        """Divide the models into size conditions, dense tests and slow ones; returns the dense columns."""
        tuples = len(self.lattice.keys)
        size = {hierarchy.attribute: hierarchy.size for hierarchy in self.frequencies.sensitive}
        width = 0
        criteria_found: list[Criterion] = []
        for privacy in self.privacy:
            found = criteria((privacy,), self.context)
            names = {test.attribute for test in found or () if test.attribute is not None}
            new = sum(size[name] for name in names - self.columns.keys())
            room = DENSE_NARROW if all(size[name] <= NARROW for name in names) else DENSE
            if found is None or (new and tuples * (width + new) > room):
                self.slow.append(privacy)
                continue
            self.fast.append(privacy)
            for name in sorted(names - self.columns.keys()):
                self.columns[name] = width
                width += size[name]
            criteria_found.extend(found)
        self.k = max((int(test.parameters[0]) for test in criteria_found if test.kind == K), default=0)
        for test in sorted(criteria_found, key=lambda test: not test.absorbing):  # the final ones first
            if test.attribute is not None:
                first = self.columns[test.attribute]
                self.tests.append(dense_test(test, (first, first + size[test.attribute]), self.k))
                self.absorbing &= test.absorbing
                self.merge_closed &= test.merge_closed
        return width

    def _dense_counts(self, width: int) -> tuple[Int32 | None, pool.Buffer | None]:
        from indistinct.kernels.rollup import scatter

        if not width:
            return None, None
        frequencies = self.frequencies
        kind = np.dtype(np.int32 if frequencies.total < 1 << 31 else np.int64)
        counts, buffer = zeros(len(self.lattice.keys), width, kind)
        for name, first in self.columns.items():
            codes = frequencies.sensitive_codes(name)
            scatter(frequencies.tuple_of, codes, frequencies.rows, first, counts)
        return counts, buffer

    def verdict(self, node: Node, cutoff: float = np.inf) -> Verdict:
        """Judge a node; what only matters for losses up to ``cutoff`` is left out where the loss is above it."""
        vector = np.array(node, np.int64)
        losses = self._losses(node, vector, cutoff)
        verdict = self._weigh(node, vector, losses, cutoff)
        if losses.undecided is None or verdict.penalty is None:
            return verdict
        if self.base_of(node) + verdict.penalty / self.lattice.total > cutoff:
            return verdict
        return self._weigh(node, vector, self._settled(losses), cutoff)

    def _weigh(self, node: Node, vector: Int64, losses: Losses, cutoff: float) -> Verdict:
        lost, least = losses.lost_rows, losses.least_rows
        if least > self.limit:
            return Verdict(lost, least, None, None)
        relief, penalty = None, float(least)
        if least:
            relief = self._relief
            penalty -= self._charge(vector, losses.table, losses.least, relief)
        if lost > self.limit:
            return Verdict(lost, least, None, relief)
        if lost != least and self.base_of(node) + penalty / self.lattice.total <= cutoff:
            penalty = lost - self._charge(vector, losses.table, losses.lost, self._spared)
        return Verdict(lost, least, penalty, relief)

    def suppressed(self, node: Node) -> int:
        """Rows in violating classes of a node."""
        return self._settled(self._losses(node, np.array(node, np.int64), np.inf)).lost_rows

    def base_of(self, node: Node) -> float:
        """Loss of a node before any suppression."""
        return sum([terms[p] for terms, p in zip(self.base_terms, node, strict=True)], 0.0)

    def exact_loss(self, node: Node) -> Fraction:
        """Exact loss of a node."""
        losses = self._settled(self._losses(node, np.array(node, np.int64), np.inf))
        return self.lattice.exact_loss(node, losses.table.keys, losses.lost)

    def assignment(self, node: Node, notes: tuple[str, ...], *, proven: bool | None) -> Assignment:
        """Send every tuple to its class at a node and suppress the violating classes."""
        frequencies = self.frequencies
        vector = np.array(node, np.int64)
        table, member = self.tables.member_of(vector)
        kept = self._settled(self._losses_of(node, vector, table, member, np.inf)).lost == 0
        number = np.where(kept, np.cumsum(kept, dtype=np.int32) - 1, SUPPRESSED).astype(np.int32)
        return Assignment(
            np.arange(len(frequencies.rows), dtype=np.int32),
            frequencies.rows,
            number[member][frequencies.tuple_of],
            int(kept.sum()),
            self.lattice.level_vector(node),
            notes,
            proven,
        )

    def _charge(self, vector: Int64, table: Table, amounts: Int64, relief: Float64) -> float:
        """Fill ``relief`` for ``amounts`` of the classes and return what these rows cost at the node."""
        from indistinct.kernels.rollup import charge, relieve

        own = self.lattice
        charge(table.keys, amounts, vector, own.words, own.shifts, own.masks, own.offsets, own.free, self._sums)
        cost: float = relieve(
            vector,
            own.offsets,
            own.free,
            own.nodes,
            own.representative_starts,
            own.representatives,
            own.dearest_starts,
            own.dearest,
            self._sums,
            relief,
        )
        return cost

    def _losses(self, node: Node, vector: Int64, cutoff: float) -> Losses:
        if self.slow:
            return self._losses_of(node, vector, *self.tables.member_of(vector), cutoff)
        return self._test(self.tables.of(node, vector))

    def _losses_of(self, node: Node, vector: Int64, table: Table, member: Int32, cutoff: float) -> Losses:
        losses = self._test(table)
        if not self.slow or losses.least_rows > self.limit:
            return losses
        if np.isfinite(cutoff):
            penalty = losses.lost_rows - self._charge(vector, table, losses.lost, self._spared)
            if self.base_of(node) + penalty / self.lattice.total > cutoff:
                return losses
        losses = self._settled(losses)
        lost, least = losses.lost, losses.least.copy()
        classes = classes_of(self.frequencies, Assignment.of_tuples(self.frequencies, member))
        for privacy in self.slow:
            violated = ~evaluate(privacy, classes, self.context).satisfied
            lost[violated] = table.rows[violated]
            if MODELS[privacy.model].absorbing:
                least[violated] = table.rows[violated]
            elif MODELS[privacy.model].merge_closed:
                least[violated] = np.maximum(least[violated], 1)
        return Losses(table, lost, least, int(lost.sum()), int(least.sum()), None)

    def _test(self, table: Table) -> Losses:
        """Apply the size condition and the dense tests."""
        from indistinct.kernels.judges import sums, too_small

        length = len(table.rows)
        lost = least = self._lost[:length]
        gone = too_small(table.sizes, table.rows, self.k, lost)
        if not self.tests:
            return Losses(table, lost, least, gone, gone, None)
        if not self.absorbing:
            least = self._least[:length]
            least[:] = lost
        undecided = self._undecided[:length]
        doubtful = 0
        for test in self.tests:
            doubtful += test(table, lost, least, undecided)
        which = None
        if doubtful:
            which = np.flatnonzero(undecided & (lost == 0))
            undecided[:] = 0
        return Losses(table, lost, least, *sums(lost, least), which)

    def _settled(self, losses: Losses) -> Losses:
        """Decide the classes at a threshold by the exact tests."""
        table, lost, least, which = losses.table, losses.lost, losses.least, losses.undecided
        if which is None or table.counts is None:
            return losses
        names = [(table.counts[i].tobytes(), int(table.sizes[i])) for i in which]
        new = np.array([name not in self._decided for name in names], np.bool_)
        if new.any():
            chosen = which[new]
            classes = self._classes(table.counts[chosen], table.rows[chosen], table.sizes[chosen])
            satisfied = np.ones(len(classes), np.bool_)
            for privacy in self.fast:
                satisfied &= evaluate(privacy, classes, self.context).satisfied
            self._decided.update(zip((names[i] for i in np.flatnonzero(new)), satisfied.tolist(), strict=True))
        for i, name in zip(which.tolist(), names, strict=True):
            if not self._decided[name]:
                lost[i] = table.rows[i]
                if self.merge_closed:
                    least[i] = max(least[i], 1)
        return Losses(table, lost, least, int(lost.sum()), int(least.sum()), None)

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
