"""k-anonymity: every class has at least k rows.

Definition: n_E >= k for every class E; n_E counts distinct persons where there is a person key, else rows.

Closure. Merge-closed and absorbing: the size of a union is at least that of each part (distinct persons of
a union are at least those of a part). Suppressing another class leaves n_E alone.

Source: P. Samarati, L. Sweeney, SRI-CSL-98-04, 1998; P. Samarati, IEEE TKDE 13(6), 2001,
doi:10.1109/69.971193; L. Sweeney, IJUFKS 10(5), 2002, doi:10.1142/S0218488502001648.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models.contract import Context, Criterion, Evaluation, K, Model, Promise
from indistinct.models.exact import subject
from indistinct.models.histograms import amount
from indistinct.policy.privacy import KAnonymity

if TYPE_CHECKING:
    from indistinct.tables.records import Classes


def evaluate(privacy: KAnonymity, classes: Classes, context: Context) -> Evaluation:  # noqa: ARG001  # the contract's
    """Compare the size of every class with k."""
    sizes = classes.sizes
    satisfied = sizes >= privacy.k
    return Evaluation(satisfied, sizes.astype(np.float64), achieved(classes), reason(privacy.k, classes))


def achieved(classes: Classes, *_: Any) -> dict[str, Any]:
    """Largest k that the classes satisfy: the size of the smallest (context and attribute do not matter)."""
    return {"k": int(classes.sizes.min())}


def reason(k: int, classes: Classes) -> str:
    """Say how many classes are too small, or how small the smallest is."""
    satisfied = classes.sizes >= k
    smallest = int(classes.sizes.min())
    if satisfied.all():
        return f"every class has at least {amount(k, classes)}; the smallest has {smallest}"
    return f"{subject(satisfied, 'has', 'have')} fewer than {amount(k, classes)}; the smallest has {smallest}"


def size_criterion(k: int) -> tuple[Criterion, ...]:
    """Compile the size condition; k = 1 needs none."""
    if k == 1:
        return ()
    return (Criterion(K, None, np.array([k], np.float64), merge_closed=True, absorbing=True),)


def criteria(privacy: KAnonymity, context: Context) -> tuple[Criterion, ...]:  # noqa: ARG001  # the contract's
    """Compile the model."""
    return size_criterion(privacy.k)


def shortfall(privacy: KAnonymity, root: Classes, context: Context) -> str:  # noqa: ARG001  # the contract's
    """Say that the whole table has fewer rows (persons) than k."""
    return f"k={privacy.k} but the table has {amount(int(root.sizes[0]), root)}"


MODEL = Model(
    KAnonymity,
    title="k-anonymity",
    scope="class",
    looks_at="published",
    merge_closed=True,
    absorbing=True,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=shortfall,
    promises=lambda privacy: Promise(rows=privacy.k, candidates=privacy.k),
    measured=lambda column: ({},) if column is None else (),
)
