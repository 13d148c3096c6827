"""What stands in the way of a target, and what could be reached: sentences for people, shared by the algorithms."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from indistinct.models import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indistinct.errors import InfeasibleError
    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.models import Context
    from indistinct.policy.privacy import Privacy
    from indistinct.tables.records import Classes, Frequencies

LABELS_SHOWN = 4


def obstacle(hierarchy: Hierarchy, level: int) -> str | None:
    """Say how an attribute at its most general allowed ``level`` still tells rows apart; None when it does not.

    Labels are named only where they are no values of the table: error documents hold none.
    """
    top = hierarchy.levels[level]
    labels = int(top.node_of.max(initial=-1)) + 1
    if labels < 2:
        return None
    if hierarchy.is_fixed:
        return f"'{hierarchy.attribute}' has no hierarchy, its {labels} values are never changed"
    if level < hierarchy.height:
        return f"max_level {level} of '{hierarchy.attribute}' leaves {labels} labels"
    named = _named(label for label in top.labels if label and label not in hierarchy.texts)
    return f"top level of '{hierarchy.attribute}' still has {labels} labels{named}"


def reached(privacy: Sequence[Privacy], classes: Classes, context: Context) -> list[str]:
    """List what classes reach of the models that they do not satisfy, such as ``distinct_l l = 3``."""
    found = []
    for model in privacy:
        evaluation = evaluate(model, classes, context)
        if not evaluation.satisfied.all():
            found.append(f"{model.model} {_parameters(evaluation.achieved)}")
    return found


def without_values(error: InfeasibleError, frequencies: Frequencies) -> InfeasibleError:
    """Mark the sensitive values that an error names, so that documents which are kept do without them."""
    quoted = (f"'{text}'" for hierarchy in frequencies.sensitive for text in hierarchy.texts if text is not None)
    error.showing(*(text for text in quoted if text in error.message))
    return error


def percent(part: int, whole: int) -> str:
    """Share in percent, rounded up at the fourth digit, so that as a limit it is enough.

    >>> percent(2, 3), percent(1, 50)
    ('66.6667%', '2%')
    """
    scaled = -(-part * 1_000_000 // whole)
    return f"{scaled / 10_000:.4f}".rstrip("0").rstrip(".") + "%"


def _named(labels: Iterable[str]) -> str:
    shown = [f"'{label}'" for label in islice(labels, LABELS_SHOWN + 1)]
    more = ", ..." if len(shown) > LABELS_SHOWN else ""
    return f" ({', '.join(shown[:LABELS_SHOWN])}{more})" if shown else ""


def _parameters(achieved: dict[str, Any]) -> str:
    clauses = []
    for name, value in achieved.items():
        shown = value.get("fraction", value.get("decimal")) if isinstance(value, dict) else value
        if isinstance(shown, str | int | float):
            clauses.append(f"{name} = {shown}")
    return ", ".join(clauses)
