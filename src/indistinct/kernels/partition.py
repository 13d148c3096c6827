"""The classes of a local search: who is in which class, and what changes when one leaves or joins."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import kernel
from indistinct.kernels.boxes import NEVER, RANGE, TABLE, Costs, union_loss
from indistinct.kernels.units import Units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]


class Partition(NamedTuple):
    """Classes as doubly linked lists of units, with the two farthest codes on each side of their boxes.

    ``class_of`` int32[n]; ``following``, ``previous`` int32[n] (-1: none); ``head`` int32[g] (-1: an unused
    class); ``members``, ``rows``, ``size`` int64[g]; ``box`` int32[g, w] maxima of ``reach``; ``inner``
    int32[g, w] the second largest, so that the box without one member is known; ``loss`` float64[g] for each
    row; ``region`` int32[g] who may change the class; ``changed`` uint8[g] since it was last looked at.
    """

    class_of: Int32
    following: Int32
    previous: Int32
    head: Int32
    members: Int64
    rows: Int64
    size: Int64
    box: Int32
    inner: Int32
    loss: Float64
    region: Int32
    changed: NDArray[np.uint8]


def empty_partition(n: int, g: int, width: int) -> Partition:
    """Partition of n units into at most g classes, none of them used yet."""
    return Partition(
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.full(g, -1, np.int32),
        np.zeros(g, np.int64),
        np.zeros(g, np.int64),
        np.zeros(g, np.int64),
        np.empty((g, width), np.int32),
        np.empty((g, width), np.int32),
        np.zeros(g),
        np.zeros(g, np.int32),
        np.ones(g, np.uint8),
    )


@kernel
def detach(units: Units, parts: Partition, u: int) -> None:
    """Take a unit out of its class; boxes are left for ``refresh``."""
    c = parts.class_of[u]
    before, after = parts.previous[u], parts.following[u]
    if before >= 0:
        parts.following[before] = after
    else:
        parts.head[c] = after
    if after >= 0:
        parts.previous[after] = before
    parts.members[c] -= 1
    parts.rows[c] -= units.rows[u]
    parts.size[c] -= units.size[u]
    parts.class_of[u] = -1


@kernel
def attach(units: Units, parts: Partition, u: int, c: int) -> None:
    """Put a unit into a class; boxes are left for ``refresh``."""
    after = parts.head[c]
    parts.previous[u] = -1
    parts.following[u] = after
    if after >= 0:
        parts.previous[after] = u
    parts.head[c] = u
    parts.members[c] += 1
    parts.rows[c] += units.rows[u]
    parts.size[c] += units.size[u]
    parts.class_of[u] = c


@kernel
def refresh(units: Units, costs: Costs, parts: Partition, c: int) -> None:
    """Measure a class anew after its members changed."""
    box, inner = parts.box[c], parts.inner[c]
    for i in range(len(box)):
        box[i] = -(1 << 30)
        inner[i] = -(1 << 30)
    u = parts.head[c]
    while u >= 0:
        unit = units.reach[u]
        for i in range(len(box)):
            inner[i] = max(inner[i], min(box[i], unit[i]))
            box[i] = max(box[i], unit[i])
        u = parts.following[u]
    parts.loss[c] = union_loss(costs, box, box) if parts.head[c] >= 0 else 0.0
    parts.changed[c] = 1


@kernel
def fill(units: Units, costs: Costs, parts: Partition, class_of: Int32) -> None:
    """Put every unit into the class given for it (-1: none) and measure all classes."""
    for u in range(len(class_of) - 1, -1, -1):
        if class_of[u] >= 0:
            attach(units, parts, u, class_of[u])
    for c in range(len(parts.head)):
        if parts.head[c] >= 0:
            refresh(units, costs, parts, c)


@kernel
def swapped_loss(costs: Costs, box: Int32, inner: Int32, gone: Int32, new: Int32) -> float:
    """Loss of a class after one member has gone and one is new; ``new`` = ``inner``: after one has gone."""
    d = len(costs.kind)
    total = 0.0
    for a in range(d):
        hi, lo = box[a], box[d + a]
        hi = max(inner[a] if hi == gone[a] else hi, new[a])
        lo = -max(inner[d + a] if lo == gone[d + a] else lo, new[d + a])
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
