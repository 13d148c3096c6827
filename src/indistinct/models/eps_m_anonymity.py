"""(eps,m)-anonymity: around every sensitive value of a class lie few of its rows.

Definition: for every row of a class E, with value x, at most n_E / m rows of E, the row itself included, have values
in I(x) = [x - eps, x + eps] (absolute) or [x (1 - eps), x (1 + eps)] (relative; the ends swap for x < 0, and x = 0
gives the point 0). The *risk* of E is the largest share of its rows in one I(x); m risk <= 1, not strict. Rows are
counted, whoever they belong to. For dates only absolute, in days: they have no zero.

Example: {1, 2, 3, 100} with eps = 1: around 2 lie three of four rows, so m = 1.

Closure. **Not merge-closed:** {10, 16, 22} and {13, 40} hold for eps = 5, m = 2; in the union around 13 lie three of
five rows. Suppressing another class leaves E alone. No compiled form; no value has more than 1/m of the rows of a
class that holds, which guides searches.

*One-sided condition* (``one_sided``): with g the largest number of rows of E in [x - eps, x], n_E >= m g. It **is**
merge-closed: for x in one part, the rows of the other part in [x - eps, x] lie in [u - eps, u] for the largest of
them, u, so g(A + B) <= g(A) + g(B). Where it holds, dealing the sorted rows in turn into g groups gives groups of at
least m rows in which two values differ by more than eps (two rows of a group are g or more ranks apart, and were they
within eps, g + 1 rows would be in [x - eps, x]); such a group has risk 1 / size <= 1 / m. Both hold for the relative
form where values are positive: u <= x gives u (1 - eps) <= x (1 - eps), and y < x (1 - eps) gives y (1 + eps) < x.
It is sufficient for the split, not for E itself. For relative eps with negative values g counts [x (1 + eps), x], and
nothing is claimed.

Exact test: windows are found by binary search over integers; m count <= n_E.

Source: J. Li, Y. Tao, X. Xiao, SIGMOD 2008, doi:10.1145/1376616.1376666; closure and split proved here.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models.contract import ALPHA, EVERY_CLASS, Context, Criterion, Evaluation, Model, needing, no_number
from indistinct.models.exact import bounds, largest_ratio, rational, subject
from indistinct.models.numbers import largest, numbers_of, series_of, windows
from indistinct.policy.privacy import EpsMAnonymity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.models.numbers import Numbers
    from indistinct.tables.records import Classes

    Int64 = NDArray[np.int64]


def neighbourhoods(numbers: Numbers, epsilon: Fraction, kind: str) -> tuple[Int64, Int64]:
    """Ranks int64[m] of the first and the last number in the closed neighbourhood of each number."""
    if kind == "absolute":
        places, _, (step,) = numbers.scaled(epsilon)
        return windows(places, places - step, places + step)
    a, b = epsilon.numerator, epsilon.denominator
    small = numbers.places.dtype != object and int(np.abs(numbers.places).max(initial=0)) * (a + b) < 2**62
    places = numbers.places if small else numbers.places.astype(object)
    one, other = places * (b - a), places * (b + a)
    return windows(places * b, np.minimum(one, other), np.maximum(one, other))


def two_sided(classes: Classes, numbers: Numbers, attribute: str, epsilon: Fraction, kind: str) -> Int64:
    """int64[g]: largest number of rows of each class in the neighbourhood of one of its values."""
    series = series_of(classes.histograms[attribute], numbers)
    low, high = neighbourhoods(numbers, epsilon, kind)
    found: Int64 = largest(series.between(low[series.rank], high[series.rank]), series)
    return found


def one_sided(classes: Classes, numbers: Numbers, attribute: str, epsilon: Fraction, kind: str) -> Int64:
    """int64[g]: largest number g of rows of each class in the lower half of a neighbourhood; n_E >= m g is asked."""
    series = series_of(classes.histograms[attribute], numbers)
    low, _ = neighbourhoods(numbers, epsilon, kind)
    found: Int64 = largest(series.between(low[series.rank], series.rank), series)
    return found


def evaluate(privacy: EpsMAnonymity, classes: Classes, context: Context) -> Evaluation:
    """Compare the rows around every value of every class with n_E / m, exactly."""
    numbers = numbers_of(context.references[privacy.attribute])
    most = two_sided(classes, numbers, privacy.attribute, privacy.epsilon, privacy.kind)
    satisfied = most <= bounds(classes.rows, lambda rows: rows // privacy.m)
    worst = int((most / classes.rows).argmax())
    shown = f"in the worst {most[worst]} of {classes.rows[worst]} rows lie around one value"
    if satisfied.all():
        sentence = f"no class has more than 1/{privacy.m} of its rows within epsilon of a value; {shown}"
    else:
        have = subject(satisfied, "has", "have")
        sentence = f"{have} more than 1/{privacy.m} of the rows within epsilon of a value; {shown}"
    return Evaluation(satisfied, most / classes.rows, _best(most, classes), sentence, more_is_better=False)


def _best(most: Int64, classes: Classes) -> dict[str, Any]:
    risk = largest_ratio(most, classes.rows)
    return {"m": int(1 / risk), "risk": rational(risk)}


def achieved(
    classes: Classes, context: Context, attribute: str, epsilon: Fraction = Fraction(0), kind: str = "absolute"
) -> dict[str, Any]:
    """Largest m that the classes satisfy for an epsilon, and the largest share of a class around one value."""
    numbers = numbers_of(context.references[attribute])
    return _best(two_sided(classes, numbers, attribute, epsilon, kind), classes)


def criteria(privacy: EpsMAnonymity, context: Context) -> tuple[Criterion, ...] | None:  # noqa: ARG001  # the contract's
    """No compiled form, but for m = 1, which needs no test."""
    return () if privacy.m == 1 else None


def necessary(privacy: EpsMAnonymity, context: Context) -> tuple[Criterion, ...]:  # noqa: ARG001  # the contract's
    """Compile "no value has more than 1/m of the rows", which follows from the model."""
    if privacy.m == 1:
        return ()
    return (Criterion(ALPHA, privacy.attribute, np.array([1 / privacy.m]), merge_closed=True, absorbing=False),)


def shortfall(privacy: EpsMAnonymity, root: Classes, context: Context) -> str:
    """Say how crowded the whole column is; smaller classes may still satisfy the model."""
    best = achieved(root, context, privacy.attribute, privacy.epsilon, privacy.kind)
    return (
        f"in the whole column {privacy.attribute} a share of {best['risk']['decimal']:.4g} of the rows lies around one"
        f" value, more than 1/{privacy.m}; smaller classes may hold, but none were found"
    )


MODEL = Model(
    EpsMAnonymity,
    title="(eps,m)-anonymity",
    scope="class",
    looks_at="published",
    merge_closed=False,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=shortfall,
    promises=no_number,
    needs=needing(EVERY_CLASS),  # a search that mends classes by merging them may break it
    necessary=necessary,
)
