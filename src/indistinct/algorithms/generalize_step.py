"""One step more general until the models hold: the loop of the introductory articles, kept as a baseline.

    node = the least levels
    while the classes that violate a model hold more rows than may be suppressed:
        raise by one level the attribute whose step loses least LM

The loss of a step is the growth of the mean cost over all rows, before suppression; ties go to the earlier attribute.
The loop finds a node that holds, not one of least loss: steps are never taken back.

Source: this project, after the loop of introductory articles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.full_domain.climb import climb
from indistinct.models.contract import EVERY_CLASS, LEVELS
from indistinct.policy.recoding import GeneralizeStep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.algorithms.full_domain.lattice import Lattice
    from indistinct.policy.document import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies


def generalize_step(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Raise one attribute by one level, the one whose step loses least LM, until all models hold.

    Classes that violate a model are suppressed whole, at most ``floor(limit n)`` rows and never all. Levels stay
    within ``min_level``..``max_level``; a level with the same nodes as the one below it is passed over.

    Raises InfeasibleError when the most general levels do not hold either; whatever ``progress`` raises.
    """
    return climb(frequencies, policy, progress, _cheapest)


def _cheapest(lattice: Lattice, node: tuple[int, ...], attributes: Sequence[int]) -> int:
    return min(attributes, key=lambda a: lattice.exact_step(a, node[a]))


ALGORITHM = Algorithm(
    GeneralizeStep, generalize_step, "truthful", offers=frozenset({LEVELS, EVERY_CLASS}), by_level=True
)
