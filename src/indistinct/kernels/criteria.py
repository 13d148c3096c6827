"""Whether a class satisfies a criterion, and if not, how many rows must go: what compiled searches ask.

| kind | parameters | violation |
| --- | --- | --- |
| ``K`` | k | k - size - 1/2 |
| ``ALPHA`` | alpha, codes concerned (none: all) | largest share - alpha |
| ``DISTINCT`` | l | l - min(distinct values, size) - 1/2 |
| ``ENTROPY`` | l | ln l - H |
| ``RECURSIVE`` | c, l | (r_1 - c tail) / (rows max(1, c)) |
| ``T_ORDERED`` | t, 1 if the last code stands first in the order | EMD - t |
| ``T_EQUAL``, ``T_HIERARCHICAL`` | t | EMD - t |

All three earth mover's distances are means of total variations: over the values (equal), over the nodes of
each height below the root (hierarchical: an edge of a tree of height H weighs 1 / 2H), over the two sides of
each of the m - 1 cuts of the order (ordered). ``Prepared`` brings them into one form: groups of values with
masses, in sets that each add up to 1; a distance is 1 - the mean over the sets of the overlap of their groups.

Each criterion stands here once. ``violation`` and ``removable`` ask about one class; ``kernels.judges`` about all
classes of a node, with what does not depend on a class prepared; ``kernels.guards`` about the few values that occur in
a small class of a search: what a criterion sums over its counts is the same whether or not the zeros are among them.

Why ``removable`` bounds what a search must suppress: a refinement splits a class and drops some parts; under
a merge-closed model the union of the kept parts is a satisfying part of the class.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import inlined, kernel, step
from indistinct.kernels.caps import cap_ratio, cap_ratios, entropy_gone, recursive_gone

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

K, ALPHA, DISTINCT, ENTROPY, RECURSIVE, T_ORDERED, T_EQUAL, T_HIERARCHICAL = 0, 1, 2, 3, 4, 5, 6, 7

# a violation nearer to 0 than this is undecided: rounding may have caused its sign. The sums have at most some
# thousand terms of at most 1, so that their rounding stays below 1e-12; the rest is margin
BAND = 1e-9
# of Newton's iteration for the rows that can be kept. In 20,000 classes of 6 and of 40 values, 3 steps found 96 to
# 100 % of the rows that 12 find, in about nine tenths of the time; one class is asked about once, and may take its time
STEPS, STEPS_OF_ONE = 3, 12


class Prepared(NamedTuple):
    """A criterion with what does not depend on a class.

    ``parameters`` float64[.]. ``order`` int32[m], the values in their order (``T_ORDERED``). ``masses`` float64[f] of
    the groups of a distance, each set of them with ``weight``; except in an order, group f is a part of ``parent[f]``,
    int32[f] (-1: of none). ``logarithms[c]`` = c ln c, as far as it goes, and ``ratios`` from ``cap_ratios``, if there
    are any (``ENTROPY``). Only read, so that threads may share it.
    """

    kind: int
    parameters: Float64
    order: Int32
    parent: Int32
    masses: Float64
    weight: float
    logarithms: Float64
    ratios: Float64


# --- what is summed over the counts of a class -------------------------------------------------------------------


@inlined
def distinct(counts: Int64, first: int, last: int) -> int:
    """How many values occur."""
    found = np.int64(0)
    for i in range(last - first):
        found += counts[first + i] > 0
    return found


@inlined
def spread(counts: Int64, first: int, last: int, rows: int, logarithms: Float64) -> tuple[float, int, int]:
    """Entropy, how many values occur, and the largest count."""
    total, values, largest = 0.0, np.int64(0), np.int64(0)
    for i in range(last - first):
        count = np.int64(counts[first + i])
        values += count > 0
        largest = max(largest, count)
        if count < len(logarithms):
            total += logarithms[count]
        elif count > 0:
            total += count * log(count)
    return log(rows) - total / rows, values, largest


@step
def notes_length(test: Prepared) -> int:
    """Room for what ``measure`` notes: two numbers, or the largest counts."""
    return max(2, int(test.parameters[1]) - 1) if test.kind == RECURSIVE else 2


@inlined
def top_and_tail(counts: Int64, first: int, last: int, rows: int, length: int, top: Int64) -> tuple[int, int]:
    """Largest count, and rows minus the ``length`` - 1 largest, which come to ``top`` int64[max(1, length - 1)]."""
    lowest = max(1, length - 1) - 1
    for i in range(lowest + 1):
        top[i] = 0
    for i in range(last - first):
        count = np.int64(counts[first + i])
        place = lowest
        if count > top[place]:
            while place > 0 and top[place - 1] < count:
                top[place] = top[place - 1]
                place -= 1
            top[place] = count
    tail = np.int64(rows)
    if length > 1:
        for i in range(lowest + 1):
            tail -= top[i]
    return top[0], tail


@inlined
def _largest(parameters: Float64, counts: Int64, first: int, last: int) -> int:
    """Rows of the most frequent of the values that ``ALPHA`` concerns."""
    concerned = len(parameters) - 1
    largest = np.int64(0)
    for i in range(concerned if concerned > 0 else last - first):
        count = counts[first + int(parameters[i + 1])] if concerned > 0 else counts[first + i]
        largest = max(largest, np.int64(count))
    return largest


@inlined
def _overlap(test: Prepared, counts: Int64, first: int, last: int, rows: int, amounts: Float64) -> float:
    """Overlap of all groups of a distance together; their rows in the class go to ``amounts`` float64[f]."""
    masses, n, inside = test.masses, float(rows), 0.0
    if test.kind == T_ORDERED:
        below = np.int64(0)
        for cut in range(last - first - 1):
            below += counts[first + test.order[cut]]
            amounts[2 * cut] = below
            amounts[2 * cut + 1] = n - below
            inside += n - abs(below - masses[2 * cut] * n)  # both sides together
        return inside
    for v in range(last - first):
        amounts[v] = counts[first + v]
    for f in range(last - first, len(masses)):
        amounts[f] = 0.0
    for f in range(len(masses)):  # a part comes before its whole
        if test.parent[f] >= 0:
            amounts[test.parent[f]] += amounts[f]
        inside += min(masses[f] * n, amounts[f])
    return inside


# --- the criteria: how far a class is from satisfying them -------------------------------------------------------


@inlined
def alpha_over(alpha: float, largest: int, rows: int) -> float:
    """Largest share above alpha; equality as doubles is allowed."""
    value = largest / rows - alpha
    return -2.0 * BAND if value == 0.0 else value


@inlined
def distinct_over(least: float, found: int) -> float:
    """Missing distinct values, never near to 0."""
    return least - found - 0.5


@inlined
def entropy_over(least: float, entropy: float, values: int, largest: int, rows: int) -> float:
    """Missing entropy. Where all counts are equal it is exactly the logarithm of the number of values."""
    value = log(least) - entropy
    if abs(value) < BAND and largest * values == rows:
        return -2.0 * BAND if values >= least else 2.0 * BAND
    return value


@inlined
def recursive_over(c: float, largest: int, tail: int, rows: int) -> float:
    """Excess of the largest count over c times the tail, as a share; strict, so that equality is a violation."""
    if largest == c * tail:
        return 2.0 * BAND
    return (largest - c * tail) / (rows * max(1.0, c))


@inlined
def measure(  # noqa: PLR0911  # one for each criterion
    test: Prepared, counts: Int64, first: int, last: int, rows: int, size: int, amounts: Float64, notes: Int64
) -> float:
    """``violation`` of a prepared criterion; leaves in ``amounts`` and ``notes`` what ``gone`` reads."""
    parameters = test.parameters
    if test.kind == DISTINCT:
        return distinct_over(parameters[0], min(size, distinct(counts, first, last)))
    if test.kind == ENTROPY:
        entropy, values, largest = spread(counts, first, last, rows, test.logarithms)
        notes[0], notes[1] = values, largest
        return entropy_over(parameters[0], entropy, values, largest, rows)
    if test.kind == RECURSIVE:
        largest, tail = top_and_tail(counts, first, last, rows, int(parameters[1]), notes)
        notes[0] = tail
        return recursive_over(parameters[0], largest, tail, rows)
    if test.kind == ALPHA:
        return alpha_over(parameters[0], _largest(parameters, counts, first, last), rows)
    if test.kind == K:
        return distinct_over(parameters[0], size)
    if len(test.masses) == 0:  # one value, or a tree of a root
        return 0.0 - parameters[0]
    overlap = _overlap(test, counts, first, last, rows, amounts)
    return 1.0 - test.weight * overlap / rows - parameters[0]


# --- how many rows must go ----------------------------------------------------------------------------------------


@inlined
def _alpha_slack(parameters: Float64, counts: Int64, first: int, last: int, rows: int, x: float) -> tuple[float, float]:
    """Most rows that x kept rows may have by their caps, minus x; with the slope."""
    alpha = parameters[0]
    value, slope = float(rows) - x, -1.0
    concerned = len(parameters) - 1
    for i in range(concerned if concerned > 0 else last - first):
        count = counts[first + int(parameters[i + 1])] if concerned > 0 else counts[first + i]
        if alpha * x < count:
            value += alpha * x - count
            slope += alpha
    return value, slope


@inlined
def _distance_slack(test: Prepared, amounts: Float64, x: float) -> tuple[float, float]:
    """Most overlap of x kept rows, minus what they need; with the slope."""
    inside, slope = 0.0, 0.0
    for f in range(len(test.masses)):
        wanted = test.masses[f] * x
        inside += min(wanted, amounts[f])
        slope += test.masses[f] if wanted < amounts[f] else 0.0
    needed = 1.0 - test.parameters[0]
    return test.weight * inside - needed * x, test.weight * slope - needed


@inlined
def _holds_within(
    test: Prepared, counts: Int64, first: int, last: int, rows: int, amounts: Float64, k: int, steps: int
) -> int:
    """Upper bound of the rows of a satisfying sub-multiset, for ``ALPHA`` and the distances.

    x rows can satisfy only if their slack is >= 0, which is concave in x, and >= 0 at 0: Newton's steps from the right
    stay above its root, however few they are; they end below ``k``.
    """
    x = float(rows)
    # above the rounding of value / x and of slope: steps fall short
    tolerance = 1e-12 + 1e-15 * max(last - first, len(test.masses))
    for _ in range(steps):
        if test.kind == ALPHA:
            value, slope = _alpha_slack(test.parameters, counts, first, last, rows, x)
        else:
            value, slope = _distance_slack(test, amounts, x)
        value += tolerance * rows
        slope -= tolerance
        if value >= 0.0 or slope >= 0.0:
            break
        x -= value / slope
        if x < k:
            break
    return np.int64(np.floor(max(x, 0.0) * (1.0 + 1e-12) + 1e-6))


@inlined
def gone(
    test: Prepared,
    counts: Int64,
    first: int,
    last: int,
    rows: int,
    amounts: Float64,
    notes: Int64,
    k: int,
    steps: int,
) -> int:
    """``removable`` of a class that ``measure`` has just found to violate a prepared criterion.

    ``rows`` too where fewer than ``k`` rows can be kept.
    """
    if test.kind == K or test.kind == DISTINCT:
        return rows
    if test.kind == ENTROPY:
        values, largest = notes[0], notes[1]
        ratio = test.ratios[values] if len(test.ratios) > 0 else cap_ratio(test.parameters[0], values)
        bound = entropy_gone(ratio, largest, rows)
    elif test.kind == RECURSIVE:
        bound = recursive_gone(test.parameters[0], notes[0], counts, first, last, rows)
    else:
        bound = rows - _holds_within(test, counts, first, last, rows, amounts, k, steps)
    return rows if rows - bound < k else min(rows, max(np.int64(1), bound))


# --- one class ----------------------------------------------------------------------------------------------------


@kernel
def prepared(
    kind: int, parameters: Float64, shares: Float64, tree: Int32, logarithms: Float64, values: int
) -> Prepared:
    """Prepare a criterion for classes of ``values`` values (-1: of one class, which needs no ``ratios``).

    ``shares`` float64[m], the reference distribution; ``tree`` int32[H + 1, m], the node of each value at each height
    (``T_HIERARCHICAL`` only): a node is a run of values, numbered from 0.
    """
    m = len(shares)
    groups, sets = 0, 1
    order = np.empty(m if kind == T_ORDERED else 0, np.int32)
    if kind == T_ORDERED and m > 1:
        groups, sets = 2 * (m - 1), m - 1
    elif kind == T_EQUAL and m > 1:
        groups = m
    elif kind == T_HIERARCHICAL and m > 1 and len(tree) > 1:
        sets = len(tree) - 1
        for height in range(sets):
            groups += tree[height, m - 1] + 1
    parent, masses = np.full(groups, -1, np.int32), np.zeros(groups)
    if kind == T_ORDERED:
        turned = 1 if len(parameters) > 1 and parameters[1] > 0.0 else 0
        below = 0.0
        for i in range(m):
            order[i] = (i - turned) % m
            below += shares[order[i]]
            if i < m - 1:
                masses[2 * i], masses[2 * i + 1] = below, 1.0 - below
    elif kind == T_EQUAL:
        for i in range(groups):
            masses[i] = shares[i]
    elif groups > 0:
        start = 0
        for height in range(sets):
            after = start + tree[height, m - 1] + 1
            for i in range(m):
                masses[start + tree[height, i]] += shares[i]
                if height + 1 < sets:
                    parent[start + tree[height, i]] = after + tree[height + 1, i]
            start = after
    ratios = np.empty(values + 1 if kind == ENTROPY else 0)
    if len(ratios) > 0:
        cap_ratios(parameters[0], ratios)
    return Prepared(kind, parameters, order, parent, masses, 1.0 / sets, logarithms, ratios)


@kernel
def violation(
    kind: int, parameters: Float64, counts: Int64, rows: int, size: int, shares: Float64, tree: Int32
) -> float:
    """How far a class is from satisfying a criterion: < 0 satisfied, > 0 violated, |v| < ``BAND`` undecided.

    ``kind`` is one of the constants above; ``counts`` int64[m], rows of the class by code of the criterion's attribute
    (not read by ``K``); ``rows`` its rows, at least 1; ``size`` its persons where there is a person key, else its rows;
    ``shares`` and ``tree`` as for ``prepared``.

    The value is a double and only a filter: an undecided class is settled by the exact test of its model.
    ``K`` and ``DISTINCT`` are never undecided; nor are an evenly spread class (``ENTROPY``) and equality as
    doubles (``ALPHA``, ``RECURSIVE``): the models choose the parameters so that these are exact.

    >>> none = np.zeros(0), np.zeros((0, 0), np.int32)
    >>> violation(ALPHA, np.array([0.5]), np.array([3, 1]), 4, 4, *none)
    0.25
    """
    test = prepared(kind, parameters, shares, tree, np.zeros(0), -1)
    amounts, notes = np.empty(len(test.masses)), np.empty(notes_length(test), np.int64)
    return measure(test, counts, 0, len(counts), rows, size, amounts, notes)


@kernel
def removable(kind: int, parameters: Float64, counts: Int64, rows: int, size: int, shares: Float64, tree: Int32) -> int:
    """Lower bound of the rows to remove from a class until it is empty or satisfies the criterion.

    0 when the class satisfies it or is undecided, at least 1 when it is violated, ``rows`` when no part of it
    can satisfy. Rounding always errs to the small side.

    >>> none = np.zeros(0), np.zeros((0, 0), np.int32)
    >>> removable(ALPHA, np.array([0.5]), np.array([3, 1]), 4, 4, *none)
    2
    """
    test = prepared(kind, parameters, shares, tree, np.zeros(0), -1)
    amounts, notes = np.empty(len(test.masses)), np.empty(notes_length(test), np.int64)
    if measure(test, counts, 0, len(counts), rows, size, amounts, notes) < BAND:
        return 0
    return gone(test, counts, 0, len(counts), rows, amounts, notes, 0, STEPS_OF_ONE)
