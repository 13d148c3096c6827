"""Destroy and repair: pool a lossy class and some of its neighbours and build their classes anew.

The repair is greedy k-member clustering (Byun, Kamra, Bertino, Li, DASFAA 2007, doi:10.1007/978-3-540-71703-4_18)
from random seeds; a few tries for each pool, the best is kept if it loses less than before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import lean, step
from indistinct.kernels.boxes import Costs, copy, union_loss, widen
from indistinct.kernels.criteria import K
from indistinct.kernels.guards import (
    KIND,
    LEAST_SIZE,
    ONE_COUNT,
    PLACES,
    Guards,
    Scratch,
    brings_somebody,
    places_missing,
    shortfall,
)
from indistinct.kernels.partition import (
    CLASS,
    HEAD,
    MEMBERS,
    NEXT,
    REGION,
    Partition,
    attach,
    detach,
    refresh,
)
from indistinct.kernels.random import below
from indistinct.kernels.units import ROWS, SIZE, Units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]
    UInt64 = NDArray[np.uint64]

LEAST = 1e-7
TRIES = 3
# rows of ``Pool.ints`` and of ``Pool.floats``
UNIT, GROUP, BEST, OLD = range(4)
LOSS, ADDED = range(2)


class Pool(NamedTuple):
    """Work memory of one rebuild: at most p units and classes.

    ``ints`` int32[4, p]: the units; their groups in a try (-1: not yet) and in the best try; the classes that
    are rebuilt. ``box`` int32[p, w], ``mass`` int64[p, 2] and ``floats`` float64[2, p]: boxes, masses and losses
    of the groups, and the loss of the open group with each unit. ``spare`` int32[.]: as many unused classes as
    place 0 says, from place 1 on; ``state`` uint64[1] of the random numbers.
    """

    ints: Int32
    box: Int32
    mass: Int64
    floats: Float64
    spare: Int32
    state: UInt64


def pool_of(p: int, width: int, unused: Int32, room: int, seed: int) -> Pool:
    """Work memory for pools of up to p units and ``room`` unused classes, of which ``unused`` are there."""
    spare = np.zeros(room + 1, np.int32)
    spare[0] = len(unused)
    spare[1 : len(unused) + 1] = unused
    return Pool(
        np.empty((4, p), np.int32),
        np.empty((p, width), np.int32),
        np.empty((p, 2), np.int64),
        np.empty((2, p)),
        spare,
        np.array([seed], np.uint64),
    )


@step
def _other_class(partition: Partition, nearest: Int32, u: int, mine: int, pool: Pool, classes: int) -> int:
    """Class of a near unit of u that is not in the pool, preferring the nearest; -1 if there is none."""
    found = -1
    for v in nearest[u]:
        c = partition.link[v, CLASS] if v >= 0 else -1
        if c < 0 or partition.state[c, REGION] != mine:
            continue
        known = False
        for j in range(classes):
            known = known or pool.ints[OLD, j] == c
        if not known:
            found = c
            if below(pool.state, np.int64(2)) == 0:
                break
    return found


@step
def _gather(partition: Partition, nearest: Int32, u: int, wanted: int, mine: int, pool: Pool) -> tuple[int, int]:
    """Pool the class of u and ``wanted`` - 1 classes near to its members; returns units and classes."""
    found, classes = np.int64(0), np.int64(0)
    c = np.int64(partition.link[u, CLASS])
    own = partition.mass[c, MEMBERS]
    for _ in range(2 * wanted):
        if classes > 0:
            near = np.int64(pool.ints[UNIT, below(pool.state, own)])
            c = _other_class(partition, nearest, near, mine, pool, classes)
        if c < 0 or found + partition.mass[c, MEMBERS] > pool.ints.shape[1]:
            if classes == 0:
                break
            continue
        pool.ints[OLD, classes] = c
        classes += 1
        v = partition.state[c, HEAD]
        while v >= 0:
            pool.ints[UNIT, found] = v
            found += 1
            v = partition.link[v, NEXT]
        if classes == wanted:
            break
    return found, classes


@step
def _short(units: Units, guards: Guards, pool: Pool, found: int, g: int, more: int, scratch: Scratch) -> float:
    """Shortfall of a group, with unit ``more`` (-1: nobody) added."""
    count = 0
    for j in range(found):
        if pool.ints[GROUP, j] == g or j == more:
            scratch.ids[count] = pool.ints[UNIT, j]
            count += 1
    return shortfall(units, guards, scratch.ids[:count], scratch)


@step
def _needs(units: Units, guards: Guards, size: int, count: int, scratch: Scratch) -> float:
    """Shortfall of the ``count`` units in ``scratch.ids`` if only units that lessen it may join them, else 0.

    That is so once they are large enough, or have only as many places left as values are missing.
    """
    k, places = guards.limits[LEAST_SIZE], guards.limits[PLACES]
    if size + places < k:
        return 0.0
    short = shortfall(units, guards, scratch.ids[:count], scratch)
    if size >= k or short == 0.0:
        return short
    if guards.limits[ONE_COUNT] == 1:
        missing = np.int64(short * places + 0.5)
    else:
        missing = places_missing(units, guards, scratch.ids[:count], scratch)
    return short if missing > 0 and size + missing >= k else 0.0


@step
def _helps(units: Units, guards: Guards, u: int, count: int, short: float, scratch: Scratch) -> bool:
    """Whether unit u lessens the shortfall of the ``count`` units in ``scratch.ids``."""
    if guards.limits[ONE_COUNT] == 1:  # distinct values of one attribute: a new one does
        for i in range(count):
            if units.kin[scratch.ids[i]] == units.kin[u]:
                return False
        return True
    if len(guards.spec) == 1 and guards.spec[0, KIND] == K:  # distinct persons: a new one does
        return brings_somebody(units, u, scratch.ids[:count])
    scratch.ids[count] = u
    return shortfall(units, guards, scratch.ids[: count + 1], scratch) < short - 1e-9


@step
def _attempt(
    units: Units,
    costs: Costs,
    guards: Guards,
    pool: Pool,
    found: int,
    size: int,
    bound: float,
    ends: int,
    scratch: Scratch,
) -> tuple[float, int]:
    """Build groups greedily from random seeds and give what is left to them; loss and number of groups.

    Opens no further group once in ``ends`` times (0: never), for the most groups are not always the best. Gives up
    (infinite loss) as soon as the loss exceeds ``bound`` or somebody has no place. One function: its inner loop runs a
    hundred times for each try.
    """
    k = guards.limits[LEAST_SIZE]
    guarded = len(guards.spec) > 0
    for j in range(found):
        pool.ints[GROUP, j] = -1
    left, g, total = found, np.int64(0), 0.0
    while size >= k and (g == 0 or ends == 0 or below(pool.state, ends) > 0):
        place = below(pool.state, left)
        i = -1
        while place >= 0:
            i += 1
            if pool.ints[GROUP, i] < 0:
                place -= 1
        box, unit = pool.box[g], units.reach[pool.ints[UNIT, i]]
        copy(box, unit)
        pool.mass[g, ROWS], pool.mass[g, SIZE] = 0, 0
        loss, anew, short, count = union_loss(costs, unit, unit), True, 0.0, np.int64(0)
        while i >= 0:
            u = pool.ints[UNIT, i]
            unit = units.reach[u]
            widen(box, unit, costs.ends)
            pool.ints[GROUP, i] = g
            pool.mass[g, ROWS] += units.mass[u, ROWS]
            pool.mass[g, SIZE] += units.mass[u, SIZE]
            left -= 1
            if guarded:  # the open group stands at the front of ``scratch.ids``
                scratch.ids[count] = u
                count += 1
                short = _needs(units, guards, pool.mass[g, SIZE], count, scratch)
            if pool.mass[g, SIZE] >= k and short == 0.0:
                break
            i, least = -1, np.inf
            for j in range(found):
                if pool.ints[GROUP, j] < 0:
                    if anew:
                        pool.floats[ADDED, j] = union_loss(costs, box, units.reach[pool.ints[UNIT, j]])
                    if pool.floats[ADDED, j] < least and (
                        short == 0.0 or _helps(units, guards, np.int64(pool.ints[UNIT, j]), count, short, scratch)
                    ):
                        i, least = j, pool.floats[ADDED, j]
            if i >= 0:
                anew = least > loss
                loss = least
        if i < 0:  # this group cannot be completed
            for j in range(found):
                if pool.ints[GROUP, j] == g:
                    pool.ints[GROUP, j] = -1
                    left += 1
            break
        pool.floats[LOSS, g] = loss
        total += loss * pool.mass[g, ROWS]
        size -= pool.mass[g, SIZE]
        g += 1
        if total > bound:
            return np.inf, 0
    for j in range(found if left > 0 else 0):
        if pool.ints[GROUP, j] < 0:
            u = pool.ints[UNIT, j]
            unit, w = units.reach[u], units.mass[u, ROWS]
            least, at, after = np.inf, -1, 0.0
            for h in range(g):
                loss = union_loss(costs, pool.box[h], unit)
                more = (pool.mass[h, ROWS] + w) * loss - pool.mass[h, ROWS] * pool.floats[LOSS, h]
                if more < least and (not guarded or _short(units, guards, pool, found, h, j, scratch) == 0.0):
                    least, at, after = more, h, loss
            total += least
            if total > bound:
                return np.inf, 0
            box = pool.box[at]
            widen(box, unit, costs.ends)
            pool.ints[GROUP, j] = at
            pool.mass[at, ROWS] += w
            pool.mass[at, SIZE] += units.mass[u, SIZE]
            pool.floats[LOSS, at] = after
    return total, g


@step
def _adopt(units: Units, costs: Costs, partition: Partition, pool: Pool, found: int, classes: int, groups: int) -> None:
    """Replace the pooled classes by the groups of the best try."""
    spare = pool.spare
    for i in range(found):
        detach(units, partition, np.int64(pool.ints[UNIT, i]))
    for c in range(groups, classes):
        spare[0] += 1
        spare[spare[0]] = pool.ints[OLD, c]
    for c in range(classes, groups):
        pool.ints[OLD, c] = spare[spare[0]]
        spare[0] -= 1
    for i in range(found):
        attach(units, partition, np.int64(pool.ints[UNIT, i]), np.int64(pool.ints[OLD, pool.ints[BEST, i]]))
    for g in range(groups):
        refresh(units, costs, partition, np.int64(pool.ints[OLD, g]))


@lean
def rebuild(
    units: Units,
    costs: Costs,
    guards: Guards,
    partition: Partition,
    nearest: Int32,
    todo: Int32,
    mine: int,
    pools: int,
    ends: int,
    pool: Pool,
    scratch: Scratch,
) -> int:
    """Rebuild ``pools`` random neighbourhoods of region ``mine``; returns how many lose less now.

    ``ends``: see ``_attempt``.
    """
    done = 0
    for _ in range(pools):
        u, v = np.int64(todo[below(pool.state, len(todo))]), np.int64(todo[below(pool.state, len(todo))])
        if partition.loss[partition.link[v, CLASS]] > partition.loss[partition.link[u, CLASS]]:
            u = v
        found, classes = _gather(partition, nearest, u, 3 + below(pool.state, np.int64(3)), mine, pool)
        if classes < (2 if ends == 0 else 1):  # a class without neighbours may be several
            continue
        before, size = 0.0, np.int64(0)
        for i in range(classes):
            c = pool.ints[OLD, i]
            before += partition.mass[c, ROWS] * partition.loss[c]
            size += partition.mass[c, SIZE]
        best, groups = before - LEAST, np.int64(0)
        for _ in range(TRIES):
            loss, tried = _attempt(units, costs, guards, pool, found, size, best, ends, scratch)
            if loss < best and tried <= classes + pool.spare[0]:
                best, groups = loss, tried
                for i in range(found):
                    pool.ints[BEST, i] = pool.ints[GROUP, i]
        if groups > 0:
            _adopt(units, costs, partition, pool, found, classes, groups)
            done += 1
    return done
