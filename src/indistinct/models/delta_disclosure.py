"""delta-disclosure privacy: no sensitive value is much more or much less frequent in a class than in the table.

Definition: |log(p_v / q_v)| < delta, strict, for every class E and every value v of the column (*strict*), or
every value that the class has (*lenient*); p_v = c_v / n_E in the class, q_v in the reference table, both counted
in rows; delta > 0. The logarithm has base 2 or e. A value that a class lacks has an infinite logarithm, so under
*strict* every class must have every value.

The least delta is therefore not attained: delta must exceed the largest |log(p_v / q_v)|.

Closure, strict. Merge-closed: p_v / q_v of a union is a weighted mean of those of its parts, so it stays between
the same bounds. Not absorbing: q = (1/2, 1/2), delta = 1, base 2: (1,1) holds, merged with (2,0) it is (3,1),
and p = 1/4 is exactly half of q.

Closure, lenient. Not merge-closed: classes (0 s, 7 u) and (1 s, 2 u), q_s = 1/4, delta = 1, base 2: in the first
only u counts, log2(4/3) = 0.415; in the second 1/3 and 2/3 against 1/4 and 3/4, 0.415 and 0.170. The union has
1/10 of s, |log2(0.4)| = 1.32. Nothing is pruned on it.

Suppressing another class leaves p_v alone, and q_v is that of the input.

Exact test: the logarithm of a rational is rational only for 1 and, to base 2, for powers of 2, which are
recognised; all others differ from delta, and digits are added until it shows.

Source: J. Brickell, V. Shmatikov, KDD 2008, 70-78, doi:10.1145/1401890.1401904.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, log
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models.contract import LEVELS, Context, Evaluation, Model, always, never, no_number, of_columns
from indistinct.models.exact import log_sign, rational, subject
from indistinct.models.histograms import distinct, is_constant, named, owners
from indistinct.policy.privacy import DeltaDisclosure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.tables.records import Classes, Reference

    Float64 = NDArray[np.float64]
    Bool = NDArray[np.bool_]

_BAND = 1e-9


def measure(classes: Classes, reference: Reference, attribute: str, base: int | None) -> Float64:
    """|log(p_v / q_v)| of every entry of the histogram, for display and as a filter."""
    histogram = classes.histograms[attribute]
    p = histogram.count / classes.rows[owners(histogram)]
    p, q = p.astype(np.float64), (reference.counts[histogram.value] / reference.total).astype(np.float64)
    found: Float64 = np.abs(np.log(p) - np.log(q)) / (1.0 if base is None else log(base))
    return found


def _lacks(classes: Classes, reference: Reference, attribute: str) -> Bool:
    """bool[g]: classes that lack a value of the column."""
    return distinct(classes.histograms[attribute]) < int(np.count_nonzero(reference.counts))


def _ratio(classes: Classes, reference: Reference, attribute: str, owner: int, entry: int) -> Fraction:
    """p_v / q_v of an entry, or its inverse: the one that is at least 1."""
    histogram = classes.histograms[attribute]
    ratio = Fraction(int(histogram.count[entry]) * reference.total, int(classes.rows[owner]))
    ratio /= int(reference.counts[histogram.value[entry]])
    return max(ratio, 1 / ratio)


def _base(privacy: DeltaDisclosure) -> int | None:
    return 2 if privacy.base == 2 else None


def evaluate(privacy: DeltaDisclosure, classes: Classes, context: Context) -> Evaluation:
    """Compare the logarithm of every ratio with delta, exactly."""
    attribute, reference, delta = privacy.attribute, context.references[privacy.attribute], privacy.delta
    base = _base(privacy)
    logarithms = measure(classes, reference, attribute, base)
    first, owner = classes.histograms[attribute].start[:-1], owners(classes.histograms[attribute])
    entries = logarithms < float(delta)
    near = np.abs(logarithms - float(delta)) <= _BAND * (
        1 + np.log(classes.rows[owner].astype(np.float64) + reference.total)
    )
    known: dict[Fraction, bool] = {}
    for number in np.flatnonzero(near).tolist():
        ratio = _ratio(classes, reference, attribute, int(owner[number]), number)
        if ratio not in known:
            known[ratio] = log_sign(ratio, delta, base) < 0
        entries[number] = known[ratio]
    satisfied: Bool = np.logical_and.reduceat(entries, first)
    measured = np.maximum.reduceat(logarithms, first)
    absent = _lacks(classes, reference, attribute)
    if privacy.absent == "strict":
        satisfied &= ~absent
        measured = np.where(absent, inf, measured)
    best = _best(classes, reference, attribute, base, strict=privacy.absent == "strict")
    sentence = _reason(privacy, satisfied, absent, best, constant=is_constant(reference))
    return Evaluation(satisfied, measured, best, sentence, more_is_better=False)


def _reason(privacy: DeltaDisclosure, satisfied: Bool, absent: Bool, best: dict[str, Any], *, constant: bool) -> str:
    if constant:
        return "no protection: the column is constant"
    if best["delta"] is None:
        lack = int(absent.sum())
        largest = f"{lack} of {len(absent)} classes lack{'s' if lack == 1 else ''} a value of the column"
    else:
        largest = f"the largest logarithm is {best['delta']['decimal']:.4g}"
    if satisfied.all():
        return f"every share is within a factor of base^{privacy.delta} of that of the table; {largest}"
    return f"{subject(satisfied, 'has', 'have')} a value whose share is too far from that of the table; {largest}"


def achieved(
    classes: Classes, context: Context, attribute: str, absent: str = "strict", base: int | str = 2
) -> dict[str, Any]:
    """Infimum of delta, which must be exceeded: the largest logarithm; None where a class lacks a value."""
    base_number = 2 if base == 2 else None
    return _best(classes, context.references[attribute], attribute, base_number, strict=absent == "strict")


def _best(classes: Classes, reference: Reference, attribute: str, base: int | None, *, strict: bool) -> dict[str, Any]:
    if strict and _lacks(classes, reference, attribute).any():
        return {"delta": None}
    logarithms = measure(classes, reference, attribute, base)
    most = int(logarithms.argmax())
    owner = int(owners(classes.histograms[attribute])[most])
    ratio = _ratio(classes, reference, attribute, owner, most)
    power = ratio.numerator.bit_length() - 1
    if ratio == 1 or (base == 2 and ratio == 2**power):
        return {"delta": rational(Fraction(0 if ratio == 1 else power))}
    return {"delta": {"decimal": float(logarithms[most])}}


def criteria(privacy: DeltaDisclosure, context: Context) -> None:  # the contract's
    """Compile nothing: the bounds differ from value to value."""


def shortfall(privacy: DeltaDisclosure, root: Classes, context: Context) -> str:
    """Name a value of the whole table whose reference, then another table, is far from it."""
    attribute, reference = privacy.attribute, context.references[privacy.attribute]
    if privacy.absent == "strict" and _lacks(root, reference, attribute)[0]:
        return f"{attribute} lacks a value that its reference has, and delta is strict"
    most = int(measure(root, reference, attribute, _base(privacy)).argmax())
    value = named(reference, int(root.histograms[attribute].value[most]))
    return f"the share of {value} of {attribute} in the whole table is too far from that of its reference"


def _closure(privacy: DeltaDisclosure) -> tuple[bool, bool]:
    return privacy.absent == "strict", False


def _needs(privacy: DeltaDisclosure) -> str | None:
    """Name what does not mend classes by merging them, where merging may break the model."""
    return LEVELS if privacy.absent == "lenient" else None


MODEL = Model(
    DeltaDisclosure,
    title="delta-disclosure privacy",
    scope="class",
    looks_at="input",
    merge_closed=False,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=shortfall,
    promises=no_number,
    measured=of_columns({"absent": "strict", "base": 2}, {"absent": "lenient", "base": 2}),
    closure=_closure,
    needs=_needs,
    of_shares=always,
    by_persons=always,
    merges_persons=never,
)
