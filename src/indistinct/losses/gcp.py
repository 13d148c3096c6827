"""The global certainty penalty GCP.

Definition: sum over rows and quasi-identifiers of w_a NCP, divided by n sum_a w_a. NCP of a category is 0
for a leaf, else leaves(node) / leaves(root); that of a number, date or rank is the width of the published
range over that of the domain, as in LM. Range [0, 1]; a suppressed row costs 1 in every attribute. Grows
with generalization.

Source: J. Xu and others, KDD 2006, doi:10.1145/1150402.1150504 (NCP); G. Ghinita and others, VLDB 2007 (GCP).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.hierarchies.hierarchy import Fractions
from indistinct.losses.cells import (
    Cells,
    cells,
    class_rows,
    costs,
    domain_leaves,
    integers,
    is_categorical,
    total_cost,
    weighted_mean,
)
from indistinct.losses.contract import Loss, exactly, with_levels

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy, Level
    from indistinct.tables.records import Assignment, Frequencies, Recoding


def gcp(frequencies: Frequencies, assignment: Assignment, recoding: Recoding) -> tuple[Fraction, dict[str, Fraction]]:
    """GCP of a release, exact: the weighted mean, and the mean NCP of each quasi-identifier.

    Raises ValueError when no node of a hierarchy covers a class.
    """
    rows, suppressed = class_rows(assignment)
    losses = []
    for position in range(len(frequencies.quasi)):
        found = cells(recoding, position, rows)
        losses.append((total_cost(found, *_ncp(found)) + suppressed) / max(frequencies.total, 1))
    names = [hierarchy.attribute for hierarchy in frequencies.quasi]
    return weighted_mean(frequencies.quasi, losses), dict(zip(names, losses, strict=True))


def _ncp(found: Cells) -> tuple[NDArray[Any], int]:
    """Exact NCP of each cell as integers over one denominator.

    With D leaves the LM cost c is (leaves - 1) / (D - 1), so leaves / D = ((D - 1) c + 1) / D.
    """
    numerators, denominator = costs(found)
    if not is_categorical(found.hierarchy):
        return numerators, denominator
    leaves = domain_leaves(found.hierarchy)
    several = np.asarray(numerators != 0)
    return np.where(several, (leaves - 1) * numerators + denominator, 0), denominator * leaves


def _prices(hierarchies: Sequence[Hierarchy]) -> tuple[Hierarchy, ...]:
    """Let a category that stands for several leaves cost leaves(node) / leaves(root)."""
    return tuple(_with_sets(with_levels(h, _cost)) if is_categorical(h) else h for h in hierarchies)


def _cost(hierarchy: Hierarchy, _number: int, level: Level) -> Sequence[Fraction]:
    numerators, denominator = integers(level.costs)
    leaves = domain_leaves(hierarchy)
    several = np.asarray(numerators != 0)
    return Fractions(np.where(several, (leaves - 1) * numerators + denominator, 0), denominator * leaves)


def _with_sets(hierarchy: Hierarchy) -> Hierarchy:
    """NCP of a set: the values listed, of those of the domain; 0 for one."""
    if hierarchy.sets is None:
        return hierarchy
    listed = np.arange(hierarchy.sets.most + 1)
    costs = Fractions(np.where(listed > 1, listed, 0), hierarchy.sets.domain)
    return replace(hierarchy, sets=replace(hierarchy.sets, costs=costs))


GCP = Loss("gcp", exactly(gcp), of_domains=True, of_sizes=None, prices=_prices, compared=True)
LOSSES = (GCP,)
