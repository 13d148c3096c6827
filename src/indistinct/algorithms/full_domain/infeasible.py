"""Why no node holds, and which target could be met."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.algorithms.obstacles import obstacle, percent, reached, without_values
from indistinct.errors import InfeasibleError
from indistinct.models import Context, infeasible_reason
from indistinct.policy.privacy import KAnonymity
from indistinct.tables.classes import classes_of
from indistinct.tables.records import Assignment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from indistinct.algorithms.full_domain.tables import Tables
    from indistinct.policy.privacy import Privacy
    from indistinct.tables.records import Frequencies


def suppression_limit(frequencies: Frequencies, share: Fraction) -> int:
    """Rows that may go: floor(share n), but never all of them."""
    return min(floor(share * frequencies.total), frequencies.total - 1)


def hopeless(
    frequencies: Frequencies, privacy: Sequence[Privacy], share: Fraction, tables: Tables
) -> InfeasibleError | None:
    """Return the error if even the class of all rows cannot be mended by the allowed suppression."""
    reason = infeasible_reason(privacy, frequencies, suppression_limit(frequencies, share))
    if reason is None:
        return None
    return without_values(InfeasibleError(reason, _nearest(frequencies, privacy, share, tables)), frequencies)


def infeasible(
    frequencies: Frequencies, privacy: Sequence[Privacy], share: Fraction, tables: Tables, needed: int
) -> InfeasibleError:
    """Build the error for a search without result, where the best node would have to suppress ``needed`` rows."""
    total = frequencies.total
    allowed = floor(share * total)
    reason = (
        f"no full-domain recoding satisfies the policy within the suppression limit: needed suppression "
        f"{needed} of {total} ({percent(needed, total)}), limit {percent(share.numerator, share.denominator)} "
        f"({allowed} of {total} rows)"
    )
    lattice = tables.lattice
    tops = [obstacle(hierarchy, levels[-1]) for hierarchy, levels in zip(lattice.quasi, lattice.levels, strict=True)]
    nearest = _nearest(frequencies, privacy, share, tables)
    if needed < total:
        nearest = f"a suppression limit of {percent(needed, total)} ({needed} of {total} rows) would do; {nearest}"
    return InfeasibleError("; ".join([reason, *filter(None, tops)]), nearest)


def _nearest(frequencies: Frequencies, privacy: Sequence[Privacy], share: Fraction, tables: Tables) -> str:
    """Say what the most general levels reach."""
    table, member = tables.member_of(np.array(tables.lattice.top, np.int64))
    if all(isinstance(model, KAnonymity) for model in privacy):
        return (
            f"the largest k within the limit is {largest_k(table.sizes, table.rows, floor(share * frequencies.total))}"
        )
    levels = tables.lattice.level_vector(tables.lattice.top)
    classes = classes_of(frequencies, Assignment.of_tuples(frequencies, member, levels))
    found = reached(privacy, classes, Context(frequencies.references))
    return f"without suppression the most general levels reach {', '.join(found)}" if found else ""


def largest_k(
    sizes: np.ndarray[Any, np.dtype[np.int64]], rows: np.ndarray[Any, np.dtype[np.int64]], allowed: int
) -> int:
    """Return the largest k that classes reach when the smallest ones are dropped, ``allowed`` rows and not all."""
    order = np.argsort(sizes, kind="stable")
    best = 0
    gone = 0
    for i in order.tolist():
        best = int(sizes[i])
        gone += int(rows[i])
        if gone > allowed:
            break
    return best
