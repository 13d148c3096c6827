"""Why the models cannot be met, and which target could be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.algorithms.obstacles import obstacle, percent, reached, without_values
from indistinct.errors import InfeasibleError
from indistinct.models import Context, infeasible_reason
from indistinct.models.feasibility import whole_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem


def infeasible(problem: Problem, hopeless: NDArray[np.bool_], needed: int) -> InfeasibleError:
    """Build the error for a table of which ``needed`` rows would have to go (more may be, or all)."""
    frequencies = problem.frequencies
    total = frequencies.total
    nearest = (
        f"a suppression limit of {percent(needed, total)} ({needed} of {total} rows) would do" if needed < total else ""
    )
    reason = infeasible_reason(problem.privacy, frequencies, problem.allowed)
    if reason is not None:
        best = reached(problem.privacy, whole_table(frequencies), Context(frequencies.references))
        error = InfeasibleError(reason, nearest or f"one class of all rows reaches {', '.join(best)}")
        return without_values(error, frequencies)
    if not hopeless.any():
        reason = (
            "no classes were found in which the shares of persons hold: the whole table does not hold, finer classes "
            f"may; {needed} of {total} rows would have to be suppressed, and {problem.allowed} may be"
        )
        return InfeasibleError(reason, nearest)
    rows = int(problem.tuples.mass[hopeless[problem.block], 0].sum())
    reason = (
        f"{rows} of {total} rows lie in {int(hopeless.sum())} of {len(hopeless)} groups that may not be "
        "mixed and that do "
        f"not satisfy the models even as a whole; {problem.allowed} rows may be suppressed"
    )
    tops = [obstacle(hierarchy, hierarchy.height) for hierarchy in frequencies.quasi if not hierarchy.is_range]
    return InfeasibleError("; ".join([reason, *filter(None, tops)]), nearest)
