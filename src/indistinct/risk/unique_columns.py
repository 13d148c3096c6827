"""Minimal unique column sets: the smallest sets of columns that tell all rows apart."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb, isqrt
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import UnsupportedError
from indistinct.risk.column_keys import Space, combined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

MOST_SETS = 2_000_000
# a first repetition after some square roots of the rows means many combinations, of which few repeat (birthdays); rows
# that repeat are kept where they are less than a part of all
LATE, FEW = 3, 8
FIRST_ROWS = (1 << 14, 1 << 17)


@dataclass(frozen=True)
class UniqueSets:
    """``sets`` of column numbers, by size and number; ``checked`` sets were tested on rows.

    ``copies`` names two rows that are equal in every column, if the search met such a pair: then no set is unique.
    """

    sets: tuple[tuple[int, ...], ...]
    size: int
    checked: int
    copies: tuple[int, int] | None = None


def unique_columns(
    columns: Sequence[Int32],
    size: int = 3,
    progress: Callable[[int, int], object] = lambda _done, _total: None,
) -> UniqueSets:
    """Find all minimal sets of at most ``size`` columns on which no two rows are equal.

    ``columns`` int32[n] each: codes of the values, a missing value being one more value. A set is minimal when no
    proper subset is unique.

    The search goes by size. A set is skipped when a subset is unique, or when two rows are known that agree on all of
    it: each failed test gives two such rows, and what else they agree on rules out many sets at once (agree sets). A
    test stops at the first repetition. Where that came late, the rows that repeat are kept, and larger sets are tested
    on these rows only (stripped partitions). So the cost is that of the sets at the border, not of the power set.

    Raises UnsupportedError when more than two million sets would have to be considered.

    Source: Y. Sismanis, P. Brown, P. Haas, B. Reinwald, GORDIAN, VLDB 2006, 691-702 (non-keys rule out keys);
    Y. Huhtala, J. Kaerkkaeinen, P. Porkka, H. Toivonen, TANE, Computer Journal 42(2):100-111, 1999,
    doi:10.1093/comjnl/42.2.100 (stripped partitions); T. Papenbrock, F. Naumann, A hybrid approach for efficient unique
    column combination discovery, BTW 2017, 195-204.

    >>> a, b, c = (np.array(codes, np.int32) for codes in ([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 3]))
    >>> unique_columns([a, b, c]).sets
    ((2,), (0, 1))
    """
    wide, rows = len(columns), len(columns[0])
    size = min(size, wide)
    sets = sum(comb(wide, level) for level in range(1, size + 1))
    if sets > MOST_SETS:
        raise UnsupportedError(
            f"{wide} columns have {sets} sets of up to {size} columns, too many to consider; ask for smaller sets or "
            "fewer columns"
        )
    if rows < 2:
        return UniqueSets(tuple((column,) for column in range(wide)), size, 0)
    search = _Search([np.ascontiguousarray(column) for column in columns], size)
    found: list[tuple[int, ...]] = []
    done = 0
    for level in range(1, size + 1):
        for chosen in search.open_sets(level, found):
            if search.is_unique(chosen):
                found.append(chosen)
            if search.copies is not None:
                return UniqueSets((), size, search.checked, search.copies)
            progress(search.checked, 0)
        done += comb(wide, level)
        progress(done, sets)
    return UniqueSets(tuple(found), size, search.checked)


class _Search:
    """What is known about the columns: pairs of rows that agree, and rows that repeat on some sets."""

    def __init__(self, columns: list[Int32], size: int) -> None:
        self.columns = columns
        self.size = size
        self.sizes = [int(column.max()) + 1 for column in columns]
        # most sets repeat among the first rows, and a small table of keys stays in the cache
        rows = len(columns[0])
        self.spaces = {few: Space(few) for few in (*(few for few in FIRST_ROWS if few < rows), rows)}
        self.agree: set[int] = set()
        self.stripped: dict[tuple[int, ...], Int64] = {}
        self.latest = 0
        self.checked = 0
        self.copies: tuple[int, int] | None = None

    def open_sets(self, level: int, found: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
        """Sets of so many columns that may be minimal unique; ``agree`` may grow meanwhile."""
        known = [_bits(chosen) for chosen in found]
        sure = self._covered(level)
        for chosen in combinations(range(len(self.columns)), level):
            bits = _bits(chosen)
            if chosen in sure or any(unique & bits == unique for unique in known):
                continue
            before = len(self.agree)
            yield chosen
            if len(self.agree) > before:
                sure |= self._subsets(level, self.latest)

    def _covered(self, level: int) -> set[tuple[int, ...]]:
        """Sets of so many columns on which some known pair of rows agrees."""
        covered: set[tuple[int, ...]] = set()
        for bits in self.agree:
            covered |= self._subsets(level, bits)
        return covered

    def _subsets(self, level: int, bits: int) -> set[tuple[int, ...]]:
        members = [column for column in range(len(self.columns)) if bits >> column & 1]
        return set(combinations(members, level))

    def is_unique(self, chosen: tuple[int, ...]) -> bool:
        """Test a set on the rows; if it fails, remember what the two rows agree on."""
        self.checked += 1
        rows = self._rows_to_look_at(chosen)
        everything = len(self.columns[0])
        total = everything if rows is None else len(rows)
        first = second = -1
        for size, space in self.spaces.items():
            keys = self._keys(chosen, rows, min(size, total))
            first, second = space.first_repetition(keys)
            if first >= 0 or size >= total:
                break
        if first < 0:
            return True
        if len(chosen) < self.size and (rows is not None or second > LATE * isqrt(everything)):
            keys = keys if len(keys) == total else self._keys(chosen, rows, total)
            again = np.flatnonzero(~self.spaces[everything].alone(keys))
            if len(again) < everything // FEW:
                self.stripped[chosen] = again if rows is None else rows[again]
        one, other = (first, second) if rows is None else (int(rows[first]), int(rows[second]))
        self.latest = _bits([i for i, column in enumerate(self.columns) if column[one] == column[other]])
        self.agree.add(self.latest)
        if self.latest == (1 << len(self.columns)) - 1:
            self.copies = (one, other)
        return False

    def _keys(self, chosen: tuple[int, ...], rows: Int64 | None, limit: int) -> Int64:
        """Keys of the first rows to look at."""
        if rows is None:
            parts = [self.columns[column][:limit] for column in chosen]
        else:
            parts = [self.columns[column][rows[:limit]] for column in chosen]
        return combined(parts, [self.sizes[column] for column in chosen])

    def _rows_to_look_at(self, chosen: tuple[int, ...]) -> Int64 | None:
        """Return the fewest rows that can repeat on a set: those that repeat on a subset; None for all rows."""
        known = [
            self.stripped[subset]
            for level in range(1, len(chosen))
            for subset in combinations(chosen, level)
            if subset in self.stripped
        ]
        return min(known, key=len, default=None)


def _bits(chosen: Sequence[int]) -> int:
    return sum(1 << column for column in chosen)
