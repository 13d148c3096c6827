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

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from indistinct.algorithms.full_domain import pool
from indistinct.algorithms.full_domain.dense import DenseModels
from indistinct.algorithms.full_domain.tables import Table, Tables, zeros
from indistinct.kernels.judges import sums, too_small
from indistinct.kernels.rollup import charge, relieve
from indistinct.models import (
    criteria,
    depends_on_persons,
    evaluate,
    is_absorbing,
    is_merge_closed,
    is_of_classes,
    satisfied,
)
from indistinct.models.contract import Context, K
from indistinct.models.histograms import only
from indistinct.tables.classes import classes_of
from indistinct.tables.records import SUPPRESSED, Assignment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from indistinct.algorithms.full_domain.lattice import Lattice
    from indistinct.notices import Sentence
    from indistinct.policy.privacy import Privacy
    from indistinct.tables.records import Frequencies

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]
    Node = tuple[int, ...]

TABLE_BYTES = 256 << 20  # memory for class tables
ROLLED = 1 << 25  # tuples x sensitive values up to which class tables carry histograms
GATHERED = 1 << 25  # classes x sensitive values up to which histograms are made for one node


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

    Three ways, the first that a model allows: *rolled*, on dense histograms that are part of the class tables;
    *gathered*, on dense histograms of the classes of at least k rows, made from the cells for each node (attributes
    with many values, tables with many tuples); *exact*, on sparse classes (no compiled form, or too many of both).
    Where a model looks at who has which rows, its compiled form is what rows ask for, and the exact test comes after
    it.
    """

    def __init__(self, frequencies: Frequencies, lattice: Lattice, privacy: Sequence[Privacy], limit: int) -> None:
        self.frequencies = frequencies
        self.lattice = lattice
        self.limit = limit
        self.context = Context(frequencies.references)
        self.privacy = tuple(privacy)
        self.k = 0
        self.exact: list[Privacy] = []
        self.gathered: list[DenseModels] = []
        self.rolled = self._sort_out()
        self.base_terms: list[list[float]] = lattice.base.tolist()
        tuples = len(lattice.keys)
        counts = self._buffer = None
        if self.rolled.width:
            counts, self._buffer = zeros(tuples, self.rolled.width, self._kind)
            self.rolled.fill(frequencies.tuple_of, counts)
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

    @property
    def _kind(self) -> np.dtype[Any]:
        return np.dtype(np.int32 if self.frequencies.total < 1 << 31 else np.int64)

    def _sort_out(self) -> DenseModels:
        """Decide how each model is tested; returns those whose histograms are rolled up."""
        tuples = len(self.lattice.keys)
        size = {hierarchy.attribute: hierarchy.size for hierarchy in self.frequencies.sensitive}
        rolled, gathered = [], []
        columns: set[str] = set()
        for privacy in self.privacy:
            found = criteria((privacy,), self.context)
            by_persons = self.frequencies.weighs_persons and depends_on_persons(privacy)
            if found is None or by_persons:
                self.exact.append(privacy)
            if found is None:
                continue
            self.k = max([self.k, *(int(test.parameters[0]) for test in found if test.kind == K)])
            names = columns | {test.attribute for test in found if test.attribute is not None}
            if tuples * sum(size[name] for name in names) <= ROLLED or names == columns:
                columns = names
                rolled.append((privacy, found))
            else:
                gathered.append((privacy, found))
        self.gathered = [DenseModels([model], self.k, self.frequencies, self.context) for model in gathered]
        return DenseModels(rolled, self.k, self.frequencies, self.context)

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

    def assignment(self, node: Node, notes: tuple[Sentence, ...], *, proven: bool | None) -> Assignment:
        """Send every tuple to its class at a node and suppress the violating classes."""
        frequencies = self.frequencies
        vector = np.array(node, np.int64)
        table, member = self.tables.member_of(vector)
        intact = self._settled(self._losses_of(node, vector, table, member, np.inf)).lost == 0
        number = np.where(intact, np.cumsum(intact, dtype=np.int32) - 1, SUPPRESSED).astype(np.int32)
        return Assignment(
            np.arange(len(frequencies.rows), dtype=np.int32),
            frequencies.rows,
            number[member][frequencies.tuple_of],
            int(intact.sum()),
            self.lattice.level_vector(node),
            notes,
            proven,
        )

    def _charge(self, vector: Int64, table: Table, amounts: Int64, relief: Float64) -> float:
        """Fill ``relief`` for ``amounts`` of the classes and return what these rows cost at the node."""
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
        if self.exact or self.gathered:
            return self._losses_of(node, vector, *self.tables.member_of(vector), cutoff)
        return self._test(self.tables.of(node, vector))

    def _losses_of(self, node: Node, vector: Int64, table: Table, member: Int32, cutoff: float) -> Losses:
        """Losses of a table of which the class of every tuple is known, by all models."""
        losses = self._test(table)
        exact = list(self.exact)
        for models in self.gathered:
            if self._is_beyond(node, vector, losses, cutoff):
                return losses
            gathered = self._gather(models, self._settled(losses), member)
            if gathered is None:
                exact += models.privacy
            else:
                losses = gathered
        if not exact or self._is_beyond(node, vector, losses, cutoff):
            return losses
        losses = self._settled(losses)
        lost, least = losses.lost, losses.least.copy()
        levels = self.lattice.level_vector(node)
        classes = classes_of(self.frequencies, Assignment.of_tuples(self.frequencies, member, levels))
        for privacy in exact:
            if not is_of_classes(privacy):
                continue
            violated = ~evaluate(privacy, classes, self.context).satisfied
            lost[violated] = table.rows[violated]
            if is_absorbing(privacy):
                least[violated] = table.rows[violated]
            elif is_merge_closed(privacy, spread=self.frequencies.is_spread):
                least[violated] = np.maximum(least[violated], 1)
        whole = [privacy for privacy in exact if not is_of_classes(privacy)]
        intact = lost == 0
        if whole and intact.any():  # they judge what the other models leave
            gone = np.flatnonzero(intact)[~satisfied(whole, only(classes, intact), self.context)]
            lost[gone] = table.rows[gone]
        return Losses(table, lost, least, int(lost.sum()), int(least.sum()), None)

    def _is_beyond(self, node: Node, vector: Int64, losses: Losses, cutoff: float) -> bool:
        """Whether a node is above the limit or the cutoff already."""
        if losses.least_rows > self.limit:
            return True
        if not np.isfinite(cutoff):
            return False
        penalty = losses.lost_rows - self._charge(vector, losses.table, losses.lost, self._spared)
        return self.base_of(node) + penalty / self.lattice.total > cutoff

    def _gather(self, models: DenseModels, losses: Losses, member: Int32) -> Losses | None:
        """Test models on histograms of the classes that are not lost whole; None when these are too many."""
        table, lost, least = losses.table, losses.lost, losses.least.copy()
        left = np.flatnonzero(least < table.rows)
        if len(left) * models.width > GATHERED:
            return None
        number = np.full(len(table.rows), -1, np.int32)
        number[left] = np.arange(len(left), dtype=np.int32)
        counts, buffer = zeros(len(left), models.width, self._kind)
        models.fill(number[member][self.frequencies.tuple_of], counts)
        part = Table(table.keys[left], table.rows[left], table.sizes[left], counts, None, None)
        lost_part, least_part = lost[left], least[left]
        which = models.apply(part, lost_part, least_part, np.zeros(len(left), np.int8))
        models.settle(part, which, lost_part, least_part)
        lost[left], least[left] = lost_part, least_part
        pool.give(buffer)
        return Losses(table, lost, least, int(lost.sum()), int(least.sum()), None)

    def _test(self, table: Table) -> Losses:
        """Apply the size condition and the tests on histograms that the table carries."""
        length = len(table.rows)
        lost = least = self._lost[:length]
        gone = too_small(table.sizes, table.rows, self.k, lost)
        if not self.rolled.tests:
            return Losses(table, lost, least, gone, gone, None)
        if not self.rolled.absorbing:
            least = self._least[:length]
            least[:] = lost
        which = self.rolled.apply(table, lost, least, self._undecided[:length])
        return Losses(table, lost, least, *sums(lost, least), which)

    def _settled(self, losses: Losses) -> Losses:
        """Decide the classes at a threshold by the exact tests."""
        if losses.undecided is None:
            return losses
        table, lost, least = losses.table, losses.lost, losses.least
        self.rolled.settle(table, losses.undecided, lost, least)
        return Losses(table, lost, least, int(lost.sum()), int(least.sum()), None)
