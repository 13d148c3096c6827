"""Moves, swaps and chains: single units leave for a class nearby, trade places, or are replaced, if the loss falls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import lean, step
from indistinct.kernels.boxes import Costs, swapped_loss, union_loss
from indistinct.kernels.guards import LEAST_SIZE, ONE_COUNT, Guards, Scratch
from indistinct.kernels.partition import (
    CLASS,
    HEAD,
    MEMBERS,
    NEXT,
    REGION,
    Partition,
    attach,
    detach,
    holds,
    update,
)
from indistinct.kernels.units import ROWS, SIZE, Units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]

# in classes of more than FEW k members, criteria let only alike units trade places, nearly always
FEW = 3
# improvements below this are rounding
LEAST = 1e-7


@step
def _replacement(
    units: Units,
    costs: Costs,
    guards: Guards,
    partition: Partition,
    nearest: Int32,
    u: int,
    target: int,
    best: float,
    scratch: Scratch,
) -> int:
    """Find the unit, near to a member of the class of u, that best replaces u there, from a class that can spare it.

    Not from class ``target``; for a large class only an alike unit, where criteria are more than a number of values.
    -1: with none the loss of both classes together changes by less than ``best``.
    """
    k = guards.limits[LEAST_SIZE]
    guarded = len(guards.spec) > 0
    c, nobody, found = np.int64(partition.link[u, CLASS]), np.int64(-1), np.int64(-1)
    box, inner, ties, unit = partition.box[c], partition.inner[c], partition.ties[c], units.reach[u]
    rows, size = partition.mass[c, ROWS] - units.mass[u, ROWS], partition.mass[c, SIZE] - units.mass[u, SIZE]
    here = partition.mass[c, ROWS] * partition.loss[c]
    strict = guarded and guards.limits[ONE_COUNT] == 0 and partition.mass[c, MEMBERS] > FEW * k
    z = np.int64(partition.state[c, HEAD])
    while z >= 0:
        for near in range(nearest.shape[1]):
            x = np.int64(nearest[z, near])
            e = np.int64(partition.link[x, CLASS]) if x >= 0 else nobody
            if e < 0 or e == c or e == target or partition.state[e, REGION] != partition.state[c, REGION]:
                continue
            if strict and units.kin[x] != units.kin[u]:
                continue
            y, t = units.mass[x, ROWS], units.mass[x, SIZE]
            if partition.mass[e, SIZE] - t < k or size + t < k:
                continue
            there, other = partition.mass[e, ROWS] * partition.loss[e], units.reach[x]
            gain = (rows + y) * swapped_loss(costs, box, inner, ties, unit, other) - here - there
            if gain >= best:
                continue
            second = partition.inner[e]
            gain += (partition.mass[e, ROWS] - y) * swapped_loss(
                costs, partition.box[e], second, partition.ties[e], other, second
            )
            if gain < best and (
                not guarded
                or (
                    holds(units, guards, partition, c, u, x, scratch)
                    and holds(units, guards, partition, e, x, nobody, scratch)
                )
            ):
                best, found = gain, x
        z = np.int64(partition.link[z, NEXT])
    return found


@lean
def improve(
    units: Units,
    costs: Costs,
    guards: Guards,
    partition: Partition,
    nearest: Int32,
    todo: Int32,
    mine: int,
    scratch: Scratch,
) -> int:
    """Look once at each unit of ``todo``; returns how many changed their class.

    Each takes the best move to the class of one of its nearest units, or swap with a member of such a class, if
    any lowers the loss and both classes still satisfy the criteria. One that its class cannot spare may still go to the
    class that takes it at least loss, where a third class can spare a replacement. Only classes of region ``mine`` are
    touched.
    """
    k = guards.limits[LEAST_SIZE]
    guarded = len(guards.spec) > 0
    nobody = np.int64(-1)
    done = 0
    seen = scratch.seen
    for at in range(len(todo)):
        u = np.int64(todo[at])
        c = np.int64(partition.link[u, CLASS])
        if c < 0 or partition.state[c, REGION] != mine:
            continue
        unit, box, inner, ties = units.reach[u], partition.box[c], partition.inner[c], partition.ties[c]
        w, s, rows, size = units.mass[u, ROWS], units.mass[u, SIZE], partition.mass[c, ROWS], partition.mass[c, SIZE]
        here = rows * partition.loss[c]
        left = (rows - w) * swapped_loss(costs, box, inner, ties, unit, inner) if rows > w else 0.0
        if here - left < LEAST:
            continue
        leaves = partition.mass[c, MEMBERS] > 1 and size - s >= k
        if leaves and guarded:
            leaves = holds(units, guards, partition, c, u, nobody, scratch)
        best, partner, target, tried = -LEAST, nobody, nobody, 0
        joining, taker, lender = np.inf, nobody, nobody
        for near in range(nearest.shape[1]):
            v = nearest[u, near]
            e = np.int64(partition.link[v, CLASS]) if v >= 0 else nobody
            if e < 0 or e == c or partition.state[e, REGION] != mine:
                continue
            known = False
            for i in range(tried):
                known = known or seen[i] == e
            if known:
                continue
            seen[tried] = e
            tried += 1
            other, second, even = partition.box[e], partition.inner[e], partition.ties[e]
            mass, there = partition.mass[e, ROWS], partition.mass[e, ROWS] * partition.loss[e]
            joined = (mass + w) * union_loss(costs, other, unit) - there
            if leaves:
                gain = left - here + joined
                if gain < best and (not guarded or holds(units, guards, partition, e, nobody, u, scratch)):
                    best, partner, target = gain, nobody, e
            elif joined < joining:
                joining, taker = joined, e
            strict = guarded and partition.mass[e, MEMBERS] > FEW * k
            x = np.int64(partition.state[e, HEAD])
            while x >= 0:
                same = units.kin[x] == units.kin[u]
                if strict and not same:
                    x = np.int64(partition.link[x, NEXT])
                    continue
                y, t = units.mass[x, ROWS], units.mass[x, SIZE]
                if size - s + t >= k and partition.mass[e, SIZE] - t + s >= k:
                    gain = (
                        (mass - y + w) * swapped_loss(costs, other, second, even, units.reach[x], unit) - here - there
                    )
                    if gain < best:
                        gain += (rows - w + y) * swapped_loss(costs, box, inner, ties, unit, units.reach[x])
                    if gain < best and (
                        not guarded
                        or same
                        or (
                            holds(units, guards, partition, c, u, x, scratch)
                            and holds(units, guards, partition, e, x, u, scratch)
                        )
                    ):
                        best, partner, target = gain, x, e
                x = np.int64(partition.link[x, NEXT])
        if (
            taker >= 0
            and left - here + joining < best
            and (not guarded or holds(units, guards, partition, taker, nobody, u, scratch))
        ):
            x = _replacement(units, costs, guards, partition, nearest, u, taker, best - joining, scratch)
            if x >= 0:
                partner, target, lender = x, taker, np.int64(partition.link[x, CLASS])
        if target >= 0:
            detach(units, partition, u)
            if partner >= 0:
                detach(units, partition, partner)
                attach(units, partition, partner, c)
            attach(units, partition, u, target)
            update(units, costs, partition, c, u, partner)
            update(units, costs, partition, target, partner if lender < 0 else nobody, u)
            if lender >= 0:
                update(units, costs, partition, lender, partner, nobody)
            done += 1
    return done
