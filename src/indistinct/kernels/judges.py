"""One test on all classes of a node: which are lost, and how many rows any more special node must lose too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel, step
from indistinct.kernels.criteria import BAND, STEPS, Prepared, gone, measure, notes_length

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int8 = NDArray[np.int8]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]


@kernel
def too_small(sizes: Int64, rows: Int64, k: int, lost: Int64) -> int:
    """Set ``lost[i]`` to the rows of every class below ``k``, else to 0; returns their sum."""
    total = 0
    for i in range(len(rows)):
        amount = rows[i] if sizes[i] < k else 0
        lost[i] = amount
        total += amount
    return total


@kernel
def sums(lost: Int64, least: Int64) -> tuple[int, int]:
    """Add up both."""
    gone = bound = 0
    for i in range(len(lost)):
        gone += lost[i]
        bound += least[i]
    return gone, bound


@kernel
def judge(
    test: Prepared,
    k: int,
    counts: Int32,
    first: int,
    last: int,
    rows: Int64,
    sizes: Int64,
    lost: Int64,
    least: Int64,
    undecided: Int8,
) -> int:
    """Test all classes; returns the number of undecided ones.

    Reads ``rows`` int64[g] and the columns ``first:last`` of the dense histograms ``counts`` [g, .]. A violating class
    gets ``lost[i]`` = its rows and ``least[i]`` >= 1, a lower bound of the rows to remove until it is empty or
    satisfies all tests; a class too near to the threshold gets ``undecided[i]`` = 1. Classes with ``least`` = ``rows``
    are passed over. ``k`` is the size condition of the policy: a part of fewer rows than that satisfies nothing, so if
    fewer can be kept the whole class goes.
    """
    amounts = np.empty(len(test.masses))
    notes = np.empty(notes_length(test), np.int64)
    return _judge(test, k, counts, first, last, rows, sizes, lost, least, undecided, amounts, notes)


@step  # so that the rows of ``counts`` are handed on without counting references
def _judge(
    test: Prepared,
    k: int,
    counts: Int32,
    first: int,
    last: int,
    rows: Int64,
    sizes: Int64,
    lost: Int64,
    least: Int64,
    undecided: Int8,
    amounts: Float64,
    notes: Int64,
) -> int:
    doubtful = np.int64(0)
    for i in range(len(rows)):
        if least[i] == rows[i]:
            continue
        row = counts[i]
        value = measure(test, row, first, last, rows[i], sizes[i], amounts, notes)
        if value >= BAND:
            lost[i] = rows[i]
            removed = gone(test, row, first, last, rows[i], amounts, notes, k, STEPS)
            least[i] = max(least[i], removed)
        elif value > -BAND:
            undecided[i] = 1
            doubtful += 1
    return doubtful
