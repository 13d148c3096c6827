"""What all partitions of rows share: blocks that may never be mixed, and the rows that have to go before they hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.local.alike import repaired
from indistinct.algorithms.local.infeasible import infeasible
from indistinct.algorithms.local.problem import problem_of
from indistinct.algorithms.local.trim import hopeless_blocks, rows_to_drop, without
from indistinct.tables.records import SUPPRESSED, Assignment

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem
    from indistinct.policy import Policy
    from indistinct.tables.records import Frequencies

    Solve = Callable[[Problem, NDArray[np.bool_]], Assignment]


def within_limit(frequencies: Frequencies, policy: Policy, solve: Solve) -> Assignment:
    """Let ``solve(problem, hopeless)`` partition a table, without the rows that must go first where a block fails.

    ``hopeless`` bool[b] are the blocks that fail even as one class; no rows go where there is none.

    Raises InfeasibleError when more rows would go than may be suppressed, or all.
    """

    def of(counts: Frequencies) -> Problem:
        return problem_of(counts, policy)

    problem = of(frequencies)
    hopeless = hopeless_blocks(problem)
    if not hopeless.any():
        return _limited(problem, hopeless, repaired(problem, solve(problem, hopeless), of))
    drop = rows_to_drop(problem, hopeless)
    needed = int(drop.sum()) or (frequencies.total if problem.allowed == 0 else 0)  # how few may do nobody knows
    if needed > min(problem.allowed, frequencies.total - 1):
        raise infeasible(problem, hopeless, needed)
    left, cells = without(frequencies, drop)
    rest = replace(of(left), allowed=problem.allowed - int(drop.sum()))
    found = repaired(rest, solve(rest, hopeless_blocks(rest)), of)
    gone = np.flatnonzero(drop)
    whole = Assignment(
        np.concatenate([cells[found.cell], gone]).astype(np.int32),
        np.concatenate([found.count, drop[gone]]),
        np.concatenate([found.class_of, np.full(len(gone), SUPPRESSED, np.int32)]),
        found.classes,
        None,
        found.notes,
    )
    return _limited(problem, hopeless, whole)


def _limited(problem: Problem, hopeless: NDArray[np.bool_], found: Assignment) -> Assignment:
    """Return an assignment that suppresses no more than it may, and not all."""
    lost = int(found.count[found.class_of == SUPPRESSED].sum())
    if lost > min(problem.allowed, problem.frequencies.total - 1):
        raise infeasible(problem, hopeless, lost)
    return found
