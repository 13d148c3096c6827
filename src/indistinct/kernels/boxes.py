"""What a box of codes costs: the compiled form of ``Hierarchy.cost``.

A *box* holds the smallest and the largest code of a class in each attribute, and of attributes that are published as
sets the values that occur, one bit each. Its loss is the weighted sum of the LM costs over the attributes, with
weights scaled to a mean of 1: a box that hides everything loses d. Boxes that no label covers lose ``NEVER``.

Boxes are rows of numbers (``Units.reach``): ends of codes, joined by maximum, up to ``Costs.ends``, then words of
``BITS`` values each, joined by OR. ``clear``, ``widen`` and ``copy`` are the only places that know it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.kernels import inlined, lean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

NEVER = 1e9
TABLE, RANGE, LEVELS, SET = 0, 1, 2, 3
# values in a word: the sign is left alone
BITS = 31
# columns of ``Costs.spec``
FORM, AT, CODES, MORE, FIRST, WORDS, MOST = range(7)
EMPTY = -(1 << 30)


class Costs(NamedTuple):
    """Costs of all attributes in flat arrays.

    ``spec`` int64[d, 7]: kind, start in ``value``, number of codes, and the code of the missing value or -1 (RANGE,
    SET) or the number of levels (LEVELS); of SET also the first word, the number of words and the most values that are
    published as a set. ``value`` float64[.]: LEVELS, for each level and code the cost of its node, which ``node``
    int32[.] names at the same place; TABLE, the cost of each pair of codes; RANGE, the lower bounds, the upper bounds,
    and the cost of mixing missing and present values; SET, the cost of each pair as in TABLE, then of 0, 1, .. values.
    ``ends``: where the words of boxes begin.
    """

    spec: Int64
    value: Float64
    node: Int32
    ends: int


@inlined
def clear(box: Int32, ends: int) -> None:
    """Make a box empty."""
    for i in range(ends):
        box[i] = EMPTY
    for i in range(ends, len(box)):
        box[i] = 0


@inlined
def copy(box: Int32, other: Int32) -> None:
    """Make a box equal to another."""
    for i in range(len(box)):
        box[i] = other[i]


@inlined
def widen(box: Int32, other: Int32, ends: int) -> None:
    """Make a box the smallest that covers itself and another."""
    for i in range(ends):
        box[i] = max(box[i], other[i])
    for i in range(ends, len(box)):
        box[i] |= other[i]


def hull(reach: Int32, ends: int) -> Int32:
    """Smallest box, int32[w], over the rows of ``reach``."""
    return np.concatenate([reach[:, :ends].max(axis=0), np.bitwise_or.reduce(reach[:, ends:], axis=0)])


def words_of(codes: Int32, size: int) -> Int32:
    """int32[n, w]: the bit of each of ``size`` codes in words of ``BITS``."""
    words = np.zeros((len(codes), -(-size // BITS)), np.int32)
    words[np.arange(len(codes)), codes // BITS] = np.int32(1) << codes % BITS
    return words


@inlined
def _ones(word: int) -> int:
    """Count the bits of a word of ``BITS``, in pairs, fours and bytes."""
    x = np.int64(word)
    x -= (x >> 1) & 0x55555555
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F
    return (x * 0x01010101 >> 24) & 0xFF


@inlined
def swapped_loss(costs: Costs, box: Int32, inner: Int32, ties: Int32, gone: Int32, new: Int32) -> float:
    """Weighted loss of a class after one member has gone and one is new.

    All are given as ``Units.reach``: highest codes, then negatives of the lowest, then words. ``inner`` holds what the
    box shrinks to where a member that alone reaches its side (``ties`` = 1) goes, in words the values that occur twice.
    ``new`` = ``inner``: nobody is new. The loop is written out because array records that cross a call
    cost more than all the look-ups.
    """
    d = len(costs.spec)
    total = 0.0
    for a in range(d):
        hi, lo = box[a], box[d + a]
        hi = max(inner[a] if hi == gone[a] and ties[a] == 1 else hi, new[a])
        lo = -max(inner[d + a] if lo == gone[d + a] and ties[d + a] == 1 else lo, new[d + a])
        at, size = costs.spec[a, AT], costs.spec[a, CODES]
        if costs.spec[a, FORM] == TABLE:
            total += costs.value[at + lo * size + hi]
        elif costs.spec[a, FORM] == RANGE:
            if hi != costs.spec[a, MORE]:
                total += costs.value[at + size + hi] - costs.value[at + lo]
            elif lo != hi:
                total += costs.value[at + 2 * size]
        elif costs.spec[a, FORM] == SET:
            first, values = costs.spec[a, FIRST], 0
            for w in range(first, first + costs.spec[a, WORDS]):
                values += _ones((box[w] & ~(gone[w] & ~inner[w])) | new[w])
            if values > costs.spec[a, MOST] or (lo != hi and hi == costs.spec[a, MORE]):
                total += costs.value[at + lo * size + hi]
            else:
                total += costs.value[at + size * size + values]
        else:
            left = costs.spec[a, MORE]
            while left > 0 and costs.node[at + lo] != costs.node[at + hi]:
                at += size
                left -= 1
            total += costs.value[at + lo] if left > 0 else NEVER
    return total


@inlined
def union_loss(costs: Costs, box: Int32, other: Int32) -> float:
    """Weighted loss of the smallest box over two."""
    return swapped_loss(costs, box, box, box, box, other)


@lean
def union_losses(costs: Costs, box: Int32, reach: Int32, units: Int64, result: Float64) -> None:
    """Write to ``result`` the loss of the smallest box over ``box`` and each of the ``units``."""
    for i in range(len(units)):
        result[i] = union_loss(costs, box, reach[units[i]])
