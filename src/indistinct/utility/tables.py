"""An original table and its published form, side by side, as counted codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.utility.axes import Axis

    Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Sides:
    """Distinct rows of both tables in the columns of ``axes``.

    ``before`` int[., c] holds numbers of original texts, ``after`` int[., c] numbers of published labels, in the order
    of the axes; ``rows_before`` and ``rows_after`` int64[.] how often each row occurs.
    """

    axes: tuple[Axis, ...]
    before: NDArray[np.integer]
    rows_before: Int64
    after: NDArray[np.integer]
    rows_after: Int64

    def position(self, name: str) -> int:
        """Column number of an axis; raises KeyError."""
        for number, axis in enumerate(self.axes):
            if axis.name == name:
                return number
        raise KeyError(name)

    def narrowed(self, names: Sequence[str]) -> Sides:
        """Keep some columns and count the rows that become equal together."""
        columns = [self.position(name) for name in names]
        before, rows_before = _merged(self.before[:, columns], self.rows_before)
        after, rows_after = _merged(self.after[:, columns], self.rows_after)
        return Sides(tuple(self.axes[c] for c in columns), before, rows_before, after, rows_after)


def _merged(codes: NDArray[np.integer], rows: Int64) -> tuple[NDArray[np.integer], Int64]:
    distinct, inverse = np.unique(codes, axis=0, return_inverse=True)
    total = np.zeros(len(distinct), np.int64)
    np.add.at(total, inverse.reshape(-1), rows)
    return distinct, total
