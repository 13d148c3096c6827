"""A small generator of pseudo-random numbers for searches: it optimises, it protects nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    UInt64 = NDArray[np.uint64]


@step
def below(state: UInt64, limit: int) -> int:
    """Next number in 0..``limit`` - 1 (xorshift64*, upper half); ``state`` uint64[1] must not be 0."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    high = (x * np.uint64(2685821657736338717)) >> np.uint64(33)
    return int((np.int64(high) * limit) >> 31)
