"""Destroy and repair: pool a lossy class and some of its neighbours and build their classes anew.

The repair is greedy k-member clustering (Byun, Kamra, Bertino, Li, DASFAA 2007, doi:10.1007/978-3-540-71703-4_18)
from random seeds; a few tries for each pool, the best is kept if it loses less than before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import kernel
from indistinct.kernels.boxes import Costs, union_loss
from indistinct.kernels.guards import Guards, Scratch, places_missing, shortfall
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
    int32[p, w], ``rows``, ``size`` int64[p], ``loss`` float64[p] of each group; ``added`` float64[p] loss of
    the open group with each unit; ``best`` int32[p] the groups of the best try. ``spare`` int32[.]: as many
    unused classes as place 0 says, from place 1 on; ``state`` uint64[1] of the random numbers.
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
    spare: Int32
    state: UInt64


def pool_of(p: int, width: int, unused: Int32, room: int, seed: int) -> Pool:
    """Work memory for pools of up to p units and ``room`` unused classes, of which ``unused`` are there."""
    spare = np.zeros(room + 1, np.int32)
    spare[0] = len(unused)
    spare[1 : len(unused) + 1] = unused
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
        spare,
        np.array([seed], np.uint64),
    )


@kernel
def _other_class(parts: Partition, nearest: Int32, u: int, mine: int, pool: Pool, classes: int) -> int:
    """Class of a near unit of u that is not in the pool, preferring the nearest; -1 if there is none."""
    found = -1
    for v in nearest[u]:
        c = parts.class_of[v] if v >= 0 else -1
        if c < 0 or parts.region[c] != mine:
            continue
        known = False
        for j in range(classes):
            known = known or pool.old[j] == c
        if not known:
            found = c
            if below(pool.state, 2) == 0:
                break
    return found


@kernel
def _gather(parts: Partition, nearest: Int32, u: int, wanted: int, mine: int, pool: Pool) -> tuple[int, int]:
    """Pool the class of u and ``wanted`` - 1 classes near to its members; returns units and classes."""
    found, classes = 0, 0
    c = parts.class_of[u]
    own = parts.members[c]
    for _ in range(2 * wanted):
        if classes > 0:
            c = _other_class(parts, nearest, pool.unit[below(pool.state, own)], mine, pool, classes)
        if c < 0 or found + parts.members[c] > len(pool.unit):
            if classes == 0:
                break
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
def _short(units: Units, guards: Guards, pool: Pool, found: int, g: int, more: int, scratch: Scratch) -> float:
    """Shortfall of a group, with unit ``more`` (-1: nobody) added."""
    count = 0
    for j in range(found):
        if pool.group[j] == g or j == more:
            scratch.ids[count] = pool.unit[j]
            count += 1
    return shortfall(units, guards, scratch.ids[:count], scratch)


@kernel
def _pick(
    units: Units, costs: Costs, guards: Guards, pool: Pool, found: int, g: int, anew: bool, short: float, scratch: Scratch  # noqa: FBT001
) -> int:
    """Cheapest unit for the open group; with ``short`` > 0 the cheapest that brings it nearer to the criteria."""
    best, least = -1, np.inf
    box = pool.box[g]
    for j in range(found):
        if pool.group[j] < 0:
            if anew:
                pool.added[j] = union_loss(costs, box, units.reach[pool.unit[j]])
            if pool.added[j] < least and (
                short == 0.0 or _short(units, guards, pool, found, g, j, scratch) < short - 1e-9
            ):
                best, least = j, pool.added[j]
    return best


@kernel
def _form(
    units: Units, costs: Costs, guards: Guards, pool: Pool, found: int, g: int, seed: int, scratch: Scratch
) -> bool:
    """Grow group g from its seed until it satisfies the criteria; False if it cannot."""
    k = guards.k[0]
    box, unit = pool.box[g], units.reach[pool.unit[seed]]
    for i in range(len(box)):
        box[i] = unit[i]
    pool.rows[g], pool.size[g], pool.loss[g] = 0, 0, union_loss(costs, unit, unit)
    i, anew = seed, True
    while i >= 0:
        _join(units, pool, g, i)
        short = 0.0
        if guards.places[0] > 0 and pool.size[g] + guards.places[0] > k:
            count = 0
            for j in range(found):
                if pool.group[j] == g:
                    scratch.ids[count] = pool.unit[j]
                    count += 1
            missing = places_missing(units, guards, scratch.ids[:count], scratch)
            short = np.inf if pool.size[g] + missing >= k and missing > 0 else 0.0
        if pool.size[g] >= k or short > 0.0:
            short = _short(units, guards, pool, found, g, -1, scratch) if len(guards.kind) > 0 else 0.0
            if short == 0.0 and pool.size[g] >= k:
                return True
        i = _pick(units, costs, guards, pool, found, g, anew, short, scratch)
        if i >= 0:
            anew = pool.added[i] > pool.loss[g]
            pool.loss[g] = pool.added[i]
    return False


@kernel
def _attempt(
    units: Units, costs: Costs, guards: Guards, pool: Pool, found: int, size: int, bound: float, scratch: Scratch
) -> tuple[float, int]:
    """Build groups greedily from random seeds and give what is left to them; loss and number of groups.

    Gives up (infinite loss) as soon as the loss exceeds ``bound`` or somebody has no place.
    """
    k = guards.k[0]
    for j in range(found):
        pool.group[j] = -1
    left, groups, total = found, 0, 0.0
    while size >= k:
        place = below(pool.state, left)
        seed = -1
        while place >= 0:
            seed += 1
            if pool.group[seed] < 0:
                place -= 1
        if not _form(units, costs, guards, pool, found, groups, seed, scratch):
            for j in range(found):
                if pool.group[j] == groups:
                    pool.group[j] = -1
            break
        total += pool.loss[groups] * pool.rows[groups]
        size -= pool.size[groups]
        left = 0
        for j in range(found):
            if pool.group[j] < 0:
                left += 1
        groups += 1
        if total > bound:
            return np.inf, 0
    for j in range(found if left > 0 else 0):
        if pool.group[j] < 0:
            unit, w = units.reach[pool.unit[j]], units.rows[pool.unit[j]]
            least, at = np.inf, -1
            for g in range(groups):
                more = (pool.rows[g] + w) * union_loss(costs, pool.box[g], unit) - pool.rows[g] * pool.loss[g]
                if more < least and (
                    len(guards.kind) == 0 or _short(units, guards, pool, found, g, j, scratch) == 0.0
                ):
                    least, at = more, g
            total += least
            if total > bound:
                return np.inf, 0
            _join(units, pool, at, j)
            pool.loss[at] = union_loss(costs, pool.box[at], pool.box[at])
    return total, groups


@kernel
def _adopt(
    units: Units, costs: Costs, parts: Partition, pool: Pool, found: int, classes: int, groups: int
) -> None:
    """Replace the pooled classes by the groups of the best try."""
    spare = pool.spare
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
    scratch: Scratch,
) -> int:
    """Rebuild ``pools`` random neighbourhoods of region ``mine``; returns how many lose less now."""
    done = 0
    for _ in range(pools):
        u, v = todo[below(pool.state, len(todo))], todo[below(pool.state, len(todo))]
        if parts.loss[parts.class_of[v]] > parts.loss[parts.class_of[u]]:
            u = v
        found, classes = _gather(parts, nearest, u, 3 + below(pool.state, 3), mine, pool)
        if classes < 2:
            continue
        before, size = 0.0, 0
        for i in range(classes):
            before += parts.rows[pool.old[i]] * parts.loss[pool.old[i]]
            size += parts.size[pool.old[i]]
        best, best_groups = before - LEAST, 0
        for _ in range(TRIES):
            loss, groups = _attempt(units, costs, guards, pool, found, size, best, scratch)
            if loss < best and groups <= classes + pool.spare[0]:
                best, best_groups = loss, groups
                for i in range(found):
                    pool.best[i] = pool.group[i]
        if best_groups > 0:
            _adopt(units, costs, parts, pool, found, classes, best_groups)
            done += 1
    return done
