"""Simulated annealing on moves and swaps: where classes are large, most improvements lead uphill first."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import lean
from indistinct.kernels.boxes import Costs, swapped_loss, union_loss
from indistinct.kernels.guards import LEAST_SIZE, Guards, Scratch
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
from indistinct.kernels.random import below
from indistinct.kernels.units import ROWS, SIZE, Units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Float64 = NDArray[np.float64]
    UInt64 = NDArray[np.uint64]


# a partner is looked for up to STRIDE members behind the near unit, one with the same values up to REACH further
STRIDE, REACH = np.int64(8), np.int64(32)


@lean
def anneal(
    units: Units,
    costs: Costs,
    guards: Guards,
    partition: Partition,
    nearest: Int32,
    todo: Int32,
    mine: int,
    steps: int,
    heat: Float64,
    state: UInt64,
    scratch: Scratch,
) -> int:
    """Try ``steps`` moves and swaps of the units ``todo`` in turn; returns how many were made.

    One that adds loss x is made with probability exp(-x / T), T falling geometrically from ``heat[0]`` to
    ``heat[1]`` (loss of rows times attributes). Partners are members of a class near the unit, every other time
    one with the same sensitive values, so that no criterion is touched.
    """
    k = guards.limits[LEAST_SIZE]
    guarded = len(guards.spec) > 0
    nobody = np.int64(-1)
    scale = np.int64(1 << 30)
    done = 0
    temperature = heat[0]
    cooling = (heat[1] / heat[0]) ** (256.0 / max(steps, 256))
    for turn in range(steps):
        if turn % 256 == 255:
            temperature *= cooling
        u = np.int64(todo[turn % len(todo)])
        v = np.int64(nearest[u, below(state, np.int64(nearest.shape[1]))])
        if v < 0:
            continue
        c, e = np.int64(partition.link[u, CLASS]), np.int64(partition.link[v, CLASS])
        if e < 0 or e == c or partition.state[e, REGION] != mine:  # -1: elsewhere, and just on the move
            continue
        bound = -temperature * log((below(state, scale) + 1.0) / (scale + 1.0))
        kind = below(state, np.int64(4))
        w, s = units.mass[u, ROWS], units.mass[u, SIZE]
        rows, size, mass = partition.mass[c, ROWS], partition.mass[c, SIZE], partition.mass[e, ROWS]
        before = rows * partition.loss[c] + mass * partition.loss[e]
        box, inner, ties, unit = partition.box[c], partition.inner[c], partition.ties[c], units.reach[u]
        x = v
        if kind == 0:  # a move
            if partition.mass[c, MEMBERS] < 2 or size - s < k:
                continue
            after = (mass + w) * union_loss(costs, partition.box[e], unit)
            if after - before >= bound:
                continue
            after += (rows - w) * swapped_loss(costs, box, inner, ties, unit, inner)
            if after - before >= bound:
                continue
            if guarded and not (
                holds(units, guards, partition, c, u, nobody, scratch)
                and holds(units, guards, partition, e, nobody, u, scratch)
            ):
                continue
            detach(units, partition, u)
            attach(units, partition, u, e)
            x = nobody
        else:  # a swap
            for _ in range(below(state, min(partition.mass[e, MEMBERS], STRIDE))):
                x = np.int64(partition.link[x, NEXT])
                if x < 0:
                    x = np.int64(partition.state[e, HEAD])
            same = units.kin[u] == units.kin[x]
            if kind > 1 and guarded:
                left = min(partition.mass[e, MEMBERS], REACH)
                while left > 0 and not same:
                    x = np.int64(partition.link[x, NEXT])
                    if x < 0:
                        x = np.int64(partition.state[e, HEAD])
                    same = units.kin[u] == units.kin[x]
                    left -= 1
                if not same:
                    continue
            y, t = units.mass[x, ROWS], units.mass[x, SIZE]
            if size - s + t < k or partition.mass[e, SIZE] - t + s < k:
                continue
            other = units.reach[x]
            after = (mass - y + w) * swapped_loss(
                costs, partition.box[e], partition.inner[e], partition.ties[e], other, unit
            )
            if after - before >= bound:
                continue
            after += (rows - w + y) * swapped_loss(costs, box, inner, ties, unit, other)
            if after - before >= bound:
                continue
            if guarded and not same:
                if not (
                    holds(units, guards, partition, c, u, x, scratch)
                    and holds(units, guards, partition, e, x, u, scratch)
                ):
                    continue
            detach(units, partition, u)
            detach(units, partition, x)
            attach(units, partition, u, e)
            attach(units, partition, x, c)
        update(units, costs, partition, c, u, x)
        update(units, costs, partition, e, x, u)
        done += 1
    return done
