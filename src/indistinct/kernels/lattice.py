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
) -> int:
    """Write the sum of ``terms`` and the number of every vector below ``node`` over attributes first..last-1."""
    values[0], numbers[0] = 0.0, 0
    length = 1
    for a in range(first, last):
        for p in range(
            node[a], -1, -1
        ):  # downwards: position 0 overwrites the part that the others are made from
            for i in range(length):
                values[p * length + i] = values[i] + terms[a, p]
                numbers[p * length + i] = numbers[i] + p * strides[a]
        length *= node[a] + 1
    return length


@kernel
def tighten(bound: Float64, node: Int64, strides: Int64, total: float, terms: Float64) -> None:
    """Raise ``bound[D]`` to ``total`` + sum over a of ``terms[a, D[a]]`` for every node D <= ``node``."""
    half, size, cut = 1, 1, 0
    for a in range(len(node)):
        size *= node[a] + 1
    while cut < len(node) and half * half < size:
        half *= node[cut] + 1
        cut += 1
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
