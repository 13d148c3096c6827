"""Local recoding: each class of rows is published as the smallest box around it.

Classes need not be boxes of a grid: rows are put together as loses least, so far more is kept than by one level for
each column. The steps, each in its file:

1. ``problem``: tuples, costs, criteria, and blocks of rows that may never be mixed;
2. ``trim``: where a block fails even as one class, the rows that have to go, within the suppression limit;
3. ``start``: tuples that satisfy the models alone are classes that lose nothing, for good but in small tables; the
   others are partitioned by the best cuts, contiguous or one value against all others; with a person key Mondrian's
   cuts are tried beside them, for persons with rows in many places leave good cuts few, and nothing that loses more is
   published;
4. ``merging``: where a model is not absorbing, small classes are merged by loss for each bit of violation removed;
5. ``near`` and ``search``: rebuild random neighbourhoods, move and swap single rows; small tables (``problem.SMALL``)
   are annealed and rebuilt again and again;
6. ``settle``: every class is judged exactly; those that fail join others until all hold.

A table of very many cells is cut into ``parts`` before, each decided by itself.

Source: LeFevre, DeWitt, Ramakrishnan, ICDE 2006, doi:10.1109/ICDE.2006.101 (multidimensional partitions); Byun, Kamra,
Bertino, Li, DASFAA 2007, doi:10.1007/978-3-540-71703-4_18 (k-member clustering); Shaw, CP 1998,
doi:10.1007/3-540-49481-2_30 (destroy and repair).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.local.alike import repaired
from indistinct.algorithms.local.coins import coins_of
from indistinct.algorithms.local.frame import within_limit
from indistinct.algorithms.local.parts import in_parts
from indistinct.algorithms.local.plan import solve
from indistinct.algorithms.local.problem import problem_of
from indistinct.algorithms.local.robust import robust_classes
from indistinct.algorithms.local.settle import settle_classes
from indistinct.algorithms.local.start import cut_at_medians
from indistinct.algorithms.local.state import assignment_of
from indistinct.algorithms.rounds import as_assignment
from indistinct.losses.lm import lm
from indistinct.policy.recoding import Local
from indistinct.policy.robust import is_robust
from indistinct.tables.classes import recoding_of
from indistinct.tables.records import SUPPRESSED

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

    from indistinct.algorithms.local.coins import Coins
    from indistinct.algorithms.local.problem import Problem
    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies


def local(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Find classes of little loss that satisfy all models.

    Minimises LM, ``(1/n) sum over rows of the weighted mean cost of the box of the row's class``, a suppressed row
    counting 1. The classes satisfy every model exactly (``models.evaluate``). Rows are suppressed only where blocks
    that may not be mixed (fixed attributes, several top labels) cannot hold otherwise, at most ``floor(limit n)``.

    ``recoding.quality``: ``fast`` takes the start, ``balanced`` searches a fixed number of tries; both give the same
    result for any order of the rows and any number of threads. ``best`` goes on until ``recoding.time_budget`` seconds
    (10) have passed.

    With a person key it never loses more than ``mondrian``, strict, does. A table of many cells, or as ``run.parts``
    says, is decided in parts (``parts``).

    Raises InfeasibleError with the reason and the nearest target when the models cannot be met within the
    suppression limit; whatever ``progress`` raises. Not checked: that the policy fits the frequencies.
    """
    progress("partition", 0, 0)
    recoding = policy.recoding
    if isinstance(recoding, Local) and is_robust(policy):
        return robustly(frequencies, policy, coins_of(policy, recoding), progress)

    def decide(counts: Frequencies) -> Assignment:
        return within_limit(counts, policy, lambda problem, hopeless: _solve(problem, hopeless, policy, progress))

    return in_parts(frequencies, policy, decide)


def robustly(frequencies: Frequencies, policy: Policy, coins: Coins, progress: Progress) -> Assignment:
    """Partition so that merges do not betray which classes needed them; raises as ``local`` does."""

    def solve(counts: Frequencies, alone: Policy) -> Assignment:
        return local(counts, alone, progress)

    return within_limit(
        frequencies, policy, lambda problem, hopeless: robust_classes(problem, hopeless, policy, coins, solve)
    )


def _solve(problem: Problem, hopeless: NDArray[np.bool_], policy: Policy, progress: Progress) -> Assignment:
    simple = cut_at_medians(problem, hopeless, progress)
    state, notes = solve(problem, policy, progress, simple)
    found = assignment_of(state, settle_classes(state, hopeless), notes)
    if simple is None:
        return found
    both = [
        repaired(problem, one, lambda counts: problem_of(counts, policy))
        for one in (found, as_assignment(problem, simple))
    ]
    return min(both, key=lambda one: _cost(problem, one))


def _cost(problem: Problem, found: Assignment) -> tuple[bool, Fraction]:
    """Whether more rows go than may, and what is lost."""
    gone = int(found.count[found.class_of == SUPPRESSED].sum())
    return gone > problem.allowed, lm(problem.frequencies, found, recoding_of(problem.frequencies, found))[0]


ALGORITHM = Algorithm(Local, local, "truthful", divides=True)
