"""Why the models cannot be met, and which target could be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.errors import InfeasibleError
from indistinct.models import infeasible_reason

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem


def infeasible(problem: Problem, hopeless: NDArray[np.bool_], needed: int) -> InfeasibleError:
    """Build the error for a table of which ``needed`` rows would have to go (more may be, or all)."""
    frequencies = problem.frequencies
    total = frequencies.total
    reason = infeasible_reason(problem.privacy, frequencies, problem.allowed)
    if reason is None:
        rows = int(problem.tuples.mass[hopeless[problem.block], 0].sum())
        reason = (
            f"{rows} of {total} rows lie in {int(hopeless.sum())} of {len(hopeless)} groups that may not be mixed"
            f"{_causes(problem)} and that do not satisfy the models even as a whole; {problem.allowed} rows may be "
            "suppressed"
        )
    percent = -(-needed * 10_000_000 // total) / 100_000
    nearest = f"a suppression limit of {percent:g}% ({needed} of {total} rows) would do" if needed < total else ""
    return InfeasibleError(reason, nearest)


def _causes(problem: Problem) -> str:
    names = [
        f"'{hierarchy.attribute}'"
        for hierarchy in problem.frequencies.quasi
        if not hierarchy.is_range and hierarchy.levels[-1].node_of.max(initial=0) > 0
    ]
    return f" (by {', '.join(names)})" if names else ""
