"""Discernibility: how many rows a row can't be told from.

Definition: DM = sum over kept classes of n_E^2 + s n for s suppressed of n rows, range [n, n^2]. DM* takes
the suppressed rows as one class: sum n_E^2 + s^2. DM does not grow with generalization (it may bring
suppressed rows back).

Source: R. Bayardo, R. Agrawal, ICDE 2005, doi:10.1109/ICDE.2005.42; K. El Emam and others, JAMIA 16(5),
2009 (DM*).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.losses.cells import class_rows
from indistinct.losses.contract import Loss, of_classes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.tables.records import Assignment


def discernibility(assignment: Assignment) -> int:
    """DM of a release: a suppressed row costs as much as the table has rows.

    >>> import numpy as np
    >>> from indistinct.tables.records import Assignment
    >>> cells, classes = np.arange(3, dtype=np.int32), np.array([0, 1, -1], np.int32)
    >>> discernibility(Assignment(cells, np.array([2, 3, 1]), classes, 2))  # 4 + 9 + 1 * 6
    19
    """
    rows, suppressed = class_rows(assignment)
    return _of_sizes(rows.tolist(), suppressed)


def discernibility_star(assignment: Assignment) -> int:
    """DM* of a release: the suppressed rows are one class."""
    rows, suppressed = class_rows(assignment)
    return _star_of_sizes(rows.tolist(), suppressed)


def _of_sizes(sizes: Sequence[int], suppressed: int) -> int:
    return sum(size * size for size in sizes) + suppressed * (sum(sizes) + suppressed)


def _star_of_sizes(sizes: Sequence[int], suppressed: int) -> int:
    return sum(size * size for size in sizes) + suppressed**2


LOSSES = (
    Loss("discernibility", of_classes(_of_sizes), of_domains=False, of_sizes=_of_sizes, prices=None, compared=True),
    Loss("discernibility_star", of_classes(_star_of_sizes), of_domains=False, of_sizes=_star_of_sizes, prices=None),
)
