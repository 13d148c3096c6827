"""Squared distances between rows, and the clusters that are grown from them: MDAV, and one row from each bucket.

The distance of a row from a point is a sum over attributes of a number that depends on the code alone, so a point is a
table ``away`` float64[.]: for each attribute and code (from ``space.at[a]`` on) its squared distance from the point.

- Attribute on a scale: ``(place[code] - place of the point)^2``.
- Attribute with a tree of H levels above the values: each level below the root has a coordinate for each node, 1 for
  the node of the row divided by sqrt(2 H). Two values are then ``height of their smallest common node / H`` apart,
  squared, and the mean of rows is a point like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import lean, step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

# nearer distances count as equal, so that rounding decides no tie: above that of sums of some thousand terms of at most
# 1; not measured
EQUAL = 1e-9


class Space(NamedTuple):
    """Where codes lie.

    ``at``, ``size``, ``height`` int64[d]: first place of an attribute in ``place``, number of codes, levels below the
    root of its tree (0: a scale). ``place`` float64[.]: coordinates on scales. ``nodes`` int64[d]: first place in
    ``node`` int32[.], the node of each code at each level. ``weight`` float64[d].
    """

    at: Int64
    size: Int64
    height: Int64
    place: Float64
    nodes: Int64
    node: Int32
    weight: Float64


@step
def centre(space: Space, counts: Int64, rows: int, away: Float64, share: Float64) -> None:
    """Write the table of the mean of ``rows`` rows that have ``counts`` int64[.] of each attribute and code."""
    for a in range(len(space.at)):
        at, size, height, weight = space.at[a], space.size[a], space.height[a], space.weight[a]
        if height == 0:
            mean = 0.0
            for code in range(size):
                mean += counts[at + code] * space.place[at + code]
            mean /= rows
            for code in range(size):
                away[at + code] = weight * (space.place[at + code] - mean) ** 2
            continue
        for code in range(size):
            away[at + code] = 0.0
        for level in range(height):
            node = space.nodes[a] + level * size
            for code in range(size):
                share[code] = 0.0
            for code in range(size):
                share[space.node[node + code]] += counts[at + code] / rows
            squares = 0.0
            for code in range(size):
                squares += share[code] * share[code]
            for code in range(size):
                away[at + code] += weight * (squares - 2.0 * share[space.node[node + code]] + 1.0) / (2.0 * height)


@step
def around(space: Space, codes: Int32, away: Float64) -> None:
    """Write the table of one row."""
    for a in range(len(space.at)):
        at, size, height, weight = space.at[a], space.size[a], space.height[a], space.weight[a]
        own = codes[a]
        for code in range(size):
            if height == 0:
                away[at + code] = weight * (space.place[at + code] - space.place[at + own]) ** 2
                continue
            differing = 0
            for level in range(height):
                node = space.nodes[a] + level * size
                if space.node[node + code] != space.node[node + own]:
                    differing += 1
            away[at + code] = weight * differing / height


@step
def measure(space: Space, codes: Int32, rest: Int64, left: int, away: Float64, result: Float64) -> int:
    """Write the distances of ``rest[:left]`` from the point of ``away``; the place in ``rest`` of the farthest."""
    far, at = -1.0, np.int64(0)
    for i in range(left):
        unit = rest[i]
        total = 0.0
        for a in range(len(space.at)):
            total += away[space.at[a] + codes[unit, a]]
        result[i] = total
        if total > far + EQUAL:
            far, at = total, np.int64(i)
    return at


@step
def _take_nearest(
    space: Space,
    codes: Int32,
    mass: Int64,
    k: int,
    rest: Int64,
    left: int,
    seed: int,
    cluster: int,
    class_of: Int32,
    counts: Int64,
    away: Float64,
    near: Float64,
    who: Int64,
) -> int:
    """Put ``seed`` and its nearest units, as many as k needs, into a cluster; what is left of ``rest``.

    ``near`` and ``who`` are scratch of k places: the nearest so far, ascending, equal ones in the order of units.
    """
    around(space, codes[seed], away)
    found = 0
    for i in range(left):
        unit = rest[i]
        if unit == seed:
            continue
        total = 0.0
        for a in range(len(space.at)):
            total += away[space.at[a] + codes[unit, a]]
        if found < k - 1:
            place = found
            found += 1
        elif found > 0 and total < near[found - 1] - EQUAL:
            place = found - 1
        else:
            continue
        while place > 0 and near[place - 1] > total + EQUAL:
            near[place], who[place] = near[place - 1], who[place - 1]
            place -= 1
        near[place], who[place] = total, unit
    class_of[seed] = cluster
    held = mass[seed, 1]
    taken = 0
    while held < k and taken < found:
        class_of[who[taken]] = cluster
        held += mass[who[taken], 1]
        taken += 1
    return drop_placed(space, codes, mass, rest, left, class_of, counts)


@step
def drop_placed(space: Space, codes: Int32, mass: Int64, rest: Int64, left: int, class_of: Int32, counts: Int64) -> int:
    """Strike the units that have a class out of ``rest``, in place, and out of ``counts``; what is left."""
    matched = 0
    for i in range(left):
        unit = rest[i]
        if class_of[unit] < 0:
            rest[matched] = unit
            matched += 1
        else:
            for a in range(len(space.at)):
                counts[space.at[a] + codes[unit, a]] -= mass[unit, 0]
    return matched


@step
def _size(mass: Int64, rest: Int64, left: int, column: int) -> int:
    total = np.int64(0)
    for i in range(left):
        total += mass[rest[i], column]
    return total


@lean
def mdav_clusters(
    space: Space,
    codes: Int32,
    mass: Int64,
    k: int,
    rest: Int64,
    left: int,
    cluster: int,
    most: int,
    class_of: Int32,
    counts: Int64,
    away: Float64,
    result: Float64,
    near: Float64,
    who: Int64,
) -> tuple[int, int]:
    """Form at most ``most`` pairs of clusters while ``rest[:left]`` holds 3k; what is left and the next number.

    ``counts`` int64[.]: rows of each attribute and code in ``rest``. ``result`` float64[n], ``away`` float64[2, .],
    ``near`` float64[k] and ``who`` int64[k + n] are scratch.
    """
    formed = 0
    while formed < most and _size(mass, rest, left, 1) >= 3 * k:
        centre(space, counts, _size(mass, rest, left, 0), away[0], away[1])
        first = rest[measure(space, codes, rest, left, away[0], result)]
        around(space, codes[first], away[0])
        second = rest[measure(space, codes, rest, left, away[0], result)]
        before = left
        for i in range(left):  # distances from the first, kept for the case that the second lies in its group
            who[k + i] = rest[i]
        left = _take_nearest(space, codes, mass, k, rest, left, first, cluster, class_of, counts, away[1], near, who)
        cluster += 1
        if class_of[second] >= 0:
            far = -1.0
            for i in range(before):
                if class_of[who[k + i]] < 0 and result[i] > far + EQUAL:
                    far, second = result[i], who[k + i]
        left = _take_nearest(space, codes, mass, k, rest, left, second, cluster, class_of, counts, away[1], near, who)
        cluster += 1
        formed += 1
    return left, cluster


@lean
def mdav_end(
    space: Space,
    codes: Int32,
    mass: Int64,
    k: int,
    rest: Int64,
    left: int,
    cluster: int,
    class_of: Int32,
    counts: Int64,
    away: Float64,
    result: Float64,
    near: Float64,
    who: Int64,
) -> int:
    """Form the last one or two clusters of what is left (less than 3k); the number of clusters."""
    if _size(mass, rest, left, 1) >= 2 * k:
        centre(space, counts, _size(mass, rest, left, 0), away[0], away[1])
        first = rest[measure(space, codes, rest, left, away[0], result)]
        left = _take_nearest(space, codes, mass, k, rest, left, first, cluster, class_of, counts, away[1], near, who)
        cluster += 1
    for i in range(left):
        class_of[rest[i]] = cluster
    return cluster + (1 if left > 0 else 0)


@lean
def bucket_clusters(
    space: Space,
    codes: Int32,
    mass: Int64,
    bucket: Int64,
    stock: Int64,
    rest: Int64,
    left: int,
    cluster: int,
    clusters: int,
    most: int,
    far: int,
    class_of: Int32,
    counts: Int64,
    away: Float64,
    result: Float64,
    near: Float64,
    who: Int64,
    wanted: Int64,
) -> tuple[int, int, int]:
    """Form at most ``most`` of ``clusters`` clusters, each with the rows of each bucket nearest to a seed.

    The seed is the row farthest from the mean of what is left, then the one farthest from that seed, in turn (``far``
    = -1: from the mean). A bucket of ``stock`` int64[b] rows gives ceil(stock / clusters to come). ``near``, ``who``
    and ``wanted`` are scratch of b places. Returns what is left, the next number and the next ``far``.
    """
    formed = 0
    while formed < most and left > 0 and cluster < clusters:
        if far < 0:
            centre(space, counts, np.int64(left), away[0], away[1])
            seed = rest[measure(space, codes, rest, left, away[0], result)]
        else:
            around(space, codes[far], away[0])
            seed = rest[measure(space, codes, rest, left, away[0], result)]
        around(space, codes[seed], away[0])
        measure(space, codes, rest, left, away[0], result)
        most_wanted = np.int64(0)
        for b in range(len(stock)):
            wanted[b] = -(-stock[b] // (clusters - cluster))
            stock[b] -= wanted[b]
            most_wanted = max(most_wanted, wanted[b])
        for turn in range(most_wanted):
            for b in range(len(stock)):
                near[b], who[b] = np.inf, -1
            for i in range(left):
                b = bucket[rest[i]]
                if turn < wanted[b] and class_of[rest[i]] < 0 and result[i] < near[b] - EQUAL:
                    near[b], who[b] = result[i], rest[i]
            for b in range(len(stock)):
                if who[b] >= 0:
                    class_of[who[b]] = cluster
        far = seed if far < 0 else np.int64(-1)
        left = drop_placed(space, codes, mass, rest, left, class_of, counts)
        cluster += 1
        formed += 1
    return left, cluster, far
