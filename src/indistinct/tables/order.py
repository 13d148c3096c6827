"""Orders of rows: sorted by codes, with the runs of equal ones, and such as nobody can predict."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.tables.keys import KEY_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

# up to so many flags for each key, and in all, cost less than sorting the keys; with a number beside each flag, fewer
FLAGS_PER_KEY = 64
MOST_FLAGS = 1 << 26
LOOKUPS_PER_KEY = 4
MANY_KEYS = 1_000_000


def secret_words(number: int) -> NDArray[np.uint64]:
    """uint64[number] from the operating system: an order by them protects, because nobody can predict it."""
    return np.frombuffer(os.urandom(8 * number), np.uint64)


def lexicographic_order(codes: Int32, sizes: Sequence[int]) -> Int64:
    """Return the order that sorts rows of codes, packing columns into as few 62-bit keys as possible.

    ``codes`` int32[rows, columns], 0 <= codes < ``sizes`` in each column (not checked); ties keep their order.

    >>> lexicographic_order(np.array([[1, 0], [0, 5], [0, 2]], np.int32), [2, 6]).tolist()
    [2, 1, 0]
    """
    keys: list[Int64] = []
    used = KEY_BITS + 1
    for position, size in enumerate(sizes):
        bits = max(1, int(size - 1).bit_length())
        if used + bits > KEY_BITS:
            keys.append(np.zeros(len(codes), np.int64))
            used = 0
        keys[-1] = (keys[-1] << bits) | codes[:, position]
        used += bits
    if not keys:
        return np.arange(len(codes))
    return np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])


def sorted_rows(columns: Sequence[Int32], sizes: Sequence[int]) -> list[Int32]:
    """Sort rows that are given by columns, the first column first; equal rows are alike, so none is looked up.

    0 <= columns[i] < ``sizes[i]`` (not checked). Rows of at most 62 bits are packed into numbers, sorted, and taken
    apart again: half of the work of an order and its lookups, and for two threads.

    >>> [column.tolist() for column in sorted_rows([np.array([1, 0, 0]), np.array([0, 5, 2])], [2, 6])]
    [[0, 0, 1], [2, 5, 0]]
    """
    widths = [max(1, int(size - 1).bit_length()) for size in sizes]
    if sum(widths) > KEY_BITS:
        order = lexicographic_order(np.column_stack(columns), sizes)
        return [column[order] for column in columns]
    keys = columns[0].astype(np.int64)
    for column, width in zip(columns[1:], widths[1:], strict=True):
        keys <<= width
        keys |= column
    _sort(keys)
    found: list[Int32] = []
    for width in reversed(widths):
        found.append((keys & ((1 << width) - 1)).astype(np.int32))
        keys >>= width
    return found[::-1]


def _sort(keys: Int64) -> None:
    """Sort in place; many keys by two threads, each a half, and a merge of the two runs."""
    if len(keys) > MANY_KEYS:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(np.ndarray.sort, np.array_split(keys, 2)))
        keys.sort(kind="stable")
    else:
        keys.sort()


def run_starts(rows: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Say of each row whether it differs from the one before; the first always does.

    >>> run_starts(np.array([[0, 1], [0, 1], [2, 1]], np.int32)).tolist()
    [True, False, True]
    """
    starts = np.ones(len(rows), np.bool_)
    if len(rows):
        starts[1:] = False
    for column in rows.T:  # column by column: a third of the time of any(axis=1)
        starts[1:] |= column[1:] != column[:-1]
    return starts


def numbered_rows(codes: Int32, sizes: Sequence[int]) -> tuple[Int64, Int32]:
    """Give equal rows of codes one number, ascending: the first row that has each number, and int32[rows] the numbers.

    0 <= codes < ``sizes`` in each column (not checked).

    >>> first, number = numbered_rows(np.array([[1, 0], [0, 5], [1, 0]], np.int32), [2, 6])
    >>> first.tolist(), number.tolist()
    ([1, 0], [1, 0, 1])
    """
    order = lexicographic_order(codes, sizes)
    new = run_starts(codes[order])
    number = np.empty(len(codes), np.int32)
    number[order] = np.cumsum(new, dtype=np.int32) - 1
    return order[new], number


def distinct(keys: NDArray[np.integer[Any]], bound: int) -> Int64:
    """Return the distinct keys, ascending; by flags where these are few, which takes less time than sorting.

    Keys are 0 <= key < ``bound`` (not checked).

    >>> distinct(np.array([7, 3, 7]), 10).tolist()
    [3, 7]
    """
    if bound > min(FLAGS_PER_KEY * len(keys), MOST_FLAGS):
        ordered: Int64 = np.sort(keys)  # ``np.unique`` would hash: many times slower where most keys are different
        return ordered[run_starts(ordered.reshape(-1, 1))]
    return np.flatnonzero(_flags(keys, bound))


def numbered(keys: Int64, bound: int) -> tuple[Int64, Int64]:
    """Return the ``distinct`` keys, ascending, and int64[len(keys)] which of them each key is.

    >>> found, which = numbered(np.array([7, 3, 7]), 10)
    >>> found.tolist(), which.tolist()
    ([3, 7], [1, 0, 1])
    """
    if bound > LOOKUPS_PER_KEY * len(keys):
        found, which = np.unique(keys, return_inverse=True)
        return found, which.reshape(-1)
    present = _flags(keys, bound)
    return np.flatnonzero(present), (np.cumsum(present) - 1)[keys]


def _flags(keys: NDArray[np.integer[Any]], bound: int) -> NDArray[np.bool_]:
    present = np.zeros(bound, np.bool_)
    present[keys] = True
    return present
