"""Best partitions of sorted numbers into stretches that may not be too short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.kernels import kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]

NONE = -1


@kernel
def least_sum(places: Int64, latest: Int64, before: Int64, best: Int64) -> None:
    """Fill ``before`` int64[n + 1]: where the last stretch of the best partition of the first j numbers begins.

    ``latest[j]`` is the last position at which a stretch that ends before j may begin (-1: none), never falling.
    ``best`` is work memory of n + 1 numbers. Of equally good partitions the one with the latest cut is taken.
    """
    before[0] = 0
    best[0] = 0
    seen = 0
    at = NONE
    for j in range(1, len(places) + 1):
        while seen <= latest[j]:
            if (seen == 0 or before[seen] != NONE) and (
                at == NONE or best[seen] - places[seen] <= best[at] - places[at]
            ):
                at = seen
            seen += 1
        before[j] = at
        if at != NONE:
            best[j] = places[j - 1] + best[at] - places[at]


@kernel
def within(places: Int64, latest: Int64, longest: int, before: Int64) -> bool:
    """Whether stretches of at most ``longest`` from end to end cover all; fills ``before`` as ``least_sum`` does."""
    before[0] = 0
    seen = 0
    at = NONE  # the latest reachable position seen
    for j in range(1, len(places) + 1):
        while seen <= latest[j]:
            if seen == 0 or before[seen] != NONE:
                at = seen
            seen += 1
        before[j] = at if at != NONE and places[j - 1] - places[at] <= longest else NONE
    return before[len(places)] != NONE
