"""Average class size, and the same normalised by the target k.

Definition: kept rows / number of classes; C_avg = that / k, at least 1 where k-anonymity holds. k is the
one asked for, not the one found, so that runs can be compared. Suppressed rows do not count.

Source: K. LeFevre, D. DeWitt, R. Ramakrishnan, ICDE 2006, doi:10.1109/ICDE.2006.101.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from indistinct.losses.cells import class_rows
from indistinct.losses.contract import Loss, of_classes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.tables.records import Assignment


def average_class_size(assignment: Assignment) -> Fraction:
    """Kept rows per class; 0 when there is no class.

    >>> import numpy as np
    >>> from indistinct.tables.records import Assignment
    >>> cells, classes = np.arange(3, dtype=np.int32), np.array([0, 1, -1], np.int32)
    >>> average_class_size(Assignment(cells, np.array([2, 5, 9]), classes, 2))
    Fraction(7, 2)
    """
    rows, _ = class_rows(assignment)
    return Fraction(int(rows.sum()), max(len(rows), 1))


def normalised_class_size(assignment: Assignment, k: int) -> Fraction:
    """C_avg: average class size over the target ``k`` >= 1."""
    return average_class_size(assignment) / k


def of_sizes(sizes: Sequence[int], suppressed: int = 0) -> float:  # noqa: ARG001  # the contract's
    """Average class size from the sizes of the published classes; 0 when there is none."""
    return sum(sizes) / max(len(sizes), 1)


AVERAGE_CLASS_SIZE = Loss(
    "average_class_size", of_classes(of_sizes), of_domains=False, of_sizes=of_sizes, prices=None, compared=True
)
LOSSES = (AVERAGE_CLASS_SIZE,)
