"""The Hilbert curve through the cells of a grid: an order in which neighbours are near each other.

A curve of order 1 visits the 2^d corners of a cube along edges (a Gray code); one of order b puts a turned and mirrored
copy of that into each corner of the one of order b - 1. The index of a point has b digits of d bits; the steps below
undo the turns from the highest digit down.

Source: J. Skilling, Programming the Hilbert curve, AIP Conf. Proc. 707, 2004, doi:10.1063/1.1751381.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

WORD = 62


def curve_keys(points: Int64, bits: int) -> list[Int64]:
    """Index of each point on the curve, as words of up to 62 bits, the highest first.

    ``points`` int64[n, d], 0 <= coordinates < 2^bits (not checked); the last coordinate changes fastest.

    >>> curve_keys(np.array([[0, 0], [0, 1], [1, 1], [1, 0]]), 1)[0].tolist()
    [0, 1, 2, 3]
    """
    axes = [points[:, a].copy() for a in range(points.shape[1])]
    first = axes[0]
    for b in range(bits - 1, 0, -1):
        bit, below = np.int64(1) << b, (np.int64(1) << b) - 1
        for axis in axes:
            mirrored = (axis & bit) != 0
            swapped = np.where(mirrored, 0, (first ^ axis) & below)
            first[:] = np.where(mirrored, first ^ below, first ^ swapped)
            if axis is not first:
                np.bitwise_xor(axis, swapped, out=axis)
    for before, axis in pairwise(axes):  # Gray code of each digit
        np.bitwise_xor(axis, before, out=axis)
    turned = np.zeros_like(first)
    for b in range(bits - 1, 0, -1):
        turned ^= np.where((axes[-1] >> b) & 1, (np.int64(1) << b) - 1, 0)
    for axis in axes:
        np.bitwise_xor(axis, turned, out=axis)
    words, used = [np.zeros(len(points), np.int64)], 0
    for b in range(bits - 1, -1, -1):
        for axis in axes:
            if used == WORD:
                words.append(np.zeros(len(points), np.int64))
                used = 0
            words[-1] = (words[-1] << 1) | ((axis >> b) & 1)
            used += 1
    return words


def curve_order(codes: Int32, sizes: Sequence[int]) -> Int64:
    """Order of rows of codes along the curve; equal ones keep their order.

    Codes are spread evenly over a grid of 2^bits points a side, bits enough for the largest of ``sizes``: a column of
    two values counts as much as one of a hundred. Columns of one value are left out.
    """
    wide = [a for a, size in enumerate(sizes) if size > 1]
    if not wide:
        return np.arange(len(codes))
    bits = max(int(sizes[a] - 1).bit_length() for a in wide)
    points = np.stack([(codes[:, a].astype(np.int64) << bits) // sizes[a] for a in wide], axis=1)
    return np.lexsort(curve_keys(points, bits)[::-1])
