"""Destroy and repair: pool a lossy class and some of its neighbours and build their classes anew.

The repair is greedy k-member clustering (Byun, Kamra, Bertino, Li, DASFAA 2007) from random seeds; a few tries
for each pool, the best is kept if it loses less than before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import kernel
from indistinct.kernels.boxes import Costs, union_loss
from indistinct.kernels.guards import Guards, Scratch, shortfall
from indistinct.kernels.partition import Partition, attach, detach, refresh
from indistinct.kernels.random import below
from indistinct.kernels.units import Units, grow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]
    UInt64 = NDArray[np.uint64]

LEAST = 1e-7
TRIES = 3


class Pool(NamedTuple):
    """Work memory of one rebuild: at most p units and classes.

    ``unit`` int32[p], ``old`` int32[p] classes; a try: ``group`` int32[p] of each unit (-1: not yet), ``box``
    int32[p, w], ``rows``, ``size`` int64[p], ``loss`` float64[p] of each group; ``added`` float64[p] loss of the
    open group with each unit; ``best`` int32[p] the groups of the best try.
    """

    unit: Int32
    old: Int32
    group: Int32
    box: Int32
    rows: Int64
    size: Int64
    loss: Float64
    added: Float64
    best: Int32


def pool_of(p: int, width: int) -> Pool:
    """Work memory for pools of up to p units."""
    return Pool(
        np.empty(p, np.int32),
        np.empty(p, np.int32),
        np.empty(p, np.int32),
        np.empty((p, width), np.int32),
        np.empty(p, np.int64),
        np.empty(p, np.int64),
        np.empty(p),
        np.empty(p),
        np.empty(p, np.int32),
    )


@kernel
def _gather(
    parts: Partition, nearest: Int32, u: int, wanted: int, mine: int, pool: Pool
) -> tuple[int, int]:
    """Pool the class of u and ``wanted`` - 1 classes of its nearest units; returns units and classes."""
    found, classes = 0, 0
    c = parts.class_of[u]
    for i in range(-1, nearest.shape[1]):
        if i >= 0:
            v = nearest[u, i]
            c = parts.class_of[v] if v >= 0 else -1
            if c < 0 or parts.region[c] != mine:
                continue
        if found + parts.members[c] > len(pool.unit):
            continue
        known = False
        for j in range(classes):
            known = known or pool.old[j] == c
        if known:
            continue
        pool.old[classes] = c
        classes += 1
        v = parts.head[c]
        while v >= 0:
            pool.unit[found] = v
            found += 1
            v = parts.following[v]
        if classes == wanted:
            break
    return found, classes


@kernel
def _join(units: Units, pool: Pool, g: int, i: int) -> None:
    u = pool.unit[i]
    pool.group[i] = g
    grow(pool.box[g], units.reach[u])
    pool.rows[g] += units.rows[u]
    pool.size[g] += units.size[u]


@kernel
def _attempt(units: Units, costs: Costs, k: int, found: int, size: int, bound: float, pool: Pool, state: UInt64) -> tuple[float, int]:
    """Build groups of size k greedily from random seeds and give what is left to the groups; loss and groups.

    Gives up (infinite loss) as soon as the loss exceeds ``bound``.
    """
    pool.group[:found] = -1
    left, groups, total = found, 0, 0.0
    while size >= k:
        seed = below(state, left)
        i = -1
        while seed >= 0:
            i += 1
            if pool.group[i] < 0:
                seed -= 1
        g = groups
        box = pool.box[g]
        box[:] = units.reach[pool.unit[i]]
        pool.rows[g], pool.size[g] = 0, 0
        loss, grown = 0.0, True
        while True:
            _join(units, pool, g, i)
            left -= 1
            if pool.size[g] >= k:
                break
            i, least = -1, np.inf
            for j in range(found):
                if pool.group[j] < 0:
                    if grown:
                        pool.added[j] = union_loss(costs, box, units.reach[pool.unit[j]])
                    if pool.added[j] < least:
                        i, least = j, pool.added[j]
            grown = least > loss
            loss = least
        pool.loss[g] = loss
        total += loss * pool.rows[g]
        size -= pool.size[g]
        groups += 1
        if total > bound:
            return np.inf, 0
    if left > 0:
        for j in range(found):
            if pool.group[j] < 0:
                unit, w = units.reach[pool.unit[j]], units.rows[pool.unit[j]]
                least, at = np.inf, 0
                for g in range(groups):
                    more = (pool.rows[g] + w) * union_loss(costs, pool.box[g], unit) - pool.rows[g] * pool.loss[g]
                    if more < least:
                        least, at = more, g
                total += least
                _join(units, pool, at, j)
                pool.loss[at] = union_loss(costs, pool.box[at], pool.box[at])
    return total, groups


@kernel
def _adopt(units: Units, costs: Costs, parts: Partition, pool: Pool, found: int, classes: int, groups: int, spare: Int32) -> None:
    """Replace the pooled classes by the groups of the best try; ``spare[0]`` unused classes stand from place 1 on."""
    for i in range(found):
        detach(units, parts, pool.unit[i])
    for c in range(groups, classes):
        spare[0] += 1
        spare[spare[0]] = pool.old[c]
    for c in range(classes, groups):
        pool.old[c] = spare[spare[0]]
        spare[0] -= 1
    for i in range(found):
        attach(units, parts, pool.unit[i], pool.old[pool.best[i]])
    for g in range(groups):
        refresh(units, costs, parts, pool.old[g])


@kernel
def rebuild(
    units: Units,
    costs: Costs,
    guards: Guards,
    parts: Partition,
    nearest: Int32,
    todo: Int32,
    mine: int,
    pools: int,
    pool: Pool,
    spare: Int32,
    state: UInt64,
    scratch: Scratch,
) -> int:
    """Rebuild ``pools`` random neighbourhoods of region ``mine``; returns how many lose less now."""
    k = guards.k[0]
    done = 0
    for _ in range(pools):
        u, v = todo[below(state, len(todo))], todo[below(state, len(todo))]
        if parts.loss[parts.class_of[v]] > parts.loss[parts.class_of[u]]:
            u = v
        found, classes = _gather(parts, nearest, u, 2 + below(state, 4), mine, pool)
        if classes < 2:
            continue
        before, size = 0.0, 0
        for i in range(classes):
            before += parts.rows[pool.old[i]] * parts.loss[pool.old[i]]
            size += parts.size[pool.old[i]]
        best, best_groups = before - LEAST, 0
        for _ in range(TRIES):
            loss, groups = _attempt(units, costs, k, found, size, best, pool, state)
            if loss < best and groups <= classes + spare[0]:
                best, best_groups = loss, groups
                for i in range(found):
                    pool.best[i] = pool.group[i]
        if best_groups > 0:
            _adopt(units, costs, parts, pool, found, classes, best_groups, spare)
            done += 1
    return done
