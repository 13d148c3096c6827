"""How many pairs (person, value) a class has in which no person and no value occurs twice: a largest matching."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]


@kernel
def largest_matching(start: Int64, value: Int64, begin: Int64, person: Int64, values: int, persons: int) -> Int64:
    """Match values to persons in each class, value by value along augmenting paths (breadth first).

    Value nodes of class c are ``start[c]:start[c + 1]``; those of node i are held by ``person[begin[i]:begin[i + 1]]``,
    each person once. ``value`` int64[.] is not read but for its length; ``persons``: numbers are below it. A class
    costs at most its values times its pairs.
    """
    found = np.zeros(len(start) - 1, np.int64)
    partner = np.full(persons, -1, np.int64)  # value node of each person
    seen = np.full(persons, -1, np.int64)  # the value node whose search met the person last
    before = np.empty(persons, np.int64)  # value node from which a search met the person
    queue = np.empty(max(1, values), np.int64)
    own = np.full(max(1, len(value)), -1, np.int64)  # person of each value node
    for c in range(len(start) - 1):
        for root in range(start[c], start[c + 1]):
            queue[0] = root
            head, tail, free = 0, 1, -1
            while head < tail and free < 0:
                node = queue[head]
                head += 1
                for e in range(begin[node], begin[node + 1]):
                    p = person[e]
                    if seen[p] == root:
                        continue
                    seen[p] = root
                    before[p] = node
                    if partner[p] < 0:
                        free = p
                        break
                    queue[tail] = partner[p]
                    tail += 1
            if free < 0:
                continue
            found[c] += 1
            while free >= 0:  # turn the path round
                node = before[free]
                other = own[node]
                own[node], partner[free] = free, node
                free = other
        for node in range(start[c], start[c + 1]):  # persons may be in other classes too
            if own[node] >= 0:
                partner[own[node]] = -1
    return found
