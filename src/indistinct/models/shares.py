"""Both readings of a model of shares: each row weighs 1, and each person of a class weighs 1.

With a person key a share may be that of rows, c_v / n_E, or that of persons, s_v (``tables.holdings``): four persons
with one row each and a fifth with twelve others are 1/4 of HIV by rows and 4/5 by persons, and the fifth knows the
other four. A model of shares holds when it holds for both, the second against the distribution of the persons of the
whole input. Where alpha names its values, the share h_v of persons who have v at all is bounded too.

What it does not give: s_v bounds what one random row of a random person shows, not whether the person has v.

Closure, for the reading by persons. Two classes without a common person: s and h of the union are the means of the
parts, weighted by persons, so a model that is merge-closed by rows is so by persons. With a common person none is:
alpha = 1/4, {h: HIV; a, b, c: flu} and {g: HIV; a, b, c: flu} have 1/4 each, and their union 2/5.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models.contract import Context, Evaluation
from indistinct.tables.holdings import counted_persons, weighed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indistinct.models.contract import Model
    from indistinct.tables.records import Classes

UNKNOWN = "the file does not say whose a row is, so shares of persons are not known"
# of these the smaller number protects less; of all others the larger one
LESS_IS_WORSE = ("k", "l", "p", "c2")


def evaluate(model: Model, privacy: Any, classes: Classes, context: Context) -> Evaluation:
    """Judge a partition by one model, exactly: by rows and, where it is one of shares, by persons."""
    found = model.evaluate(privacy, classes, context)
    if not model.of_shares(privacy):
        return found
    if classes.most_rows is not None:
        return replace(found, satisfied=np.zeros(len(classes), np.bool_), reason=f"{found.reason}; {UNKNOWN}")
    for words, own, others in _readings(classes, context, privacy.attribute, getattr(privacy, "values", None)):
        found = _both(found, model.evaluate(privacy, own, others), words)
    return found


def achieved(model: Model, classes: Classes, context: Context, attribute: str | None, **fixed: Any) -> Any:
    """Best parameters that a partition satisfies in both readings."""
    found = model.achieved(classes, context, attribute, **fixed)
    if attribute is None or not model.of_shares(None) or fixed.get("estimator") == "grassberger":
        return found
    for _, own, others in _readings(classes, context, attribute, fixed.get("values")):
        found = worse(found, model.achieved(own, others, attribute, **fixed))
    return found


def shortfall(model: Model, privacy: Any, root: Classes, context: Context) -> str:
    """Say why the class of the whole table fails, in the reading that it fails."""
    if model.of_shares(privacy) and bool(model.evaluate(privacy, root, context).satisfied[0]):
        for words, own, others in _readings(root, context, privacy.attribute, getattr(privacy, "values", None)):
            if not bool(model.evaluate(privacy, own, others).satisfied[0]):
                return f"{words}, {model.shortfall(privacy, own, others)}"
    return model.shortfall(privacy, root, context)


def _readings(
    classes: Classes, context: Context, attribute: str, values: Any
) -> Iterator[tuple[str, Classes, Context]]:
    """Yield the classes as persons weigh them, with the reference, and where values are named as many have them."""
    if classes.holdings is None:
        return
    others = Context({name: reference.of_persons() for name, reference in context.references.items()})
    yield "each person weighing 1", weighed(classes, attribute), others
    if values is not None:
        yield "counting everybody who has a value", counted_persons(classes, attribute), others


def _both(rows: Evaluation, persons: Evaluation, words: str) -> Evaluation:
    """Combine two readings: both hold, and what is reported is the worse of the two."""
    worst = np.minimum if rows.more_is_better else np.maximum
    best = worse(rows.achieved, persons.achieved)
    said = rows.reason.split("; ")
    news = "; ".join(clause for clause in persons.reason.split("; ") if clause not in said)
    reason = f"{rows.reason}; {words}: {news}" if news else rows.reason
    return Evaluation(
        rows.satisfied & persons.satisfied,
        worst(rows.measure, persons.measure),
        best,
        reason,
        rows.more_is_better,
        unit=(rows.unit or "rows") if best == rows.achieved else "persons",
    )


def worse(one: Any, other: Any) -> Any:
    """Take of two best parameters, as they stand in the documents, those that both readings satisfy.

    >>> worse({"t": {"fraction": "1/4", "decimal": 0.25}}, {"t": {"fraction": "4/5", "decimal": 0.8}})
    {'t': {'fraction': '4/5', 'decimal': 0.8}}
    >>> worse([{"l": 2, "c": None}], [])
    [{'l': 2, 'c': None}]
    """
    if isinstance(one, list):
        pairs = zip_longest(one, other)
        return [worse(a or {**b, "c": None}, b or {**a, "c": None}) for a, b in pairs]
    return {name: _worse(name, value, other[name]) for name, value in one.items()}


def _worse(name: str, one: Any, other: Any) -> Any:
    if one is None or other is None:  # no parameter serves
        return None
    first, second = _number(one), _number(other)
    less = second < first
    return other if less == (name in LESS_IS_WORSE) and first != second else one


def _number(value: Any) -> Fraction | float | int:
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]
    return Fraction(value["fraction"]) if "fraction" in value else float(value["decimal"])
