"""The classes of a local search: who is in which class, and what changes when one leaves or joins."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import lean, step
from indistinct.kernels.boxes import Costs, clear, union_loss
from indistinct.kernels.criteria import RECURSIVE
from indistinct.kernels.guards import COLUMN, KIND, VALUES, Guards, Scratch, over, shortfall
from indistinct.kernels.units import ROWS, SIZE, Units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

# columns of ``Partition.link``, of ``state`` and (after ROWS, SIZE) of ``mass``
CLASS, NEXT, BACK = 0, 1, 2
HEAD, REGION, CHANGED = 0, 1, 2
MEMBERS = 2
# widest table of counts by class
LARGEST_COUNTS = 64


class Partition(NamedTuple):
    """Classes as doubly linked lists of units, with the two farthest codes on each side of their boxes.

    ``link`` int32[n, 3]: class of a unit, next and previous unit there (-1: none). ``state`` int32[g, 3]: first
    unit of a class (-1: the class is not used), who may change it, whether it changed since that was last set
    to 0. ``mass`` int64[g, 3]: rows, size, number of units. ``box`` int32[g, w]: maxima of ``Units.reach``;
    ``ties`` int32[g, w]: how many members reach them; ``inner`` int32[g, w]: the next smaller values (after
    ``update``: or more), so that the box without any one member is known; in words ``inner`` are the values that occur
    twice, and ``ties`` means nothing. ``loss`` float64[g]: of each row.
    ``counts`` int32[g, .]: rows by sensitive value, the values of column s from ``first[s]`` (int64[s]) on; of no
    width when all domains together are large: then members are counted when asked for.
    """

    link: Int32
    state: Int32
    mass: Int64
    box: Int32
    inner: Int32
    ties: Int32
    loss: Float64
    counts: Int32
    first: Int64


def empty_partition(n: int, g: int, width: int, domains: Sequence[int] | None) -> Partition:
    """Partition of n units into at most g classes, none of them used yet.

    ``domains``: sizes by sensitive column (None: members are counted when asked for).
    """
    total = sum(domains or ())
    state = np.zeros((g, 3), np.int32)
    state[:, HEAD] = -1
    return Partition(
        np.full((n, 3), -1, np.int32),
        state,
        np.zeros((g, 3), np.int64),
        np.empty((g, width), np.int32),
        np.empty((g, width), np.int32),
        np.empty((g, width), np.int32),
        np.zeros(g),
        np.zeros((g, total if total <= LARGEST_COUNTS else 0), np.int32),
        np.cumsum([0, *(domains or ())])[:-1].astype(np.int64),
    )


@step
def _count(units: Units, partition: Partition, u: int, c: int, sign: int) -> None:
    for e in range(units.start[u], units.start[u + 1]):
        for s in range(len(partition.first)):
            partition.counts[c, partition.first[s] + units.values[e, s]] += sign * units.counts[e]


@step
def detach(units: Units, partition: Partition, u: int) -> None:
    """Take a unit out of its class; the box is left for ``refresh``."""
    c, after, before = partition.link[u, CLASS], partition.link[u, NEXT], partition.link[u, BACK]
    if before >= 0:
        partition.link[before, NEXT] = after
    else:
        partition.state[c, HEAD] = after
    if after >= 0:
        partition.link[after, BACK] = before
    partition.mass[c, ROWS] -= units.mass[u, ROWS]
    partition.mass[c, SIZE] -= units.mass[u, SIZE]
    partition.mass[c, MEMBERS] -= 1
    if partition.counts.shape[1] > 0:
        _count(units, partition, u, c, np.int64(-1))
    partition.link[u, CLASS] = -1


@step
def attach(units: Units, partition: Partition, u: int, c: int) -> None:
    """Put a unit into a class; the box is left for ``refresh``."""
    after = partition.state[c, HEAD]
    partition.link[u, CLASS], partition.link[u, NEXT], partition.link[u, BACK] = c, after, -1
    if after >= 0:
        partition.link[after, BACK] = u
    partition.state[c, HEAD] = u
    partition.mass[c, ROWS] += units.mass[u, ROWS]
    partition.mass[c, SIZE] += units.mass[u, SIZE]
    partition.mass[c, MEMBERS] += 1
    if partition.counts.shape[1] > 0:
        _count(units, partition, u, c, np.int64(1))


@step
def _take(box: Int32, inner: Int32, ties: Int32, unit: Int32, ends: int) -> None:
    """Widen the box of a class by a member, and what it shrinks to without one."""
    for i in range(ends):
        reach, most = unit[i], box[i]
        ties[i] = 1 if reach > most else ties[i] + (1 if reach == most else 0)
        inner[i] = most if reach > most else max(inner[i], reach if reach < most else inner[i])
        box[i] = max(most, reach)
    for i in range(ends, len(box)):
        inner[i] |= box[i] & unit[i]
        box[i] |= unit[i]


@step
def refresh(units: Units, costs: Costs, partition: Partition, c: int) -> None:
    """Measure a class anew after its members changed."""
    box, inner, ties = partition.box[c], partition.inner[c], partition.ties[c]
    clear(box, costs.ends)
    clear(inner, costs.ends)
    for i in range(len(ties)):
        ties[i] = 0
    u = partition.state[c, HEAD]
    while u >= 0:
        _take(box, inner, ties, units.reach[u], costs.ends)
        u = partition.link[u, NEXT]
    partition.loss[c] = union_loss(costs, box, box) if partition.state[c, HEAD] >= 0 else 0.0
    partition.state[c, CHANGED] = 1


@step
def update(units: Units, costs: Costs, partition: Partition, c: int, gone: int, new: int) -> None:
    """Measure a class anew after ``gone`` has left and ``new`` has joined (-1: nobody), without all its members.

    Looks at all of them only where ``gone`` alone reached as far. ``inner`` may stay larger than it is.
    """
    box, inner, ties = partition.box[c], partition.inner[c], partition.ties[c]
    if gone >= 0:
        old = units.reach[gone]
        alone = len(box) - costs.ends  # words do not tell whether a value that occurred twice still does
        for i in range(costs.ends):
            if old[i] == box[i]:
                ties[i] -= 1
                if ties[i] == 0:
                    alone += 1
        if alone > 0:
            refresh(units, costs, partition, c)
            return
    if new >= 0:
        _take(box, inner, ties, units.reach[new], costs.ends)
    partition.loss[c] = union_loss(costs, box, box)
    partition.state[c, CHANGED] = 1


@lean
def fill(units: Units, costs: Costs, partition: Partition, class_of: Int32) -> None:
    """Put every unit into the class given for it (-1: none) and measure all classes."""
    for u in range(len(class_of) - 1, -1, -1):
        if class_of[u] >= 0:
            attach(units, partition, u, np.int64(class_of[u]))
    for c in range(len(partition.loss)):
        if partition.state[c, HEAD] >= 0:
            refresh(units, costs, partition, c)


@step
def counted_shortfall(guards: Guards, partition: Partition, c: int, e: int, rows: int, scratch: Scratch) -> float:
    """``guards.shortfall`` of a class (c = e), or of two together, from their counts; ``rows`` in all."""
    total = 0.0
    found, column = np.int64(0), np.int64(-1)
    for q in range(len(guards.spec)):
        if guards.spec[q, COLUMN] != column or guards.spec[q - 1, KIND] == RECURSIVE:
            column = guards.spec[q, COLUMN]
            first = partition.first[column]
            found = np.int64(0)
            for value in range(guards.spec[q, VALUES]):
                count = partition.counts[c, first + value]
                if e != c:
                    count += partition.counts[e, first + value]
                if count > 0:
                    scratch.value[found] = value
                    scratch.count[found] = count
                    found += 1
        total += over(guards, q, found, rows, scratch)
    return total


@step
def holds(units: Units, guards: Guards, partition: Partition, c: int, gone: int, new: int, scratch: Scratch) -> bool:
    """Whether a class satisfies the criteria after ``gone`` (-1: nobody) has left and ``new`` has joined."""
    if partition.counts.shape[1] > 0:
        if gone >= 0:
            _count(units, partition, gone, c, np.int64(-1))
        if new >= 0:
            _count(units, partition, new, c, np.int64(1))
        rows = partition.mass[c, ROWS]
        rows += (units.mass[new, ROWS] if new >= 0 else 0) - (units.mass[gone, ROWS] if gone >= 0 else 0)
        short = counted_shortfall(guards, partition, c, c, rows, scratch)
        if gone >= 0:
            _count(units, partition, gone, c, np.int64(1))
        if new >= 0:
            _count(units, partition, new, c, np.int64(-1))
        return short <= 0.0
    count = 0
    u = partition.state[c, HEAD]
    while u >= 0:
        if u != gone:
            scratch.ids[count] = u
            count += 1
        u = partition.link[u, NEXT]
    if new >= 0:
        scratch.ids[count] = new
        count += 1
    return shortfall(units, guards, scratch.ids[:count], scratch) <= 0.0
