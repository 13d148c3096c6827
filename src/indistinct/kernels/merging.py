"""Merging classes that violate the criteria, by what it costs for each bit of violation that it removes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import lean, step
from indistinct.kernels.boxes import NEVER, Costs, union_loss, widen
from indistinct.kernels.guards import LEAST_SIZE, Guards, Scratch, shortfall
from indistinct.kernels.partition import HEAD, MEMBERS, NEXT, Partition, attach, counted_shortfall, detach, refresh
from indistinct.kernels.units import ROWS, SIZE, Units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]


@step
def _members(partition: Partition, c: int, scratch: Scratch, count: int) -> int:
    u = partition.state[c, HEAD]
    while u >= 0:
        scratch.ids[count] = u
        count += 1
        u = partition.link[u, NEXT]
    return count


@step
def _excess(units: Units, guards: Guards, partition: Partition, c: int, e: int, scratch: Scratch) -> float:
    """Shortfall, size included, of one class (c = e) or of two together, times their rows."""
    rows, size = partition.mass[c, ROWS], partition.mass[c, SIZE]
    if e != c:
        rows += partition.mass[e, ROWS]
        size += partition.mass[e, SIZE]
    k = guards.limits[LEAST_SIZE]
    short = max(0, k - size) / k
    if len(guards.spec) > 0 and partition.counts.shape[1] > 0:
        short += counted_shortfall(guards, partition, c, e, rows, scratch)
    elif len(guards.spec) > 0:
        count = _members(partition, c, scratch, np.int64(0))
        if e != c:
            count = _members(partition, e, scratch, count)
        short += shortfall(units, guards, scratch.ids[:count], scratch)
    return short * rows


@lean
def excesses(units: Units, guards: Guards, partition: Partition, result: Float64, scratch: Scratch) -> None:
    """Write to ``result`` the excess of each class: its shortfall, size included, times its rows; 0 if it holds."""
    for c in range(len(result)):
        result[c] = 0.0
        if partition.state[c, HEAD] >= 0:
            result[c] = _excess(units, guards, partition, np.int64(c), np.int64(c), scratch)


@lean
def merge_round(
    units: Units,
    costs: Costs,
    guards: Guards,
    partition: Partition,
    queue: Int64,
    partners: Int64,
    place: Int64,
    window: int,
    price: float,
    excess: Float64,
    scratch: Scratch,
) -> int:
    """Merge each class of ``queue`` with its best partner; returns how many were merged.

    ``partners`` are in an order that keeps near ones near; class c would stand at ``place[c]`` there. The best
    of the ``window`` on either side adds least loss minus ``price`` times the excess that disappears. ``excess``
    is kept up to date.
    """
    done = 0
    for c in queue:
        if excess[c] <= 0.0 or partition.state[c, HEAD] < 0:
            continue
        centre = place[c]
        best, target, after = np.inf, np.int64(-1), 0.0
        here = partition.mass[c, ROWS] * partition.loss[c]
        for at in range(max(0, centre - window), min(len(partners), centre + window + 1)):
            e = partners[at]
            if e == c or partition.state[e, HEAD] < 0:
                continue
            loss = union_loss(costs, partition.box[c], partition.box[e])
            if loss >= NEVER:
                continue
            rows = partition.mass[c, ROWS] + partition.mass[e, ROWS]
            added = rows * loss - here - partition.mass[e, ROWS] * partition.loss[e]
            both = excess[c] + excess[e]
            if added - price * both >= best:
                continue
            left = _excess(units, guards, partition, c, e, scratch)
            if added - price * (both - left) < best:
                best, target, after = added - price * (both - left), e, left
        if target < 0:
            continue
        u = np.int64(partition.state[c, HEAD])
        while u >= 0:
            v = np.int64(partition.link[u, NEXT])
            detach(units, partition, u)
            attach(units, partition, u, target)
            u = v
        refresh(units, costs, partition, target)
        excess[c], excess[target] = 0.0, after
        done += 1
    return done


@lean
def measures(
    units: Units, guards: Guards, partition: Partition, classes: Int64, result: Float64, scratch: Scratch
) -> None:
    """Write to ``result`` the shortfall of each of the ``classes``, size left out."""
    for i in range(len(classes)):
        result[i] = _shortfall(units, guards, partition, classes[i], classes[i], scratch)


@step
def _shortfall(units: Units, guards: Guards, partition: Partition, c: int, e: int, scratch: Scratch) -> float:
    """Shortfall of one class (c = e) or of two together, size left out."""
    if partition.counts.shape[1] > 0:
        rows = partition.mass[c, ROWS] + (partition.mass[e, ROWS] if e != c else 0)
        return counted_shortfall(guards, partition, c, e, rows, scratch)
    count = _members(partition, c, scratch, np.int64(0))
    if e != c:
        count = _members(partition, e, scratch, count)
    return shortfall(units, guards, scratch.ids[:count], scratch)


@lean
def merge_with_nearest(
    units: Units,
    costs: Costs,
    guards: Guards,
    partition: Partition,
    c: int,
    partners: Int64,
    here: float,
    equal: float,
    scratch: Scratch,
) -> float:
    """Merge class ``c`` with the partner that leaves the least shortfall (ties: the first); the shortfall, or -1.

    With ``here`` > 0, of the partners that leave less than that, the one that adds least loss; where none does, as
    above. The union gets the number of the class with more members, so that few are moved; of its box only the sides
    and the loss are kept up to date. Partners that may not be mixed with ``c`` are passed over.
    """
    best, target = np.inf, np.int64(-1)
    least, cheapest, left = np.inf, np.int64(-1), 0.0
    own = partition.mass[c, ROWS] * partition.loss[c]
    for e in partners:
        if e == c or partition.state[e, HEAD] < 0:
            continue
        loss = union_loss(costs, partition.box[c], partition.box[e])
        if loss >= NEVER:
            continue
        rows = partition.mass[e, ROWS]
        added = (partition.mass[c, ROWS] + rows) * loss - own - rows * partition.loss[e]
        if cheapest >= 0 and added >= least - equal:  # those that lower the shortfall are known: it must be cheaper
            continue
        short = _shortfall(units, guards, partition, c, e, scratch)
        if short < best - equal:
            best, target = short, e
        if short < here - equal:
            least, cheapest, left = added, e, short
    if cheapest >= 0:
        best, target = left, cheapest
    if target < 0:
        return -1.0
    into, out = target, np.int64(c)
    if partition.mass[into, MEMBERS] < partition.mass[out, MEMBERS]:
        into, out = out, into
    widen(partition.box[into], partition.box[out], costs.ends)
    u = np.int64(partition.state[out, HEAD])
    while u >= 0:
        v = np.int64(partition.link[u, NEXT])
        detach(units, partition, u)
        attach(units, partition, u, into)
        u = v
    partition.loss[into] = union_loss(costs, partition.box[into], partition.box[into])
    return best
