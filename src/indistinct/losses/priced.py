"""Which losses a search can make small, and the prices that make it do so.

Searches minimise ``(1/n) (sum over published rows of c(r) + suppressed rows)``, c(r) the weighted mean of the costs of
the row's nodes. A loss whose cell costs depend on the node alone, are exact, grow with generalization and are 1 for a
suppressed row is minimised by the same search under other prices:

- ``lm``: the costs of the hierarchies;
- ``gcp``: leaves(node) / leaves(root) for a category that stands for several leaves;
- ``iloss``: the LM costs with each weight times (D - 1) / D: the two losses differ by that factor alone;
- ``precision``: level / h.

The others can't be had this way: classes (discernibility, average class size, ambiguity, KL) or original values
(non-uniform entropy) enter their costs, or they are not monotone (classification metric).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.hierarchies.hierarchy import Fractions
from indistinct.losses.cells import domain_leaves, integers, is_categorical
from indistinct.losses.iloss import largest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from indistinct.hierarchies.hierarchy import Hierarchy, Level


def priced(hierarchies: Sequence[Hierarchy], loss: str) -> tuple[Hierarchy, ...]:
    """Return the hierarchies with the costs and weights under which LM is the loss of that name.

    >>> from indistinct.hierarchies import suppression
    >>> [h.cost(0, 1) for h in priced([suppression.build("sex", ["f", "m"])], "precision")]
    [Fraction(1, 1)]
    """
    if loss == "iloss":
        return tuple(replace(h, weight=h.weight * largest(h)) for h in hierarchies)
    if loss == "gcp":
        return tuple(_with_sets(_with_levels(h, _ncp)) if is_categorical(h) else h for h in hierarchies)
    if loss == "precision":
        return tuple(h if h.is_range or h.sets is not None else _with_levels(h, _height) for h in hierarchies)
    if loss != "lm":
        message = f"no search minimises {loss}"
        raise ValueError(message)
    return tuple(hierarchies)


def _with_levels(hierarchy: Hierarchy, cost: object) -> Hierarchy:
    assert callable(cost)  # noqa: S101  # one of the two functions below
    return replace(
        hierarchy,
        levels=tuple(
            replace(level, costs=cost(hierarchy, number, level)) for number, level in enumerate(hierarchy.levels)
        ),
    )


def _with_sets(hierarchy: Hierarchy) -> Hierarchy:
    """NCP of a set: the values listed, of those of the domain; 0 for one."""
    if hierarchy.sets is None:
        return hierarchy
    listed = np.arange(hierarchy.sets.most + 1)
    costs = Fractions(np.where(listed > 1, listed, 0), hierarchy.sets.domain)
    return replace(hierarchy, sets=replace(hierarchy.sets, costs=costs))


def _ncp(hierarchy: Hierarchy, _number: int, level: Level) -> Sequence[Fraction]:
    numerators, denominator = integers(level.costs)
    leaves = domain_leaves(hierarchy)
    several = np.asarray(numerators != 0)
    return Fractions(np.where(several, (leaves - 1) * numerators + denominator, 0), denominator * leaves)


def _height(hierarchy: Hierarchy, number: int, level: Level) -> Sequence[Fraction]:
    return Fractions(np.full(len(level.costs), number, np.int64), max(hierarchy.height, 1))
