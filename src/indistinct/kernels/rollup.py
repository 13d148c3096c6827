"""Class tables of full-domain nodes: a table is made from that of any more special node, never from rows.

A class is known by the *representative* of its nodes: in every attribute the smallest code of the node. The codes
are bit fields of one int64 key, or of several (``words``) when 63 bits are too few; the representative of a more
general node replaces the field, one look-up per changed attribute.

Symbols: g classes, d attributes, W words per key; a *node* is the vector int64[d] of the positions of the levels.
``moves[starts[a, p] + code]`` is what to exclusive-or into the word of attribute a to reach its level p.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int8 = NDArray[np.int8]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]


@kernel
def pack(tuples: Int32, rows: Int64, words: Int64, shifts: Int64, offsets: Int64, keys: Int64, margins: Int64) -> None:
    """Pack codes int32[u, d] into ``keys`` int64[u, W] and count the rows of every code of every attribute.

    ``margins`` int64[.], zero before: attribute a counts its codes from ``offsets[a]``.
    """
    for i in range(len(tuples)):
        for a in range(tuples.shape[1]):
            code = np.int64(tuples[i, a])
            keys[i, words[a]] |= code << shifts[a]
            margins[offsets[a] + code] += rows[i]


@kernel
def roll_up(
    keys: Int64,
    rows: Int64,
    source: Int64,
    target: Int64,
    shifts: Int64,
    masks: Int64,
    starts: Int64,
    moves: Int64,
    slots: Int32,
    new_keys: Int64,
    new_rows: Int64,
    member: Int32,
) -> int:
    """Merge the classes of node ``source`` that are one class at node ``target``; returns their number.

    Keys of one word, int64[g]. ``slots`` int32[2^p], 2^p at least twice the number of new classes. Fills
    ``member[i]``, the new class of class i; new classes are numbered by first member.
    """
    for i in range(len(keys)):
        new_keys[i] = keys[i]
    for a in range(len(source)):
        if source[a] != target[a]:
            shift, mask, start = shifts[a], masks[a], starts[a, target[a]]
            for i in range(len(keys)):
                new_keys[i] ^= moves[start + ((new_keys[i] >> shift) & mask)]
    slots[:] = -1
    last = np.uint64(len(slots) - 1)
    found = 0
    for i in range(len(keys)):
        key = new_keys[i]
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        slot = (mixed ^ (mixed >> np.uint64(32))) & last
        while True:
            known = slots[slot]
            if known < 0:
                slots[slot] = found
                new_keys[found] = key  # found <= i: what it overwrites has been read
                new_rows[found] = rows[i]
                member[i] = found
                found += 1
                break
            if new_keys[known] == key:
                new_rows[known] += rows[i]
                member[i] = known
                break
            slot = (slot + np.uint64(1)) & last
    return found


@kernel
def roll_up_wide(
    keys: Int64,
    rows: Int64,
    source: Int64,
    target: Int64,
    words: Int64,
    shifts: Int64,
    masks: Int64,
    starts: Int64,
    moves: Int64,
    slots: Int32,
    new_keys: Int64,
    new_rows: Int64,
    member: Int32,
) -> int:
    """Do as ``roll_up`` with keys of several words, int64[g, W]."""
    slots[:] = -1
    last = np.uint64(len(slots) - 1)
    width = keys.shape[1]
    found = 0
    for i in range(len(keys)):
        for w in range(width):
            new_keys[found, w] = keys[i, w]
        for a in range(len(source)):
            if source[a] != target[a]:
                field = (keys[i, words[a]] >> shifts[a]) & masks[a]
                new_keys[found, words[a]] ^= moves[starts[a, target[a]] + field]
        mixed = np.uint64(0)
        for w in range(width):
            mixed = (mixed ^ np.uint64(new_keys[found, w])) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(32)
        slot = mixed & last
        while True:
            known = slots[slot]
            if known < 0:
                slots[slot] = found
                new_rows[found] = rows[i]
                member[i] = found
                found += 1
                break
            same = True
            for w in range(width):
                same &= new_keys[known, w] == new_keys[found, w]
            if same:
                new_rows[known] += rows[i]
                member[i] = known
                break
            slot = (slot + np.uint64(1)) & last
    return found


@kernel
def add_counts(counts: Int32, member: Int32, new_counts: Int32) -> None:
    """Add row i of ``counts`` [g, m] to row ``member[i]`` of ``new_counts``, zero before."""
    for i in range(len(counts)):
        into = member[i]
        for v in range(counts.shape[1]):
            new_counts[into, v] += counts[i, v]


@kernel
def scatter(owner: Int32, codes: Int32, rows: Int64, first: int, counts: Int32) -> None:
    """Add the rows of every cell to ``counts[owner, first + code]``; owner -1 is left out."""
    for i in range(len(owner)):
        if owner[i] >= 0:
            counts[owner[i], first + codes[i]] += rows[i]


@kernel
def add_persons(
    single: Int64, at: Int32, person: Int32, member: Int32, new_single: Int64, new_at: Int32, sizes: Int64
) -> None:
    """Count the distinct persons of every new class.

    ``single`` int64[g]: persons all of whose rows lie in one tuple of the class. ``at`` int32[.]: the old class of
    each (tuple, person) pair of the others, ``person`` int32[.] ascending. Fills ``new_at`` and ``sizes``; adds to
    ``new_single``, zero before.
    """
    seen = np.full(len(sizes), -1, np.int32)
    for i in range(len(single)):
        new_single[member[i]] += single[i]
    for i in range(len(sizes)):
        sizes[i] = new_single[i]
    for i in range(len(at)):
        into = member[at[i]]
        new_at[i] = into
        if seen[into] != person[i]:
            seen[into] = person[i]
            sizes[into] += 1


@kernel
def charge(
    keys: Int64,
    amounts: Int64,
    node: Int64,
    words: Int64,
    shifts: Int64,
    masks: Int64,
    offsets: Int64,
    free: Int8,
    sums: Int64,
) -> None:
    """Add ``amounts`` int64[g] by representative in every attribute whose level costs something.

    ``sums`` int64[.] is laid out as ``margins`` of ``pack``; ``free[a, p]`` = 1 skips attribute a at level p.
    """
    used = 0
    word, shift = np.empty(len(node), np.int64), np.empty(len(node), np.int64)
    mask, offset = np.empty(len(node), np.int64), np.empty(len(node), np.int64)
    for a in range(len(node)):
        if free[a, node[a]] == 0:
            word[used], shift[used], mask[used], offset[used] = words[a], shifts[a], masks[a], offsets[a]
            used += 1
    for i in range(len(amounts)):
        amount = amounts[i]
        if amount > 0:
            if keys.shape[1] == 1:
                key = keys[i, 0]
                for j in range(used):
                    sums[offset[j] + ((key >> shift[j]) & mask[j])] += amount
            else:
                for j in range(used):
                    sums[offset[j] + ((keys[i, word[j]] >> shift[j]) & mask[j])] += amount


@kernel
def relieve(
    node: Int64,
    offsets: Int64,
    free: Int8,
    nodes: Int64,
    starts: Int64,
    representatives: Int32,
    dearest_starts: Int64,
    dearest: Float64,
    sums: Int64,
    relief: Float64,
) -> float:
    """Fill ``relief[a, q]``, q <= node[a]: what the charged rows cost at most in attribute a at level q.

    Node i of attribute a at level p has representative ``representatives[starts[a, p] + i]`` and, at level q, its
    dearest part costs ``dearest[dearest_starts[a, p] + q * nodes[a, p] + i]``. Clears ``sums``. Returns what the
    charged rows cost at this node.
    """
    cost = 0.0
    for a in range(len(node)):
        p = node[a]
        for q in range(p + 1):
            relief[a, q] = 0.0
        if free[a, p] == 0:
            number = nodes[a, p]
            for i in range(number):
                at = offsets[a] + representatives[starts[a, p] + i]
                amount = sums[at]
                if amount > 0:
                    sums[at] = 0
                    for q in range(p + 1):
                        relief[a, q] += amount * dearest[dearest_starts[a, p] + q * number + i]
        cost += relief[a, p]
    return cost
