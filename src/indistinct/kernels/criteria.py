"""Whether a class satisfies a model, and if not, how many rows must go: what compiled searches ask.

Arguments of the two public functions: ``kind`` one of the constants below; ``parameters`` float64[.];
``counts`` int64[m], rows of the class by code of the criterion's attribute (not read by ``K``); ``rows`` its
rows; ``size`` its persons where there is a person key, else its rows; ``shares`` float64[m], the reference
distribution; ``tree`` int32[H + 1, m], the node of each value at each height (``T_HIERARCHICAL`` only).

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
each of the m - 1 cuts of the order (ordered). Both functions below rest on this one form.

Why ``removable`` bounds what a search must suppress: a refinement splits a class and drops some parts; under
a merge-closed model the union of the kept parts is a satisfying part of the class.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

K, ALPHA, DISTINCT, ENTROPY, RECURSIVE, T_ORDERED, T_EQUAL, T_HIERARCHICAL = 0, 1, 2, 3, 4, 5, 6, 7

# a violation nearer to 0 than this is undecided: rounding may have caused its sign
BAND = 1e-9


@kernel
def _distinct(counts: Int64) -> int:
    found = 0
    for count in counts:
        if count > 0:
            found += 1
    return found


@kernel
def _is_even(counts: Int64) -> bool:
    """Whether all values that occur have the same number of rows."""
    first = 0
    for count in counts:
        if count > 0:
            if first > 0 and count != first:
                return False
            first = count
    return True


@kernel
def _entropy(counts: Int64, rows: int) -> float:
    total = 0.0
    for count in counts:
        if count > 0:
            share = count / rows
            total -= share * log(share)
    return total


@kernel
def _top_and_tail(counts: Int64, rows: int, length: int) -> tuple[int, int]:
    """Largest count, and rows minus the ``length`` - 1 largest counts."""
    kept = max(1, min(length - 1, len(counts)))
    top = np.zeros(kept, np.int64)  # the largest counts so far, descending
    for count in counts:
        if count > top[kept - 1]:
            place = kept - 1
            while place > 0 and top[place - 1] < count:
                top[place] = top[place - 1]
                place -= 1
            top[place] = count
    tail = rows
    if length > 1:
        tail -= top.sum()
    return top[0], tail


@kernel
def _largest(parameters: Float64, counts: Int64) -> int:
    """Rows of the most frequent of the values that ``ALPHA`` concerns."""
    concerned = len(parameters) - 1
    largest = 0
    for i in range(concerned if concerned > 0 else len(counts)):
        count = counts[int(parameters[i + 1])] if concerned > 0 else counts[i]
        largest = max(largest, count)
    return largest


@kernel
def _alpha_slack(parameters: Float64, counts: Int64, rows: int, x: float) -> tuple[float, float]:
    """Most rows that x kept rows may have by their caps, minus x; with the slope."""
    alpha = parameters[0]
    value, slope = float(rows) - x, -1.0
    concerned = len(parameters) - 1
    for i in range(concerned if concerned > 0 else len(counts)):
        count = counts[int(parameters[i + 1])] if concerned > 0 else counts[i]
        if alpha * x < count:
            value += alpha * x - count
            slope += alpha
    return value, slope


@kernel
def _equal_overlap(counts: Int64, shares: Float64, x: float) -> tuple[float, float]:
    """Sum over values of min(count, share x), and its slope in x."""
    value, slope = 0.0, 0.0
    for i in range(len(counts)):
        wanted = shares[i] * x
        if wanted < counts[i]:
            value += wanted
            slope += shares[i]
        else:
            value += counts[i]
    return value, slope


@kernel
def _tree_overlap(counts: Int64, shares: Float64, tree: Int32, x: float) -> tuple[float, float]:
    """Mean over the heights below the root of the overlap of their nodes, and its slope."""
    height, values = len(tree) - 1, len(counts)
    value, slope = 0.0, 0.0
    for level in range(height):
        node = tree[level]
        i = 0
        while i < values:  # a node is a contiguous run of values
            count, share, first = 0, 0.0, node[i]
            while i < values and node[i] == first:
                count += counts[i]
                share += shares[i]
                i += 1
            if share * x < count:
                value += share * x
                slope += share
            else:
                value += count
    return value / height, slope / height


@kernel
def _order_overlap(counts: Int64, shares: Float64, last_first: float, rows: int, x: float) -> tuple[float, float]:
    """Mean over the cuts of the order of the overlap of their two sides, and its slope."""
    values = len(counts)
    value, slope = 0.0, 0.0
    below, share = 0, 0.0
    for i in range(values - 1):
        at = i
        if last_first > 0.0:
            at = i - 1 if i > 0 else values - 1
        below += counts[at]
        share += shares[at]
        if share * x < below:
            value += share * x
            slope += share
        else:
            value += below
        if (1.0 - share) * x < rows - below:
            value += (1.0 - share) * x
            slope += 1.0 - share
        else:
            value += rows - below
    return value / (values - 1), slope / (values - 1)


@kernel
def _overlap(
    kind: int, parameters: Float64, counts: Int64, rows: int, shares: Float64, tree: Int32, x: float
) -> tuple[float, float]:
    """Upper bound of x (1 - EMD) over all x rows of the class (exact for x = rows), and its slope."""
    if len(counts) < 2 or (kind == T_HIERARCHICAL and len(tree) < 2):
        return x, 1.0
    if kind == T_EQUAL:
        return _equal_overlap(counts, shares, x)
    if kind == T_ORDERED:
        last_first = parameters[1] if len(parameters) > 1 else 0.0
        return _order_overlap(counts, shares, last_first, rows, x)
    return _tree_overlap(counts, shares, tree, x)


@kernel
def violation(
    kind: int, parameters: Float64, counts: Int64, rows: int, size: int, shares: Float64, tree: Int32
) -> float:
    """How far a class is from satisfying a criterion: < 0 satisfied, > 0 violated, |v| < ``BAND`` undecided.

    The value is a double and only a filter: an undecided class is settled by the exact test of its model.
    ``K`` and ``DISTINCT`` are never undecided; nor are an evenly spread class (``ENTROPY``) and equality as
    doubles (``ALPHA``, ``RECURSIVE``): the models choose the parameters so that these are exact. Needs rows
    >= 1.

    >>> none = np.zeros(0), np.zeros((0, 0), np.int32)
    >>> violation(ALPHA, np.array([0.5]), np.array([3, 1]), 4, 4, *none)
    0.25
    """
    if kind == K:
        value = float(parameters[0]) - size - 0.5
    elif kind == DISTINCT:
        value = float(parameters[0]) - min(size, _distinct(counts)) - 0.5
    elif kind == ENTROPY:
        value = log(parameters[0]) - _entropy(counts, rows)
        if abs(value) < BAND and _is_even(counts):
            value = -2.0 * BAND if _distinct(counts) >= parameters[0] else 2.0 * BAND
    elif kind == RECURSIVE:
        largest, tail = _top_and_tail(counts, rows, int(parameters[1]))
        c = float(parameters[0])
        value = (largest - c * tail) / (rows * max(1.0, c))
        if largest == c * tail:  # strict: equality is a violation
            value = 2.0 * BAND
    elif kind == ALPHA:
        value = _largest(parameters, counts) / rows - float(parameters[0])
        if value == 0.0:
            value = -2.0 * BAND
    else:
        overlap, _ = _overlap(kind, parameters, counts, rows, shares, tree, float(rows))
        value = 1.0 - overlap / rows - float(parameters[0])
    return value


@kernel
def _entropy_removable(length: float, counts: Int64, rows: int) -> int:
    """Cap the largest count: with top share p the entropy is at most h(p) + (1 - p) ln(values - 1)."""
    values, largest = _distinct(counts), 0
    for count in counts:
        largest = max(largest, count)
    if values < length * (1.0 - 1e-12):
        return rows
    low, high = 1.0 / values, 1.0  # at high the bound is below ln l
    for _ in range(20):
        p = 0.5 * (low + high)
        most = -p * log(p) - (1.0 - p) * log(1.0 - p) + (1.0 - p) * log(values - 1.0)
        if most < log(length) - 1e-12:
            high = p
        else:
            low = p
    if high >= 1.0:
        return 0
    return int(largest - np.floor(high / (1.0 - high) * (rows - largest) * (1.0 + 1e-12) + 1e-9))


@kernel
def _recursive_removable(c: float, length: int, counts: Int64, rows: int) -> int:
    """Cap all counts: the tail of what is kept is at most that of the class."""
    _, tail = _top_and_tail(counts, rows, length)
    cap = int(min(np.ceil(c * tail * (1.0 + 1e-12) + 1e-9) - 1.0, float(rows)))
    removed = 0
    for count in counts:
        removed += max(0, count - cap)
    return removed


@kernel
def _kept(kind: int, parameters: Float64, counts: Int64, rows: int, shares: Float64, tree: Int32) -> float:
    """Upper bound of the rows of a satisfying sub-multiset, for ``ALPHA`` and the distances.

    x rows can satisfy only if g(x) >= 0, where g (cap slack, or overlap - (1 - t) x) is concave, g(0) >= 0:
    Newton's steps from the right stay above its root.
    """
    x = float(rows)
    tolerance = 1e-12 + 1e-15 * len(counts)  # above the rounding of value / x and of slope: steps fall short
    for _ in range(12):
        if kind == ALPHA:
            value, slope = _alpha_slack(parameters, counts, rows, x)
        else:
            overlap, growth = _overlap(kind, parameters, counts, rows, shares, tree, x)
            value, slope = overlap - (1.0 - parameters[0]) * x, growth - (1.0 - parameters[0])
        value += tolerance * rows
        slope -= tolerance
        if value >= 0.0 or slope >= 0.0:
            break
        x -= value / slope
        if x <= 0.0:
            return 0.0
    return x


@kernel
def removable(kind: int, parameters: Float64, counts: Int64, rows: int, size: int, shares: Float64, tree: Int32) -> int:
    """Lower bound of the rows to remove from a class until it is empty or satisfies the criterion.

    0 when the class satisfies it or is undecided, at least 1 when it is violated, ``rows`` when no part of it
    can satisfy. Rounding always errs to the small side.

    >>> none = np.zeros(0), np.zeros((0, 0), np.int32)
    >>> removable(ALPHA, np.array([0.5]), np.array([3, 1]), 4, 4, *none)
    2
    """
    if violation(kind, parameters, counts, rows, size, shares, tree) < BAND:
        return 0
    if kind == K or kind == DISTINCT:
        return rows
    if kind == ENTROPY:
        bound = _entropy_removable(parameters[0], counts, rows)
    elif kind == RECURSIVE:
        bound = _recursive_removable(parameters[0], int(parameters[1]), counts, rows)
    else:
        kept = _kept(kind, parameters, counts, rows, shares, tree)
        bound = rows - int(np.floor(kept * (1.0 + 1e-12) + 1e-6))
    return min(rows, max(1, bound))
