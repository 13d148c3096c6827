"""The frame of the loops that raise one attribute by one level until all models hold; steps are never taken back."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from indistinct.algorithms.full_domain.infeasible import hopeless, infeasible, suppression_limit
from indistinct.algorithms.full_domain.lattice import build_lattice
from indistinct.algorithms.full_domain.verdicts import Judge
from indistinct.algorithms.optimal import LARGEST, fewest_suppressed
from indistinct.errors import InfeasibleError
from indistinct.notices import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from indistinct.algorithms.full_domain.lattice import Lattice
    from indistinct.policy.document import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies

    Node = tuple[int, ...]
    Choose = Callable[[Lattice, Node, Sequence[int]], int]

SECONDS = 10.0  # for the nearest target, where the lattice is too large to find it for certain


def climb(frequencies: Frequencies, policy: Policy, progress: Progress, choose: Choose) -> Assignment:
    """Raise the attribute that ``choose(lattice, node, open attributes)`` names until the node holds.

    Classes that violate a model are suppressed whole, at most ``floor(limit n)`` rows and never all.

    Raises InfeasibleError when the most general levels do not hold either; whatever ``progress`` raises.
    """
    share = policy.suppression.limit
    limit = suppression_limit(frequencies, share)
    lattice = build_lattice(frequencies)
    node, top = (0,) * len(lattice.shape), lattice.top
    steps = sum(top)
    with closing(Judge(frequencies, lattice, policy.privacy, limit)) as judge:
        while judge.verdict(node).penalty is None:
            progress("search", sum(node), steps)
            if node == top:
                raise not_found(frequencies, policy, judge, progress)
            chosen = choose(lattice, node, [a for a, p in enumerate(node) if p < top[a]])
            node = (*node[:chosen], node[chosen] + 1, *node[chosen + 1 :])
        note = Sentence("{n} of {all} steps were taken", n=sum(node), all=steps)
        return judge.assignment(node, (note,), proven=None)


def not_found(frequencies: Frequencies, policy: Policy, judge: Judge, progress: Progress) -> InfeasibleError:
    """Build the error for a climb that ended at the most general levels."""
    share, total = policy.suppression.limit, frequencies.total
    refusal = hopeless(frequencies, policy.privacy, share, judge.tables)
    if refusal is not None:
        return refusal
    budget = SECONDS if judge.lattice.size > LARGEST else None
    needed = fewest_suppressed(frequencies, judge, progress, budget)
    if needed > judge.limit:
        return infeasible(frequencies, policy.privacy, share, judge.tables, needed)
    return InfeasibleError(
        "raising one level after the other found no recoding that satisfies the policy, not even at the most general "
        f"levels; {judge.limit} of {total} rows may be suppressed",
        'algorithm = "optimal" finds one',
    )
