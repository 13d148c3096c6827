"""One step more general until the models hold: the loop of the introductory articles, kept as a baseline.

    node = the least levels
    while the classes that violate a model hold more rows than may be suppressed:
        raise by one level the attribute whose step loses least LM

The loss of a step is the growth of the mean cost over all rows, before suppression; ties go to the earlier attribute.
The loop finds a node that holds, not one of least loss: steps are never taken back.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from indistinct.algorithms.full_domain.infeasible import hopeless, infeasible, suppression_limit
from indistinct.algorithms.full_domain.lattice import build_lattice
from indistinct.algorithms.full_domain.verdicts import Judge

if TYPE_CHECKING:
    from indistinct.policy.document import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies


def generalize_step(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Raise one attribute by one level, the one whose step loses least LM, until all models hold.

    Classes that violate a model are suppressed whole, at most ``floor(limit n)`` rows and never all. Levels stay
    within ``min_level``..``max_level``; a level with the same nodes as the one below it is passed over.

    Raises InfeasibleError when the most general levels do not hold either; whatever ``progress`` raises.
    """
    share = policy.suppression.limit
    lattice = build_lattice(frequencies)
    with closing(Judge(frequencies, lattice, policy.privacy, suppression_limit(frequencies, share))) as judge:
        return _climb(frequencies, policy, judge, progress)


def _climb(frequencies: Frequencies, policy: Policy, judge: Judge, progress: Progress) -> Assignment:
    lattice, share = judge.lattice, policy.suppression.limit
    node, top = (0,) * len(lattice.shape), lattice.top
    steps = sum(top)
    while judge.verdict(node).penalty is None:
        progress("search", sum(node), steps)
        if node == top:
            raise hopeless(frequencies, policy.privacy, share, judge.tables) or infeasible(
                frequencies, policy.privacy, share, judge.tables, _suppressed_at_top(frequencies, judge)
            )
        open_attributes = [a for a, p in enumerate(node) if p < top[a]]
        chosen = min(open_attributes, key=lambda a: lattice.exact_step(a, node[a]))
        node = (*node[:chosen], node[chosen] + 1, *node[chosen + 1 :])
    return judge.assignment(node, (f"{sum(node)} of {steps} steps were taken",), proven=None)


def _suppressed_at_top(frequencies: Frequencies, judge: Judge) -> int:
    """Rows in violating classes of the most general node, all models applied."""
    with closing(Judge(frequencies, judge.lattice, judge.privacy, frequencies.total)) as unlimited:
        return unlimited.suppressed(judge.lattice.top)
