"""Rows of a population in boxes of codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel
from indistinct.kernels.boxes import BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]


@kernel
def counted_in_boxes(
    tuples: Int32, rows: Int64, lo: Int32, hi: Int32, listed: Int64, words: Int32
) -> tuple[Int64, int]:
    """Rows in each box [lo, hi] (int64[g], ends included), and the rows that are in any box.

    ``tuples`` int32[p, d] sorted by the first column, ``rows`` int64[p], ``lo`` and ``hi`` int32[g, d]. Looks at the
    tuples within the first side of each box. ``listed`` int64[s, 2]: columns of which a box holds only the values with
    a bit in its row of ``words`` int32[g, .], from the word on that stands beside the column.
    """
    found = np.zeros(len(lo), np.int64)
    seen = np.zeros(len(tuples), np.int8)
    for g in range(len(lo)):
        begin = np.searchsorted(tuples[:, 0], lo[g, 0])
        end = np.searchsorted(tuples[:, 0], hi[g, 0] + 1)
        for i in range(begin, end):
            inside = True
            for a in range(1, tuples.shape[1]):
                if tuples[i, a] < lo[g, a] or tuples[i, a] > hi[g, a]:
                    inside = False
                    break
            for s in range(len(listed)):
                code = tuples[i, listed[s, 0]]
                inside = inside and words[g, listed[s, 1] + code // BITS] >> (code % BITS) & 1 == 1
            if inside:
                found[g] += rows[i]
                seen[i] = 1
    covered = 0
    for i in range(len(tuples)):
        if seen[i] > 0:
            covered += rows[i]
    return found, covered
