"""Which published label tuples cover which persons: a walk through the tree of tuples, one person after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]


@kernel
def match_persons(
    persons: Int32,
    label: Int32,
    child: Int32,
    cover: Int64,
    bits: NDArray[np.bool_],
    begin: int,
    frontier: Int32,
    out: Int32,
    end: Int64,
) -> int:
    """List the leaves that cover each person from ``begin`` on, while ``out`` has room; return the next person.

    ``persons`` int32[p, d]: values by rank, sorted, -1 matches every label. The tree of tuples: its nodes are numbered
    level by level, ``label`` int32[nodes] indexes ``cover``, ``child`` int32[nodes + 1] the first child (the first
    nodes up to ``child[0]`` are those of level 0). ``cover`` int64[labels, 3]: lowest and highest rank, and where in
    ``bits`` the ranks from the lowest on are told one by one, or -1 for a run. ``frontier`` int32[d, .] is working
    space for the nodes reached at each level; persons with a common beginning share them. ``end[i]`` is where the
    leaves of person begin + i end in ``out``.
    """
    people, depth = persons.shape
    reached = np.zeros(depth, np.int64)
    used = 0
    number = begin
    while number < people:
        level = 0
        if number > begin:
            while level < depth - 1 and persons[number, level] == persons[number - 1, level]:
                level += 1
        while level < depth:
            value = persons[number, level]
            count = 0
            parents = 1 if level == 0 else reached[level - 1]
            for position in range(parents):
                first, stop = 0, child[0]
                if level > 0:
                    node = frontier[level - 1, position]
                    first, stop = child[node], child[node + 1]
                for node in range(first, stop):
                    own = label[node]
                    if value >= 0:
                        if value < cover[own, 0] or value > cover[own, 1]:
                            continue
                        if cover[own, 2] >= 0 and not bits[cover[own, 2] + value - cover[own, 0]]:
                            continue
                    frontier[level, count] = node
                    count += 1
            reached[level] = count
            level += 1
        found = reached[depth - 1]
        if used + found > len(out):
            break
        for position in range(found):
            out[used + position] = frontier[depth - 1, position]
        used += found
        end[number - begin] = used
        number += 1
    return number
