"""What a box of codes costs: the compiled form of ``Hierarchy.cost``.

A *box* holds the smallest and the largest code of a class in each attribute. Its loss is the weighted sum of
the LM costs over the attributes, with weights scaled to a mean of 1: a box that hides everything loses d.
Boxes that no label covers lose ``NEVER``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import kernel, step

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
# columns of ``Costs.spec``
KIND, AT, SIZE, MISSING, HEIGHT, NODE = range(6)


class Costs(NamedTuple):
    """Costs of all attributes in flat arrays.

    ``spec`` int64[d, 6]: kind, start in ``value``, number of codes, code of the missing value or -1, number of
    levels, start in ``node``. ``value`` float64[.]: TABLE, the cost of each pair of codes; RANGE, the lower
    bounds, the upper bounds, and the cost of mixing missing and present values; LEVELS, for each level and code
    the cost of its node, which ``node`` int32[.] names.
    """

    spec: Int64
    value: Float64
    node: Int32


def costs_of(quasi: Sequence[Hierarchy]) -> Costs:
    """Bring the costs of the quasi-identifiers into the form that kernels read."""
    weights = np.array([float(h.weight) for h in quasi])
    weights *= len(quasi) / weights.sum() if weights.sum() > 0 else 1.0
    spec = np.zeros((len(quasi), 6), np.int64)
    values: list[Float64] = []
    nodes: list[Int32] = []
    for row, hierarchy, weight in zip(spec, quasi, weights, strict=True):
        at, place = (sum(len(part) for part in parts) for parts in (values, nodes))
        row[AT : NODE + 1] = at, hierarchy.size, hierarchy.missing, len(hierarchy.levels), place
        if hierarchy.lower is not None and hierarchy.upper is not None:
            row[KIND] = RANGE
            values.append(np.concatenate([hierarchy.lower, hierarchy.upper, [1.0]]) * weight)
            continue
        node = np.stack([level.node_of for level in hierarchy.levels]).astype(np.int32)
        price = weight * np.stack([_prices(hierarchy, level) for level in range(len(node))])
        if hierarchy.size <= LARGEST_TABLE:
            row[KIND] = TABLE
            values.append(_pairs(node, price).reshape(-1))
        else:
            row[KIND] = LEVELS
            values.append(price.reshape(-1))
            nodes.append(node.reshape(-1))
    return Costs(spec, np.concatenate(values), np.concatenate([*nodes, np.zeros(0, np.int32)]))


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


@step
def cost(costs: Costs, a: int, lo: int, hi: int) -> float:
    """Weighted cost of the codes ``lo``..``hi`` of attribute a."""
    spec = costs.spec[a]
    at, size = spec[AT], spec[SIZE]
    if spec[KIND] == TABLE:
        return costs.value[at + lo * size + hi]
    if spec[KIND] == RANGE:
        if hi != spec[MISSING]:
            return costs.value[at + size + hi] - costs.value[at + lo]
        return 0.0 if lo == hi else costs.value[at + 2 * size]
    node = spec[NODE]
    for _ in range(spec[HEIGHT]):
        if costs.node[node + lo] == costs.node[node + hi]:
            return costs.value[at + lo]
        node += size
        at += size
    return NEVER


@kernel
def union_loss(costs: Costs, box: Int32, other: Int32) -> float:
    """Weighted loss of the smallest box over two, each given as ``Units.reach``: codes, then negatives."""
    d = len(costs.spec)
    total = 0.0
    for a in range(d):
        total += cost(costs, a, -max(box[d + a], other[d + a]), max(box[a], other[a]))
    return total
