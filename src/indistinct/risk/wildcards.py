"""A star in one cell as any value: how many rows each row fits, at most and for sure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import UnsupportedError
from indistinct.risk.column_keys import combined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

MOST_LOOK_UPS = 10**9


@dataclass(frozen=True)
class Fits:
    """Rows that each distinct tuple fits: ``wildcard`` at most, ``sure`` at least; both int64[u]."""

    wildcard: Int64
    sure: Int64


def fits(tuples: Int32, stars: Sequence[int], sizes: Sequence[int], rows: Int64) -> Fits:
    """Count for each distinct tuple the rows that match it, and those that cover it; itself included.

    Row r *matches* row u when on every quasi-identifier both are equal or one is a star; u *covers* r when every cell
    of u is a star or equals the cell of r. The relation of matching is not transitive, so its sizes are no class sizes:
    no k is promised on them. ``tuples`` int32[u, d] are codes below ``sizes``, ``stars`` the code of the star of each
    column (-1: none), ``rows`` int64[u].

    Tuples with the same pattern of stars are compared with those of another one on the columns that both know, as one
    key: (patterns) * u look-ups in all.

    Raises UnsupportedError when that is more than 10^9.

    >>> pairs = np.array([[0, 2], [0, 0], [0, 1], [1, 0], [1, 2]], np.int32)  # (x,*), (x,1), (x,2), (y,1), (y,*)
    >>> found = fits(pairs, [-1, 2], [2, 3], np.ones(5, np.int64))
    >>> found.wildcard.tolist(), found.sure.tolist()
    ([3, 2, 2, 2, 2], [1, 2, 2, 2, 1])
    """
    columns = [np.ascontiguousarray(column) for column in tuples.T]
    hidden = np.zeros(len(tuples), np.int64)
    for position, (column, star) in enumerate(zip(columns, stars, strict=True)):
        hidden |= (column == star).astype(np.int64) << position
    patterns, pattern = np.unique(hidden, return_inverse=True)
    if len(patterns) * len(tuples) > MOST_LOOK_UPS:
        raise UnsupportedError(
            f"stars stand in {len(patterns)} different ways in {len(tuples)} different rows: too many to compare; ask "
            "for stars as values (--stars value), or for fewer columns"
        )
    wildcard, sure = np.zeros(len(tuples), np.int64), np.zeros(len(tuples), np.int64)
    for number, own in enumerate(patterns.tolist()):
        here = np.flatnonzero(pattern == number)
        for other_number, other in enumerate(patterns.tolist()):
            there = np.flatnonzero(pattern == other_number)
            known = [a for a in range(len(columns)) if not (own | other) >> a & 1]
            found = _counted(columns, sizes, known, here, there, rows)
            wildcard[here] += found
            if own & ~other == 0:
                sure[here] += found
    return Fits(wildcard, sure)


def _counted(
    columns: Sequence[Int32], sizes: Sequence[int], known: Sequence[int], here: Int64, there: Int64, rows: Int64
) -> Int64:
    """Rows of the tuples ``there`` that are equal on the ``known`` columns, for each tuple ``here``."""
    if not known:
        return np.full(len(here), rows[there].sum(), np.int64)
    both = np.concatenate([here, there])
    _, key = np.unique(combined([columns[a][both] for a in known], [sizes[a] for a in known]), return_inverse=True)
    key = key.reshape(-1)
    total = np.zeros(int(key.max()) + 1, np.int64)
    np.add.at(total, key[len(here) :], rows[there])
    found: Int64 = total[key[: len(here)]]
    return found
