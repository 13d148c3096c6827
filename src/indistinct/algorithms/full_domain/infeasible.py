"""Why no node holds, and which target could be met."""

from __future__ import annotations

from itertools import islice
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import InfeasibleError
from indistinct.models import MODELS, Context, evaluate, infeasible_reason
from indistinct.tables.classes import classes_of
from indistinct.tables.records import Assignment

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from indistinct.algorithms.full_domain.lattice import Lattice
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
    closed = [model for model in privacy if MODELS[model.model].merge_closed]
    reason = infeasible_reason(closed, frequencies, suppression_limit(frequencies, share))
    return None if reason is None else InfeasibleError(reason, _nearest(frequencies, privacy, share, tables))


def infeasible(
    frequencies: Frequencies, privacy: Sequence[Privacy], share: Fraction, tables: Tables, needed: int
) -> InfeasibleError:
    """Build the error for a search without result, where the best node would have to suppress ``needed`` rows."""
    total = frequencies.total
    allowed = floor(share * total)
    reason = (
        f"no full-domain recoding satisfies the policy within the suppression limit: needed suppression "
        f"{needed} of {total} ({_percent(needed, total)}), limit {_percent(share.numerator, share.denominator)} "
        f"({allowed} of {total} rows)"
    )
    obstacles = _obstacles(tables.lattice)
    nearest = _nearest(frequencies, privacy, share, tables)
    if needed < total:
        nearest = f"a suppression limit of {_percent(needed, total)} ({needed} of {total} rows) would do; {nearest}"
    return InfeasibleError("; ".join([reason, *obstacles]), nearest)


def _percent(part: int, whole: int) -> str:
    """Share in percent, rounded up at the fourth digit, so that as a limit it is enough."""
    scaled = -(-part * 1_000_000 // whole)
    return f"{scaled / 10_000:.4f}".rstrip("0").rstrip(".") + "%"


def _obstacles(lattice: Lattice) -> list[str]:
    """Attributes whose most general allowed level still tells rows apart."""
    sentences = []
    for hierarchy, levels in zip(lattice.quasi, lattice.levels, strict=True):
        top = hierarchy.levels[levels[-1]]
        labels = int(top.node_of.max(initial=-1)) + 1
        if labels < 2:
            continue
        if hierarchy.is_fixed:
            sentences.append(f"'{hierarchy.attribute}' has no hierarchy, its {labels} values are never changed")
        elif hierarchy.max_level is not None and hierarchy.max_level < hierarchy.height:
            sentences.append(f"max_level {hierarchy.max_level} of '{hierarchy.attribute}' leaves {labels} labels")
        else:
            named = _named(label for label in top.labels if label and label not in hierarchy.texts)
            sentences.append(f"top level of '{hierarchy.attribute}' still has {labels} labels{named}")
    return sentences


def _named(labels: Iterable[str]) -> str:
    """List a few labels; values of the table are not among them, error documents hold none."""
    shown = [f"'{label}'" for label in islice(labels, 5)]
    return f" ({', '.join(shown[:4])}{', ...' if len(shown) > 4 else ''})" if shown else ""


def _nearest(frequencies: Frequencies, privacy: Sequence[Privacy], share: Fraction, tables: Tables) -> str:
    """Say what the most general levels reach."""
    table, member = tables.member_of(np.array(tables.lattice.top, np.int64))
    if all(model.model == "k_anonymity" for model in privacy):
        return (
            f"the largest k within the limit is {largest_k(table.sizes, table.rows, floor(share * frequencies.total))}"
        )
    classes = classes_of(frequencies, Assignment.of_tuples(frequencies, member))
    context = Context(frequencies.references)
    reached = []
    for model in privacy:
        evaluation = evaluate(model, classes, context)
        if not evaluation.satisfied.all():
            reached.append(f"{model.model} {_parameters(evaluation.achieved)}")
    return f"without suppression the most general levels reach {', '.join(reached)}" if reached else ""


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


def _parameters(achieved: dict[str, Any]) -> str:
    parts = []
    for name, value in achieved.items():
        shown = value
        if isinstance(value, dict):
            shown = value.get("fraction", value.get("decimal"))
        if isinstance(shown, str | int | float):
            parts.append(f"{name} = {shown}")
    return ", ".join(parts)
