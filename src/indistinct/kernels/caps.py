"""Caps of counts: how many rows of a class must go until its entropy, or its tail, can be enough."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import inlined, lean, step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

# halvings in ``cap_ratio``: an interval of at most 1 ends below 1e-12, the allowance of its comparison
HALVINGS = 40


@step
def cap_ratio(length: float, values: int) -> float:
    """Most rows of one value for each row of the other ``values`` - 1 at entropy ln ``length``.

    With top share p the entropy of v values is at most h(p) + (1 - p) ln(v - 1), falling for p >= 1/v. Infinite where
    that never falls below ln ``length``, -1 where even equal shares do not reach it.
    """
    if values < length * (1.0 - 1e-12):
        return -1.0
    low, high = 1.0 / values, 1.0  # at high the bound is below ln l
    for _ in range(HALVINGS):
        p = 0.5 * (low + high)
        if p <= 0.0 or p >= 1.0:
            break
        most = -p * log(p) - (1.0 - p) * log(1.0 - p)
        if values > 1:
            most += (1.0 - p) * log(values - 1.0)
        if most < log(length) - 1e-12:
            high = p
        else:
            low = p
    return high / (1.0 - high) if high < 1.0 else np.inf


@lean
def cap_ratios(length: float, ratios: Float64) -> None:
    """Write ``cap_ratio`` by number of distinct values to ``ratios`` float64[m + 1]; -1 for none."""
    ratios[0] = -1.0
    for values in range(1, len(ratios)):
        ratios[values] = cap_ratio(length, values)


@inlined
def entropy_gone(ratio: float, largest: int, rows: int) -> int:
    """Rows above the cap of the largest count."""
    if ratio < 0.0:
        return rows
    if ratio == np.inf:
        return 0
    return largest - int(np.floor(ratio * (rows - largest) * (1.0 + 1e-12) + 1e-9))


@inlined
def recursive_gone(c: float, tail: int, counts: Int64, first: int, last: int, rows: int) -> int:
    """Rows above the cap of all counts: the tail of what is kept is at most that of the class."""
    cap = np.int64(min(np.ceil(c * tail * (1.0 + 1e-12) + 1e-9) - 1.0, float(rows)))
    removed = np.int64(0)
    for i in range(last - first):
        removed += max(np.int64(0), counts[first + i] - cap)
    return removed
