"""A model for part of the classes only: those that hold a row with one of some listed values.

Definition: let B be a model that judges each class alone, and V listed values of a sensitive attribute. Every class
that holds at least one row with a value in V satisfies B; the other classes are not asked.

Closure. Not absorbing: a class without a listed value is not asked, and with a row added it may be, and fail.
Merge-closed where B is absorbing: let two classes hold. If neither has a listed value, their union has none. Else one
of them has, and satisfies B, and so does the union, which is that class with rows added. Where B is not absorbing
(such as entropy l-diversity) the union of a class that is asked and holds with one that is not asked may fail.
No compiled criterion: searches call ``evaluate`` on the classes of a node, and prune only as the closure says.

Worked example, k = 3 for HIV: classes {HIV, flu, flu}, {flu}, {flu, cold}: the first is asked and has 3 rows; the model
holds, though the smallest class has 1 row.

Source: this project; after the thresholds by sensitive value of R. C.-W. Wong, J. Li, A. W.-C. Fu, K. Wang, (alpha,
k)-anonymity, KDD 2006, doi:10.1145/1150402.1150499.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import DataError
from indistinct.models import alpha_k, distinct_l, entropy_l, k_anonymity, p_sensitive_k, recursive_cl, shares
from indistinct.models.contract import LEVELS, Context, Evaluation, Model, needing, no_number
from indistinct.models.histograms import only, owners
from indistinct.policy.privacy import Tiered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from indistinct.tables.records import Classes

# the models of ``policy.privacy.tiers.TIER_MODELS``
HELD: Mapping[str, Model] = {
    one.MODEL.name: one.MODEL for one in (k_anonymity, alpha_k, p_sensitive_k, distinct_l, entropy_l, recursive_cl)
}


def with_listed_values(privacy: Tiered, classes: Classes, context: Context) -> NDArray[np.bool_]:
    """bool[g]: the classes that hold a listed value.

    Raises DataError for a listed value that occurs nowhere in the table: it would protect nobody.
    """
    codes = context.references[privacy.attribute].hierarchy.codes()
    absent = sum(value not in codes for value in privacy.values)
    if absent:
        raise DataError(
            f'{absent} of the values that a tier lists do not occur in "{privacy.attribute}": mend their spelling or '
            "take them out",
            column=privacy.attribute,
        )
    histogram = classes.histograms[privacy.attribute]
    listed = np.isin(histogram.value, [codes[value] for value in privacy.values])
    found = np.zeros(len(classes), np.bool_)
    found[owners(histogram)[listed]] = True
    return found


def evaluate(privacy: Tiered, classes: Classes, context: Context) -> Evaluation:
    """Judge the classes that hold a listed value by the model of the tier; the others hold."""
    chosen = with_listed_values(privacy, classes, context)
    satisfied = np.ones(len(classes), np.bool_)
    if not chosen.any():
        sentence = f"none of {len(classes)} classes holds a listed value"
        return Evaluation(satisfied, np.zeros(len(classes)), {}, sentence)
    found = shares.evaluate(HELD[privacy.holds.model], privacy.holds, only(classes, chosen), context)
    satisfied[chosen] = found.satisfied
    most = found.measure.max() if found.more_is_better else found.measure.min()
    measure = np.full(len(classes), most, np.float64)
    measure[chosen] = found.measure
    sentence = f"of {len(classes)} classes {int(chosen.sum())} hold a listed value; of these: {found.reason}"
    return replace(found, satisfied=satisfied, measure=measure, reason=sentence)


def achieved(classes: Classes, context: Context, attribute: str | None, **fixed: Any) -> dict[str, Any]:  # noqa: ARG001
    """Report nothing without a tier."""
    return {}


def criteria(privacy: Tiered, context: Context) -> None:  # the contract's
    """Compile nothing: the criteria of searches know no listed values."""


def shortfall(privacy: Tiered, root: Classes, context: Context) -> str:
    """Say why the whole table, which holds the listed values, fails."""
    reason = shares.shortfall(HELD[privacy.holds.model], privacy.holds, root, context)
    return f"of classes with listed values: {reason}"


def closure(privacy: Tiered) -> tuple[bool, bool]:
    """Return whether the tier is merge-closed (where its model is absorbing) and absorbing (never)."""
    return HELD[privacy.holds.model].absorbs(privacy.holds), False


def by_persons(privacy: Tiered) -> bool:
    """Whether the model of the tier looks at who has which rows."""
    return HELD[privacy.holds.model].by_persons(privacy.holds)


MODEL = Model(
    Tiered,
    title="tier: classes with listed values",
    scope="class",
    looks_at="published",
    merge_closed=False,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=shortfall,
    promises=no_number,
    closure=closure,
    needs=needing(LEVELS),
    by_persons=by_persons,
)
