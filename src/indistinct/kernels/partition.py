"""The classes of a local search: who is in which class, and what changes when one leaves or joins."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import lean, step
from indistinct.kernels.boxes import Costs, union_loss
from indistinct.kernels.guards import Guards, Scratch, shortfall
from indistinct.kernels.units import ROWS, SIZE, Units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

EMPTY = -(1 << 30)
# columns of ``Partition.link``, of ``state`` and (after ROWS, SIZE) of ``mass``
CLASS, NEXT, BACK = 0, 1, 2
HEAD, REGION, CHANGED = 0, 1, 2
MEMBERS = 2


class Partition(NamedTuple):
    """Classes as doubly linked lists of units, with the two farthest codes on each side of their boxes.

    ``link`` int32[n, 3]: class of a unit, next and previous unit there (-1: none). ``state`` int32[g, 3]: first
    unit of a class (-1: the class is not used), who may change it, whether it changed since that was last set
    to 0. ``mass`` int64[g, 3]: rows, size, number of units. ``box`` int32[g, w]: maxima of ``Units.reach``;
    ``inner`` int32[g, w]: the second largest, so that the box without any one member is known. ``loss``
    float64[g]: of each row.
    """

    link: Int32
    state: Int32
    mass: Int64
    box: Int32
    inner: Int32
    loss: Float64


def empty_partition(n: int, g: int, width: int) -> Partition:
    """Partition of n units into at most g classes, none of them used yet."""
    state = np.zeros((g, 3), np.int32)
    state[:, HEAD] = -1
    return Partition(
        np.full((n, 3), -1, np.int32),
        state,
        np.zeros((g, 3), np.int64),
        np.empty((g, width), np.int32),
        np.empty((g, width), np.int32),
        np.zeros(g),
    )


@step
def detach(units: Units, parts: Partition, u: int) -> None:
    """Take a unit out of its class; the box is left for ``refresh``."""
    c, after, before = parts.link[u, CLASS], parts.link[u, NEXT], parts.link[u, BACK]
    if before >= 0:
        parts.link[before, NEXT] = after
    else:
        parts.state[c, HEAD] = after
    if after >= 0:
        parts.link[after, BACK] = before
    parts.mass[c, ROWS] -= units.mass[u, ROWS]
    parts.mass[c, SIZE] -= units.mass[u, SIZE]
    parts.mass[c, MEMBERS] -= 1
    parts.link[u, CLASS] = -1


@step
def attach(units: Units, parts: Partition, u: int, c: int) -> None:
    """Put a unit into a class; the box is left for ``refresh``."""
    after = parts.state[c, HEAD]
    parts.link[u, CLASS], parts.link[u, NEXT], parts.link[u, BACK] = c, after, -1
    if after >= 0:
        parts.link[after, BACK] = u
    parts.state[c, HEAD] = u
    parts.mass[c, ROWS] += units.mass[u, ROWS]
    parts.mass[c, SIZE] += units.mass[u, SIZE]
    parts.mass[c, MEMBERS] += 1


@step
def refresh(units: Units, costs: Costs, parts: Partition, c: int) -> None:
    """Measure a class anew after its members changed."""
    box, inner = parts.box[c], parts.inner[c]
    for i in range(len(box)):
        box[i] = EMPTY
        inner[i] = EMPTY
    u = parts.state[c, HEAD]
    while u >= 0:
        unit = units.reach[u]
        for i in range(len(box)):
            inner[i] = max(inner[i], min(box[i], unit[i]))
            box[i] = max(box[i], unit[i])
        u = parts.link[u, NEXT]
    parts.loss[c] = union_loss(costs, box, box) if parts.state[c, HEAD] >= 0 else 0.0
    parts.state[c, CHANGED] = 1


@lean
def fill(units: Units, costs: Costs, parts: Partition, class_of: Int32) -> None:
    """Put every unit into the class given for it (-1: none) and measure all classes."""
    for u in range(len(class_of) - 1, -1, -1):
        if class_of[u] >= 0:
            attach(units, parts, u, np.int64(class_of[u]))
    for c in range(len(parts.loss)):
        if parts.state[c, HEAD] >= 0:
            refresh(units, costs, parts, c)


@step
def holds(
    units: Units, guards: Guards, parts: Partition, c: int, gone: int, new: int, scratch: Scratch
) -> bool:
    """Whether a class satisfies the criteria after ``gone`` (-1: nobody) has left and ``new`` has joined."""
    count = 0
    u = parts.state[c, HEAD]
    while u >= 0:
        if u != gone:
            scratch.ids[count] = u
            count += 1
        u = parts.link[u, NEXT]
    if new >= 0:
        scratch.ids[count] = new
        count += 1
    return shortfall(units, guards, scratch.ids[:count], scratch) <= 0.0
