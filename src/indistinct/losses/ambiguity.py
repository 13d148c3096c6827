"""Ambiguity: how many combinations of original values a published row could stand for.

Definition: (1/n) sum over classes of n_E times the product over quasi-identifiers of leaves(cell). Leaves are those of
the hierarchy for categories, the distinct values of the table inside the published range for numbers, dates and ranks.
Range [1, product of the domain sizes]; a suppressed row counts the product of the domain sizes. Grows with
generalization. Weights do not enter.

Source: M. Nergiz, C. Clifton, Data and Knowledge Engineering 63(3), 2007, doi:10.1016/j.datak.2007.03.009.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.losses.cells import cells, class_rows, costs, domain_leaves, is_categorical, spans
from indistinct.losses.contract import Loss, exactly

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.losses.cells import Cells
    from indistinct.tables.records import Assignment, Frequencies, Recoding


def ambiguity(
    frequencies: Frequencies, assignment: Assignment, recoding: Recoding
) -> tuple[Fraction, dict[str, Fraction]]:
    """Mean number of combinations behind a row, and mean number of values behind each of its cells; exact.

    Raises ValueError when no node of a hierarchy covers a class.
    """
    rows, suppressed = class_rows(assignment)
    total = max(frequencies.total, 1)
    product = np.ones(len(rows), object)
    largest, by_attribute = [], {}
    for position, hierarchy in enumerate(frequencies.quasi):
        found = cells(recoding, position, rows)
        leaves = _leaves(found)
        largest.append(domain_leaves(hierarchy) if is_categorical(hierarchy) else hierarchy.size)
        product = product * leaves[recoding.boxes(position)[2]]
        behind = int((found.rows.astype(object) * leaves).sum())
        by_attribute[hierarchy.attribute] = Fraction(behind + suppressed * largest[-1], total)
    behind = int((rows.astype(object) * product).sum())
    return Fraction(behind + suppressed * prod(largest), total), by_attribute


def _leaves(found: Cells) -> NDArray[Any]:
    """Leaves of each cell, as Python integers: with D leaves the LM cost is (leaves - 1) / (D - 1)."""
    if not is_categorical(found.hierarchy):
        first, last = spans(found)
        return np.asarray((last - first + 1).astype(object))
    numerators, denominator = costs(found)
    return np.asarray((domain_leaves(found.hierarchy) - 1) * numerators.astype(object) // denominator + 1)


LOSSES = (Loss("ambiguity", exactly(ambiguity), of_domains=False, of_sizes=None, prices=None),)
