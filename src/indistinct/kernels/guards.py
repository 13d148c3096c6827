"""The criteria of a policy, judged on small sets of units by the values that occur in them.

The criteria are those of ``kernels.criteria``; here is how the sums that they compare are made of few values. Searches
ask about millions of candidate classes of a few rows over domains that may be large, so nothing here costs more than
the members of the candidate (times the height of a tree, or the logarithm of the domain):

- equal and hierarchical distance are means over levels of total variations, ``sum of (p - q) where p > q``, which
  needs only the nodes that occur (a tree metric charges every edge the mass that crosses it);
- ordered distance is the area between two distribution functions, one of them constant between neighbouring
  members: prefix sums of the other and a binary search for the crossing.

Values are doubles. At equality the sums of few small fractions are off by less than ``BAND``: taken as satisfied
where the model allows equality, as violated where it does not. Verdicts are not made here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import lean, step
from indistinct.kernels.criteria import (
    ALPHA,
    BAND,
    DISTINCT,
    ENTROPY,
    RECURSIVE,
    T_HIERARCHICAL,
    T_ORDERED,
    K,
    alpha_over,
    entropy_over,
    recursive_over,
    spread,
    top_and_tail,
)
from indistinct.kernels.units import ROWS, SIZE, Units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

# places in ``Guards.limits`` and columns of ``Guards.spec``
LEAST_SIZE, WIDEST, PLACES, ONE_COUNT = range(4)
KIND, COLUMN, VALUES, HEIGHT, AT = range(5)


class Guards(NamedTuple):
    """All criteria in flat arrays, ordered by sensitive column.

    ``limits`` int64[4]: least size k, largest domain, largest number of distinct values (or persons) asked for, and 1
    if distinct values are the only criterion beside size. Sizes add up; where persons are in several units the sum is
    only an upper bound, and the criterion ``K`` (column -1) counts distinct persons. ``spec``
    int64[q, 5]: kind, sensitive column, its number of values m, levels, start in ``share``. ``parameter``
    float64[q, 2]. ``node`` int32[.] and ``share`` float64[.]: for each level m nodes and their shares (distances
    on trees); the distribution function and its prefix sums (ordered); 1 where a value is concerned (alpha).
    """

    limits: Int64
    spec: Int64
    parameter: Float64
    node: Int32
    share: Float64


class Scratch(NamedTuple):
    """Work memory of one thread.

    ``ids`` int32[n]; ``value`` int32[m], ``count`` int64[.] and ``bins`` int64[m] (zeros) for tallies, with room after
    the counts for the largest of them (recursive); ``seen`` int64[64] for lists of classes.
    """

    ids: Int32
    value: Int32
    count: Int64
    bins: Int64
    seen: Int64


def scratch_of(guards: Guards, n: int) -> Scratch:
    """Work memory for n units."""
    m = int(guards.limits[WIDEST])
    recursive = guards.spec[:, KIND] == RECURSIVE
    longest = int(guards.parameter[recursive, 1].max(initial=0)) - 1
    return Scratch(
        np.empty(n, np.int32),
        np.empty(m, np.int32),
        np.empty(m + max(1, longest), np.int64),
        np.zeros(m, np.int64),
        np.empty(64, np.int64),
    )


@step
def tally(units: Units, column: int, values: int, ids: Int32, scratch: Scratch) -> int:
    """Count the sensitive values of some units: ascending ``scratch.value`` with ``scratch.count``."""
    found = np.int64(0)
    for u in ids:
        for e in range(units.start[u], units.start[u + 1]):
            value = units.values[e, column]
            if scratch.bins[value] == 0:
                scratch.value[found] = value
                found += 1
            scratch.bins[value] += units.counts[e]
    if values <= 4 * found:  # a pass over the domain costs less than a sort; the 4 is not measured
        found = 0
        for value in range(values):
            if scratch.bins[value] > 0:
                scratch.value[found] = value
                found += 1
    else:
        _sort(scratch.value, found)
    for i in range(found):
        scratch.count[i] = scratch.bins[scratch.value[i]]
        scratch.bins[scratch.value[i]] = 0
    return found


@step
def _sort(array: Int32, length: int) -> None:
    """Shell sort in place: small arrays mostly, and no allocation."""
    gap = 1
    while gap < length // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, length):
            value = array[i]
            j = i
            while j >= gap and array[j - gap] > value:
                array[j] = array[j - gap]
                j -= gap
            array[j] = value
        gap //= 3


@step
def _ordered(guards: Guards, q: int, found: int, rows: int, scratch: Scratch) -> float:
    """Area between the distribution functions of the members and of the table, over m - 1 steps."""
    m = guards.spec[q, VALUES]
    if m < 2:
        return 0.0
    below = guards.spec[q, AT]
    prefix = below + m
    turned = guards.parameter[q, 1] > 0.0
    first = found - 1 if turned and scratch.value[found - 1] == m - 1 else 0
    area, mass, lo = 0.0, 0.0, 0
    for i in range(found + 1):
        j = (first + i) % found
        hi = m - 1  # the last step of the distribution functions is 1 - 1
        if i < found:
            hi = scratch.value[j]
            if turned:
                hi = 0 if hi == m - 1 else hi + 1
        hi = min(hi, m - 1)
        left, right = lo, hi  # first place in lo..hi where the table's function reaches the members'
        while left < right:
            middle = (left + right) >> 1
            if guards.share[below + middle] < mass:
                left = middle + 1
            else:
                right = middle
        area += mass * (left - lo) - (guards.share[prefix + left] - guards.share[prefix + lo])
        area += guards.share[prefix + hi] - guards.share[prefix + left] - mass * (hi - left)
        lo = hi
        if i < found:
            mass += scratch.count[j] / rows
    return area / (m - 1)


@step
def _tree(guards: Guards, q: int, found: int, rows: int, scratch: Scratch) -> float:
    """Mean over the levels of the total variation between members and table."""
    m = guards.spec[q, VALUES]
    total = 0.0
    at = guards.spec[q, AT]
    for _ in range(guards.spec[q, HEIGHT]):
        i = 0
        while i < found:
            node = guards.node[at + scratch.value[i]]
            count = 0
            while i < found and guards.node[at + scratch.value[i]] == node:
                count += scratch.count[i]
                i += 1
            above = count / rows - guards.share[at + node]
            if above > 0.0:
                total += above
        at += m
    return total / guards.spec[q, HEIGHT] if guards.spec[q, HEIGHT] > 0 else 0.0


@step
def over(guards: Guards, q: int, found: int, rows: int, scratch: Scratch) -> float:
    """Shortfall of criterion q for the ``found`` counts in ``scratch``."""
    kind = guards.spec[q, KIND]
    bound = guards.parameter[q, 0]
    if kind == DISTINCT:
        return max(0.0, (bound - found) / bound)
    if kind == T_HIERARCHICAL:
        over = _tree(guards, q, found, rows, scratch) - bound
    elif kind == T_ORDERED:
        over = _ordered(guards, q, found, rows, scratch) - bound
    elif kind == ALPHA:
        largest = 0
        for i in range(found):
            if guards.share[guards.spec[q, AT] + scratch.value[i]] > 0.0:
                largest = max(largest, scratch.count[i])
        over = alpha_over(bound, largest, rows)
    else:
        if kind == ENTROPY:
            entropy, values, largest = spread(scratch.count, 0, found, rows, guards.share[:0])
            over = entropy_over(bound, entropy, values, largest, rows)
        else:
            largest, tail = top_and_tail(
                scratch.count, 0, found, rows, int(guards.parameter[q, 1]), scratch.count[found:]
            )
            over = recursive_over(bound, largest, tail, rows)
        return 0.0 if over <= -BAND else max(over, BAND)
    return over if over > BAND else 0.0


@step
def persons(units: Units, ids: Int32, enough: int, scratch: Scratch) -> int:
    """Count the distinct persons of some units, no further than ``enough``."""
    found, looked = np.int64(0), np.int64(0)
    while looked < len(ids) and found < enough:
        u = ids[looked]
        looked += 1
        found += units.mass[u, SIZE]
        for i in range(units.begin[u], units.begin[u + 1]):
            found -= scratch.bins[units.person[i]]
            scratch.bins[units.person[i]] = 1
    for u in ids[:looked]:
        for i in range(units.begin[u], units.begin[u + 1]):
            scratch.bins[units.person[i]] = 0
    return min(found, enough)


@step
def brings_somebody(units: Units, u: int, ids: Int32) -> bool:
    """Whether unit u has a person whom none of some units has."""
    first, last = units.begin[u], units.begin[u + 1]
    if units.mass[u, SIZE] > last - first:  # somebody who is in no other unit
        return True
    for i in range(first, last):
        known = False
        for v in ids:
            for j in range(units.begin[v], units.begin[v + 1]):
                known = known or units.person[j] == units.person[i]
        if not known:
            return True
    return False


@lean
def shortfall(units: Units, guards: Guards, ids: Int32, scratch: Scratch) -> float:
    """How far some units are from satisfying all criteria but size: 0 if they do, at most about 1 for each."""
    rows = np.int64(0)  # a literal 0 would be compiled for twice
    for u in ids:
        rows += units.mass[u, ROWS]
    total = 0.0
    found, column = np.int64(0), np.int64(-1)
    for q in range(len(guards.spec)):
        if guards.spec[q, KIND] == K:
            k = guards.limits[LEAST_SIZE]
            total += (k - persons(units, ids, k, scratch)) / k
            continue
        if guards.spec[q, COLUMN] != column:
            column = guards.spec[q, COLUMN]
            found = tally(units, column, guards.spec[q, VALUES], ids, scratch)
        total += over(guards, q, found, rows, scratch)
    return total


@step
def places_missing(units: Units, guards: Guards, ids: Int32, scratch: Scratch) -> int:
    """How many distinct values some units lack, at most over the sensitive columns, or distinct persons."""
    missing = np.int64(0)
    for q in range(len(guards.spec)):
        if guards.spec[q, KIND] == K:
            k = guards.limits[LEAST_SIZE]
            missing = max(missing, k - persons(units, ids, k, scratch))
        elif guards.spec[q, KIND] == DISTINCT:
            found = tally(units, guards.spec[q, COLUMN], guards.spec[q, VALUES], ids, scratch)
            missing = max(missing, np.int64(guards.parameter[q, 0]) - found)
    return missing


@lean
def shortfalls(units: Units, guards: Guards, order: Int32, groups: Int64, result: Float64, scratch: Scratch) -> None:
    """Write to ``result`` the shortfall of each part, a slice of ``order``."""
    for p in range(len(groups)):
        result[p] = shortfall(units, guards, order[groups[p, 0] : groups[p, 1]], scratch)
