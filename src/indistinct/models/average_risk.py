"""Average risk (marketer): the mean risk of the rows of a release is at most a threshold.

Definition: (number of classes) / (sum of n_E) <= threshold, the mean over all rows of 1 / n_E; n_E counts distinct
persons where there is a person key, else rows.

Scope release: one verdict on all classes together. A *violating class* is one of the smallest classes that have to
go, as few as possible in order of size (equal sizes in canonical order), so that the others hold: without a class
that is not larger than the mean the ratio never grows, so the first such number is the least.

Closure: none for single classes. Between whole releases: merging classes makes them fewer and keeps the sum, so the
risk falls (rows that several persons share aside).

Source: F. Dankar, K. El Emam, "A method for evaluating marketer re-identification risk", EDBT/ICDT Workshops 2010,
doi:10.1145/1754239.1754271.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models.contract import LEVELS, Context, Evaluation, Model, needing, no_criteria, no_number
from indistinct.models.exact import at_most, rational
from indistinct.models.histograms import amount
from indistinct.policy.privacy import AverageRisk

if TYPE_CHECKING:
    from indistinct.tables.records import Classes


def evaluate(privacy: AverageRisk, classes: Classes, context: Context) -> Evaluation:  # noqa: ARG001  # the contract's
    """Compare the mean risk with the threshold; mark the smallest classes that have to go."""
    sizes = classes.sizes
    order = np.argsort(sizes, kind="stable")
    left = len(sizes) - np.arange(len(sizes))
    rows = int(sizes.sum()) - np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[order])[:-1]])
    enough = at_most(left, rows, privacy.threshold)
    gone = int(enough.argmax()) if enough.any() else len(sizes)
    satisfied = np.ones(len(sizes), np.bool_)
    satisfied[order[:gone]] = False
    best = Fraction(len(sizes), int(sizes.sum()))
    whole = f"{len(sizes)} classes of {amount(int(sizes.sum()), classes)}: the average risk is {float(best):.4g}"
    if gone == 0:
        sentence = f"{whole}, at most {privacy.threshold}"
    else:
        lost = int(classes.rows[~satisfied].sum())
        sentence = f"{whole}, more than {privacy.threshold}; the {gone} smallest classes ({lost} rows) would have to go"
    return Evaluation(satisfied, 1 / sizes, {"threshold": rational(best)}, sentence, more_is_better=False)


def achieved(classes: Classes, *_: Any) -> dict[str, Any]:
    """Smallest threshold that the release satisfies: its average risk."""
    return {"threshold": rational(Fraction(len(classes), int(classes.sizes.sum())))}


def shortfall(privacy: AverageRisk, root: Classes, context: Context) -> str:  # noqa: ARG001  # the contract's
    """Say that the whole table is too small."""
    return f"the whole table as one class has risk 1/{int(root.sizes[0])}, more than {privacy.threshold}"


MODEL = Model(
    AverageRisk,
    title="average risk",
    scope="release",
    looks_at="published",
    merge_closed=False,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=no_criteria,
    shortfall=shortfall,
    promises=no_number,
    needs=needing(LEVELS),
)
