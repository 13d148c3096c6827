"""Tests on dense class histograms: which criteria have one, and how it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.models.contract import ENTROPY, T_EQUAL, T_HIERARCHICAL, T_ORDERED

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from indistinct.algorithms.full_domain.tables import Table
    from indistinct.models.contract import Criterion

    Int8 = NDArray[np.int8]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]
    DenseTest = Callable[[Table, Int64, Int64, Int8], int]

LOGARITHMS = 4096  # counts whose c ln c is looked up


def dense_test(criterion: Criterion, first: int, k: int) -> DenseTest:
    """Bind a criterion to the columns of its attribute, from ``first`` on, and to the size condition ``k``.

    The test takes a table and the arrays ``lost``, ``least`` and ``undecided`` of ``kernels.judges``; a criterion that
    is not merge-closed leaves ``least`` alone.
    """
    if criterion.kind == ENTROPY:
        test = _entropy(criterion, first, k)
    elif criterion.kind in {T_EQUAL, T_ORDERED, T_HIERARCHICAL} and len(criterion.shares) > 1:
        test = _distance(criterion, first, k)
    else:
        test = _any(criterion, first, k)
    if criterion.merge_closed:
        return test
    return lambda table, lost, least, undecided: test(table, lost, least.copy(), undecided)


def _any(criterion: Criterion, first: int, k: int) -> DenseTest:
    from indistinct.kernels.judges import judge

    own = (criterion.kind, criterion.parameters, criterion.shares, criterion.tree, k)
    return lambda table, lost, least, undecided: judge(
        *own, table.counts, first, first + table.width(criterion.attribute), table.rows, table.sizes, lost, least, undecided
    )
