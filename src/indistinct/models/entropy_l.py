"""Entropy l-diversity: every class is as diverse as one of l equally frequent values.

Definition: H_E = - sum_v p_v ln p_v >= ln l for every class E, p_v = c_v / n_E counted in rows (and, with a person
key, in persons: ``shares``); l real, l >= 1. The *effective l* of a class is exp(H_E).

What it does not give: a bound 1/l on the best guess. Counts 7,1,1,1 have effective l = 2.56 and a best
guess of 7/10.

Closure. Merge-closed: the distribution of a union is a mixture of those of its parts and entropy is
concave. Not absorbing: (1,1) holds for l = 2, merged with (2,0) it is (3,1). Suppressing another class
leaves E alone.

Exact test: an evenly spread class of d values has effective l = d. Elsewhere doubles decide outside a band
of 1e-9 (times the size of the logarithms); inside it n^n b^n is compared with a^n prod c^c for l = a/b
(``exact.entropy_sign``).

Another estimate of the entropy, with other closure properties, is in ``grassberger``.

Source: A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, TKDD 1(1):3, 2007,
doi:10.1145/1217299.1217302.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import ceil, inf, log, nextafter
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models import distinct_l, grassberger
from indistinct.models.contract import ENTROPY, LEVELS, Context, Criterion, Evaluation, Model, Promise, of_columns
from indistinct.models.exact import entropy_sign, subject
from indistinct.models.histograms import add_up, distinct, is_constant, named, owners, share_of
from indistinct.policy.privacy import EntropyL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.tables.records import Classes, Histogram

    Bool = NDArray[np.bool_]
    Float64 = NDArray[np.float64]

_BAND = 1e-9


def measure(classes: Classes, attribute: str) -> tuple[Float64, Bool]:
    """Effective l of each class (float64[g], an integer where even) and whether it is evenly spread."""
    histogram = classes.histograms[attribute]
    count, first = histogram.count, histogram.start[:-1]
    even = (np.maximum.reduceat(count, first) == np.minimum.reduceat(count, first)).astype(np.bool_)
    shares = (count / classes.rows[owners(histogram)]).astype(np.float64)
    effective = np.exp(-add_up(shares * np.log(shares), histogram))
    return np.where(even, distinct(histogram).astype(np.float64), effective), even


def evaluate(privacy: EntropyL, classes: Classes, context: Context) -> Evaluation:
    """Compare the entropy of every class with ln l, exactly."""
    if privacy.estimator == "grassberger":
        return grassberger.evaluate(privacy, classes)
    histogram, length = classes.histograms[privacy.attribute], privacy.l
    effective, even = measure(classes, privacy.attribute)
    enough = distinct(histogram) >= length.__ceil__()  # necessary, and sufficient for an even class
    difference = np.log(effective) - log(length)
    undecided = ~even & enough & (np.abs(difference) < _BAND * (1 + np.log(classes.rows.astype(np.float64))))
    satisfied = enough & (even | (difference >= 0))
    known: dict[tuple[int, ...], bool] = {}
    for number in np.flatnonzero(undecided).tolist():
        counts = tuple(sorted(_counts(histogram, number)))
        if counts not in known:
            known[counts] = entropy_sign(Counter(counts), length) >= 0
        satisfied[number] = known[counts]
    best = _best(effective, histogram)
    return Evaluation(
        satisfied,
        effective,
        best,
        _reason(length, satisfied, best, constant=_constant(context, privacy.attribute)),
    )


def _counts(histogram: Histogram, number: int) -> list[int]:
    counts: list[int] = histogram.count[histogram.start[number] : histogram.start[number + 1]].tolist()
    return counts


def _constant(context: Context, attribute: str) -> bool:
    return is_constant(context.references[attribute])


def _reason(length: Fraction, satisfied: Bool, best: dict[str, Any], *, constant: bool) -> str:
    if constant:
        return "no protection: the column is constant"
    smallest = f"the smallest effective l is {best['l']['decimal']:.4g}"
    if satisfied.all():
        return f"every class has an entropy of at least ln {length}; {smallest}"
    return f"{subject(satisfied, 'has', 'have')} an entropy below ln {length}; {smallest}"


def achieved(
    classes: Classes,
    context: Context,  # noqa: ARG001  # the contract's
    attribute: str,
    estimator: str = "shannon",
) -> dict[str, Any]:
    """Largest l that the classes satisfy: the smallest effective l."""
    if estimator == "grassberger":
        return grassberger.achieved(classes, attribute)
    return _best(measure(classes, attribute)[0], classes.histograms[attribute])


def _best(effective: Float64, histogram: Histogram) -> dict[str, Any]:
    worst = int(effective.argmin())
    value = float(effective[worst])
    whole = round(value)
    if value != whole and abs(value - whole) < _BAND * value:  # say 4, not 3.9999999999999996, where it is 4
        exactly = entropy_sign(Counter(_counts(histogram, worst)), Fraction(whole)) == 0
        value = float(whole) if exactly else value
    return {"l": {"decimal": value}}


def criteria(privacy: EntropyL, context: Context) -> tuple[Criterion, ...] | None:  # noqa: ARG001  # the contract's
    """Compile the model; l = 1 needs no test. Grassberger's estimate has no compiled form."""
    if privacy.estimator == "grassberger":
        return None
    if privacy.l <= 1:
        return ()
    length = float(privacy.l)
    if length.is_integer() and privacy.l != int(length):  # the compiled test decides even classes by this number
        length = nextafter(length, inf if privacy.l > int(length) else -inf)
    return (Criterion(ENTROPY, privacy.attribute, np.array([length]), merge_closed=True, absorbing=False),)


def shortfall(privacy: EntropyL, root: Classes, context: Context) -> str:
    """Say how diverse the whole column is."""
    histogram = root.histograms[privacy.attribute]
    values = int(distinct(histogram)[0])
    if values < privacy.l:
        return distinct_l.too_few(privacy.attribute, f"l = {privacy.l}", privacy.l.__ceil__(), root)
    most = int(histogram.count.argmax())
    effective = achieved(root, context, privacy.attribute)["l"]["decimal"]
    return (
        f"the whole column {privacy.attribute} has effective l = {effective:.4g}, less than l = {privacy.l};"
        f" {named(context.references[privacy.attribute], int(histogram.value[most]))}"
        f" has {share_of(histogram.count[most], root)}"
    )


def _closure(privacy: EntropyL) -> tuple[bool, bool]:
    return privacy.estimator == "shannon", False


def _needs(privacy: EntropyL) -> str | None:
    """Name what does not mend classes by merging them, where merging may break the model."""
    return LEVELS if privacy.estimator == "grassberger" else None


def _of_shares(privacy: EntropyL | None) -> bool:
    """Say whether shares are looked at: Grassberger's correction is one for the number of rows."""
    return privacy is None or privacy.estimator == "shannon"


MODEL = Model(
    EntropyL,
    title="entropy l-diversity",
    scope="class",
    looks_at="published",
    merge_closed=False,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=shortfall,
    promises=lambda privacy: Promise(values=ceil(privacy.l)),
    measured=of_columns(),
    blank_counts=True,
    share_sampled=lambda privacy: 1 / privacy.l,
    closure=_closure,
    needs=_needs,
    of_shares=_of_shares,
    by_persons=_of_shares,
    merges_persons=lambda privacy: not _of_shares(privacy),
    counts_values=True,
)
