"""The frame of the searches that find nodes that hold and publish the one of least loss among them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from indistinct.algorithms.full_domain.infeasible import hopeless, infeasible, suppression_limit
from indistinct.algorithms.full_domain.lattice import build_lattice
from indistinct.algorithms.full_domain.tags import Tags
from indistinct.algorithms.full_domain.verdicts import Judge
from indistinct.algorithms.optimal import fewest_suppressed
from indistinct.policy.recoding import option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from indistinct.policy.document import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies

    Find = Callable[[Tags], Iterable[tuple[int, ...]]]


def choose(
    frequencies: Frequencies, policy: Policy, progress: Progress, find: Find, *, proven: bool | None = None
) -> Assignment:
    """Publish the node of least loss among those that ``find`` returns; ``proven``: it then loses least of all.

    Raises InfeasibleError when it returns none, with the reason and the nearest target; PolicyError for a lattice that
    is too large; whatever ``progress`` raises.
    """
    share = policy.suppression.limit
    lattice = build_lattice(frequencies)
    with closing(Judge(frequencies, lattice, policy.privacy, suppression_limit(frequencies, share))) as judge:
        tags = Tags(judge, progress)
        best = None
        if tags.holds(lattice.top) or not tags.licensed:
            best = tags.best(find(tags))
        if best is not None:
            return judge.assignment(best, (tags.note,), proven=proven)
        refusal = hopeless(frequencies, policy.privacy, share, judge.tables)
        if refusal is not None:
            raise refusal
        needed = fewest_suppressed(frequencies, judge, progress, option(policy.recoding, "time_budget"))
        raise infeasible(frequencies, policy.privacy, share, judge.tables, needed)
