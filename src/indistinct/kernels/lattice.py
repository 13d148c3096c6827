"""Bookkeeping of a search over a lattice of level vectors.

A node is the vector int64[d] of the positions of its levels; its number is their scalar product with ``strides``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]


@kernel
def _expand(
    values: Float64, numbers: Int64, terms: Float64, node: Int64, strides: Int64, first: int, last: int
) -> None:
    """Write the sum of ``terms`` and the number of every vector below ``node``, attributes first..last-1."""
    values[0], numbers[0] = 0.0, 0
    length = 1
    for a in range(first, last):
        for p in range(node[a], -1, -1):  # downwards: position 0 overwrites what the others are made from
            for i in range(length):
                values[p * length + i] = values[i] + terms[a, p]
                numbers[p * length + i] = numbers[i] + p * strides[a]
        length *= node[a] + 1


@kernel
def tighten(bound: Float64, node: Int64, strides: Int64, base: Float64, relief: Float64, least: int, rows: int) -> None:
    """Raise the bound of every node D <= ``node`` to base(D) + (``least`` - relief(D)) / ``rows``.

    base(D) and relief(D) are the sums over a of ``base[a, D[a]]`` and ``relief[a, D[a]]``. ``rows`` = 0 closes all
    these nodes: their bound becomes infinite.
    """
    half, size, cut = 1, 1, 0
    for a in range(len(node)):
        size *= node[a] + 1
    while cut < len(node) and half * half < size:
        half *= node[cut] + 1
        cut += 1
    terms = np.zeros(base.shape)
    total = np.inf
    if rows > 0:
        total = least / rows
        for a in range(len(node)):
            for p in range(node[a] + 1):
                terms[a, p] = base[a, p] - relief[a, p] / rows
    outer, outer_numbers = np.empty(half), np.empty(half, np.int64)
    inner, inner_numbers = np.empty(size // half), np.empty(size // half, np.int64)
    _expand(outer, outer_numbers, terms, node, strides, 0, cut)
    _expand(inner, inner_numbers, terms, node, strides, cut, len(node))
    for i in range(half):
        for j in range(size // half):
            number = outer_numbers[i] + inner_numbers[j]
            bound[number] = max(bound[number], total + (outer[i] + inner[j]))


@kernel
def next_open(order: Int64, bound: Float64, first: int, cutoff: float) -> int:
    """Return the first place i >= ``first`` with ``bound[order[i]] <= cutoff``, or ``len(order)``."""
    for i in range(first, len(order)):
        if bound[order[i]] <= cutoff:
            return i
    return len(order)


@kernel
def smallest_below(stored: Int64, sizes: Int64, used: int, node: Int64) -> int:
    """Return which of the first ``used`` nodes in ``stored`` that are <= ``node`` has the smallest size, or -1."""
    best = -1
    for i in range(used):
        if best >= 0 and sizes[i] >= sizes[best]:
            continue
        below = True
        for a in range(len(node)):
            if stored[i, a] > node[a]:
                below = False
                break
        if below:
            best = i
    return best


@kernel
def box_bound(
    provers: Int64,
    least: Int64,
    relief: Float64,
    known: int,
    base: Float64,
    low: Int64,
    high: Int64,
    limit: int,
    rows: int,
) -> float:
    """Lower bound of the loss of all nodes D with ``low`` <= D <= ``high``; infinite when none can be feasible.

    Each of the first ``known`` ``provers`` N >= ``high`` proves base(D) + (``least`` - relief(D)) / ``rows``, the terms
    as in ``tighten``; its minimum over the box is taken attribute by attribute.
    """
    best = 0.0
    for a in range(len(low)):
        best += base[a, low[a]]
    for i in range(known):
        above = True
        for a in range(len(low)):
            if provers[i, a] < high[a]:
                above = False
                break
        if not above:
            continue
        if least[i] > limit:
            return np.inf
        bound = least[i] / rows
        for a in range(len(low)):
            term = np.inf
            for p in range(low[a], high[a] + 1):
                term = min(term, base[a, p] - relief[i, a, p] / rows)
            bound += term
        best = max(best, bound)
    return best
