"""What a local search moves about: rows, or tuples that must stay whole, with their sensitive values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels.boxes import CODES, FIRST, FORM, SET, WORDS, words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

    from indistinct.kernels.boxes import Costs

ROWS, SIZE = 0, 1


class Units(NamedTuple):
    """The things that a search puts into classes.

    ``reach`` int32[n, w]: the codes of the d quasi-identifiers, then their negatives, then zeros, then words of values
    (``kernels.boxes``): the box of a class is the maximum of its members, in words their OR, one vector operation.
    ``mass`` int64[n, 2]: rows, and what counts for k (persons, else rows). The sensitive values of unit u are
    ``values`` int32[., s] and ``counts`` int64[.] at ``start[u]:start[u + 1]``. Those of its persons who are in other
    units too are ``person`` int32[.] at ``begin[u]:begin[u + 1]``: a class of several units counts them once. ``kin``
    int32[n]: units with the same number are the same to every criterion.
    """

    reach: Int32
    mass: Int64
    kin: Int32
    start: Int64
    values: Int32
    counts: Int64
    begin: Int64
    person: Int32


def reach_of(codes: Int32, costs: Costs) -> Int32:
    """Codes and negative codes side by side, padded to whole vectors of eight, then words with the bit of each code."""
    n, d = codes.shape
    reach = np.zeros((n, costs.ends + int(costs.spec[:, WORDS].sum())), np.int32)
    reach[:, :d] = codes
    np.negative(codes, out=reach[:, d : 2 * d])
    for a in np.flatnonzero(costs.spec[:, FORM] == SET):
        first = costs.spec[a, FIRST]
        reach[:, first : first + costs.spec[a, WORDS]] = words_of(codes[:, a], int(costs.spec[a, CODES]))
    return reach


def units_of(
    reach: Int32,
    mass: Int64,
    start: Int64,
    values: Int32,
    counts: Int64,
    begin: Int64 | None = None,
    person: Int32 | None = None,
) -> Units:
    """Bring units into the form that kernels read; without ``begin`` and ``person`` nobody is in two units."""
    if begin is None or person is None:
        begin, person = np.zeros(len(mass) + 1, np.int64), np.zeros(0, np.int32)
    kin = np.arange(len(mass), dtype=np.int32)
    if values.shape[1]:
        alone = np.flatnonzero((np.diff(start) == 1) & (np.diff(begin) == 0))
        together = np.zeros(len(alone), np.int64)
        for column in (*mass[alone].T, *values[start[alone]].T):
            _, number = np.unique(together * (int(column.max(initial=0)) + 1) + column, return_inverse=True)
            together = number.reshape(-1)
        kin[alone] = len(mass) + together
    return Units(reach, mass, kin, start, values, counts, begin, person)
