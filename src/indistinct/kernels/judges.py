"""One test on all classes of a node: which are lost, and how many rows any more special node must lose too.

All judges read ``rows`` int64[g] and the columns ``first:last`` of the dense histograms ``counts`` [g, .]. A violating
class gets ``lost[i]`` = its rows and ``least[i]`` >= 1, a lower bound of the rows to remove until it is empty or
satisfies all tests; a class too near to the threshold gets ``undecided[i]`` = 1. Classes with ``least`` = ``rows`` are
passed over. ``k`` is the size condition of the policy: a part of fewer rows than that satisfies nothing, so if fewer
can be kept the whole class goes. Each returns the number of undecided classes.

``judge`` takes any criterion; the others are the same tests for those that searches spend their time on.
"""

# ruff: noqa: ARG001  # all judges are called alike

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel
from indistinct.kernels.criteria import BAND, removable, violation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int8 = NDArray[np.int8]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

STEPS = 3  # of Newton's iteration for the rows that can be kept; more of them hardly tighten the bound


@kernel
def too_small(sizes: Int64, rows: Int64, k: int, lost: Int64) -> int:
    """Set ``lost[i]`` to the rows of every class below ``k``, else to 0; returns their sum."""
    total = 0
    for i in range(len(rows)):
        amount = rows[i] if sizes[i] < k else 0
        lost[i] = amount
        total += amount
    return total


@kernel
def sums(lost: Int64, least: Int64) -> tuple[int, int]:
    """Add up both."""
    gone = bound = 0
    for i in range(len(lost)):
        gone += lost[i]
        bound += least[i]
    return gone, bound


@kernel
def judge(
    kind: int,
    parameters: Float64,
    shares: Float64,
    tree: Int32,
    k: int,
    counts: Int32,
    first: int,
    last: int,
    rows: Int64,
    sizes: Int64,
    lost: Int64,
    least: Int64,
    undecided: Int8,
) -> int:
    """Apply ``criteria.violation`` and ``criteria.removable``."""
    buffer = np.empty(last - first, np.int64)
    doubtful = 0
    for i in range(len(rows)):
        if least[i] == rows[i]:
            continue
        for v in range(last - first):
            buffer[v] = counts[i, first + v]
        value = violation(kind, parameters, buffer, rows[i], sizes[i], shares, tree)
        if value >= BAND:
            lost[i] = rows[i]
            gone = removable(kind, parameters, buffer, rows[i], sizes[i], shares, tree)
            least[i] = rows[i] if rows[i] - gone < k else max(least[i], gone)
        elif value > -BAND:
            undecided[i] = 1
            doubtful += 1
    return doubtful


@kernel
def judge_distinct(
    values: int,
    k: int,
    counts: Int32,
    first: int,
    last: int,
    rows: Int64,
    sizes: Int64,
    lost: Int64,
    least: Int64,
    undecided: Int8,
) -> int:
    """Test that a class has ``values`` distinct values, and as many persons; nothing less can be kept of it."""
    for i in range(len(rows)):
        if least[i] == rows[i]:
            continue
        found = 0
        for v in range(first, last):
            found += counts[i, v] > 0
        if min(found, sizes[i]) < values:
            lost[i] = rows[i]
            least[i] = rows[i]
    return 0


@kernel
def judge_recursive(
    c: float,
    length: int,
    k: int,
    counts: Int32,
    first: int,
    last: int,
    rows: Int64,
    sizes: Int64,
    lost: Int64,
    least: Int64,
    undecided: Int8,
) -> int:
    """Test r_1 < ``c`` (r_l + ... + r_m), l = ``length``; what is kept has no larger tail, so its counts are capped."""
    doubtful = 0
    top = np.zeros(max(1, length - 1), np.int64)  # the largest counts, descending
    for i in range(len(rows)):
        if least[i] == rows[i]:
            continue
        top[:] = 0
        for v in range(first, last):
            count = np.int64(counts[i, v])
            place = len(top) - 1
            if count > top[place]:
                while place > 0 and top[place - 1] < count:
                    top[place] = top[place - 1]
                    place -= 1
                top[place] = count
        tail = np.int64(rows[i])
        if length > 1:
            for count in top:
                tail -= count
        value = (top[0] - c * tail) / (rows[i] * max(1.0, c))
        if top[0] == c * tail:  # strict: equality is a violation
            value = 2.0 * BAND
        if value >= BAND:
            lost[i] = rows[i]
            cap = np.int64(min(np.ceil(c * tail * (1.0 + 1e-12) + 1e-9) - 1.0, float(rows[i])))
            gone = np.int64(0)
            for v in range(first, last):
                over = counts[i, v] - cap
                if over > 0:
                    gone += over
            gone = max(np.int64(1), gone)
            least[i] = rows[i] if rows[i] - gone < k else max(least[i], gone)
        elif value > -BAND:
            undecided[i] = 1
            doubtful += 1
    return doubtful


