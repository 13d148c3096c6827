"""What a box of codes costs: the compiled form of ``Hierarchy.cost``.

A *box* holds the smallest and the largest code of a class in each attribute. Its loss is the weighted sum of
the LM costs over the attributes, with weights scaled to a mean of 1: a box that hides everything loses d.
Boxes that no label covers lose ``NEVER``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float32 = NDArray[np.float32]
    Float64 = NDArray[np.float64]

NEVER = 1e9
TABLE, RANGE, LEVELS = 0, 1, 2
# a table of all pairs for domains up to this size, a walk over the levels above
LARGEST_TABLE = 1024


class Costs(NamedTuple):
    """Costs of all attributes in flat arrays; attribute a starts at ``offset[a]`` in the arrays of its kind.

    ``kind`` int64[d]; ``size`` int64[d] codes; ``missing`` int64[d] code or -1; ``height`` int64[d] levels;
    ``table`` float32[.] (TABLE: size x size); ``lower``, ``upper`` float64[.] (RANGE); ``node`` int32[.] and
    ``price`` float64[.] (LEVELS: level x size, the node of each value and what it costs).
    """

    kind: Int64
    offset: Int64
    size: Int64
    missing: Int64
    height: Int64
    weight: Float64
    table: Float32
    lower: Float64
    upper: Float64
    node: Int32
    price: Float64


def costs_of(quasi: Sequence[Hierarchy]) -> Costs:
    """Bring the costs of the quasi-identifiers into the form that kernels read."""
    weights = np.array([float(h.weight) for h in quasi])
    weights = weights * (len(quasi) / weights.sum()) if weights.sum() > 0 else weights
    kind, offset, height = [], [], []
    tables, lowers, uppers, nodes, prices = [], [], [], [], []
    for hierarchy, weight in zip(quasi, weights, strict=True):
        height.append(len(hierarchy.levels))
        if hierarchy.lower is not None and hierarchy.upper is not None:
            kind.append(RANGE)
            offset.append(sum(len(part) for part in lowers))
            lowers.append(hierarchy.lower * weight)
            uppers.append(hierarchy.upper * weight)
            continue
        node = np.stack([level.node_of for level in hierarchy.levels]).astype(np.int32)
        price = weight * np.stack([_prices(hierarchy, level) for level in range(height[-1])])
        if hierarchy.size <= LARGEST_TABLE:
            kind.append(TABLE)
            offset.append(sum(len(part) for part in tables))
            tables.append(_pairs(node, price).reshape(-1))
        else:
            kind.append(LEVELS)
            offset.append(sum(len(part) for part in nodes))
            nodes.append(node.reshape(-1))
            prices.append(price.reshape(-1))
    return Costs(
        np.array(kind, np.int64),
        np.array(offset, np.int64),
        np.array([h.size for h in quasi], np.int64),
        np.array([h.missing for h in quasi], np.int64),
        np.array(height, np.int64),
        weights,
        _flat(tables, np.float32),
        _flat(lowers, np.float64),
        _flat(uppers, np.float64),
        _flat(nodes, np.int32),
        _flat(prices, np.float64),
    )


def _prices(hierarchy: Hierarchy, level: int) -> Float64:
    """Cost of the node of each value at a level; a value alone costs nothing."""
    if level == 0:
        return np.zeros(hierarchy.size)
    costs = np.array([float(cost) for cost in hierarchy.levels[level].costs])
    return costs[hierarchy.levels[level].node_of]


def _flat(parts: list[NDArray[np.generic]], dtype: type) -> NDArray[np.generic]:
    return np.ascontiguousarray(np.concatenate([*parts, np.zeros(0, dtype)]), dtype=dtype)


def _pairs(node: Int32, price: Float64) -> Float64:
    """Cost of the smallest node that covers each pair of codes."""
    size = node.shape[1]
    table = np.full((size, size), NEVER)
    for level in range(len(node) - 1, -1, -1):
        same = node[level][:, None] == node[level][None, :]
        table[same] = np.broadcast_to(price[level], (size, size))[same]
    return table


@kernel
def union_loss(costs: Costs, box: Int32, other: Int32) -> float:
    """Weighted loss of the smallest box over two: highest codes, then negatives of the lowest (``Units.reach``).

    One function with its loop written out: array records that cross a call that is not inlined cost more than
    all the look-ups.
    """
    d = len(costs.kind)
    total = 0.0
    for a in range(d):
        hi, lo = max(box[a], other[a]), -max(box[d + a], other[d + a])
        at = costs.offset[a]
        if costs.kind[a] == TABLE:
            total += costs.table[at + lo * costs.size[a] + hi]
        elif costs.kind[a] == RANGE:
            if hi != costs.missing[a]:
                total += costs.upper[at + hi] - costs.lower[at + lo]
            elif lo != hi:
                total += costs.weight[a]
        else:
            level = 0
            while level < costs.height[a] and costs.node[at + lo] != costs.node[at + hi]:
                at += costs.size[a]
                level += 1
            total += costs.price[at + lo] if level < costs.height[a] else NEVER
    return total
