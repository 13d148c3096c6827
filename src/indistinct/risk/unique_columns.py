"""Minimal unique column sets: the smallest sets of columns that tell all rows apart."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import UnsupportedError
from indistinct.risk.column_keys import Space, combined

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Chosen = tuple[int, ...]

MOST_SETS = 2_000_000
# most sets repeat among the first rows, and a small table of keys stays in the cache
FIRST_ROWS = (1 << 12, 1 << 17)
# row pairs looked at for each row before a subset is given up: more of them cost more than a count of every superset
PAIRS_PER_ROW = 2


@dataclass(frozen=True)
class UniqueSets:
    """``sets`` of column numbers, by size and number; ``checked`` times the rows were gone through.

    ``copies`` names two rows that are equal in every column, if there are such: then no set is unique.
    """

    sets: tuple[Chosen, ...]
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

    The search goes by size; a set is open when all its subsets with one column less repeat (a priori). Open sets that
    have such a subset P in common are decided together: the row pairs that agree on P are gone through, and each
    refutes P + c for every column c on which it agrees too (agree sets). Most end after a few thousand pairs. When all
    pairs were seen, what is still open is unique. Subsets with few agreeing pairs come first, so that few of the
    others are needed. A P with more than two pairs a row is given up, and what stays open in the end is counted set by
    set. So the cost is that of the sets at the border, not of the power set. Keys are compared exactly, never by a
    hash alone. Working space: 4 bytes a cell, and 60 bytes a row.

    Raises UnsupportedError when more than two million sets would have to be considered.

    Source: R. Agrawal, R. Srikant, VLDB 1994, 487-499 (a priori); Y. Huhtala, J. Kaerkkaeinen, P. Porkka, H. Toivonen,
    TANE, Computer Journal 42(2):100-111, 1999, doi:10.1093/comjnl/42.2.100 (partitions of the rows); Y. Sismanis,
    P. Brown, P. Haas, B. Reinwald, GORDIAN, VLDB 2006, 691-702 (non-keys rule out keys); T. Papenbrock, F. Naumann, A
    hybrid approach for efficient unique column combination discovery, BTW 2017, 195-204 (row pairs as witnesses).

    >>> a, b, c = (np.array(codes, np.int32) for codes in ([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 3]))
    >>> unique_columns([a, b, c]).sets
    ((2,), (0, 1))
    """
    wide, rows = len(columns), len(columns[0])
    size = min(size, wide)
    totals = [sum(comb(wide, level) for level in range(1, most + 1)) for most in range(1, size + 1)]
    if totals[-1] > MOST_SETS:
        raise UnsupportedError(
            f"{wide} columns have {totals[-1]} sets of up to {size} columns, too many to consider; ask for smaller "
            "sets or fewer columns"
        )
    if rows < 2:
        return UniqueSets(tuple((column,) for column in range(wide)), size, 0)
    search = _Search(columns)
    copies = search.copies()
    if copies is not None:
        return UniqueSets((), size, search.checked, copies)
    found: list[Chosen] = [(column,) for column in range(wide) if search.most[column] == 1]
    repeating: set[Chosen] = {(column,) for column in range(wide) if search.most[column] > 1}
    progress(totals[0], totals[-1])
    for level in range(2, size + 1):
        open_sets = {
            chosen
            for chosen in combinations(range(wide), level)
            if all(subset in repeating for subset in combinations(chosen, level - 1))
        }
        unique = search.unique_of(open_sets)
        found += sorted(unique)
        repeating = open_sets - unique
        progress(totals[level - 1], totals[-1])
    return UniqueSets(tuple(found), size, search.checked)


class _Search:
    """The columns, how often their values repeat, and working space."""

    def __init__(self, columns: Sequence[Int32]) -> None:
        self.columns = [np.ascontiguousarray(column) for column in columns]
        self.table = np.column_stack(self.columns)  # rows together: two rows are compared in many columns at once
        counts = [np.bincount(column) for column in self.columns]
        self.sizes = [len(own) for own in counts]
        self.most = [int(own.max()) for own in counts]
        rows = len(self.columns[0])
        # of two rows taken by chance, how probably they agree
        self.agreement = [float((own.astype(np.float64) ** 2).sum()) / rows**2 for own in counts]
        self.stages = [*(few for few in FIRST_ROWS if few < rows), rows]
        self.spaces = {stage: Space(stage) for stage in self.stages}
        self.checked = 0

    def copies(self) -> tuple[int, int] | None:
        """Return two rows that are equal in every column, None if there are none."""
        pair = self._first_repetition(range(len(self.columns)))
        return None if pair[0] < 0 else pair

    def unique_of(self, open_sets: set[Chosen]) -> set[Chosen]:
        """Return the sets on which no two rows agree; all have one size, and all their proper subsets repeat."""
        unique: set[Chosen] = set()
        undecided = set(open_sets)
        subsets = {chosen[:i] + chosen[i + 1 :] for chosen in open_sets for i in range(len(chosen))}
        for subset in sorted(subsets, key=lambda chosen: (self._expected(chosen), chosen)):
            more = {
                column: chosen
                for column in range(len(self.columns))
                if column not in subset and (chosen := tuple(sorted((*subset, column)))) in undecided
            }
            if not more:
                continue
            left, seen_all = self._never_met(subset, list(more))
            undecided -= {more[column] for column in more if seen_all or column not in left}
            if seen_all:
                unique |= {more[column] for column in left}
        return unique | {chosen for chosen in undecided if self._first_repetition(chosen)[0] < 0}

    def _expected(self, chosen: Chosen) -> float:
        """Share of the row pairs that would agree on these columns if they had nothing to do with each other."""
        return float(np.prod([self.agreement[column] for column in chosen]))

    def _never_met(self, subset: Chosen, others: list[int]) -> tuple[set[int], bool]:
        """Return the other columns on which no row pair looked at agrees, of those that agree on a subset.

        And whether these were all such pairs of the table.
        """
        seen_all = False
        for stage in self.stages:
            self.checked += 1
            left, seen_all = self.spaces[stage].never_met(
                self._keys(subset, stage), self.table, others, PAIRS_PER_ROW * stage
            )
            others = left
            if not others:
                break
        return set(others), seen_all

    def _first_repetition(self, chosen: Sequence[int]) -> tuple[int, int]:
        """Return the first two rows that agree on a set, (-1, -1) if all differ."""
        pair = (-1, -1)
        for stage in self.stages:
            self.checked += 1
            pair = self.spaces[stage].first_repetition(self._keys(chosen, stage))
            if pair[0] >= 0:
                break
        return pair

    def _keys(self, chosen: Sequence[int], rows: int) -> Int64:
        """Keys of the first rows, equal where all the chosen columns are."""
        return combined([self.columns[column][:rows] for column in chosen], [self.sizes[column] for column in chosen])
