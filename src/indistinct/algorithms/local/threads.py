"""Independent pieces of work on all cores; who does which piece never changes a result."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
R = TypeVar("R")

# work on fewer units than this does not pay for a second thread
WORTH = 2000


def in_parallel(work: Callable[[T], R], pieces: Sequence[T], units: int) -> list[R]:
    """Results of ``work`` for all pieces, in their order; ``units`` says how much work there is in all."""
    workers = min(os.cpu_count() or 1, len(pieces))
    if workers < 2 or units < WORTH:
        return [work(piece) for piece in pieces]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, pieces))
