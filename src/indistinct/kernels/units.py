"""What a local search moves about: rows, or tuples that must stay whole, with their sensitive values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

ROWS, SIZE = 0, 1


class Units(NamedTuple):
    """The things that a search puts into classes.

    ``reach`` int32[n, w]: the codes of the d quasi-identifiers, then their negatives, then zeros: the box of a
    class is the maximum of its members, one vector operation. ``mass`` int64[n, 2]: rows, and what counts for k
    (persons, else rows). The sensitive values of unit u are ``values`` int32[., s] and ``counts`` int64[.] at
    ``start[u]:start[u + 1]``.
    """

    reach: Int32
    mass: Int64
    start: Int64
    values: Int32
    counts: Int64


def reach_of(codes: Int32) -> Int32:
    """Codes and negative codes side by side, padded to whole vectors of eight."""
    n, d = codes.shape
    reach = np.zeros((n, -(-2 * d // 8) * 8), np.int32)
    reach[:, :d] = codes
    np.negative(codes, out=reach[:, d : 2 * d])
    return reach


@step
def alike(units: Units, u: int, v: int) -> bool:
    """Whether no criterion tells two units apart: the same single sensitive tuple and the same mass."""
    e, f = units.start[u], units.start[v]
    if units.start[u + 1] - e != 1 or units.start[v + 1] - f != 1:
        return False
    if units.mass[u, ROWS] != units.mass[v, ROWS] or units.mass[u, SIZE] != units.mass[v, SIZE]:
        return False
    for s in range(units.values.shape[1]):
        if units.values[e, s] != units.values[f, s]:
            return False
    return True
