"""The loss metric LM: the figure of merit.

Definition: mean over rows and quasi-identifiers (by their weights) of the cost of the published cell.
Categories: (leaves(node) - 1) / (leaves(root) - 1), 0 for a domain of one leaf; numbers, dates and ranks:
width of the published range over that of the domain. Range [0, 1]; a suppressed row costs 1 in every
attribute. Grows with generalization.

Source: V. Iyengar, KDD 2002, doi:10.1145/775047.775089.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.losses.cells import cells, class_rows, costs, total_cost, weighted_mean
from indistinct.losses.contract import Loss, exactly

if TYPE_CHECKING:
    from fractions import Fraction

    from indistinct.tables.records import Assignment, Frequencies, Recoding


def lm(frequencies: Frequencies, assignment: Assignment, recoding: Recoding) -> tuple[Fraction, dict[str, Fraction]]:
    """LM of a release, exact: the weighted mean, and the loss of each quasi-identifier.

    Raises ValueError when no node of a hierarchy covers a class.
    """
    rows, suppressed = class_rows(assignment)
    losses = []
    for position in range(len(frequencies.quasi)):
        found = cells(recoding, position, rows)
        losses.append((total_cost(found, *costs(found)) + suppressed) / max(frequencies.total, 1))
    names = [hierarchy.attribute for hierarchy in frequencies.quasi]
    return weighted_mean(frequencies.quasi, losses), dict(zip(names, losses, strict=True))


LM = Loss("lm", exactly(lm), of_domains=True, of_sizes=None, prices=tuple, by_attribute=True, compared=True)
LOSSES = (LM,)
