"""What a box of codes costs: the compiled form of ``Hierarchy.cost``.

A *box* holds the smallest and the largest code of a class in each attribute. Its loss is the weighted sum of
the LM costs over the attributes, with weights scaled to a mean of 1: a box that hides everything loses d.
Boxes that no label covers lose ``NEVER``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import lean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

NEVER = 1e9
TABLE, RANGE, LEVELS = 0, 1, 2
# a table of all pairs for domains up to this size, a walk over the levels above
LARGEST_TABLE = 1024


class Costs(NamedTuple):
    """Costs of all attributes in flat arrays.

    ``kind``, ``at``, ``size``, ``more`` int64[d]: kind, start in ``value``, number of codes, and the code of the
    missing value or -1 (RANGE) or the number of levels (LEVELS). ``value`` float64[.]: LEVELS, for each level and
    code the cost of its node, which ``node`` int32[.] names at the same place; TABLE, the cost of each pair of
    codes; RANGE, the lower bounds, the upper bounds, and the cost of mixing missing and present values.
    """

    kind: Int64
    at: Int64
    size: Int64
    more: Int64
    value: Float64
    node: Int32


def costs_of(quasi: Sequence[Hierarchy]) -> Costs:
    """Bring the costs of the quasi-identifiers into the form that kernels read."""
    weights = np.array([float(h.weight) for h in quasi])
    weights *= len(quasi) / weights.sum() if weights.sum() > 0 else 1.0
    kinds = np.array([_kind(hierarchy) for hierarchy in quasi], np.int64)
    at = np.zeros(len(quasi), np.int64)
    more = np.array([h.missing if h.is_range else len(h.levels) for h in quasi], np.int64)
    values: list[Float64] = []
    nodes: list[Int32] = []
    for a in np.argsort(-kinds, kind="stable"):  # LEVELS first, so that one start serves ``value`` and ``node``
        at[a] = sum(len(part) for part in values)
        hierarchy, weight = quasi[a], weights[a]
        if hierarchy.lower is not None and hierarchy.upper is not None:
            values.append(np.concatenate([hierarchy.lower, hierarchy.upper, [1.0]]) * weight)
            continue
        node = np.stack([level.node_of for level in hierarchy.levels]).astype(np.int32)
        price = weight * np.stack([_prices(hierarchy, level) for level in range(len(node))])
        if kinds[a] == TABLE:
            values.append(_pairs(node, price).reshape(-1))
        else:
            values.append(price.reshape(-1))
            nodes.append(node.reshape(-1))
    sizes = np.array([hierarchy.size for hierarchy in quasi], np.int64)
    return Costs(kinds, at, sizes, more, np.concatenate(values), np.concatenate([*nodes, np.zeros(0, np.int32)]))


def _kind(hierarchy: Hierarchy) -> int:
    if hierarchy.is_range:
        return RANGE
    return TABLE if hierarchy.size <= LARGEST_TABLE else LEVELS


def _prices(hierarchy: Hierarchy, level: int) -> Float64:
    """Cost of the node of each value at a level; a value alone costs nothing."""
    if level == 0:
        return np.zeros(hierarchy.size)
    return hierarchy.levels[level].float_costs()[hierarchy.levels[level].node_of]


def _pairs(node: Int32, price: Float64) -> Float64:
    """Cost of the smallest node that covers each pair of codes."""
    size = node.shape[1]
    table = np.full((size, size), NEVER)
    for level in range(len(node) - 1, -1, -1):
        same = node[level][:, None] == node[level][None, :]
        table[same] = np.broadcast_to(price[level], (size, size))[same]
    return table


@lean
def swapped_loss(costs: Costs, box: Int32, inner: Int32, ties: Int32, gone: Int32, new: Int32) -> float:
    """Weighted loss of a class after one member has gone and one is new.

    All are given as ``Units.reach``: highest codes, then negatives of the lowest. ``inner`` holds what the box
    shrinks to where a member that alone reaches its side (``ties`` = 1) goes. ``new`` = ``inner``: nobody is
    new. The loop is written out because array records that cross a call
    cost more than all the look-ups.
    """
    d = len(costs.kind)
    total = 0.0
    for a in range(d):
        hi, lo = box[a], box[d + a]
        hi = max(inner[a] if hi == gone[a] and ties[a] == 1 else hi, new[a])
        lo = -max(inner[d + a] if lo == gone[d + a] and ties[d + a] == 1 else lo, new[d + a])
        at, size = costs.at[a], costs.size[a]
        if costs.kind[a] == TABLE:
            total += costs.value[at + lo * size + hi]
        elif costs.kind[a] == RANGE:
            if hi != costs.more[a]:
                total += costs.value[at + size + hi] - costs.value[at + lo]
            elif lo != hi:
                total += costs.value[at + 2 * size]
        else:
            left = costs.more[a]
            while left > 0 and costs.node[at + lo] != costs.node[at + hi]:
                at += size
                left -= 1
            total += costs.value[at + lo] if left > 0 else NEVER
    return total


@lean
def union_loss(costs: Costs, box: Int32, other: Int32) -> float:
    """Weighted loss of the smallest box over two."""
    return swapped_loss(costs, box, box, box, box, other)
