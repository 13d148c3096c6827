"""What boxes of codes cost, in the form that kernels read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels.boxes import (
    AT,
    BITS,
    CODES,
    FIRST,
    FORM,
    LEVELS,
    MORE,
    MOST,
    NEVER,
    RANGE,
    SET,
    TABLE,
    WORDS,
    Costs,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy

    Int32 = NDArray[np.int32]
    Float64 = NDArray[np.float64]

# a table of all pairs for domains up to this size, a walk over the levels above
LARGEST_TABLE = 1024


def prices(hierarchy: Hierarchy, level: int) -> Float64:
    """LM cost of the node of each value at a level."""
    return hierarchy.levels[level].float_costs()[hierarchy.levels[level].node_of]


def costs_of(quasi: Sequence[Hierarchy], price_of: Callable[[Hierarchy, int], Float64] = prices) -> Costs:
    """Bring the costs of the quasi-identifiers into the form that kernels read.

    ``price_of(hierarchy, level)`` float64[n_values]: what the node of each value at a level costs.
    """
    weights = np.array([float(h.weight) for h in quasi])
    weights *= len(quasi) / weights.sum() if weights.sum() > 0 else 1.0
    kinds = np.array([_kind(hierarchy) for hierarchy in quasi], np.int64)
    ends = -(-2 * len(quasi) // 8) * 8  # whole vectors
    spec = np.zeros((len(quasi), MOST + 1), np.int64)
    spec[:, FORM] = kinds
    spec[:, CODES] = [h.size for h in quasi]
    spec[:, MORE] = [h.missing if h.is_range or h.sets else len(h.levels) for h in quasi]
    spec[:, WORDS] = [-(-h.size // BITS) if h.sets else 0 for h in quasi]
    spec[:, FIRST] = ends + np.cumsum(spec[:, WORDS]) - spec[:, WORDS]
    spec[:, MOST] = [h.sets.most if h.sets else 0 for h in quasi]
    values: list[Float64] = []
    nodes: list[Int32] = []
    for a in np.argsort(
        kinds != LEVELS, kind="stable"
    ):  # LEVELS first, so that one start serves ``value`` and ``node``
        spec[a, AT] = sum(len(part) for part in values)
        hierarchy, weight = quasi[a], weights[a]
        if hierarchy.lower is not None and hierarchy.upper is not None:
            values.append(np.concatenate([hierarchy.lower, hierarchy.upper, [1.0]]) * weight)
            continue
        node = np.stack([level.node_of for level in hierarchy.levels]).astype(np.int32)
        price = weight * np.stack([price_of(hierarchy, level) for level in range(len(node))])
        if hierarchy.sets is not None:
            pairs = _pairs(node, price)
            if hierarchy.missing >= 0:
                pairs[: hierarchy.missing, hierarchy.missing] = price[-1, 0]  # mixed with present values: the root
            few = np.array([float(cost) for cost in hierarchy.sets.costs]) * weight
            values.append(np.concatenate([pairs.reshape(-1), few]))
        elif kinds[a] == TABLE:
            values.append(_pairs(node, price).reshape(-1))
        else:
            values.append(price.reshape(-1))
            nodes.append(node.reshape(-1))
    return Costs(spec, np.concatenate(values), np.concatenate([*nodes, np.zeros(0, np.int32)]), ends)


def _kind(hierarchy: Hierarchy) -> int:
    if hierarchy.is_range:
        return RANGE
    if hierarchy.sets is not None:
        return SET
    return TABLE if hierarchy.size <= LARGEST_TABLE else LEVELS


def _pairs(node: Int32, price: Float64) -> Float64:
    """Cost of the smallest node that covers each pair of codes."""
    size = node.shape[1]
    table = np.full((size, size), NEVER)
    for level in range(len(node) - 1, -1, -1):
        same = node[level][:, None] == node[level][None, :]
        table[same] = np.broadcast_to(price[level], (size, size))[same]
    return table
