"""Graded l-diversity: the numeric values of every class lie on at least l levels.

Definition: the domain [low, high] is cut into L levels of equal width w, level of x = min(floor((x - low) / w), L - 1)
+ 1, so levels are closed on the left and the last on both sides; or a new level begins at each of given cut points.
Every class has at least l different levels; with a person key also at least l persons, as for distinct l-diversity. A
column of one value has one level. A value outside the domain is an error. Dates are days since 1970-01-01.

Example: [0, 100] in 4 levels: {1, 24, 26} has levels 1, 1, 2, so l = 2.

What it does not give: 24 and 26 lie on different levels, 1 and 24 on one.

Closure. It is distinct l-diversity of the levels: merge-closed and absorbing; suppressing another class leaves E
alone. Compiled where the levels are a column of their own (``algorithms.graded_local``).

Source: J. Han, J. Yu, H. Yu, J. Jia, J. Computer Research and Development 48(1), 2011, as described in T. Wang, M.
Wen, Computer Systems and Applications 28(7):184-190, 2019 (the paper itself was not at hand).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import DataError
from indistinct.models.contract import Context, Criterion, Evaluation, Model, Promise
from indistinct.models.distinct_l import values_criterion
from indistinct.models.exact import subject
from indistinct.models.numbers import numbers_of, series_of
from indistinct.policy.privacy import GradedL

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from indistinct.models.numbers import Numbers
    from indistinct.tables.records import Classes

    Int64 = NDArray[np.int64]


def levels_of(
    numbers: Numbers, levels: int | tuple[Fraction, ...], domain: tuple[Fraction, Fraction] | None = None
) -> Int64:
    """int64[m]: the level 0.. of each number; raises DataError when a number lies outside the domain."""
    if not isinstance(levels, int):
        places, _, cuts = numbers.scaled(*levels)
        return np.searchsorted(np.array(cuts, places.dtype), places, side="right").astype(np.int64)
    low, high = domain or (numbers.at(0), numbers.at(len(numbers) - 1))
    if low == high:
        return np.zeros(len(numbers), np.int64)
    places, _, (start, end) = numbers.scaled(low, high)
    outside = (places < start) | (places > end)
    if outside.any():
        rows = int(numbers.counts[outside.astype(np.bool_)].sum())
        raise DataError(
            f'{rows} rows have a value of "{numbers.attribute}" outside the domain of graded_l; widen the domain',
            column=numbers.attribute,
        )
    if (end - start) * levels >= 2**62:
        places = places.astype(object)
    level: Int64 = np.minimum((places - start) * levels // (end - start), levels - 1).astype(np.int64)
    return level


def measure(classes: Classes, numbers: Numbers, attribute: str, level: Int64) -> Int64:
    """int64[g]: number of different levels of each class, or of persons if fewer."""
    series = series_of(classes.histograms[attribute], numbers)
    of_entry = level[series.rank]
    new = np.ones(len(of_entry), np.int64)
    new[1:] = (of_entry[1:] != of_entry[:-1]) | (series.owner[1:] != series.owner[:-1])  # levels rise with the values
    found: Int64 = np.add.reduceat(new, series.start[:-1])
    return found if classes.persons is None else np.minimum(found, classes.persons)


def evaluate(privacy: GradedL, classes: Classes, context: Context) -> Evaluation:
    """Compare the number of different levels of every class with l."""
    numbers = numbers_of(context.references[privacy.attribute])
    level = levels_of(numbers, privacy.levels, privacy.domain)
    found = measure(classes, numbers, privacy.attribute, level)
    satisfied, poorest = found >= privacy.l, int(found.min())
    what = "levels or persons" if classes.persons is not None else "levels"
    if satisfied.all():
        sentence = f"every class has at least {privacy.l} different {what}; the poorest has {poorest}"
    else:
        have = subject(satisfied, "has", "have")
        sentence = f"{have} fewer than {privacy.l} different {what}; the poorest has {poorest}"
    return Evaluation(satisfied, found.astype(np.float64), {"l": poorest}, sentence)


def achieved(
    classes: Classes,
    context: Context,
    attribute: str,
    levels: int | tuple[Fraction, ...] = 10,
    domain: tuple[Fraction, Fraction] | None = None,
) -> dict[str, Any]:
    """Largest l that the classes satisfy for given levels."""
    numbers = numbers_of(context.references[attribute])
    return {"l": int(measure(classes, numbers, attribute, levels_of(numbers, levels, domain)).min())}


def criteria(privacy: GradedL, context: Context) -> tuple[Criterion, ...] | None:  # noqa: ARG001  # the contract's
    """No compiled form, but for l = 1, which needs no test."""
    return () if privacy.l == 1 else None


def necessary(privacy: GradedL, context: Context) -> tuple[Criterion, ...]:  # noqa: ARG001  # the contract's
    """Compile "at least l different values", which follows from the model."""
    return values_criterion(privacy.attribute, privacy.l)


def shortfall(privacy: GradedL, root: Classes, context: Context) -> str:
    """Say how many levels the whole column has."""
    best = achieved(root, context, privacy.attribute, privacy.levels, privacy.domain)["l"]
    return f"the whole column {privacy.attribute} has {best} different levels (or persons), fewer than l = {privacy.l}"


MODEL = Model(
    GradedL,
    title="graded l-diversity",
    scope="class",
    looks_at="input",
    merge_closed=True,
    absorbing=True,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=shortfall,
    promises=lambda privacy: Promise(rows=privacy.l),
    necessary=necessary,
)
