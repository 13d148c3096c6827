"""Optimal Lattice Anonymization: bisection of sublattices with predictive tagging.

    K-min(bottom, top): for every node of height (height(bottom) + height(top)) // 2 between the two, left to right:
        if it holds (by its tag, or judged and tagged): K-min(bottom, node)
        else: K-min(node, top)
    A sublattice of height 1 or less: both ends are judged.

A node that holds tags all nodes above it, one that fails all below it. A sublattice whose nodes are all tagged is left
alone. That needs absorbing models, or merge-closed ones with nothing suppressed; for all others every node is judged
that no proof closes (``full_domain.tags``).

Published is the node of least LM among the lowest of their generalization strategies, which are the minimal nodes;
ties of exact loss go to the least height, then to the least vector of levels. Where nothing is suppressed that is the
optimum: LM then grows along every strategy, as the paper asks of its metric.

Source: K. El Emam et al., A globally optimal k-anonymity method for the de-identification of health data, JAMIA
16(5), 2009, doi:10.1197/jamia.M3144.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.full_domain.choice import choose
from indistinct.algorithms.full_domain.tags import nodes_at
from indistinct.models.contract import EVERY_CLASS, LEVELS
from indistinct.policy.recoding import Ola

if TYPE_CHECKING:
    from indistinct.algorithms.full_domain.tags import Tags
    from indistinct.policy.document import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies

    Node = tuple[int, ...]


def ola(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Find the lowest full-domain recoding of every generalization strategy and publish the one of least LM.

    Classes that violate a model are suppressed whole, at most ``floor(limit n)`` rows and never all.

    Raises InfeasibleError when no node holds, with the reason and the nearest target; PolicyError when the lattice has
    more than 10,000,000 nodes; whatever ``progress`` raises.
    """

    def find(tags: Tags) -> list[Node]:
        top = tags.lattice.top
        if tags.licensed:
            _k_min(tags, (0,) * len(top), top)
        if not tags.is_settled((0,) * len(top), top):
            tags.settle()
        return tags.minimal()

    return choose(frequencies, policy, progress, find, proven=True if policy.suppression.limit == 0 else None)


def _k_min(tags: Tags, bottom: Node, top: Node) -> None:
    if tags.is_settled(bottom, top):
        return
    low, high = sum(bottom), sum(top)
    if high - low <= 1:
        tags.holds(bottom)
        tags.holds(top)
        return
    for node in nodes_at(bottom, top, (low + high) // 2):
        if tags.holds(node):
            _k_min(tags, bottom, node)
        else:
            _k_min(tags, node, top)


ALGORITHM = Algorithm(Ola, ola, "truthful", offers=frozenset({LEVELS, EVERY_CLASS}), by_level=True)
