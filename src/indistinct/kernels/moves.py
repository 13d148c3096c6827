"""Moves and swaps: single units leave for a class nearby, or trade places, whenever the loss falls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel
from indistinct.kernels.boxes import Costs, union_loss
from indistinct.kernels.guards import Guards, Scratch, shortfall
from indistinct.kernels.partition import Partition, attach, detach, refresh, swapped_loss
from indistinct.kernels.units import Units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]

# improvements below this are rounding
LEAST = 1e-7


@kernel
def holds(
    units: Units, guards: Guards, parts: Partition, c: int, gone: int, new: int, scratch: Scratch
) -> bool:
    """Whether a class satisfies the criteria after ``gone`` (-1: nobody) has left and ``new`` has joined."""
    count = 0
    u = parts.head[c]
    while u >= 0:
        if u != gone:
            scratch.ids[count] = u
            count += 1
        u = parts.following[u]
    if new >= 0:
        scratch.ids[count] = new
        count += 1
    return shortfall(units, guards, scratch.ids[:count], scratch) <= 0.0


@kernel
def alike(units: Units, u: int, v: int) -> bool:
    """Whether two units have the same single sensitive tuple and weight, so that no criterion tells them apart."""
    e, f = units.start[u], units.start[v]
    if units.start[u + 1] - e != 1 or units.start[v + 1] - f != 1:
        return False
    if units.counts[e] != units.counts[f] or units.size[u] != units.size[v]:
        return False
    for s in range(units.values.shape[1]):
        if units.values[e, s] != units.values[f, s]:
            return False
    return True


@kernel
def improve(
    units: Units, costs: Costs, guards: Guards, parts: Partition, nearest: Int32, todo: Int32, mine: int, scratch: Scratch
) -> int:
    """Look once at the units ``todo`` whose class changed since the last look; returns how many moved.

    Each takes the best move to, or swap with, one of its nearest units, if any lowers the loss and all classes
    touched still satisfy the criteria. Only classes of region ``mine`` are touched.
    """
    k = guards.k[0]
    guarded = len(guards.kind) > 0
    done = 0
    seen = np.empty(nearest.shape[1], np.int32)
    for u in todo:
        c = parts.class_of[u]
        if c < 0 or parts.region[c] != mine or parts.changed[c] == 0:
            continue
        unit, w, s = units.reach[u], units.rows[u], units.size[u]
        box, inner = parts.box[c], parts.inner[c]
        here = parts.rows[c] * parts.loss[c]
        left = (parts.rows[c] - w) * swapped_loss(costs, box, inner, unit, inner) if parts.members[c] > 1 else 0.0
        if here - left < LEAST:
            continue
        leaves = parts.members[c] > 1 and parts.size[c] - s >= k
        if leaves and guarded:
            leaves = holds(units, guards, parts, c, u, -1, scratch)
        best, partner, target, tried = -LEAST, -1, -1, 0
        for v in nearest[u]:
            e = parts.class_of[v] if v >= 0 else -1
            if e < 0 or e == c or parts.region[e] != mine:
                continue
            known = False
            for i in range(tried):
                known = known or seen[i] == e
            if known:
                continue
            seen[tried] = e
            tried += 1
            there = parts.rows[e] * parts.loss[e]
            if leaves:
                gain = left - here - there + (parts.rows[e] + w) * union_loss(costs, parts.box[e], unit)
                if gain < best and (not guarded or holds(units, guards, parts, e, -1, u, scratch)):
                    best, partner, target = gain, -1, e
            x = parts.head[e]
            while x >= 0:
                y, t = units.rows[x], units.size[x]
                other = units.reach[x]
                if parts.size[c] - s + t >= k and parts.size[e] - t + s >= k:
                    gain = (parts.rows[e] - y + w) * swapped_loss(costs, parts.box[e], parts.inner[e], other, unit) - here - there
                    if gain < best:
                        gain += (parts.rows[c] - w + y) * swapped_loss(costs, box, inner, unit, other)
                        if gain < best and (
                            not guarded
                            or alike(units, u, x)
                            or (
                                holds(units, guards, parts, c, u, x, scratch)
                                and holds(units, guards, parts, e, x, u, scratch)
                            )
                        ):
                            best, partner, target = gain, x, e
                x = parts.following[x]
        if target >= 0:
            detach(units, parts, u)
            if partner >= 0:
                detach(units, parts, partner)
                attach(units, parts, partner, c)
            attach(units, parts, u, target)
            refresh(units, costs, parts, c)
            refresh(units, costs, parts, target)
            done += 1
    return done
