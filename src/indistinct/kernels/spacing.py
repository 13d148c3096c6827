"""How many intervals of each class are pairwise disjoint, at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]


@kernel
def disjoint(start: Int64, left: Int64, right: Int64, out: Int64) -> None:
    """Fill ``out`` int64[g] with the largest number of pairwise disjoint closed intervals of each class.

    The intervals ``left[i] <= right[i]`` of class j are i in ``start[j]:start[j + 1]``, right ends ascending. Taking
    the one that ends first, again and again, is optimal.
    """
    for group in range(len(start) - 1):
        taken = 0
        end = np.int64(0)
        for i in range(start[group], start[group + 1]):
            if taken == 0 or left[i] > end:
                taken += 1
                end = right[i]
        out[group] = taken
