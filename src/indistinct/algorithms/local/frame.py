"""What all partitions of rows share: blocks that may never be mixed, and the rows that have to go before they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
    problem = problem_of(frequencies, policy)
    hopeless = hopeless_blocks(problem)
    if not hopeless.any():
        return solve(problem, hopeless)
    drop = rows_to_drop(problem, hopeless)
    if drop.sum() > min(problem.allowed, frequencies.total - 1):
        raise infeasible(problem, hopeless, int(drop.sum()))
    left, cells = without(frequencies, drop)
    rest = problem_of(left, policy)
    found = solve(rest, hopeless_blocks(rest))
    gone = np.flatnonzero(drop)
    whole = Assignment(
        np.concatenate([cells[found.cell], gone]).astype(np.int32),
        np.concatenate([found.count, drop[gone]]),
        np.concatenate([found.class_of, np.full(len(gone), SUPPRESSED, np.int32)]),
        found.classes,
        None,
        found.notes,
    )
    lost = int(whole.count[whole.class_of == SUPPRESSED].sum())
    if lost > min(problem.allowed, frequencies.total - 1):
        raise infeasible(problem, hopeless, lost)
    return whole
