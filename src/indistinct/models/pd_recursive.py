"""pd- and npd-recursive (c,l)-diversity: recursive diversity where some values may be disclosed.

Definition (pd): with Y the values whose disclosure is harmless, for every class E and every value v outside Y

    c_v < c (n_E - c_v - sum of the l - 2 largest counts of the other values),    l >= 2,

strict; for l = 1 the bracket is n_E. It is enough to look at the most frequent v outside Y. In ranks: r_y < c
sum_{j>=l} r_j for y <= l - 1, and r_y < c (sum_{j=l-1..y-1} r_j + sum_{j>y} r_j) for y >= l. A class with values
of Y only satisfies it. An empty Y gives ``recursive_cl``.

Definition (npd): pd, and every value of W (whose absence must not be learnt) makes up at least c2 percent of every
class: 100 c_w >= c2 n_E.

Closure. Merge-closed: c_v is additive, and n_E - c_v - top_{l-2}, which sums all but the l - 1 counts left out, is
superadditive (the largest l - 2 counts of a union are at most those of the parts together). c_v plus top_{l-2}
of the others is largest for the most frequent v, so the condition for that v implies the others, also where v is
absent. The share of w in a union is a weighted mean. Not absorbing: Y empty is ``recursive_cl``. Suppressing another
class leaves E alone.

Source: A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, TKDD 1(1):3, 2007,
doi:10.1145/1217299.1217302, section 4.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models import recursive_cl
from indistinct.models.contract import Context, Evaluation, Model, always, never, no_number
from indistinct.models.exact import at_most, bounds, largest_ratio, rational, subject
from indistinct.models.histograms import add_up, owners
from indistinct.policy.privacy import NpdRecursive, PdRecursive

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from indistinct.tables.records import Classes, Reference

    Int64 = NDArray[np.int64]
    Bool = NDArray[np.bool_]


def _listed(reference: Reference, values: Sequence[str]) -> Bool:
    """bool[m]: the codes of the listed values; one that does not occur has none."""
    found = np.zeros(reference.hierarchy.size, np.bool_)
    codes = reference.hierarchy.codes()
    found[[codes[value] for value in values if value in codes]] = True
    return found


def measure(
    classes: Classes, reference: Reference, attribute: str, length: int, harmless: Sequence[str]
) -> tuple[Int64, Int64]:
    """Count of the most frequent value outside Y (0 where there is none) and the bracket, int64[g] each."""
    histogram = classes.histograms[attribute]
    first, end = histogram.start[:-1], histogram.start[1:]
    outside = np.where(_listed(reference, harmless)[histogram.value], 0, histogram.count)
    top = np.maximum.reduceat(outside, first)
    if length == 1:
        return top, classes.rows
    sums = recursive_cl.measure(classes, attribute)[1]
    before = add_up((histogram.count > top[owners(histogram)]).astype(np.int64), histogram)  # all of them in Y

    def largest(number: int) -> Int64:
        """Sum of the largest counts of each class, ``number`` of them."""
        return sums[np.minimum(first + number, end)] - sums[first]

    # the l - 2 largest of the others: v itself is skipped where it is one of the l - 2 largest
    others = np.where(before >= length - 2, largest(length - 2), largest(length - 1) - top)
    return top, classes.rows - top - others


def _below(top: Int64, bracket: Int64, c: Fraction) -> Bool:
    """Whether top < c bracket, and True where there is no value outside Y."""
    if bracket.dtype == object:
        exact: Bool = ((top * c.denominator < bracket * c.numerator) | (top == 0)).astype(np.bool_)
        return exact
    least = bounds(bracket, lambda number: -(-c.numerator * number // c.denominator))  # ceil: top < it iff top < c x
    found: Bool = (top < least) | (top == 0)
    return found


def _smallest_share(classes: Classes, reference: Reference, attribute: str, values: Sequence[str]) -> Int64:
    """int64[g]: rows of the rarest listed value in each class."""
    histogram, owner = classes.histograms[attribute], owners(classes.histograms[attribute])
    found = classes.rows.copy()
    codes = reference.hierarchy.codes()
    for value in values:
        here = np.zeros_like(classes.rows)
        entries = histogram.value == codes.get(value, -1)
        here[owner[entries]] = histogram.count[entries]
        found = np.minimum(found, here)
    return found


def evaluate(privacy: PdRecursive | NpdRecursive, classes: Classes, context: Context) -> Evaluation:
    """Compare the most frequent value outside Y with the rarer ones, and for npd the values of W with c2."""
    attribute, reference = privacy.attribute, context.references[privacy.attribute]
    top, bracket = measure(classes, reference, attribute, privacy.l, privacy.Y)
    satisfied = _below(top, bracket, privacy.c)
    best = achieved(classes, context, attribute, privacy.l, privacy.Y)
    needed = "no c serves" if best["c"] is None else f"c must exceed {best['c']['fraction'].removesuffix('/1')}"
    if satisfied.all():
        sentence = f"no value outside Y is too frequent; {needed}"
    else:
        sentence = f"{subject(satisfied, 'has', 'have')} a value outside Y that is too frequent; {needed}"
    if isinstance(privacy, NpdRecursive):
        rarest = _smallest_share(classes, reference, attribute, privacy.W)
        missing = classes.rows - rarest
        enough = at_most(missing, classes.rows, 1 - privacy.c2 / 100)  # w >= c2 / 100 is 1 - w <= 1 - c2 / 100
        least = 100 * (1 - largest_ratio(missing, classes.rows))
        best["c2"] = rational(least)
        if enough.all():
            sentence += f"; every value of W has at least {privacy.c2} percent of every class"
        else:
            sentence += f"; {subject(enough, 'has', 'have')} less than {privacy.c2} percent of a value of W"
        sentence += f" (the least is {float(least):.4g})"
        satisfied &= enough
    top, bracket = top.astype(np.float64), bracket.astype(np.float64)
    shown = np.divide(top, bracket, out=np.full(len(classes), np.inf), where=bracket > 0)
    return Evaluation(satisfied, np.where(top == 0, 0.0, shown), best, sentence, more_is_better=False)


def achieved(
    classes: Classes,
    context: Context,
    attribute: str,
    l: int = 2,  # noqa: E741  # the letter of the literature
    Y: Sequence[str] = (),  # noqa: N803  # the letter of the literature
) -> dict[str, Any]:
    """Infimum of c (to be exceeded) at l; ``c`` is None where no c serves."""
    top, bracket = measure(classes, context.references[attribute], attribute, l, Y)
    concerned = top > 0
    if not concerned.any():
        return {"l": l, "c": {"fraction": "0/1", "decimal": 0.0}}
    if (bracket[concerned] == 0).any():
        return {"l": l, "c": None}
    return {"l": l, "c": rational(largest_ratio(top[concerned], bracket[concerned]))}


def criteria(privacy: PdRecursive | NpdRecursive, context: Context) -> None:  # the contract's
    """Compile nothing: Y and W tell values apart."""


def shortfall(privacy: PdRecursive | NpdRecursive, root: Classes, context: Context) -> str:
    """Say which condition the whole table fails."""
    answer = evaluate(privacy, root, context)
    return f"the whole column {privacy.attribute} fails: {answer.reason}"


MODEL = Model(
    PdRecursive,
    title="pd-recursive (c,l)-diversity",
    scope="class",
    looks_at="published",
    merge_closed=True,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=shortfall,
    promises=no_number,
    of_shares=always,
    by_persons=always,
    merges_persons=never,
    counts_values=True,
)
