"""Blanks that may be anything: how many rows a row could be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.tables.order import numbered_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

PATTERNS = 64  # of blanks, up to which pairs of them are compared


def candidates(tuples: Int32, blank: Bools, rows: Int64) -> Int64 | None:
    """Count, for each tuple, the rows that agree with it wherever both have a value; int64[u].

    ``tuples`` int32[u, d] with ``rows`` int64[u]; ``blank`` bool[u, d]. The relation gives no partition, so no model is
    judged on it. None when more than 64 patterns of blanks occur: the count takes all pairs of them.

    >>> values, blank = np.array([[1, 1], [1, 0], [2, 1]], np.int32), np.array([[0, 0], [0, 1], [0, 0]], np.bool_)
    >>> candidates(values, blank, np.array([3, 1, 2])).tolist()
    [4, 4, 2]
    """
    patterns, which = np.unique(blank, axis=0, return_inverse=True)
    if len(patterns) > PATTERNS:
        return None
    which = which.reshape(-1)
    found = np.zeros(len(tuples), np.int64)
    for left in range(len(patterns)):
        here = np.flatnonzero(which == left)
        for right in range(len(patterns)):
            there = np.flatnonzero(which == right)
            shared = ~patterns[left] & ~patterns[right]
            found[here] += _matching(tuples[here][:, shared], tuples[there][:, shared], rows[there])
    return found


def _matching(wanted: Int32, offered: Int32, rows: Int64) -> Int64:
    """For each wanted tuple the rows of the equal offered ones."""
    both = np.concatenate([offered, wanted])
    sizes = [int(column.max(initial=0)) + 1 for column in both.T]
    first, group = numbered_rows(both, sizes)
    total = np.zeros(len(first), np.int64)
    np.add.at(total, group[: len(offered)], rows)
    return total[group[len(offered) :]]
