"""Distinct l-diversity: every class has at least l different sensitive values.

Definition: |{v : c_v > 0}| >= l for every class. With a person key l counts pairs (person, value of theirs) in which no
person and no value occurs twice: p1 with a, b, c beside p2 and p3 with a are three persons and three values, and only
2, because p1 knows what is left.

Closure. Merge-closed and absorbing: a union has every value (and every pair) of its parts. Suppressing another
class leaves the values of E alone. Implies classes of at least l rows.

Source: A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, TKDD 1(1):3, 2007,
doi:10.1145/1217299.1217302.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models.contract import DISTINCT, Context, Criterion, Evaluation, Model, Promise, always, of_columns
from indistinct.models.exact import subject
from indistinct.models.histograms import distinct, is_constant
from indistinct.policy.privacy import DistinctL
from indistinct.tables.holdings import matched

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.tables.records import Classes

    Int64 = NDArray[np.int64]


def measure(classes: Classes, attribute: str) -> Int64:
    """int64[g]: the largest l of each class, its distinct values or, with persons, its largest matching."""
    values = distinct(classes.histograms[attribute])
    if classes.most_rows is not None:  # at least so many persons have rows of different values
        return np.minimum(values, np.searchsorted(classes.most_rows, values) + 1)
    if classes.holdings is not None:
        return matched(classes, attribute)
    return values if classes.persons is None else np.minimum(values, classes.persons)


def evaluate(privacy: DistinctL, classes: Classes, context: Context) -> Evaluation:
    """Compare the number of distinct values of every class with l."""
    found = measure(classes, privacy.attribute)
    constant = is_constant(context.references[privacy.attribute])
    return Evaluation(
        found >= privacy.l,
        found.astype(np.float64),
        {"l": int(found.min())},
        reason(privacy.l, found, constant=constant, persons=classes.persons is not None),
    )


def reason(length: int, found: Int64, *, constant: bool, persons: bool) -> str:
    """Say how many classes have too few values, or how many the poorest has."""
    if constant:
        return "no protection: the column is constant"
    satisfied, poorest = found >= length, int(found.min())
    what = "distinct values of different persons" if persons else "distinct values"
    if satisfied.all():
        return f"every class has at least {length} {what}; the poorest has {poorest}"
    return f"{subject(satisfied, 'has', 'have')} fewer than {length} {what}; the poorest has {poorest}"


def achieved(classes: Classes, context: Context, attribute: str) -> dict[str, Any]:  # noqa: ARG001  # the contract's
    """Largest l that the classes satisfy."""
    return {"l": int(measure(classes, attribute).min())}


def values_criterion(attribute: str, length: int) -> tuple[Criterion, ...]:
    """Compile "at least ``length`` distinct values"; one value needs no test."""
    if length == 1:
        return ()
    return (Criterion(DISTINCT, attribute, np.array([length], np.float64), merge_closed=True, absorbing=True),)


def criteria(privacy: DistinctL, context: Context) -> tuple[Criterion, ...]:  # noqa: ARG001  # the contract's
    """Compile the model."""
    return values_criterion(privacy.attribute, privacy.l)


def shortfall(privacy: DistinctL, root: Classes, context: Context) -> str:  # noqa: ARG001  # the contract's
    """Say how many distinct values the whole column has."""
    return too_few(privacy.attribute, f"l = {privacy.l}", privacy.l, root)


def too_few(attribute: str, parameter: str, length: int, root: Classes) -> str:
    """Say that the whole table has too few distinct values, or too few persons."""
    values = int(distinct(root.histograms[attribute])[0])
    if values < length:
        plural = "value" if values == 1 else "values"
        return f"the column {attribute} has {values} distinct {plural}, fewer than {parameter}"
    if int(root.sizes[0]) < length:
        return f"the table has {int(root.sizes[0])} persons, fewer than {parameter}"
    found = int(measure(root, attribute)[0])
    return f"at most {found} persons of the table have different values of {attribute}, fewer than {parameter}"


MODEL = Model(
    DistinctL,
    title="distinct l-diversity",
    scope="class",
    looks_at="published",
    merge_closed=True,
    absorbing=True,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=shortfall,
    promises=lambda privacy: Promise(rows=privacy.l, values=privacy.l),
    measured=of_columns(),
    blank_counts=True,
    share_sampled=lambda privacy: Fraction(1, privacy.l),
    by_persons=always,
    counts_values=True,
)
