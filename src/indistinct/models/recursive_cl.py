"""Recursive (c,l)-diversity: the most frequent value is not too frequent beside the rarer ones.

Definition: counts sorted r_1 >= ... >= r_m; r_1 < c (r_l + ... + r_m), strict, for every class; c > 0 real,
l >= 1 whole. The sum is *all other values* for l = 2 only, all rows for l = 1, and empty (fails) for l > m.
The smallest c is therefore not attained: c must exceed r_1 / (r_l + ... + r_m).

Guarantee: after l - 2 values (not the true one) are ruled out no value has a posterior of c / (c + 1) or
more.

Closure. Merge-closed: r_1 of a union is at most the sum of the parts' (subadditive), and rows minus the l -
1 largest counts is at least the sum of the parts' (superadditive). Not absorbing: (1,1) holds for (2,2),
merged with (2,0) it is (3,1). Suppressing another class leaves E alone.

Source: A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, TKDD 1(1):3, 2007,
doi:10.1145/1217299.1217302.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models.contract import (
    RECURSIVE,
    Context,
    Criterion,
    Evaluation,
    Model,
    Promise,
    always,
    never,
    of_columns,
)
from indistinct.models.exact import SAFE, bounds, largest_ratio, rational, subject
from indistinct.models.histograms import distinct, is_constant, named, owners, share_of, weight_of
from indistinct.policy.privacy import RecursiveCL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.tables.records import Classes, Histogram

    Int64 = NDArray[np.int64]

# below this denominator r_1 and c times the tail, equal as doubles, are equal (fewer than 2^32 rows)
_TIES_DECIDED = 2**20
# a list of the best c for every l ends after this many entries or, if later, at the first l that no c serves
_LONGEST = 256


def measure(classes: Classes, attribute: str) -> tuple[Int64, Int64]:
    """Sort the counts of each class, largest first (int64[.], along ``start``), and add them up from 0."""
    histogram = classes.histograms[attribute]
    owner, base = owners(histogram), int(histogram.count.max()) + 1
    if histogram.count.dtype != object and len(classes) * base < SAFE:
        falling = base - 1 - np.sort(owner * base + (base - 1 - histogram.count)) % base
    else:
        falling = histogram.count[np.lexsort((-histogram.count, owner))]
    if int(histogram.count.max()) * len(falling) >= SAFE:
        falling = falling.astype(object)
    return falling, np.concatenate([np.zeros(1, falling.dtype), np.cumsum(falling)])


def _top_and_tail(histogram: Histogram, sums: Int64, length: int) -> tuple[Int64, Int64]:
    """r_1 and r_l + ... + r_m of each class."""
    first, end = histogram.start[:-1], histogram.start[1:]
    return sums[first + 1] - sums[first], sums[end] - sums[np.minimum(first + length - 1, end)]


def evaluate(privacy: RecursiveCL, classes: Classes, context: Context) -> Evaluation:
    """Compare r_1 with c times the tail in every class, exactly."""
    c, histogram = privacy.c, classes.histograms[privacy.attribute]
    top, tail = _top_and_tail(histogram, measure(classes, privacy.attribute)[1], privacy.l)
    if tail.dtype == object:
        satisfied = (top * c.denominator < tail * c.numerator).astype(np.bool_)
    else:
        satisfied = top <= bounds(tail, lambda rows: (c.numerator * rows - 1) // c.denominator)
    needed = np.full(len(top), np.inf)
    np.divide(top.astype(np.float64), tail.astype(np.float64), out=needed, where=(tail > 0).astype(np.bool_))
    best = _best(top, tail)
    if is_constant(context.references[privacy.attribute]):
        sentence = "no protection: the column is constant"
    else:
        bound = f"{c} times the {classes.unit} from value number {privacy.l} on"
        floor = "no c would do" if best is None else f"c must exceed {Fraction(best['fraction'])}"
        if satisfied.all():
            sentence = f"in every class the most frequent value stays below {bound}; {floor}"
        else:
            reaches = subject(satisfied, "has", "have")
            sentence = f"{reaches} a most frequent value that reaches {bound}; {floor}"
    return Evaluation(satisfied, needed, {"l": privacy.l, "c": best}, sentence, more_is_better=False)


def _best(top: Int64, tail: Int64) -> dict[str, Any] | None:
    return None if (tail == 0).any() else rational(largest_ratio(top, tail))


def achieved(
    classes: Classes,
    context: Context,
    attribute: str,
    l: int | None = None,  # noqa: E741  # the letter of the literature
) -> dict[str, Any] | list[dict[str, Any]]:
    """Infimum of c (to be exceeded) for one l, or for l = 2..m; ``c`` is None where no c serves.

    Beyond l = 256 a list ends at the first l that no c serves.
    """
    histogram, sums = classes.histograms[attribute], measure(classes, attribute)[1]
    if l is not None:
        return {"l": l, "c": _best(*_top_and_tail(histogram, sums, l))}
    found: list[dict[str, Any]] = []
    served = int(distinct(histogram).min())
    values = int(np.count_nonzero(context.references[attribute].counts))
    for number in range(2, max(served, min(values, max(served + 1, _LONGEST))) + 1):
        best = _best(*_top_and_tail(histogram, sums, number)) if number <= served else None
        found.append({"l": number, "c": best})
    return found


def criteria(privacy: RecursiveCL, context: Context) -> tuple[Criterion, ...]:  # noqa: ARG001  # the contract's
    """Compile the model; l = 1 with c > 1 needs no test."""
    if privacy.l == 1 and privacy.c > 1:
        return ()
    c = float(privacy.c)
    if privacy.c.denominator > _TIES_DECIDED:
        for _ in range(4):  # r_1 that equals this bound reaches the true one, rounding included
            c = nextafter(c, inf)
    parameters = np.array([c, privacy.l], np.float64)
    return (Criterion(RECURSIVE, privacy.attribute, parameters, merge_closed=True, absorbing=False),)


def shortfall(privacy: RecursiveCL, root: Classes, context: Context) -> str:
    """Name the most frequent value of the whole table."""
    histogram = root.histograms[privacy.attribute]
    top, tail = _top_and_tail(histogram, measure(root, privacy.attribute)[1], privacy.l)
    most = int(histogram.count.argmax())
    value = named(context.references[privacy.attribute], int(histogram.value[most]))
    return (
        f"{value} of {privacy.attribute} has {share_of(top[0], root)}, not fewer than c = {privacy.c}"
        f" times the {weight_of(tail[0], root)} {root.unit} of the values from number l = {privacy.l} on"
    )


MODEL = Model(
    RecursiveCL,
    title="recursive (c,l)-diversity",
    scope="class",
    looks_at="published",
    merge_closed=True,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=shortfall,
    promises=lambda privacy: Promise(rows=privacy.l, values=privacy.l),
    measured=of_columns(),
    blank_counts=True,
    of_shares=always,
    by_persons=always,
    merges_persons=never,
    counts_values=True,
)
