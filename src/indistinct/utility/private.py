"""Differentially private answers beside those that the published table gives: counts, histograms, means.

*Laplace mechanism*: f(D) + Lap(S / eps), S the L1 sensitivity of f: how far one row can move it. Density
exp(-|x| / b) / (2 b), variance 2 b^2, P(|X| > x) = exp(-x / b). Two relations between neighbouring tables, never mixed:

- ``replace``: the number n of rows is public, one row takes other values. Count: S = 1. Histogram over disjoint parts:
  S = 2. Mean of values clamped to [lo, hi]: S = (hi - lo) / n.
- ``add_remove``: n is not public, one row more or less. Count: S = 1, histogram: S = 1. Mean: half of eps for the noisy
  sum of the distances from the middle m of the bounds, S = max(|lo - m|, |hi - m|) = (hi - lo) / 2, half for the noisy
  number of values; m + sum / max(count, 1), cut to the bounds.

Floating-point Laplace noise leaks (Mironov, CCS 2012), so only whole numbers are noised: values become whole steps of
(hi - lo) / 10^6 from the middle of the bounds, and the noise is two-sided geometric, P(X = x) proportional to
exp(-|x| / b). OpenDP derives the sensitivity, finds the scale, bounds eps and draws from the system's randomness: there
is no seed. Bounds and parts must be declared; a mechanism that looks for them in the table breaks the promise. With a
public n a missing value counts as the middle of the bounds, otherwise it is left out; values outside are moved to the
bounds. Counts are left as drawn, also below 0: cutting them off would make sums too large.

*Example.* eps = 0.5, bounds [0, 500000], n = 1000: S = 500, scale 1000, 95 % of errors below 2995.73. A count has
scale 2 and variance 8.

Source: Dwork, McSherry, Nissim, Smith, TCC 2006; Ghosh, Roughgarden, Sundararajan, STOC 2009 (geometric noise).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from math import ceil, inf, nextafter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from indistinct.errors import PolicyError, SchemaError, UnsupportedError
from indistinct.hierarchies.values import EPOCH, exact
from indistinct.utility.distributions import BINS, bins_of
from indistinct.utility.queries import count_after, count_before

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.losses.axes import Axis, Predicate
    from indistinct.utility.tables import TablePair

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]
    Bounds = tuple[Fraction, Fraction]
    Declared = Mapping[str, Bounds | tuple[str, ...]]

STEPS = 10**6  # even, so that the middle of the bounds is a step
CONFIDENCE = 0.95
LEAST, MOST = Fraction(1, 10**6), 100  # epsilon of one answer
OTHER = "(other or missing)"
Neighbours = Literal["replace", "add_remove"]


@dataclass(frozen=True, kw_only=True)
class PrivateQuery:
    """A question with its budget: ``epsilon``, or the ``accuracy`` it is solved from, or neither for a share.

    ``accuracy`` is the size, in the unit of the answer, below which the noise stays in 95 of 100 cases; for a histogram
    that of each part. Raises PolicyError for both, and for numbers that are not above 0.
    """

    epsilon: float | str | Fraction | None = None
    accuracy: float | str | Fraction | None = None

    def __post_init__(self) -> None:
        if self.epsilon is not None and self.accuracy is not None:
            raise PolicyError("a private query takes epsilon or accuracy, not both: one follows from the other")
        for what in ("epsilon", "accuracy"):
            value = getattr(self, what)
            if value is not None and exact(value, what) <= 0:
                raise PolicyError(f"{what} must be above 0, not {value}")


@dataclass(frozen=True)
class PrivateCount(PrivateQuery):
    """Number of rows that meet all conditions: column -> value, list of values, or for ordered columns (low, high)."""

    where: Mapping[str, Any]


@dataclass(frozen=True)
class PrivateHistogram(PrivateQuery):
    """Number of rows in each part of a declared domain: up to 12 ranges of equal width, or the declared values."""

    column: str


@dataclass(frozen=True)
class PrivateMean(PrivateQuery):
    """Mean of a column of numbers with declared bounds."""

    column: str


@dataclass(frozen=True)
class Noisy:
    """Whole numbers with noise: int64[.], sensitivity, scale, epsilon and 95 % bound of the noise."""

    values: Int64
    sensitivity: int
    scale: float
    epsilon: Fraction
    accuracy: float


def noisy_sum(
    values: Int64,
    low: int,
    high: int,
    neighbours: Neighbours,
    *,
    epsilon: Fraction | None = None,
    accuracy: Fraction | None = None,
) -> Noisy:
    """Sum of whole numbers that lie in [low, high], with noise; the bounds are declared, not checked.

    Give one of ``epsilon`` and ``accuracy`` as a Fraction. Raises PolicyError for an epsilon outside [10^-6, 100].
    """
    dp = _opendp()
    size = len(values) if neighbours == "replace" else None
    space = dp.vector_domain(dp.atom_domain(bounds=(low, high), T="i64"), size=size), dp.symmetric_distance()
    return _noised(space >> dp.t.then_sum(), values, neighbours, epsilon, accuracy)


def noisy_counts(
    codes: Int64,
    width: int,
    neighbours: Neighbours,
    *,
    epsilon: Fraction | None = None,
    accuracy: Fraction | None = None,
) -> Noisy:
    """Frequencies of codes 0..parts-1, then of all others, with noise: int64[parts + 1]. Raises as ``noisy_sum``."""
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()
    counting = dp.t.then_count_by_categories(list(range(width)), null_category=True)
    return _noised(space >> counting, codes, neighbours, epsilon, accuracy)


def _noised(
    counting: Any, values: Int64, neighbours: Neighbours, epsilon: Fraction | None, accuracy: Fraction | None
) -> Noisy:
    dp = _opendp()
    from opendp.accuracy import accuracy_to_discrete_laplacian_scale, discrete_laplacian_scale_to_accuracy

    changed = 2 if neighbours == "replace" else 1  # to replace is to remove and to add
    sensitivity = int(counting.map(changed))
    if accuracy is not None:
        below = ceil(accuracy)  # whole numbers below 4.2 are those below 5
        _allowed(Fraction(3 * sensitivity, below))  # nearly: ln 20 = 2.996
        scale = accuracy_to_discrete_laplacian_scale(float(below), 1 - CONFIDENCE)
    else:
        assert epsilon is not None  # noqa: S101  # one of the two is given
        _allowed(epsilon)
        scale = float(sensitivity / epsilon)
    measurement = counting >> dp.m.then_laplace(scale)
    while epsilon is not None and Fraction(measurement.map(changed)) > epsilon:  # by a rounding: once or twice
        scale = nextafter(scale, inf)
        measurement = counting >> dp.m.then_laplace(scale)
    spent = Fraction(measurement.map(changed)) if epsilon is None else epsilon
    bound = discrete_laplacian_scale_to_accuracy(scale, 1 - CONFIDENCE) if accuracy is None else float(below)
    return Noisy(np.atleast_1d(np.array(measurement(values), np.int64)), sensitivity, scale, spent, bound)


def _allowed(epsilon: Fraction) -> None:
    if not LEAST <= epsilon <= MOST:
        raise PolicyError(
            f"a private answer with epsilon {'below' if epsilon < LEAST else 'above'} "
            f"{float(LEAST) if epsilon < LEAST else MOST} is {'noise alone' if epsilon < LEAST else 'not private'}: "
            "choose another epsilon or accuracy"
        )


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError:
        raise UnsupportedError("private answers need OpenDP; install it with: pip install 'indistinct[dp]'") from None
    dp.enable_features("contrib")  # its name for everything whose proof was not yet reviewed by a second person
    return dp


def answer(
    pair: TablePair, query: PrivateQuery, declared: Declared, neighbours: Neighbours, share: Fraction | None
) -> dict[str, Any]:
    """Answer one query three times: exactly, from the release by an even spread in its cells, and with noise.

    ``declared`` holds the bounds of columns (of dates in days since 1970-01-01) or their values; ``share`` is the
    epsilon of a query that names none. The document shows exact answers and errors: only ``private.value`` may leave.

    Raises SchemaError for columns that a side lacks, PolicyError for bounds that were not declared, for a mean of no
    numbers, for no budget.
    """
    spend = {
        "epsilon": share if query.epsilon is None else exact(query.epsilon, "epsilon"),
        "accuracy": None if query.accuracy is None else exact(query.accuracy, "accuracy"),
    }
    if spend["epsilon"] is spend["accuracy"] is None:
        raise PolicyError("a private query needs epsilon, or the accuracy that epsilon is solved from")
    if isinstance(query, PrivateCount):
        return _count(pair, query, declared, neighbours, spend)
    assert isinstance(query, PrivateHistogram | PrivateMean)  # noqa: S101  # there are three
    axis = _axis(pair, query.column)
    if isinstance(query, PrivateHistogram):
        return _histogram(pair, axis, _declared(axis, declared), neighbours, spend)
    bounds = _declared(axis, declared)
    if axis.type not in ("integer", "decimal") or not isinstance(bounds[0], Fraction):
        raise PolicyError(f'"{axis.name}" has no mean: it is no column of numbers', column=axis.name)
    return _mean(pair, axis, bounds, neighbours, spend)


def _axis(pair: TablePair, name: str) -> Axis:
    names = [axis.name for axis in pair.axes]
    if name not in names:
        raise SchemaError.unknown_column(name, names)
    return pair.axes[names.index(name)]


def _declared(axis: Axis, declared: Declared) -> Bounds | tuple[str, ...]:
    if axis.name not in declared:
        what = "lowest and highest possible value" if axis.is_ordered else "possible values"
        raise PolicyError(
            f'the {what} of "{axis.name}" must be declared, in the policy or as bounds; taken from the table they '
            "would give its rows away",
            column=axis.name,
        )
    return declared[axis.name]


def _entry(what: str, kind: str, noisy: Noisy, unit: Fraction, original: Any, release: Any) -> dict[str, Any]:
    """What all answers say; ``unit`` is that of one whole number that was noised."""
    return {
        "query": what,
        "kind": kind,
        "epsilon": float(noisy.epsilon),
        "sensitivity": float(noisy.sensitivity * unit),
        "scale": noisy.scale * float(unit),
        "accuracy": {"confidence": CONFIDENCE, "error": noisy.accuracy * float(unit)},
        "original": original,
        "release": {"value": release, "error": _error(original, release)},
    }


def _error(original: Any, found: Any) -> float | None:
    """Absolute error; of a histogram the mean over its parts."""
    if original is None or found is None:
        return None
    return float(np.abs(np.asarray(original, np.float64) - np.asarray(found, np.float64)).mean())


def _with(entry: dict[str, Any], value: Any) -> dict[str, Any]:
    return {**entry, "private": {"value": value, "error": _error(entry["original"], value)}}


# --- counts ----------------------------------------------------------------------------------------------


def _count(
    pair: TablePair, query: PrivateCount, declared: Declared, neighbours: Neighbours, spend: dict[str, Any]
) -> dict[str, Any]:
    if not query.where:
        raise PolicyError("a count needs a condition; the number of all rows is public or a budget of its own")
    axes = [_axis(pair, name) for name in query.where]
    narrowed = pair.narrowed([axis.name for axis in axes])
    wanted = {place: _predicate(axis, query.where[axis.name], declared) for place, axis in enumerate(narrowed.axes)}
    actual = int(count_before(narrowed, wanted))
    total = int(pair.rows_before.sum())
    meeting = (np.arange(total) < actual).astype(np.int64)  # a sum does not depend on the order of rows
    noisy = noisy_sum(meeting, 0, 1, neighbours, **spend)
    spoken = " and ".join(f"{name} {_condition(value)}" for name, value in query.where.items())
    entry = _entry(f"count of {spoken}", "count", noisy, Fraction(1), actual, count_after(narrowed, wanted))
    return _with(entry, int(noisy.values[0]))


def _condition(value: Any) -> str:
    if isinstance(value, tuple):
        return f"from {value[0]} to {value[1]}"
    return f"in {', '.join(map(str, value))}" if isinstance(value, list) else f"= {value}"


def _predicate(axis: Axis, wanted: Any, declared: Declared) -> Predicate:
    """Read a condition on a column; a category that does not occur selects no row."""
    if axis.is_ordered:
        ends = wanted if isinstance(wanted, tuple) else (wanted, wanted)
        if len(ends) != 2 or isinstance(wanted, list):
            raise PolicyError(f'a condition on "{axis.name}" is one value or (low, high)', column=axis.name)
        order = declared.get(axis.name, ()) if axis.type == "ordinal" else ()
        low, high = (place_of(axis, end, order) for end in ends)
        return float(low), float(high)
    chosen = {str(value) for value in (wanted if isinstance(wanted, list | tuple) else [wanted])}
    return np.array([leaf is not None and leaf in chosen for leaf in axis.leaves], np.bool_)


def place_of(axis: Axis, value: Any, order: Sequence[Any] = ()) -> Fraction:
    """Place of a value on an ordered axis: the number itself, days since 1970-01-01, the rank in a declared order.

    Raises PolicyError for what is none.
    """
    if axis.type == "ordinal":
        if value not in order:
            raise PolicyError(f'the order of "{axis.name}" has no value {value}', column=axis.name)
        return Fraction(order.index(value))
    if axis.type == "date":
        try:
            day = value if isinstance(value, date) else date.fromisoformat(str(value))
        except ValueError:
            raise PolicyError(f'"{axis.name}" needs dates such as 2024-12-31, not {value}', column=axis.name) from None
        return Fraction(day.toordinal() - EPOCH)
    return exact(value, f'a bound or condition of "{axis.name}"')


# --- histograms ------------------------------------------------------------------------------------------


def _histogram(
    pair: TablePair, axis: Axis, declared: Bounds | tuple[str, ...], neighbours: Neighbours, spend: dict[str, Any]
) -> dict[str, Any]:
    names, codes, shares = _bins(axis, declared)
    place = pair.position(axis.name)
    rows_before = np.bincount(pair.before[:, place], pair.rows_before, len(axis.before)).astype(np.int64)
    rows_after = np.bincount(pair.after[:, place], pair.rows_after, len(axis.after))
    actual = np.bincount(codes, rows_before, len(names) + 1)
    spread = rows_after @ shares
    noisy = noisy_counts(np.repeat(codes, rows_before), len(names), neighbours, **spend)
    entry = _entry(
        f"histogram of {axis.name}",
        "histogram",
        noisy,
        Fraction(1),
        [int(number) for number in actual],
        [float(number) for number in (*spread, rows_after.sum() - spread.sum())],
    )
    return {**_with(entry, noisy.values.tolist()), "values": [*names, OTHER]}


def _bins(axis: Axis, declared: Bounds | tuple[str, ...]) -> tuple[tuple[str, ...], Int64, Float64]:
    """Names of the parts of a domain, int64[n] the part of each original text, float64[labels, parts] shares of cells.

    A missing or undeclared value has the number after the last part.
    """
    if isinstance(declared[0], str):
        number: dict[Any, int] = {text: at for at, text in enumerate(declared)}
        codes = np.array([number.get(text, len(declared)) for text in axis.before], np.int64)
        return tuple(map(str, declared)), codes, _value_shares(axis, [str(text) for text in declared])
    low, high = declared
    own = replace(axis, domain=(float(low), float(high)))
    bins = bins_of(own, np.ones(len(axis.before)), BINS)
    assert axis.at is not None and axis.low is not None  # noqa: PT018, S101  # ordered
    gone = np.isnan(axis.at)
    width = len(bins.names) - bool(gone.any() or np.isnan(axis.low).any())  # the last of bins_of: missing values
    return bins.names[:width], np.where(gone, width, bins.before.argmax(axis=1)), bins.after[:, :width]


def _value_shares(axis: Axis, declared: Sequence[str]) -> Float64:
    if axis.is_ordered:
        return np.column_stack([axis.shares((float(rank), float(rank))) for rank in range(len(declared))])
    found = np.zeros((len(axis.after), len(declared)))
    for part, text in enumerate(declared):
        if text in axis.leaves:
            found[:, part] = axis.shares(np.array([leaf == text for leaf in axis.leaves], np.bool_))
    return found


# --- means -----------------------------------------------------------------------------------------------


def _mean(pair: TablePair, axis: Axis, bounds: Bounds, neighbours: Neighbours, spend: dict[str, Any]) -> dict[str, Any]:
    place, (low, high) = pair.position(axis.name), bounds
    assert axis.at is not None  # noqa: S101  # numbers are ordered
    rows_before = np.bincount(pair.before[:, place], pair.rows_before, len(axis.before)).astype(np.int64)
    rows_after = np.bincount(pair.after[:, place], pair.rows_after, len(axis.after))
    original, release = _average(axis.at, rows_before), _average(axis.middle, rows_after)
    step, middle = (high - low) / STEPS, (low + high) / 2
    clamped = np.clip(np.nan_to_num(axis.at, nan=float(middle)), float(low), float(high))
    steps = np.rint((clamped - float(middle)) / float(step)).astype(np.int64).clip(-STEPS // 2, STEPS // 2)
    rows, what = int(rows_before.sum()), f"mean of {axis.name}"
    if neighbours == "replace":
        if rows == 0:
            raise PolicyError("a table without rows has no mean")
        if spend["accuracy"] is not None:
            spend = {**spend, "accuracy": spend["accuracy"] * rows / step}
        noisy = noisy_sum(np.repeat(steps, rows_before), -STEPS // 2, STEPS // 2, neighbours, **spend)
        entry = _entry(what, "mean", noisy, step / rows, original, release)
        return {**_with(entry, float(middle + int(noisy.values[0]) * step / rows)), "bounds": [float(low), float(high)]}
    if spend["accuracy"] is not None:
        raise PolicyError(
            f'the accuracy of the mean of "{axis.name}" depends on the number of rows, which is not public here; '
            "give epsilon",
            column=axis.name,
        )
    rows_before = np.where(np.isnan(axis.at), 0, rows_before)
    own = np.repeat(steps, rows_before)
    half = spend["epsilon"] / 2
    total = noisy_sum(own, -STEPS // 2, STEPS // 2, neighbours, epsilon=half)
    count = noisy_sum(np.ones(len(own), np.int64), 0, 1, neighbours, epsilon=half)
    value = middle + int(total.values[0]) * step / max(int(count.values[0]), 1)
    entry = _entry(what, "mean", total, step, original, release)
    entry |= {
        "epsilon": float(total.epsilon + count.epsilon),
        "accuracy": None,  # of a quotient: it depends on the values themselves
        "parts": [
            {"of": "sum", "sensitivity": float(total.sensitivity * step), "scale": total.scale * float(step)},
            {"of": "number of values", "sensitivity": float(count.sensitivity), "scale": count.scale},
        ],
        "sensitivity": None,
        "scale": None,
        "bounds": [float(low), float(high)],
    }
    return _with(entry, float(min(max(value, low), high)))


def _average(values: Float64, rows: NDArray[Any]) -> float | None:
    known = ~np.isnan(values) & (rows > 0)
    total = float(rows[known].sum())
    return float(values[known] @ rows[known]) / total if total else None
