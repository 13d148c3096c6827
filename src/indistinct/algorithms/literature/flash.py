"""Flash: bisection of paths from the bottom up, in a fixed order of nodes.

    for every height from 0 on, for every node of it in the order below:
        if it is unknown: bisect the path from it
        while the queue holds nodes: take the first, bisect the path from each of its unknown successors

A *path* goes up from a node, each time to the first unknown successor in the order. Its bisection looks for the lowest
node that holds and puts every node that fails into the queue. A node that holds tags all above it, one that fails all
below it; that needs absorbing models, or merge-closed ones with nothing suppressed. For all others every node is judged
that no proof closes (``full_domain.tags``).

Order: height, then precision (the mean over attributes of level / height), then the mean number of distinct values,
then the vector of levels. Published is the node of least LM of *all* that hold, not of the minimal ones only: where
rows may be suppressed, a node above a minimal one can lose less. ``base``, the loss before suppression, bounds the loss
of a node from below and grows upwards, so few of them are looked at. The result is that of ``optimal``.

Source: F. Kohlmayer, F. Prasser, C. Eckert, A. Kemper, K. Kuhn, Flash: efficient, stable and optimal k-anonymity,
PASSAT 2012, doi:10.1109/SocialCom-PASSAT.2012.52 (the criteria of the order were not checked against it).
"""

from __future__ import annotations

from functools import partial
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.full_domain.choice import choose
from indistinct.algorithms.full_domain.tags import HOLDS, MARGIN, nodes_at
from indistinct.models.contract import EVERY_CLASS, LEVELS
from indistinct.policy.recoding import Flash

if TYPE_CHECKING:
    from indistinct.algorithms.full_domain.tags import Tags
    from indistinct.policy.document import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies

    Node = tuple[int, ...]
    Rank = tuple[int, float, float, Node]


def flash(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Find the full-domain recoding of least LM that holds all models, among all nodes that hold.

    Classes that violate a model are suppressed whole, at most ``floor(limit n)`` rows and never all.

    Raises InfeasibleError when no node holds, with the reason and the nearest target; PolicyError when the lattice has
    more than 10,000,000 nodes; whatever ``progress`` raises.
    """
    return choose(frequencies, policy, progress, _find, proven=True)


def _find(tags: Tags) -> list[Node]:
    top = tags.lattice.top
    if not tags.licensed:
        tags.settle()
        return _promising(tags)
    bottom, rank = (0,) * len(top), partial(_rank, tags)
    queue: list[Rank] = []
    for height in range(sum(top) + 1):
        for node in sorted(nodes_at(bottom, top, height), key=rank):
            if not tags.is_known(node):
                _bisect(tags, _path(tags, node), queue)
            while queue:
                for above in _successors(tags, heappop(queue)[-1]):
                    if not tags.is_known(above):
                        _bisect(tags, _path(tags, above), queue)
    return _promising(tags)


def _rank(tags: Tags, node: Node) -> Rank:
    lattice = tags.lattice
    steps = [(p / last if last else 0.0) for p, last in zip(node, lattice.top, strict=True)]
    values = [int(lattice.nodes[a, p]) for a, p in enumerate(node)]
    return sum(node), sum(steps) / max(len(node), 1), sum(values) / max(len(node), 1), node


def _successors(tags: Tags, node: Node) -> list[Node]:
    above = [(*node[:a], p + 1, *node[a + 1 :]) for a, p in enumerate(node) if p < tags.lattice.top[a]]
    return sorted(above, key=partial(_rank, tags))


def _path(tags: Tags, node: Node) -> list[Node]:
    """From an unknown node up, each time to the first unknown successor."""
    path = [node]
    while (above := next((n for n in _successors(tags, path[-1]) if not tags.is_known(n)), None)) is not None:
        path.append(above)
    return path


def _bisect(tags: Tags, path: list[Node], queue: list[Rank]) -> None:
    low, high = 0, len(path) - 1
    while low <= high:
        middle = (low + high) // 2
        if tags.holds(path[middle]):
            high = middle - 1
        else:
            heappush(queue, _rank(tags, path[middle]))
            low = middle + 1


def _promising(tags: Tags) -> list[Node]:
    """List the nodes that hold without those that ``base`` shows to lose more than another."""
    holding = np.argwhere(tags.state == HOLDS)
    base = sum((tags.lattice.base[a][holding[:, a]] for a in range(holding.shape[1])), np.zeros(len(holding)))
    found: list[Node] = []
    least = np.inf
    for i in np.argsort(base, kind="stable"):
        if base[i] > least + MARGIN:
            break
        found.append(tuple(holding[i].tolist()))
        least = min(least, tags.loss(found[-1]))
    return found


ALGORITHM = Algorithm(Flash, flash, "truthful", offers=frozenset({LEVELS, EVERY_CLASS}), by_level=True)
