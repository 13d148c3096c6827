"""beta-likeness: no sensitive value gains too much, relative to its frequency in the whole table.

Definition: for every class E and every value v with p_v > q_v, the gain (p_v - q_v) / q_v is at most beta (*basic*),
or at most min(beta, -ln q_v) (*enhanced*; natural logarithm). p_v = c_v / n_E in the class, q_v in the reference
table, both counted in rows (and, with a person key, in persons: ``shares``); beta > 0. Decreases are free.

So p_v <= (1 + beta) q_v; enhanced also keeps p_v <= q_v (1 - ln q_v) < 1: no class of one value, unless the
column has one only.

Closure. Merge-closed: p_v of a union is a weighted mean of those of its parts, so it stays below the same cap.
Not absorbing: q = (1/2, 1/2), beta = 1/2: (1,1) holds, merged with (2,0) it is (3,1), a gain of 1/2 still, and
with (4,0) it is (5,1), a gain of 2/3. Suppressing another class leaves p_v alone, and q_v is that of the input.

Exact test: gains are ratios of integers. A gain above 0 is never equal to -ln q_v, the logarithm of a rational
other than 1: digits are added until the two differ.

Source: J. Cao, P. Karras, PVLDB 5(11):1388-1399, 2012, doi:10.14778/2350229.2350255.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models.contract import Context, Evaluation, Model, always, never, no_number, of_columns
from indistinct.models.exact import at_most, largest_ratio, log_sign, rational, subject, wide
from indistinct.models.histograms import is_constant, named, owners
from indistinct.policy.privacy import BetaLikeness

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.tables.records import Classes, Reference

    Integers = NDArray[Any]
    Bool = NDArray[np.bool_]


def measure(classes: Classes, reference: Reference, attribute: str) -> tuple[Integers, Integers]:
    """Gain of every entry of the histogram as numerator / denominator: c n - Q n_E (0 if negative) over Q n_E."""
    histogram = classes.histograms[attribute]
    kind = wide(reference.total * max(int(classes.rows.max()), reference.total))
    if object in (reference.counts.dtype, classes.rows.dtype):
        kind = object
    theirs = reference.counts[histogram.value].astype(kind) * classes.rows[owners(histogram)].astype(kind)
    ours = histogram.count.astype(kind) * reference.total
    return np.where(ours > theirs, ours - theirs, 0), theirs


def _below_logarithm(classes: Classes, reference: Reference, attribute: str, gains: Integers, scale: Integers) -> Bool:
    """Whether the gain of every entry is at most -ln q_v."""
    q = (reference.counts[classes.histograms[attribute].value] / reference.total).astype(np.float64)
    difference = gains.astype(np.float64) / scale.astype(np.float64) + np.log(q)
    found: Bool = (difference <= 0) | (gains == 0)
    for number in np.flatnonzero((np.abs(difference) < 1e-9) & (gains > 0)).tolist():
        code = int(classes.histograms[attribute].value[number])
        gain = Fraction(int(gains[number]), int(scale[number]))
        found[number] = log_sign(Fraction(int(reference.counts[code]), reference.total), -gain) <= 0
    return found


def _class_verdicts(entries: Bool, classes: Classes, attribute: str) -> Bool:
    found: Bool = np.logical_and.reduceat(entries, classes.histograms[attribute].start[:-1])
    return found


def evaluate(privacy: BetaLikeness, classes: Classes, context: Context) -> Evaluation:
    """Compare every gain with beta, and with -ln q_v where the kind is enhanced."""
    attribute, reference = privacy.attribute, context.references[privacy.attribute]
    gains, scale = measure(classes, reference, attribute)
    entries = at_most(gains, scale, privacy.beta)
    enhanced = privacy.kind == "enhanced"
    if enhanced:
        entries &= _below_logarithm(classes, reference, attribute, gains, scale)
    satisfied = _class_verdicts(entries, classes, attribute)
    largest = largest_ratio(gains, scale)
    limit = f"{privacy.beta}" + (" or -ln of its share" if enhanced else "")
    if is_constant(reference) and largest == 0:
        sentence = "no protection: the column is constant"
    elif satisfied.all():
        sentence = f"no value gains more than {limit} in a class; the largest gain is {largest}"
    else:
        sentence = f"{subject(satisfied, 'has', 'have')} a value that gains more than {limit}"
        sentence += f"; the largest gain is {largest}"
    shown = (gains / scale).astype(np.float64)
    measured = np.maximum.reduceat(shown, classes.histograms[attribute].start[:-1])
    best = achieved(classes, context, attribute, privacy.kind)
    return Evaluation(satisfied, measured, best, sentence, more_is_better=False)


def achieved(classes: Classes, context: Context, attribute: str, kind: str = "basic") -> dict[str, Any]:
    """Smallest beta that the classes satisfy: the largest gain; None where no beta serves (enhanced only)."""
    reference = context.references[attribute]
    gains, scale = measure(classes, reference, attribute)
    if kind == "enhanced" and not _below_logarithm(classes, reference, attribute, gains, scale).all():
        return {"beta": None}
    return {"beta": rational(largest_ratio(gains, scale))}


def criteria(privacy: BetaLikeness, context: Context) -> None:  # the contract's
    """Compile nothing: the caps differ from value to value."""


def shortfall(privacy: BetaLikeness, root: Classes, context: Context) -> str:
    """Name the value that gains most in the whole table, whose reference is then another table."""
    attribute, reference = privacy.attribute, context.references[privacy.attribute]
    gains, scale = measure(root, reference, attribute)
    most = int((gains / scale).astype(np.float64).argmax())
    value = named(reference, int(root.histograms[attribute].value[most]))
    gain = Fraction(int(gains[most]), int(scale[most]))
    return f"{value} of {attribute} gains {gain} in the whole table, more than beta = {privacy.beta} allows"


MODEL = Model(
    BetaLikeness,
    title="beta-likeness",
    scope="class",
    looks_at="input",
    merge_closed=True,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=shortfall,
    promises=no_number,
    measured=of_columns({"kind": "basic"}, {"kind": "enhanced"}),
    of_shares=always,
    by_persons=always,
    merges_persons=never,
)
