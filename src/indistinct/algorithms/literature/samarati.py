"""Samarati's search: the least height of the lattice at which some node holds, found by bisection.

    low, high = 0, greatest height
    while low < high:
        middle = (low + high) // 2
        if some node of height middle holds: high = middle
        else: low = middle + 1

The bisection is right where "some node of height h holds" implies the same for h + 1: all models absorbing, or all
merge-closed and nothing suppressed. Otherwise heights are scanned from 0 on. Height is the sum of steps above the least
levels; a level with the same nodes as the one below it is no step. Among the nodes of the least height that hold, the
one of least LM is published; ties of exact loss go to the least vector of levels.

The least height is not the least loss: a minimal node of greater height may lose less.

Source: P. Samarati, Protecting respondents' identities in microdata release, IEEE TKDE 13(6), 2001, section 5,
doi:10.1109/69.971193.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.full_domain.choice import choose
from indistinct.algorithms.full_domain.tags import nodes_at
from indistinct.models.contract import EVERY_CLASS, LEVELS
from indistinct.policy.recoding import Samarati

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indistinct.algorithms.full_domain.tags import Tags
    from indistinct.policy.document import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies


def samarati(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Find the full-domain recoding of least height that holds all models, of least LM among those of its height.

    Classes that violate a model are suppressed whole, at most ``floor(limit n)`` rows and never all.

    Raises InfeasibleError when no node holds, with the reason and the nearest target; PolicyError when the lattice has
    more than 10,000,000 nodes; whatever ``progress`` raises.
    """
    return choose(frequencies, policy, progress, _of_least_height)


def _of_least_height(tags: Tags) -> list[tuple[int, ...]]:
    highest = sum(tags.lattice.top)
    if tags.licensed:
        low, high = 0, highest
        while low < high:
            middle = (low + high) // 2
            if any(tags.holds(node) for node in _nodes(tags, middle)):
                high = middle
            else:
                low = middle + 1
    else:
        heights = range(highest + 1)
        low = next((h for h in heights if any(tags.holds(node) for node in _nodes(tags, h))), highest)
    return [node for node in _nodes(tags, low) if tags.holds(node)]


def _nodes(tags: Tags, height: int) -> Iterator[tuple[int, ...]]:
    top = tags.lattice.top
    return nodes_at((0,) * len(top), top, height)


ALGORITHM = Algorithm(Samarati, samarati, "truthful", offers=frozenset({LEVELS, EVERY_CLASS}), by_level=True)
