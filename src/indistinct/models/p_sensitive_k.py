"""p-sensitive k-anonymity: at least k rows and at least p different sensitive values in every class.

Definition: n_E >= k and |{v : c_v > 0}| >= p for every class; p <= k. Sizes count persons where there is a
person key, and p counts pairs of a person and a value as ``distinct_l`` does.

Closure. Merge-closed and absorbing, as both parts are; so for whole-class suppression.

Necessary: p at most the number of distinct values of the column, and at most min over i = 1..p-1 of
floor((n - cf_{p-i}) / i) classes, cf_j the sum of the j largest value counts (``most_classes``).

Source: T. Truta, B. Vinay, ICDE Workshops 2006, doi:10.1109/ICDEW.2006.116.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models import distinct_l, k_anonymity
from indistinct.models.contract import Context, Criterion, Evaluation, Model, Promise, always
from indistinct.models.histograms import is_constant
from indistinct.policy.privacy import PSensitiveK

if TYPE_CHECKING:
    from indistinct.tables.records import Classes, Reference


def evaluate(privacy: PSensitiveK, classes: Classes, context: Context) -> Evaluation:
    """Compare size and number of distinct values of every class with k and p."""
    values = distinct_l.measure(classes, privacy.attribute)
    constant = is_constant(context.references[privacy.attribute])
    diversity = distinct_l.reason(privacy.p, values, constant=constant, persons=classes.persons is not None)
    return Evaluation(
        (classes.sizes >= privacy.k) & (values >= privacy.p),
        values.astype(np.float64),
        achieved(classes, context, privacy.attribute),
        f"{k_anonymity.reason(privacy.k, classes)}; {diversity}",
    )


def achieved(classes: Classes, context: Context, attribute: str) -> dict[str, Any]:  # noqa: ARG001  # the contract's
    """Largest p and largest k that the classes satisfy."""
    return {"p": int(distinct_l.measure(classes, attribute).min()), **k_anonymity.achieved(classes)}


def most_classes(reference: Reference, p: int) -> int | None:
    """Largest number of classes that can each have p distinct values; None for p = 1 (no bound).

    min over i = 1..p-1 of floor((n - cf_{p-i}) / i), with cf_j the sum of the j largest value counts.
    """
    largest = np.cumsum(np.sort(reference.counts)[::-1])
    bounds = [(reference.total - int(largest[min(p - i, len(largest)) - 1])) // i for i in range(1, p)]
    return min(bounds, default=None)


def criteria(privacy: PSensitiveK, context: Context) -> tuple[Criterion, ...]:  # noqa: ARG001  # the contract's
    """Compile both parts."""
    return (
        *k_anonymity.size_criterion(privacy.k),
        *distinct_l.values_criterion(privacy.attribute, privacy.p),
    )


def shortfall(privacy: PSensitiveK, root: Classes, context: Context) -> str:
    """Say which part the whole table fails."""
    if root.sizes[0] < privacy.k:
        return k_anonymity.MODEL.shortfall(privacy, root, context)
    return distinct_l.too_few(privacy.attribute, f"p = {privacy.p}", privacy.p, root)


MODEL = Model(
    PSensitiveK,
    title="p-sensitive k-anonymity",
    scope="class",
    looks_at="published",
    merge_closed=True,
    absorbing=True,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=shortfall,
    promises=lambda privacy: Promise(rows=max(privacy.k, privacy.p), candidates=privacy.k, values=privacy.p),
    blank_counts=True,
    by_persons=always,
    counts_values=True,
)
