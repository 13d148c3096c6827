"""Average risk in three parts: the risk of a release is bounded on average, for each unit, and above a bound for few.

Definition, n_E distinct persons where there is a person key, else rows, of a class; units are the n_E together:

- mean: (number of classes) / (sum of n_E) <= threshold, the mean over all units of 1 / n_E;
- highest: 1 / n_E <= highest for every class, that is n_E >= ceil(1 / highest);
- share: units of classes with 1 / n_E > above are at most a share of all; exact, n_E a < b for above = a / b.

Scope release: one verdict on all classes together. A *violating class* is one of the smallest classes that have to
go, in order of size (equal sizes in canonical order), so that the others hold: without the smallest class none of the
three rises, so the first such number is the least for mean and highest; for the share alone fewer rows might do.

Closure: none for single classes. Between whole releases: merging classes makes them fewer and larger and keeps the
sum, so none of the three rises (rows that several persons share aside).

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
from indistinct.models.size_risk import above
from indistinct.policy.privacy import AverageRisk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.tables.records import Classes


def evaluate(privacy: AverageRisk, classes: Classes, context: Context) -> Evaluation:  # noqa: ARG001  # the contract's
    """Compare the three parts with their bounds; mark the smallest classes that have to go."""
    sizes = classes.sizes
    order = np.argsort(sizes, kind="stable")
    ascending = sizes[order]
    left = len(sizes) - np.arange(len(sizes))
    units = _from_here_on(ascending)
    enough = np.ones(len(sizes), np.bool_)
    if privacy.threshold is not None:
        enough &= at_most(left, units, privacy.threshold)
    if privacy.highest is not None:
        enough &= ~above(privacy.highest, ascending)
    if privacy.share is not None and privacy.above is not None:
        at_risk = _from_here_on(np.where(above(privacy.above, ascending), ascending, 0))
        enough &= at_most(at_risk, units, privacy.share)
    gone = int(enough.argmax()) if enough.any() else len(sizes)
    satisfied = np.ones(len(sizes), np.bool_)
    satisfied[order[:gone]] = False
    found = _figures(classes, privacy)
    thresholds = {"threshold": privacy.threshold, "highest": privacy.highest, "share": privacy.share}
    text = "; ".join(
        _SAID[part].format(value=float(found[part]), bound=bound, above=privacy.above)
        + (", at most" if found[part] <= bound else ", more than")
        + f" {bound}"
        for part, bound in thresholds.items()
        if bound is not None
    )
    sentence = f"{len(sizes)} classes of {amount(int(sizes.sum()), classes)}: {text}"
    if gone:
        lost = int(classes.rows[~satisfied].sum())
        sentence += f"; the {gone} smallest classes ({lost} rows) would have to go"
    best = {
        part: rational(value) for part, value in found.items() if part == "threshold" or thresholds[part] is not None
    }
    return Evaluation(satisfied, 1 / sizes, best, sentence, more_is_better=False)


_SAID = {
    "threshold": "the average risk is {value:.4g}",
    "highest": "the highest risk is {value:.4g}",
    "share": "a share of {value:.4g} has a risk above {above}",
}


def _from_here_on(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums of the values from each place to the end."""
    found: NDArray[np.int64] = values[::-1].cumsum()[::-1]
    return found


def _figures(classes: Classes, privacy: AverageRisk | None = None) -> dict[str, Fraction]:
    """Return the mean risk, the highest, and the share above the bound of a model that asks for it."""
    sizes = classes.sizes
    total = int(sizes.sum())
    found = {"threshold": Fraction(len(sizes), total), "highest": Fraction(1, int(sizes.min()))}
    if privacy is not None and privacy.above is not None:
        found["share"] = Fraction(int(sizes[above(privacy.above, sizes)].sum()), total)
    return found


def achieved(classes: Classes, *_: Any) -> dict[str, Any]:
    """Smallest threshold that the release satisfies: its average risk."""
    return {"threshold": rational(_figures(classes)["threshold"])}


def shortfall(privacy: AverageRisk, root: Classes, context: Context) -> str:
    """Say that the whole table is too small."""
    return f"the whole table as one class does not do: {evaluate(privacy, root, context).reason}"


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
