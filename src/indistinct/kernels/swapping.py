"""Pairing ranks at random within a reach, for rank swapping."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]
    UInt64 = NDArray[np.uint64]

# at random, before the free ranks are counted: where half of them are free, 32 fail once in 4 * 10^9; not measured
TRIES = 32


@kernel
def swap(partner: Int64, first: int, reach: int, words: UInt64) -> int:
    """Pair ranks in ascending order, from ``first`` on; return the rank to go on with, which needs new words.

    ``partner`` int64[n] is -1 for a free rank. Each free rank is paired with one of the free ranks above it, ``reach``
    away at most, all equally likely (but for less than n / 2^64); a rank with none stays with itself. ``words``, at
    least ``TRIES`` + 2 of them, are the random words.
    """
    n = len(partner)
    used = 0
    for rank in range(first, n):
        if partner[rank] >= 0:
            continue
        if used + TRIES + 1 > len(words):
            return rank
        span = min(reach, n - 1 - rank)
        chosen = -1
        if span > 0:
            for _ in range(TRIES):
                other = rank + 1 + np.int64(words[used] % np.uint64(span))
                used += 1
                if partner[other] < 0:
                    chosen = other
                    break
        if chosen < 0:  # few are free: count them
            free = 0
            for other in range(rank + 1, rank + span + 1):
                if partner[other] < 0:
                    free += 1
            if free > 0:
                left = np.int64(words[used] % np.uint64(free))
                used += 1
                for other in range(rank + 1, rank + span + 1):
                    if partner[other] < 0:
                        if left == 0:
                            chosen = other
                            break
                        left -= 1
        if chosen < 0:
            partner[rank] = rank
        else:
            partner[rank] = chosen
            partner[chosen] = rank
    return n
