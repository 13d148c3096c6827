"""Loss-driven partition: the best cut of every part, contiguous or one value against all the others.

A part is a slice of a permutation of units. Cutting off one value of a categorical attribute leaves the others
together although they are no run of codes; it is the cheapest cut where one value is frequent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import kernel, step
from indistinct.kernels.boxes import RANGE, Costs, union_loss
from indistinct.kernels.guards import LEAST_SIZE, Guards, Scratch, shortfall
from indistinct.kernels.units import ROWS, SIZE, Units, grow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

# most groups of codes that the cuts of one attribute are chosen from
GROUPS = 128


class Groups(NamedTuple):
    """The units of a part, grouped by the code of each attribute, ascending: d times ``GROUPS`` groups.

    ``box`` int32[., w]; ``rows``, ``size`` int64[.]; ``after`` int32[GROUPS, w] the box of all groups of an
    attribute from one on; ``before``, ``rest`` int32[w] work memory.
    """

    box: Int32
    rows: Int64
    size: Int64
    after: Int32
    before: Int32
    rest: Int32


@step
def _number(code: int, lo: int, width: int) -> int:
    """Group of a code among ``width`` codes from ``lo`` on."""
    return code - lo if width <= GROUPS else (code - lo) * GROUPS // width


@step
def _collect(units: Units, part: Int32, whole: Int32, groups: Groups, d: int) -> None:
    """Box and mass of every group of every attribute that the part does not agree in."""
    for a in range(d):
        if whole[a] + whole[d + a] > 0:
            width = min(whole[a] + whole[d + a] + 1, GROUPS)
            for g in range(a * GROUPS, a * GROUPS + width):
                groups.rows[g] = 0
                groups.size[g] = 0
    for u in part:
        unit = units.reach[u]
        for a in range(d):
            width = whole[a] + whole[d + a] + 1
            if width > 1:
                g = a * GROUPS + _number(unit[a], -whole[d + a], width)
                box = groups.box[g]
                if groups.rows[g] == 0:
                    for i in range(len(box)):
                        box[i] = unit[i]
                else:
                    grow(box, unit)
                groups.rows[g] += units.mass[u, ROWS]
                groups.size[g] += units.mass[u, SIZE]


@step
def _inside(units: Units, u: int, whole: Int32, d: int, a: int, cut: int, alone: bool) -> bool:  # noqa: FBT001
    g = _number(units.reach[u, a], -whole[d + a], whole[a] + whole[d + a] + 1)
    return g == cut or (g < cut and not alone)


@step
def _separate(
    units: Units, part: Int32, whole: Int32, d: int, a: int, cut: int, alone: bool, out: Int32  # noqa: FBT001
) -> int:
    """Write the units inside the cut to the front of ``out``, the others behind; returns how many are inside."""
    inside, outside = 0, len(part)
    for u in part:
        if _inside(units, u, whole, d, a, cut, alone):
            out[inside] = u
            inside += 1
    outside = inside
    for u in part:
        if not _inside(units, u, whole, d, a, cut, alone):
            out[outside] = u
            outside += 1
    return inside


@step
def _holds(
    units: Units, guards: Guards, part: Int32, whole: Int32, d: int, a: int, cut: int, alone: bool, scratch: Scratch  # noqa: FBT001
) -> bool:
    """Whether both sides of a cut satisfy the criteria (their sizes do already)."""
    if len(guards.spec) == 0:
        return True
    inside = _separate(units, part, whole, d, a, cut, alone, scratch.ids)
    if shortfall(units, guards, scratch.ids[:inside], scratch) > 0.0:
        return False
    return shortfall(units, guards, scratch.ids[inside : len(part)], scratch) <= 0.0


@step
def _best_cut(
    units: Units, costs: Costs, guards: Guards, part: Int32, whole: Int32, groups: Groups, scratch: Scratch
) -> tuple[int, int, bool]:
    """Attribute and group of the cut that leaves the least loss, and whether the group is cut off alone."""
    d = len(costs.kind)
    k = guards.limits[LEAST_SIZE]
    best, best_a, best_cut, best_alone = np.inf, -1, -1, False
    before, rest = groups.before, groups.rest
    for a in range(d):
        width = min(whole[a] + whole[d + a] + 1, GROUPS)
        if width < 2:
            continue
        first = a * GROUPS
        rows, size = 0, 0
        for i in range(len(rest)):
            rest[i] = -(1 << 30)
            before[i] = -(1 << 30)
        for g in range(width - 1, -1, -1):
            if groups.rows[first + g] > 0:
                grow(rest, groups.box[first + g])
                rows += groups.rows[first + g]
                size += groups.size[first + g]
            after = groups.after[g]
            for i in range(len(rest)):
                after[i] = rest[i]
        left, left_size = 0, 0
        for g in range(width - 1):
            here, here_size = groups.rows[first + g], groups.size[first + g]
            if here == 0:
                continue
            box, after = groups.box[first + g], groups.after[g + 1]
            if left > 0 and left + here < rows and costs.kind[a] != RANGE and here_size >= k and size - here_size >= k:
                loss = here * union_loss(costs, box, box)
                if loss < best:
                    loss += (rows - here) * union_loss(costs, before, after)
                if loss < best and _holds(units, guards, part, whole, d, a, g, True, scratch):
                    best, best_a, best_cut, best_alone = loss, a, g, True
            grow(before, box)
            left += here
            left_size += here_size
            if left_size >= k and size - left_size >= k:
                loss = left * union_loss(costs, before, before)
                if loss < best:
                    loss += (rows - left) * union_loss(costs, after, after)
                if loss < best and _holds(units, guards, part, whole, d, a, g, False, scratch):
                    best, best_a, best_cut, best_alone = loss, a, g, False
    return best_a, best_cut, best_alone


@step
def _whole(units: Units, part: Int32, whole: Int32) -> int:
    """Box of a part; returns its size."""
    size = 0
    for i in range(len(whole)):
        whole[i] = -(1 << 30)
    for u in part:
        grow(whole, units.reach[u])
        size += units.mass[u, SIZE]
    return size


@kernel
def partition(
    units: Units, costs: Costs, guards: Guards, order: Int32, parts: Int64, smallest: int, scratch: Scratch
) -> int:
    """Cut the first part of ``parts`` (slices of ``order``, int64[., 2]) again and again.

    Parts of fewer than ``smallest`` units rest as they are. Reorders ``order`` within the part; writes the parts
    that are left to ``parts``, which must have a place for each unit, and returns their number.
    """
    d, w = len(costs.kind), units.reach.shape[1]
    groups = Groups(
        np.empty((d * GROUPS, w), np.int32),
        np.empty(d * GROUPS, np.int64),
        np.empty(d * GROUPS, np.int64),
        np.empty((GROUPS, w), np.int32),
        np.empty(w, np.int32),
        np.empty(w, np.int32),
    )
    whole = np.empty(w, np.int32)
    closed, pending = 0, 1  # parts[:closed] are done, parts[-pending:] are open
    last = len(parts) - 1
    parts[last, 0], parts[last, 1] = parts[0, 0], parts[0, 1]
    while pending > 0:
        start, end = parts[last - pending + 1, 0], parts[last - pending + 1, 1]
        pending -= 1
        part = order[start:end]
        middle = 0
        if end - start >= max(2, smallest) and _whole(units, part, whole) >= 2 * guards.limits[LEAST_SIZE]:
            _collect(units, part, whole, groups, d)
            a, cut, alone = _best_cut(units, costs, guards, part, whole, groups, scratch)
            if a >= 0:
                middle = _separate(units, part, whole, d, a, cut, alone, scratch.ids)
                for i in range(end - start):
                    part[i] = scratch.ids[i]
        if middle == 0:
            parts[closed, 0], parts[closed, 1] = start, end
            closed += 1
        else:
            parts[last - pending, 0], parts[last - pending, 1] = start + middle, end
            parts[last - pending - 1, 0], parts[last - pending - 1, 1] = start, start + middle
            pending += 2
    return closed
