"""Precision: how far up their hierarchies the published cells stand.

Definition: 1 - the mean over rows and quasi-identifiers (by their weights) of level / h, h the height of the
hierarchy; a suppressed row counts level = h. Range [0, 1], 1 is best. A column without hierarchy has h = 0 and counts
0, a class published as one node counts the lowest level that has it. A hierarchy of kind ``range`` or ``set`` has no
levels: there the LM cost stands for level / h, the width of the published range over that of the domain, or the share
of the other values of the domain that are listed beside the right one. The lost part grows with
generalization.

Source: L. Sweeney, IJUFKS 10(5):571-588, 2002, doi:10.1142/S021848850200165X (levels; weights and ranges are ours).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from indistinct.hierarchies.hierarchy import Fractions
from indistinct.losses.cells import cells, class_rows, costs, total_cost, weighted_mean
from indistinct.losses.contract import Loss, exactly, with_levels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.hierarchies.hierarchy import Hierarchy, Level
    from indistinct.tables.records import Assignment, Frequencies, Recoding


def precision(
    frequencies: Frequencies, assignment: Assignment, recoding: Recoding
) -> tuple[Fraction, dict[str, Fraction]]:
    """Precision of a release, exact: the weighted mean, and that of each quasi-identifier.

    Raises ValueError when no node of a hierarchy covers a class.
    """
    rows, suppressed = class_rows(assignment)
    losses = []
    for position, hierarchy in enumerate(frequencies.quasi):
        found = cells(recoding, position, rows)
        if hierarchy.is_range or hierarchy.sets is not None:
            lost = total_cost(found, *costs(found))
        else:
            lost = Fraction(int((found.rows * found.level).sum()), max(hierarchy.height, 1))
        losses.append((lost + suppressed) / max(frequencies.total, 1))
    names = [hierarchy.attribute for hierarchy in frequencies.quasi]
    retained = {name: 1 - loss for name, loss in zip(names, losses, strict=True)}
    return 1 - weighted_mean(frequencies.quasi, losses), retained


def _prices(hierarchies: Sequence[Hierarchy]) -> tuple[Hierarchy, ...]:
    """Let a node cost its level over the height."""
    return tuple(h if h.is_range or h.sets is not None else with_levels(h, _height) for h in hierarchies)


def _height(hierarchy: Hierarchy, number: int, level: Level) -> Sequence[Fraction]:
    return Fractions(np.full(len(level.costs), max(number, hierarchy.min_level), np.int64), max(hierarchy.height, 1))


LOSSES = (Loss("precision", exactly(precision), of_domains=False, of_sizes=None, prices=_prices),)
