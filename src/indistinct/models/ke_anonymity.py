"""(k,e)-anonymity: every class has k different sensitive values, and they span at least e.

Definition: |{v : c_v > 0}| >= k and max - min >= e (both not strict) for every class. With ``count = "rows"`` the
first part is n_E >= k, as some articles have it: then three equal wages and a far one pass for k = 3. A person key
makes both readings ask for k persons as well. Dates are measured in days.

Example: {10, 10, 60} with k = 3 and e = 50 fails, and passes with ``count = "rows"``.

What it does not give: a bound on how many values lie close together. {1000, 1005, 1010, 9000} is (4,8000)-anonymous,
and three of four rows lie within 10.

Closure. Merge-closed and absorbing: a union has every value of its parts, so at least their number and their range.
Suppressing another class leaves the values of E alone. No compiled form; that a class has k different values is one
of its parts, and guides searches.

Exact test: places are integers in one unit; range * b >= a * unit for e = a / b.

Source: Q. Zhang, N. Koudas, D. Srivastava, T. Yu, ICDE 2007, doi:10.1109/ICDE.2007.367857.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models.contract import Context, Criterion, Evaluation, Model, Promise
from indistinct.models.distinct_l import values_criterion
from indistinct.models.exact import rational, subject
from indistinct.models.histograms import amount
from indistinct.models.k_anonymity import size_criterion
from indistinct.models.numbers import numbers_of, series_of
from indistinct.policy.privacy import KeAnonymity

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from indistinct.models.numbers import Numbers
    from indistinct.tables.records import Classes

    Int64 = NDArray[np.int64]


def measure(classes: Classes, numbers: Numbers, attribute: str, count: str) -> tuple[Int64, NDArray[Any]]:
    """Size that k is compared with (int64[g]) and range of each class, in the unit of the places."""
    series = series_of(classes.histograms[attribute], numbers)
    size = classes.sizes
    if count == "distinct":
        size = series.distinct if classes.persons is None else np.minimum(series.distinct, classes.persons)
    places = numbers.places
    return size, places[series.rank[series.start[1:] - 1]] - places[series.rank[series.start[:-1]]]


def evaluate(privacy: KeAnonymity, classes: Classes, context: Context) -> Evaluation:
    """Compare the different values and the range of every class with k and e, exactly."""
    numbers = numbers_of(context.references[privacy.attribute])
    size, span = measure(classes, numbers, privacy.attribute, privacy.count)
    needed = -(-privacy.e.numerator * numbers.unit // privacy.e.denominator)  # least whole range that is e or more
    enough, wide = size >= privacy.k, np.asarray(span >= needed, np.bool_)
    best = _best(size, span, numbers)
    what = amount(privacy.k, classes) if privacy.count == "rows" else f"{privacy.k} different values"
    clauses = [
        f"{subject(held, 'has', 'have')} {less}"
        for held, less in ((enough, f"fewer than {what}"), (wide, f"a range below {privacy.e}"))
        if not held.all()
    ] or [f"every class has at least {what} and a range of at least {privacy.e}"]
    shown = f"the poorest has {best['k']}, the narrowest a range of {best['e']['decimal']:.6g}"
    return Evaluation(
        enough & wide,
        np.asarray(span / numbers.unit, np.float64),
        best,
        "; ".join([*clauses, shown]),
    )


def _best(size: Int64, span: NDArray[Any], numbers: Numbers) -> dict[str, Any]:
    from fractions import Fraction

    least: Fraction = Fraction(int(span.min()), numbers.unit)
    return {"k": int(size.min()), "e": rational(least)}


def achieved(classes: Classes, context: Context, attribute: str, count: str = "distinct") -> dict[str, Any]:
    """Largest k and largest e that the classes satisfy."""
    numbers = numbers_of(context.references[attribute])
    return _best(*measure(classes, numbers, attribute, count), numbers)


def criteria(privacy: KeAnonymity, context: Context) -> tuple[Criterion, ...] | None:
    """Compile the model where e = 0; a range has no compiled form."""
    return necessary(privacy, context) if privacy.e == 0 else None


def necessary(privacy: KeAnonymity, context: Context) -> tuple[Criterion, ...]:  # noqa: ARG001  # the contract's
    """Compile the part on k."""
    return size_criterion(privacy.k) if privacy.count == "rows" else values_criterion(privacy.attribute, privacy.k)


def shortfall(privacy: KeAnonymity, root: Classes, context: Context) -> str:
    """Say what the whole column lacks."""
    best = achieved(root, context, privacy.attribute, privacy.count)
    what = amount(best["k"], root) if privacy.count == "rows" else f"{best['k']} different values"
    return (
        f"the whole column {privacy.attribute} has {what} and a range of {best['e']['decimal']:.6g};"
        f" k = {privacy.k} and e = {privacy.e} are asked"
    )


MODEL = Model(
    KeAnonymity,
    title="(k,e)-anonymity",
    scope="class",
    looks_at="published",
    merge_closed=True,
    absorbing=True,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=shortfall,
    promises=lambda privacy: Promise(rows=privacy.k, candidates=privacy.k),
    necessary=necessary,
)
