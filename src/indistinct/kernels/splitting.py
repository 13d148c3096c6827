"""Splitting classes that have slack: in proportion, so that both halves keep the distribution of the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import lean, step
from indistinct.kernels.boxes import Costs, clear, union_loss, widen
from indistinct.kernels.guards import LEAST_SIZE, Guards, Scratch, shortfall
from indistinct.kernels.partition import CHANGED, HEAD, MEMBERS, NEXT, Partition, attach, detach, refresh
from indistinct.kernels.units import ROWS, SIZE, Units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

LEAST = 1e-7
# shares of one side that are tried, in percent
SHARES = (50, 35, 65)


class Line(NamedTuple):
    """Members of a class in a line.

    ``ids`` int32[2, n]: units now and in the best split; ``side`` int32[2, n]: where they go; ``keys`` int64[n];
    ``boxes`` int32[2, w]: of both sides; ``stack`` int64[g + 1]: classes to look at.
    """

    ids: Int32
    side: Int32
    keys: Int64
    boxes: Int32
    stack: Int64


def line_of(n: int, width: int, classes: int) -> Line:
    """Work memory for classes of up to n units."""
    return Line(
        np.empty((2, n), np.int32),
        np.empty((2, n), np.int32),
        np.empty(n, np.int64),
        np.empty((2, width), np.int32),
        np.empty(classes + 1, np.int64),
    )


@step
def _rank(units: Units, costs: Costs, ids: Int32, way: int, keys: Int64) -> None:
    """Sorting keys for one way to lay the members out in a line.

    Way a < d: by attribute a within each sensitive value, d <= a < 2d: by attribute alone; the last two: by being
    nearer to one far member than to another, within each value and alone.
    """
    d = len(costs.spec)
    if way < 2 * d:
        for i in range(len(ids)):
            keys[i] = units.reach[ids[i], way % d]
    else:
        far, near = 0, 0
        for _ in range(3):  # from anyone to the farthest, twice
            near = far
            most = -1.0
            for i in range(len(ids)):
                loss = union_loss(costs, units.reach[ids[near]], units.reach[ids[i]])
                if loss > most:
                    far, most = i, loss
        for i in range(len(ids)):
            unit = units.reach[ids[i]]
            toward = union_loss(costs, units.reach[ids[near]], unit) - union_loss(costs, units.reach[ids[far]], unit)
            keys[i] = np.int64((toward + d) * 1e6 / d)
    if way < d or way == 2 * d:
        for i in range(len(ids)):
            e = units.start[ids[i]]
            if e < units.start[ids[i] + 1]:
                keys[i] += np.int64(units.values[e, 0] + 1) << 32


@step
def _sort(ids: Int32, keys: Int64) -> None:
    """Shell sort of both by key, then by unit."""
    gap = 1
    while gap < len(ids) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, len(ids)):
            key, u = keys[i], ids[i]
            j = i
            while j >= gap and (keys[j - gap] > key or (keys[j - gap] == key and ids[j - gap] > u)):
                keys[j], ids[j] = keys[j - gap], ids[j - gap]
                j -= gap
            keys[j], ids[j] = key, u
        gap //= 3


@step
def _deal(keys: Int64, percent: int, proportional: bool, side: Int32) -> None:  # noqa: FBT001  # as all kernels
    """Mark who goes to the one side: the first of the line, or the first of the line of each value."""
    n = len(keys)
    begin, taken = 0, 0
    while begin < n:
        end = begin
        while end < n and (not proportional or keys[end] >> 32 == keys[begin] >> 32):
            end += 1
        share = (end * percent + 50) // 100 - taken  # carries rounding from value to value
        share = max(0, min(share, end - begin))
        for i in range(begin, end):
            side[i] = 1 if i < begin + share else 0
        taken += share
        begin = end


@step
def _measure(units: Units, costs: Costs, guards: Guards, ids: Int32, side: Int32, boxes: Int32, bound: float) -> float:
    """Loss of both sides together; infinite if it is not below ``bound`` or a side is too small."""
    k = guards.limits[LEAST_SIZE]
    for s in range(2):
        clear(boxes[s], costs.ends)
    rows, size, total_rows, total_size = 0, 0, 0, 0
    for i in range(len(ids)):
        u = ids[i]
        widen(boxes[side[i]], units.reach[u], costs.ends)
        rows += units.mass[u, ROWS] * side[i]
        size += units.mass[u, SIZE] * side[i]
        total_rows += units.mass[u, ROWS]
        total_size += units.mass[u, SIZE]
    if size < k or total_size - size < k:
        return np.inf
    loss = rows * union_loss(costs, boxes[1], boxes[1]) + (total_rows - rows) * union_loss(costs, boxes[0], boxes[0])
    return loss if loss < bound else np.inf


@lean
def split(
    units: Units,
    costs: Costs,
    guards: Guards,
    partition: Partition,
    todo: Int32,
    spare: Int32,
    line: Line,
    scratch: Scratch,
) -> int:
    """Split each class of ``todo`` into two, and those again, while the loss falls and all criteria hold.

    ``spare`` holds unused classes as in ``rebuild``. Returns the number of splits.
    """
    d, k = len(costs.spec), guards.limits[LEAST_SIZE]
    ids, best_ids, side, best_side = line.ids[0], line.ids[1], line.side[0], line.side[1]
    keys, boxes, stack = line.keys, line.boxes, line.stack
    done = 0
    for root in todo:
        stack[0], depth = root, 1
        while depth > 0:
            depth -= 1
            c = stack[depth]
            partition.state[c, CHANGED] = 1
            if (
                partition.mass[c, SIZE] < 2 * k
                or partition.mass[c, MEMBERS] < 2
                or partition.loss[c] <= 0.0
                or spare[0] == 0
            ):
                continue
            count = 0
            u = partition.state[c, HEAD]
            while u >= 0:
                ids[count] = u
                count += 1
                u = partition.link[u, NEXT]
            best = partition.mass[c, ROWS] * partition.loss[c] - LEAST
            found = False
            for way in range(2 * d + 2):
                if way < 2 * d and partition.box[c, way % d] + partition.box[c, d + way % d] == 0:
                    continue
                members, ranks = ids[:count], keys[:count]
                _rank(units, costs, members, way, ranks)
                _sort(members, ranks)
                proportional = way < d or way == 2 * d
                for percent in SHARES:
                    _deal(ranks, percent, proportional, side[:count])
                    loss = _measure(units, costs, guards, members, side[:count], boxes, best)
                    if loss >= best:
                        continue
                    holds = True
                    for s in range(2):
                        if holds and len(guards.spec) > 0:
                            inside = 0
                            for i in range(count):
                                if side[i] == s:
                                    scratch.ids[inside] = ids[i]
                                    inside += 1
                            holds = shortfall(units, guards, scratch.ids[:inside], scratch) <= 0.0
                    if holds:
                        best, found = loss, True
                        for i in range(count):
                            best_side[i], best_ids[i] = side[i], ids[i]
            if found:
                e = np.int64(spare[spare[0]])
                spare[0] -= 1
                for i in range(count):
                    if best_side[i] == 1:
                        detach(units, partition, np.int64(best_ids[i]))
                        attach(units, partition, np.int64(best_ids[i]), e)
                refresh(units, costs, partition, c)
                refresh(units, costs, partition, e)
                stack[depth], stack[depth + 1] = c, e
                depth += 2
                done += 1
    return done
