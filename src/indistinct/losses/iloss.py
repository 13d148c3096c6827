"""ILoss: the share of the domain that a published cell adds to its value.

Definition: mean over rows and quasi-identifiers (by their weights) of (leaves(node) - 1) / D for categories, D the
leaves of the domain; the width of the published range over that of the domain for numbers, dates and ranks, as in LM.
Range [0, 1); a suppressed row costs (D - 1) / D in a category, 1 in a number. Grows with generalization.

Source: X. Xiao, Y. Tao, SIGMOD 2006, doi:10.1145/1142473.1142500.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from indistinct.losses.cells import cells, class_rows, costs, domain_leaves, is_categorical, total_cost, weighted_mean
from indistinct.losses.contract import Loss, exactly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.tables.records import Assignment, Frequencies, Recoding


def iloss(frequencies: Frequencies, assignment: Assignment, recoding: Recoding) -> tuple[Fraction, dict[str, Fraction]]:
    """ILoss of a release, exact: the weighted mean, and the loss of each quasi-identifier.

    Raises ValueError when no node of a hierarchy covers a class.
    """
    rows, suppressed = class_rows(assignment)
    losses = []
    for position, hierarchy in enumerate(frequencies.quasi):
        found = cells(recoding, position, rows)
        lost = total_cost(found, *costs(found)) + suppressed
        losses.append(lost * largest(hierarchy) / max(frequencies.total, 1))
    names = [hierarchy.attribute for hierarchy in frequencies.quasi]
    return weighted_mean(frequencies.quasi, losses), dict(zip(names, losses, strict=True))


def largest(hierarchy: Hierarchy) -> Fraction:
    """ILoss of the root: the LM cost of a node times this is its ILoss, (leaves - 1)/(D - 1) (D - 1)/D.

    >>> from indistinct.hierarchies import suppression
    >>> largest(suppression.build("sex", ["f", "m"]))
    Fraction(1, 2)
    """
    if not is_categorical(hierarchy):
        return Fraction(1)
    leaves = max(domain_leaves(hierarchy), 1)
    return Fraction(leaves - 1, leaves)


def _prices(hierarchies: Sequence[Hierarchy]) -> tuple[Hierarchy, ...]:
    """Keep the costs of LM with each weight times (D - 1) / D: the two losses differ by that factor alone."""
    return tuple(replace(h, weight=h.weight * largest(h)) for h in hierarchies)


ILOSS = Loss("iloss", exactly(iloss), of_domains=True, of_sizes=None, prices=_prices)
LOSSES = (ILOSS,)
