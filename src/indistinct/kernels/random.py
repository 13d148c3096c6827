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
    """Next number in 0..``limit`` - 1, limit < 2^31; ``state`` uint64[1] must not be 0.

    The upper half of xorshift64 (Marsaglia, J. Statistical Software 8(14), 2003, doi:10.18637/jss.v008.i14).
    """
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return int((np.int64(x >> np.uint64(33)) * limit) >> 31)
