"""An original table and its published form, side by side, as counted codes.

A release in groups says which sensitive values a group has, not whose they are. It is read by a *lossy join*: each row
of a group stands with each value of it, weighted by the share of that value in the group, so that COUNT over the
weights is sum over groups of qm sm / |G|. Where whole rows are needed, the values of a group are dealt to its rows at
random.

Source: X. Xiao, Y. Tao, VLDB 2006 (the estimate from two tables).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.losses.axes import Axis

    Int64 = NDArray[np.int64]
    Codes = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Groups:
    """A release in groups: its rows without, and its groups with their sensitive values.

    ``codes`` int[u, c - 1] distinct rows of the columns but the last, ``rows`` int64[u] how often each occurs and
    ``group`` int64[u] where; entry i of the values: ``count[i]`` rows of group ``owner[i]`` have value ``value[i]``.
    Each group must have as many values as rows.
    """

    codes: Codes
    rows: Int64
    group: Int64
    owner: Int64
    value: Codes
    count: Int64

    def joined(self) -> tuple[Codes, NDArray[np.float64]]:
        """Lossy join: int[., c] the rows, each with every value of its group, and float64[.] how often to expect it.

        >>> one, both = np.zeros(1, int), np.zeros(2, int)
        >>> Groups(one.reshape(1, 1), np.array([4]), one, both, np.array([0, 1]), np.array([1, 3])).joined()[1].tolist()
        [1.0, 3.0]
        """
        order = np.argsort(self.owner, kind="stable")
        size = np.bincount(self.owner, self.count)
        first, last = (np.searchsorted(self.owner[order], self.group, side) for side in ("left", "right"))
        row = np.repeat(np.arange(len(self.rows)), last - first)
        offset = np.arange(len(row)) - np.repeat(np.cumsum(last - first) - (last - first), last - first)
        entry = order[np.repeat(first, last - first) + offset]
        weight = self.rows[row] * self.count[entry] / size[self.owner[entry]]
        return np.column_stack([self.codes[row], self.value[entry]]), weight

    def dealt(self, generator: np.random.Generator) -> Codes:
        """int[n, c]: single rows, each with a value of its group, dealt at random."""
        row = np.repeat(np.arange(len(self.rows)), self.rows)
        row = row[np.lexsort([generator.random(len(row)), self.group[row]])]
        order = np.argsort(self.owner, kind="stable")
        return np.column_stack([self.codes[row], np.repeat(self.value[order], self.count[order])])


@dataclass(frozen=True)
class TablePair:
    """Distinct rows of both tables in the columns of ``axes``.

    ``before`` int[., c] holds numbers of original texts, ``after`` int[., c] numbers of published labels, in the order
    of the axes; ``rows_before`` and ``rows_after`` int64[.] how often each row occurs. Of a release in groups ``after``
    is the lossy join of ``groups``, the sensitive column last, and ``rows_after`` float64[.] how often to expect a row.
    """

    axes: tuple[Axis, ...]
    before: Codes
    rows_before: Int64
    after: Codes
    rows_after: Int64 | NDArray[np.float64]
    groups: Groups | None = None

    @property
    def published_rows(self) -> int:
        """Number of published rows."""
        return int(self.rows_after.sum() if self.groups is None else self.groups.rows.sum())

    def drawn(self, generator: np.random.Generator) -> Codes:
        """int[n, c]: the single published rows; in groups, with the sensitive values dealt at random."""
        if self.groups is None:
            return np.repeat(self.after, self.rows_after.astype(np.int64), axis=0)
        return self.groups.dealt(generator)

    def position(self, name: str) -> int:
        """Column number of an axis; raises KeyError."""
        for number, axis in enumerate(self.axes):
            if axis.name == name:
                return number
        raise KeyError(name)

    def narrowed(self, names: Sequence[str]) -> TablePair:
        """Keep some columns and count the rows that become equal together."""
        columns = [self.position(name) for name in names]
        before, rows_before = _merged(self.before[:, columns], self.rows_before)
        after, rows_after = _merged(self.after[:, columns], self.rows_after)
        return TablePair(tuple(self.axes[c] for c in columns), before, rows_before, after, rows_after)


def _merged(codes: Codes, rows: NDArray[Any]) -> tuple[Codes, NDArray[Any]]:
    distinct, inverse = np.unique(codes, axis=0, return_inverse=True)
    total = np.zeros(len(distinct), rows.dtype)
    np.add.at(total, inverse.reshape(-1), rows)
    return distinct, total
