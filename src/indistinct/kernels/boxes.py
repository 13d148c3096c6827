"""What a box of codes costs: the compiled form of ``Hierarchy.cost``.

A *box* holds the smallest and the largest code of a class in each attribute. Its loss is the weighted sum of
the LM costs over the attributes, with weights scaled to a mean of 1: a box that hides everything loses d.
Boxes that no label covers lose ``NEVER``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indistinct.kernels import lean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

NEVER = 1e9
TABLE, RANGE, LEVELS = 0, 1, 2


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


@lean
def union_losses(costs: Costs, box: Int32, reach: Int32, units: Int64, result: Float64) -> None:
    """Write to ``result`` the loss of the smallest box over ``box`` and each of the ``units``."""
    for i in range(len(units)):
        result[i] = union_loss(costs, box, reach[units[i]])
