"""Memory that outlives a search: fresh memory costs a page fault for every 4 KiB, more than filling it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Buffer = NDArray[np.uint8]

RETAINED = 128 << 20  # bytes that stay between searches

_free: dict[int, list[Buffer]] = {}
_retained_bytes = 0


def take(size: int) -> Buffer:
    """Return a buffer of at least ``size`` bytes, its content undefined."""
    global _retained_bytes  # noqa: PLW0603  # one pool for the process is the point
    rounded = _rounded(size)
    try:
        buffer = _free.setdefault(rounded, []).pop()
    except IndexError:
        return np.empty(rounded, np.uint8)
    _retained_bytes -= rounded
    return buffer


def give(buffer: Buffer) -> None:
    """Take a buffer back; nobody may use it any more."""
    global _retained_bytes  # noqa: PLW0603  # as above
    if _retained_bytes + len(buffer) <= RETAINED:
        _retained_bytes += len(buffer)
        _free.setdefault(len(buffer), []).append(buffer)


def _rounded(size: int) -> int:
    """Next size of the form (4, 5, 6 or 7) 2^i."""
    step = 1 << max(6, (max(size, 1) - 1).bit_length() - 3)
    return -(-size // step) * step
