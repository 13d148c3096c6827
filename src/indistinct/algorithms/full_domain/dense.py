"""Models tested on dense class histograms: compiled judges, and the exact tests for classes at a threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from indistinct.kernels.criteria import prepared
from indistinct.kernels.judges import judge
from indistinct.kernels.rollup import scatter
from indistinct.models import evaluate
from indistinct.tables.records import Classes, Histogram

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from indistinct.algorithms.full_domain.tables import Table
    from indistinct.models.contract import Context, Criterion
    from indistinct.policy.privacy import Privacy
    from indistinct.tables.records import Frequencies

    Int8 = NDArray[np.int8]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]
    DenseTest = Callable[[Table, Int64, Int64, Int8], int]

_COUNTS = np.arange(4096, dtype=np.float64)
_LOGARITHMS = _COUNTS * np.log(np.maximum(_COUNTS, 1.0))  # c ln c of small counts


class DenseModels:
    """Models whose criteria are tested on one matrix of counts: the histograms of their attributes side by side.

    ``columns`` gives the first column of each attribute, ``width`` their number. ``absorbing`` and ``merge_closed``
    are those of all tests together.
    """

    def __init__(
        self,
        models: Sequence[tuple[Privacy, tuple[Criterion, ...]]],
        k: int,
        frequencies: Frequencies,
        context: Context,
    ) -> None:
        # a model without a test of an attribute asks for a size at most, which is exact already
        self.privacy = [privacy for privacy, found in models if any(test.attribute is not None for test in found)]
        self.frequencies = frequencies
        self.context = context
        tests = [test for _, criteria in models for test in criteria if test.attribute is not None]
        tests.sort(key=lambda test: not test.absorbing)  # the final ones first
        self.absorbing = all(test.absorbing for test in tests)
        self.merge_closed = all(test.merge_closed for test in tests)
        self.columns: dict[str, int] = {}
        self.width = 0
        size = {hierarchy.attribute: hierarchy.size for hierarchy in frequencies.sensitive}
        self.tests: list[DenseTest] = []
        for test in tests:
            name = str(test.attribute)
            if name not in self.columns:
                self.columns[name] = self.width
                self.width += size[name]
            first = self.columns[name]
            self.tests.append(dense_test(test, (first, first + size[name]), k))
        self._decided: dict[tuple[bytes, int], bool] = {}

    def fill(self, owner: Int32, counts: Int32) -> None:
        """Add the rows of every cell to the row ``owner`` of ``counts``, which is zero before; -1: to none."""
        for name, first in self.columns.items():
            scatter(owner, self.frequencies.sensitive_codes(name), self.frequencies.rows, first, counts)

    def apply(self, table: Table, lost: Int64, least: Int64, undecided: Int8) -> NDArray[np.intp] | None:
        """Test all classes; returns those that count as satisfying only for the time being. Clears ``undecided``."""
        doubtful = 0
        for test in self.tests:
            doubtful += test(table, lost, least, undecided)
        if not doubtful:
            return None
        which = np.flatnonzero(undecided & (lost == 0))
        undecided[:] = 0
        return which

    def settle(self, table: Table, which: NDArray[np.intp] | None, lost: Int64, least: Int64) -> None:
        """Decide classes at a threshold by the exact tests."""
        if which is None or table.counts is None:
            return
        names = [(table.counts[i].tobytes(), int(table.sizes[i])) for i in which]
        new = np.array([name not in self._decided for name in names], np.bool_)
        if new.any():
            chosen = which[new]
            classes = self._classes(table.counts[chosen], table.rows[chosen], table.sizes[chosen])
            satisfied = np.ones(len(classes), np.bool_)
            for privacy in self.privacy:
                satisfied &= evaluate(privacy, classes, self.context).satisfied
            self._decided.update(zip((names[i] for i in np.flatnonzero(new)), satisfied.tolist(), strict=True))
        for i, name in zip(which.tolist(), names, strict=True):
            if not self._decided[name]:
                lost[i] = table.rows[i]
                if self.merge_closed:
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
        width = len(self.columns)
        return Classes(rows, persons, tuple(self.columns), histograms, none, none.reshape(0, width), rows[:0])


def dense_test(criterion: Criterion, columns: tuple[int, int], k: int) -> DenseTest:
    """Bind a criterion to the columns ``first:last`` of its attribute and to the size condition ``k``.

    The test takes a table and the arrays ``lost``, ``least`` and ``undecided`` of ``kernels.judges`` and returns the
    number of undecided classes; a criterion that is not merge-closed leaves ``least`` alone.
    """
    values = columns[1] - columns[0]
    bound = prepared(criterion.kind, criterion.parameters, criterion.shares, criterion.tree, _LOGARITHMS, values)

    def test(table: Table, lost: Int64, least: Int64, undecided: Int8) -> int:
        removed = least if criterion.merge_closed else least.copy()
        counts = cast("Int32", table.counts)  # there are some where criteria are tested
        return judge(bound, k, counts, *columns, table.rows, table.sizes, lost, removed, undecided)

    return test
