"""Loss-driven partition: the best cut of every part, contiguous or one value against all the others.

A part is a slice of a permutation of units. Cutting off one value of a categorical attribute leaves the others
together although they are no run of codes; it is the cheapest cut where one value is frequent.

A cut is one number: g >= 0 cuts behind group g of an attribute, -1 - g cuts off group g alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import lean, step
from indistinct.kernels.boxes import FORM, RANGE, Costs, clear, copy, union_loss, widen
from indistinct.kernels.guards import LEAST_SIZE, Guards, Scratch, shortfall
from indistinct.kernels.units import ROWS, SIZE, Units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

# most groups of codes that the cuts of one attribute are chosen from
GROUPS = 128


class Groups(NamedTuple):
    """The units of a part, grouped by the code of each attribute, ascending: d times ``GROUPS`` groups.

    ``box`` int32[., w] and ``mass`` int64[., 2] of each group, as in ``Units``; ``after`` int32[GROUPS + 3, w]:
    the box of all groups of an attribute from one on, then the box of the part, of the groups before, and of
    the groups after.
    """

    box: Int32
    mass: Int64
    after: Int32


def groups_of(d: int, width: int) -> Groups:
    """Work memory for d attributes and boxes of ``width`` numbers."""
    return Groups(
        np.empty((d * GROUPS, width), np.int32),
        np.empty((d * GROUPS, 2), np.int64),
        np.empty((GROUPS + 3, width), np.int32),
    )


@step
def _number(code: int, lo: int, width: int) -> int:
    """Group of a code among ``width`` codes from ``lo`` on."""
    return code - lo if width <= GROUPS else (code - lo) * GROUPS // width


@step
def _collect(units: Units, part: Int32, groups: Groups, d: int, ends: int) -> None:
    """Box and mass of every group of every attribute that the part does not agree in."""
    whole = groups.after[GROUPS]
    for a in range(d):
        width = min(whole[a] + whole[d + a] + 1, GROUPS)
        for g in range(a * GROUPS, a * GROUPS + width):
            groups.mass[g, ROWS] = 0
            groups.mass[g, SIZE] = 0
    for u in part:
        unit = units.reach[u]
        for a in range(d):
            width = whole[a] + whole[d + a] + 1
            if width > 1:
                g = a * GROUPS + _number(unit[a], -whole[d + a], width)
                box = groups.box[g]
                if groups.mass[g, ROWS] == 0:
                    copy(box, unit)
                else:
                    widen(box, unit, ends)
                groups.mass[g, ROWS] += units.mass[u, ROWS]
                groups.mass[g, SIZE] += units.mass[u, SIZE]


@step
def _separate(units: Units, part: Int32, groups: Groups, d: int, a: int, cut: int, out: Int32) -> int:
    """Write the units inside the cut to the front of ``out``, the others behind; returns how many are inside."""
    whole = groups.after[GROUPS]
    lo, width = -whole[d + a], whole[a] + whole[d + a] + 1
    inside = 0
    for u in part:
        g = _number(units.reach[u, a], lo, width)
        if g <= cut or g == -1 - cut:
            out[inside] = u
            inside += 1
    outside = inside
    for u in part:
        g = _number(units.reach[u, a], lo, width)
        if not (g <= cut or g == -1 - cut):
            out[outside] = u
            outside += 1
    return inside


@step
def _holds(
    units: Units, guards: Guards, part: Int32, groups: Groups, d: int, a: int, cut: int, scratch: Scratch
) -> bool:
    """Whether both sides of a cut satisfy the criteria (their sizes do already)."""
    inside = _separate(units, part, groups, d, a, cut, scratch.ids)
    if shortfall(units, guards, scratch.ids[:inside], scratch) > 0.0:
        return False
    return shortfall(units, guards, scratch.ids[inside : len(part)], scratch) <= 0.0


@step
def _best_cut(
    units: Units, costs: Costs, guards: Guards, part: Int32, groups: Groups, scratch: Scratch
) -> tuple[int, int]:
    """Attribute (-1: none) and number of the cut that leaves the least loss."""
    d = len(costs.spec)
    k = guards.limits[LEAST_SIZE]
    guarded = len(guards.spec) > 0
    best, best_a, best_cut = np.inf, -1, 0
    whole, before, rest = groups.after[GROUPS], groups.after[GROUPS + 1], groups.after[GROUPS + 2]
    for a in range(d):
        width = min(whole[a] + whole[d + a] + 1, GROUPS)
        if width < 2:
            continue
        first = a * GROUPS
        rows, size = 0, 0
        clear(rest, costs.ends)
        clear(before, costs.ends)
        for g in range(width - 1, -1, -1):
            after = groups.after[g]
            box = groups.box[first + g]
            if groups.mass[first + g, ROWS] > 0:
                widen(rest, box, costs.ends)
            copy(after, rest)
            rows += groups.mass[first + g, ROWS]
            size += groups.mass[first + g, SIZE]
        left, left_size = 0, 0
        for turn in range(2 * width - 2):  # off alone, then behind, for each group but the last
            g = turn // 2
            here = groups.mass[first + g, ROWS]
            if here == 0:
                continue
            box, after = groups.box[first + g], groups.after[g + 1]
            alone = turn % 2 == 0
            if alone:
                inside, inside_size, cut = here, groups.mass[first + g, SIZE], -1 - g
            else:
                widen(before, box, costs.ends)
                left += here
                left_size += groups.mass[first + g, SIZE]
                inside, inside_size, cut = left, left_size, g
            if inside_size < k or size - inside_size < k:
                continue
            if alone:
                if left == 0 or costs.spec[a, FORM] == RANGE:
                    continue
                loss = inside * union_loss(costs, box, box)
                if loss < best:
                    loss += (rows - inside) * union_loss(costs, before, after)
            else:
                loss = inside * union_loss(costs, before, before)
                if loss < best:
                    loss += (rows - inside) * union_loss(costs, after, after)
            if loss < best and (not guarded or _holds(units, guards, part, groups, d, a, cut, scratch)):
                best, best_a, best_cut = loss, a, cut
    return best_a, best_cut


@step
def _whole(units: Units, part: Int32, groups: Groups, ends: int) -> int:
    """Box of a part; returns its size."""
    whole = groups.after[GROUPS]
    size = 0
    clear(whole, ends)
    for u in part:
        widen(whole, units.reach[u], ends)
        size += units.mass[u, SIZE]
    return size


@lean
def cut(
    units: Units,
    costs: Costs,
    guards: Guards,
    order: Int32,
    regions: Int64,
    smallest: int,
    groups: Groups,
    scratch: Scratch,
) -> int:
    """Cut the first part of ``regions`` (slices of ``order``, int64[., 2]) again and again.

    Parts of fewer than ``smallest`` units rest as they are. Reorders ``order`` within the part; writes the parts
    that are left to ``regions``, which must have a place for each unit, and returns their number.
    """
    d = len(costs.spec)
    closed, pending = 0, 1  # parts[:closed] are done, parts[-pending:] are open
    last = len(regions) - 1
    regions[last, 0], regions[last, 1] = regions[0, 0], regions[0, 1]
    while pending > 0:
        start, end = regions[last - pending + 1, 0], regions[last - pending + 1, 1]
        pending -= 1
        part = order[start:end]
        middle = 0
        if end - start >= smallest and _whole(units, part, groups, costs.ends) >= 2 * guards.limits[LEAST_SIZE]:
            _collect(units, part, groups, d, costs.ends)
            a, where = _best_cut(units, costs, guards, part, groups, scratch)
            if a >= 0:
                middle = _separate(units, part, groups, d, a, where, scratch.ids)
                for i in range(end - start):
                    part[i] = scratch.ids[i]
        if middle == 0:
            regions[closed, 0], regions[closed, 1] = start, end
            closed += 1
        else:
            regions[last - pending, 0], regions[last - pending, 1] = start + middle, end
            regions[last - pending - 1, 0], regions[last - pending - 1, 1] = start, start + middle
            pending += 2
    return closed
