"""(alpha,k)-anonymity: large classes in which no sensitive value is too frequent.

Definition: n_E >= k, and c_v / n_E <= alpha (not strict) for every value v concerned, in every class E; concerned are
the values listed, or all. With a person key sizes count persons, and shares hold by rows and by persons; a listed
value also for the share of persons who have it at all (``shares``).

Closure. Merge-closed: the share of v in a union is a weighted mean of its shares in the parts, so at most
the larger. Not absorbing: counts (1,1) hold for alpha = 1/2, merged with (2,0) they are (3,1). Suppressing
another class leaves the shares of E alone.

Source: R. Wong, J. Li, A. Fu, K. Wang, KDD 2006, 754-759, doi:10.1145/1150402.1150499.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, nextafter
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models import k_anonymity
from indistinct.models.contract import ALPHA, Context, Criterion, Evaluation, Model, Promise, always, never, of_columns
from indistinct.models.exact import bounds, largest_ratio, rational, subject
from indistinct.models.histograms import named, share_of
from indistinct.policy.privacy import AlphaK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.tables.records import Classes, Reference

    Int64 = NDArray[np.int64]

# below this denominator a share of fewer than 2^32 rows that equals alpha as a double equals it exactly
_TIES_DECIDED = 2**20


def measure(classes: Classes, reference: Reference, attribute: str, values: Sequence[str] | None) -> Int64:
    """int64[g]: rows of the most frequent value concerned."""
    histogram = classes.histograms[attribute]
    counts = histogram.count
    if values is not None:
        concerned = np.zeros(reference.hierarchy.size, np.bool_)
        concerned[_codes(reference, values)] = True
        counts = np.where(concerned[histogram.value], counts, 0)
    largest: Int64 = np.maximum.reduceat(counts, histogram.start[:-1])
    return largest


def _codes(reference: Reference, values: Sequence[str]) -> list[int]:
    """Codes of the listed values; a value that does not occur has none and can't be too frequent."""
    codes = reference.hierarchy.codes()
    return sorted({codes[value] for value in values if value in codes})


def evaluate(privacy: AlphaK, classes: Classes, context: Context) -> Evaluation:
    """Compare the size and the largest share of every class with k and alpha."""
    largest = measure(classes, context.references[privacy.attribute], privacy.attribute, privacy.values)
    alpha = privacy.alpha
    if classes.rows.dtype == object:
        rare = (largest * alpha.denominator <= classes.rows * alpha.numerator).astype(np.bool_)
    else:
        rare = largest <= bounds(classes.rows, lambda n: alpha.numerator * n // alpha.denominator)
    satisfied = rare & (classes.sizes >= privacy.k)
    best = _best(classes, largest)
    share = Fraction(best["alpha"]["fraction"])
    if rare.all():
        sentence = f"no value has more than {alpha} of a class; the largest share is {share}"
    else:
        too_much = f"a value with more than {alpha} of the {classes.unit}; the largest share is {share}"
        sentence = f"{subject(rare, 'has', 'have')} {too_much}"
    if privacy.k > 1:
        sentence = f"{k_anonymity.reason(privacy.k, classes)}; {sentence}"
    return Evaluation(satisfied, (largest / classes.rows).astype(np.float64), best, sentence, more_is_better=False)


def achieved(classes: Classes, context: Context, attribute: str, values: Sequence[str] | None = None) -> dict[str, Any]:
    """Largest k and smallest alpha that the classes satisfy."""
    return _best(classes, measure(classes, context.references[attribute], attribute, values))


def _best(classes: Classes, largest: Int64) -> dict[str, Any]:
    return {"alpha": rational(largest_ratio(largest, classes.rows)), **k_anonymity.achieved(classes)}


def criteria(privacy: AlphaK, context: Context) -> tuple[Criterion, ...]:
    """Compile the size condition and the bound on shares; alpha = 1 needs none."""
    sizes = k_anonymity.size_criterion(privacy.k)
    codes = [] if privacy.values is None else _codes(context.references[privacy.attribute], privacy.values)
    if privacy.alpha >= 1 or (privacy.values is not None and not codes):
        return sizes
    alpha = float(privacy.alpha)
    if privacy.alpha.denominator > _TIES_DECIDED:
        alpha = nextafter(alpha, 0.0)  # a share that equals this one is below alpha
    return (
        *sizes,
        Criterion(ALPHA, privacy.attribute, np.array([alpha, *codes]), merge_closed=True, absorbing=False),
    )


def shortfall(privacy: AlphaK, root: Classes, context: Context) -> str:
    """Name the value that is too frequent in the whole table."""
    if root.sizes[0] < privacy.k:
        return k_anonymity.MODEL.shortfall(privacy, root, context)
    reference, histogram = context.references[privacy.attribute], root.histograms[privacy.attribute]
    counts = dict(zip(histogram.value.tolist(), histogram.count.tolist(), strict=True))
    codes = counts if privacy.values is None else _codes(reference, privacy.values)
    most = max(codes, key=lambda code: (counts.get(code, 0), -code))
    return (
        f"{named(reference, most)} of {privacy.attribute} has {share_of(counts[most], root)},"
        f" more than alpha = {privacy.alpha}"
    )


def promises(privacy: AlphaK) -> Promise:
    """Promise ceil(1 / alpha) different values where every value is bound."""
    return Promise(
        rows=privacy.k, candidates=privacy.k, values=ceil(1 / privacy.alpha) if privacy.values is None else 0
    )


MODEL = Model(
    AlphaK,
    title="(alpha,k)-anonymity",
    scope="class",
    looks_at="published",
    merge_closed=True,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=shortfall,
    promises=promises,
    measured=of_columns(),
    share_sampled=lambda privacy: privacy.alpha,
    of_shares=always,
    by_persons=always,
    merges_persons=never,
)
