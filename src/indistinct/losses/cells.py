"""What classes publish in one quasi-identifier: the distinct cells, their rows and exact costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.hierarchies.hierarchy import Fractions
from indistinct.tables.records import SUPPRESSED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.tables.records import Assignment, Recoding

    Int64 = NDArray[np.int64]


# kinds whose nodes are sets of leaves; the others are ranges on a scale
_CATEGORICAL = ("taxonomy", "masking", "suppress", "set")


@dataclass(frozen=True)
class Cells:
    """The distinct cells of one quasi-identifier: boxes ``lo[i]..hi[i]`` with ``rows[i]`` rows.

    ``level[i]`` and ``node[i]`` say which node is published; ``level`` is -1 where it is the range of the
    members, or the set of ``listed[i]`` values. ``held`` bool[cells, values]: the values of the members, for sets.
    """

    hierarchy: Hierarchy
    lo: Int64
    hi: Int64
    rows: Int64
    level: Int64
    node: Int64
    listed: Int64
    held: NDArray[np.bool_] | None


def class_rows(assignment: Assignment) -> tuple[Int64, int]:
    """Rows of each class (int64[g]) and number of suppressed rows."""
    published = assignment.class_of != SUPPRESSED
    rows = np.zeros(assignment.classes, np.int64)
    np.add.at(rows, assignment.class_of[published], assignment.count[published])
    return rows, int(assignment.count[~published].sum())


def cells(recoding: Recoding, position: int, rows: Int64) -> Cells:
    """Collect the distinct cells of quasi-identifier number ``position``; ``rows`` int64[g] by class."""
    hierarchy = recoding.quasi[position]
    lo, hi, box_of = recoding.boxes(position)
    total = np.zeros(len(lo), np.int64)
    np.add.at(total, box_of, rows)
    fixed = None if recoding.levels is None else recoding.levels[position]
    level, node = _nodes(hierarchy, lo, hi, fixed)
    listed = recoding.listed(position)
    level[listed > 0] = -1
    if position not in recoding.held:
        return Cells(hierarchy, lo, hi, total, level, node, listed, None)
    mixed = (lo < hi) & (hi == hierarchy.missing)  # whatever the tree says, as for every hierarchy
    level[mixed], node[mixed] = hierarchy.height, 0
    return Cells(hierarchy, lo, hi, total, level, node, listed, recoding.values(position))


def _nodes(hierarchy: Hierarchy, lo: Int64, hi: Int64, fixed: int | None) -> tuple[Int64, Int64]:
    """Level and node of each box: at a fixed level, or the smallest node that covers it."""
    level, node = np.full(len(lo), -1, np.int64), np.zeros(len(lo), np.int64)
    if fixed:
        level, node = np.full(len(lo), fixed, np.int64), hierarchy.levels[fixed].node_of[lo].astype(np.int64)
        _lift(hierarchy, level, node)
        return level, node
    if hierarchy.is_range:
        return level, node
    for number in range(min(hierarchy.min_level, hierarchy.height), len(hierarchy.levels)):
        found = hierarchy.levels[number]
        covered = (level < 0) & (found.node_of[lo] == found.node_of[hi])
        level[covered] = number
        node[covered] = found.node_of[lo[covered]]
    _lift(hierarchy, level, node)
    if (level < 0).any():
        first = int(np.flatnonzero(level < 0)[0])
        message = f"no node of {hierarchy.attribute} covers codes {lo[first]} and {hi[first]}"
        raise ValueError(message)
    return level, node


def _lift(hierarchy: Hierarchy, level: Int64, node: Int64) -> None:
    """Take cells that are published as the root for it, whichever level they are of."""
    for number in range(1, hierarchy.height):
        own = [at for at in range(len(hierarchy.levels[number].labels)) if hierarchy.is_root(number, at)]
        at = (level == number) & np.isin(node, own)
        level[at], node[at] = hierarchy.height, 0


def costs(found: Cells) -> tuple[NDArray[Any], int]:
    """Exact LM cost of each cell as integers over one denominator."""
    hierarchy = found.hierarchy
    if not len(found.lo):
        return np.zeros(0, np.int64), 1
    if hierarchy.is_range and (found.level < 0).any():
        return _range_costs(hierarchy, found.lo, found.hi)
    denominators, tables = [], {}
    for number in np.unique(found.level).tolist():
        tables[number] = integers(
            hierarchy.sets.costs if hierarchy.sets and number < 0 else hierarchy.levels[number].costs
        )
        denominators.append(tables[number][1])
    common = lcm(*denominators)
    result = np.zeros(len(found.lo), object)
    for number, (numerators, denominator) in tables.items():
        at = found.level == number
        result[at] = numerators[(found.listed if number < 0 else found.node)[at]].astype(object) * (
            common // denominator
        )
    return result, common


def _range_costs(hierarchy: Hierarchy, lo: Int64, hi: Int64) -> tuple[NDArray[Any], int]:
    """upper[hi] - lower[lo]; a missing value alone costs 0, mixed with others 1."""
    lower, below = integers(hierarchy.exact_lower)
    upper, above = integers(hierarchy.exact_upper)
    common = lcm(below, above)
    missing = hierarchy.missing
    result = np.zeros(len(lo), object)  # the common denominator may be larger than any integer of numpy
    result[lo != hi] = common
    present = hi != missing if missing >= 0 else np.ones(len(lo), np.bool_)
    result[present] = upper[hi[present]].astype(object) * (common // above) - lower[lo[present]].astype(object) * (
        common // below
    )
    return result, common


def integers(numbers: Sequence[Fraction]) -> tuple[NDArray[Any], int]:
    """Numerators of fractions over one denominator."""
    if isinstance(numbers, Fractions):
        return np.asarray(numbers.numerators), numbers.denominator
    common = lcm(*(number.denominator for number in numbers)) if len(numbers) else 1
    return np.array([int(number * common) for number in numbers], object), common


def is_categorical(hierarchy: Hierarchy) -> bool:
    """Whether the nodes of an attribute are sets of leaves, not ranges on a scale."""
    return hierarchy.kind in _CATEGORICAL


def domain_leaves(hierarchy: Hierarchy) -> int:
    """Count the leaves of a categorical domain; a hierarchy file may have more than the column has values."""
    if hierarchy.sets is not None:
        return hierarchy.sets.domain
    top = hierarchy.levels[-1].costs
    if hierarchy.kind == "taxonomy" and isinstance(top, Fractions):
        return top.denominator + 1
    return hierarchy.size


def spans(found: Cells) -> tuple[Int64, Int64]:
    """First and last code, int64[cells] each, of the values of the table that each published cell covers.

    Of a set, of which ``held`` says what lies between them.
    """
    hierarchy = found.hierarchy
    first, last = np.zeros(len(found.lo), np.int64), np.full(len(found.lo), hierarchy.size - 1, np.int64)
    for number in np.unique(found.level[found.level >= 0]).tolist():
        node_of, at = hierarchy.levels[number].node_of, found.level == number
        node = found.node[at]  # nodes are runs of values
        first[at], last[at] = np.searchsorted(node_of, node), np.searchsorted(node_of, node, "right") - 1
    ranges = np.flatnonzero(found.level < 0)
    if hierarchy.sets is not None:
        first[ranges], last[ranges] = found.lo[ranges], found.hi[ranges]
    if hierarchy.lower is not None and hierarchy.upper is not None and len(ranges):
        lo, hi, missing = found.lo[ranges], found.hi[ranges], hierarchy.missing
        alone = ranges[lo == hi]
        first[alone], last[alone] = found.lo[alone], found.hi[alone]
        present = hi != missing if missing >= 0 else np.ones(len(lo), np.bool_)
        # a range published with coarser bounds covers all values that share them
        lower, upper = (ends[: hierarchy.size - (missing >= 0)] for ends in (hierarchy.lower, hierarchy.upper))
        first[ranges[present]] = np.searchsorted(lower, hierarchy.lower[lo[present]])
        last[ranges[present]] = np.searchsorted(upper, hierarchy.upper[hi[present]], "right") - 1
    return first, last


def covered(recoding: Recoding, position: int, rows: Int64) -> NDArray[np.bool_] | None:
    """bool[boxes, values]: what the published cells of a quasi-identifier with sets cover; None without sets."""
    found = cells(recoding, position, rows)
    if found.held is None:
        return None
    first, last = spans(found)
    code = np.arange(found.hierarchy.size)
    within = (first[:, None] <= code) & (code <= last[:, None])
    return np.where(found.listed[:, None] > 0, found.held, within)


def boxes(recoding: Recoding, rows: Int64) -> tuple[Int64, Int64]:
    """First and last code int64[g, d] that the published cells of each class cover; ``rows`` int64[g].

    What lies between them is covered too, but for sets (``covered``).
    """
    first = np.zeros((len(rows), len(recoding.quasi)), np.int64)
    last = first.copy()
    for a in range(len(recoding.quasi)):
        found = cells(recoding, a, rows)
        place = recoding.boxes(a)[2]
        low, high = spans(found)
        first[:, a], last[:, a] = low[place], high[place]
    return first, last


def total_cost(found: Cells, numerators: NDArray[Any], denominator: int) -> Fraction:
    """Sum of the costs over all rows of the cells."""
    return Fraction(int((found.rows.astype(object) * numerators).sum()), denominator)


def weighted_mean(hierarchies: Sequence[Hierarchy], losses: Sequence[Fraction]) -> Fraction:
    """Mean of the losses of the attributes by their weights; 0 when all weights are 0."""
    weights = [hierarchy.weight for hierarchy in hierarchies]
    total = sum(weights, Fraction(0))
    if total == 0:
        return Fraction(0)
    return sum((weight * loss for weight, loss in zip(weights, losses, strict=True)), Fraction(0)) / total
