"""Incognito: all nodes that hold, found by growing sets of attributes.

    for i = 1 .. d:
        for every set of i attributes, its nodes by height:
            drop a node that has a projection onto i - 1 attributes that fails   (subset property)
            a node that holds makes all nodes above it hold                      (generalization property)
            judge what is left

A class over fewer attributes is a union of classes over more, so both properties follow from closure: they are used
where every model is absorbing, or merge-closed with nothing suppressed. In all other cases a node is dropped only for a
projection that proves that every refinement suppresses too many rows (``full_domain.tags``), and no node is taken to
hold without being judged. A model that judges a release as a whole says nothing about projections, and may look at
more general levels (``n_t_closeness``), of which an added root would be one: there every node is judged as it is.

A node over a set of attributes is a node of the whole lattice with the others at a root, a level above the most general
one that merges all values, so class tables are rolled up as everywhere and no verdict is asked for twice.

Published is the node of least LM of the minimal set (nodes that hold with none below them that holds); ties of exact
loss go to the least height, then to the least vector of levels. Where nothing is suppressed that is the optimum.

Source: K. LeFevre, D. DeWitt, R. Ramakrishnan, Incognito: efficient full-domain k-anonymity, SIGMOD 2005, 49-60,
section 3, doi:10.1145/1066157.1066164.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.full_domain.choice import choose
from indistinct.algorithms.full_domain.lattice import build_lattice
from indistinct.algorithms.full_domain.tags import Tags, nodes_at
from indistinct.algorithms.full_domain.verdicts import Judge
from indistinct.hierarchies.hierarchy import Level
from indistinct.models import is_of_classes
from indistinct.models.contract import EVERY_CLASS, LEVELS
from indistinct.policy.recoding import Incognito

if TYPE_CHECKING:
    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.policy.document import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies


def incognito(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Find the minimal full-domain recodings that hold all models and publish the one of least LM.

    Classes that violate a model are suppressed whole, at most ``floor(limit n)`` rows and never all.

    Raises InfeasibleError when no node holds, with the reason and the nearest target; PolicyError when the lattice has
    more than 10,000,000 nodes; whatever ``progress`` raises.
    """

    def find(tags: Tags) -> list[tuple[int, ...]]:
        if not all(map(is_of_classes, policy.privacy)):
            tags.settle()
            return tags.minimal()
        rooted = replace(frequencies, quasi=tuple(map(_with_root, frequencies.quasi)))
        lattice = build_lattice(rooted)
        if lattice.shape == tags.lattice.shape:
            _grow(tags, tags.lattice.top)
            return tags.minimal()
        with closing(Judge(rooted, lattice, policy.privacy, tags.judge.limit)) as judge:
            grown = Tags(judge, progress)
            _grow(grown, tags.lattice.top)
            tags.state[:] = grown.state[tuple(map(slice, tags.lattice.shape))]
            tags.checked += grown.checked
        return tags.minimal()

    return choose(frequencies, policy, progress, find, proven=True if policy.suppression.limit == 0 else None)


def _grow(tags: Tags, top: tuple[int, ...]) -> None:
    """Tag the nodes over one attribute, then over two, and so on; ``top`` are the last levels below the roots."""
    root = tags.lattice.top
    for size in range(1, len(root) + 1):
        for chosen in combinations(range(len(root)), size):
            low = tuple(0 if a in chosen else p for a, p in enumerate(root))
            high = tuple(top[a] if a in chosen else p for a, p in enumerate(root))
            if tags.is_settled(low, high):
                continue
            for height in range(sum(low), sum(high) + 1):
                for node in nodes_at(low, high, height):
                    tags.holds(node)


def _with_root(hierarchy: Hierarchy) -> Hierarchy:
    """Put a root above the most general allowed level where that has several nodes."""
    last = hierarchy.height if hierarchy.max_level is None else min(hierarchy.max_level, hierarchy.height)
    levels = hierarchy.levels[: last + 1]
    if levels[-1].node_of.max(initial=0) == 0:
        return hierarchy
    root = Level(np.zeros(hierarchy.size, np.int32), (hierarchy.root,), (Fraction(1),))
    return replace(hierarchy, levels=(*levels, root), max_level=None)


ALGORITHM = Algorithm(Incognito, incognito, "truthful", offers=frozenset({LEVELS, EVERY_CLASS}), by_level=True)