@kernel
def cap_ratios(length: float, values: int) -> Float64:
    """By number of distinct values: most rows of one value for each row of the others at entropy ln ``length``.

    With top share p the entropy of v values is at most h(p) + (1 - p) ln(v - 1), falling for p >= 1/v. Infinite where
    that never falls below ln ``length``, -1 where even equal shares do not reach it.
    """
    ratios = np.full(values + 1, -1.0)
    for v in range(1, values + 1):
        if v < length * (1.0 - 1e-12):
            continue
        ratios[v] = np.inf
        low, high = 1.0 / v, 1.0  # at high the bound is below ln l
        for _ in range(40):
            p = 0.5 * (low + high)
            if p <= 0.0 or p >= 1.0:
                break
            most = -p * log(p) - (1.0 - p) * log(1.0 - p)
            if v > 1:
                most += (1.0 - p) * log(v - 1.0)
            if most < log(length) - 1e-12:
                high = p
            else:
                low = p
        if high < 1.0:
            ratios[v] = high / (1.0 - high)
    return ratios


@kernel
def judge_entropy(
    length: float,
    logarithms: Float64,
    ratios: Float64,
    k: int,
    counts: Int32,
    first: int,
    last: int,
    rows: Int64,
    sizes: Int64,
    lost: Int64,
    least: Int64,
    undecided: Int8,
) -> int:
    """Test ln ``length`` <= entropy; ``logarithms[c]`` = c ln c, ``ratios`` from ``cap_ratios``."""
    threshold = log(length)
    doubtful = 0
    for i in range(len(rows)):
        n = rows[i]
        if least[i] == n:
            continue
        total, values, largest = 0.0, 0, np.int64(0)
        for v in range(first, last):
            count = np.int64(counts[i, v])
            if count > 0:
                values += 1
            largest = max(largest, count)
            if count < len(logarithms):
                total += logarithms[count]
            else:
                total += count * log(count)
        value = threshold - (log(n) - total / n)
        if abs(value) < BAND and largest * values == n:  # all counts are equal
            value = -2.0 * BAND if values >= length else 2.0 * BAND
        if value >= BAND:
            lost[i] = n
            gone = n
            if ratios[values] == np.inf:
                gone = 1
            elif ratios[values] >= 0.0:
                gone = max(1, largest - int(np.floor(ratios[values] * (n - largest) * (1.0 + 1e-12) + 1e-9)))
            least[i] = n if n - gone < k else max(least[i], gone)
        elif value > -BAND:
            undecided[i] = 1
            doubtful += 1
    return doubtful


@kernel
def judge_distance(
    t: float,
    ordered: bool,  # noqa: FBT001  # kernels take no keywords
    order: Int32,
    parent: Int32,
    masses: Float64,
    sets: int,
    k: int,
    counts: Int32,
    first: int,
    last: int,
    rows: Int64,
    sizes: Int64,
    lost: Int64,
    least: Int64,
    undecided: Int8,
) -> int:
    """Test an earth mover's distance: 1 - the mean of the overlaps of groups of values, see ``criteria``.

    The groups have the reference masses ``masses`` float64[f], in ``sets`` sets that each add up to 1. Not
    ``ordered``: the values themselves, then what ``parent`` int32[f] makes of them (-1: no further group).
    ``ordered``: the two sides of each cut of the values in ``order`` int32[m].

    x rows can be kept only if g(x) = x (1 - distance) - (1 - t) x >= 0; g is concave, so Newton's steps from the right
    stay above its root.
    """
    groups, values = len(masses), last - first
    weight = 1.0 / sets
    tolerance = 1e-12 + 1e-15 * groups
    amounts = np.zeros(groups)
    doubtful = 0
    for i in range(len(rows)):
        if least[i] == rows[i]:
            continue
        n = float(rows[i])
        inside = 0.0
        if ordered:
            below = np.int64(0)
            for v in range(values - 1):
                below += counts[i, first + order[v]]
                amounts[2 * v] = below
                amounts[2 * v + 1] = n - below
                inside += n - abs(below - masses[2 * v] * n)  # both sides together
        else:
            for v in range(values):
                amounts[v] = counts[i, first + v]
            for f in range(values, groups):
                amounts[f] = 0.0
            for f in range(groups):
                if parent[f] >= 0:
                    amounts[parent[f]] += amounts[f]
                inside += min(masses[f] * n, amounts[f])
        value = 1.0 - weight * inside / n - t
        if value <= -BAND:
            continue
        if value < BAND:
            undecided[i] = 1
            doubtful += 1
            continue
        lost[i] = rows[i]
        x = n
        for _ in range(STEPS):
            inside, slope = 0.0, 0.0
            for f in range(groups):
                wanted = masses[f] * x
                inside += min(wanted, amounts[f])
                slope += masses[f] if wanted < amounts[f] else 0.0
            excess = weight * inside - (1.0 - t) * x + tolerance * n
            fall = weight * slope - (1.0 - t) - tolerance
            if excess >= 0.0 or fall >= 0.0:
                break
            x -= excess / fall
            if x < k:
                break
        kept = int(np.floor(max(x, 0.0) * (1.0 + 1e-12) + 1e-6))
        least[i] = rows[i] if kept < k else max(least[i], min(rows[i], max(1, rows[i] - kept)))
    return doubtful
