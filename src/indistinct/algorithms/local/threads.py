"""Independent pieces of work on all cores; who does which piece never changes a result."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
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
    return list(_pool(workers).map(work, pieces))


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    """Keep the threads between calls: starting them costs a millisecond."""
    return ThreadPoolExecutor(workers)


os.register_at_fork(after_in_child=_pool.cache_clear)  # the child of a fork has none of these threads
