"""No levels: a class is published as the range of its members, with one of three kinds of bounds.

A box of codes ``lo..hi`` is published from ``low[lo]`` to ``high[hi]``; each kind says what these are. LM
cost: ``upper[hi] - lower[lo]``, the two being the bounds, clipped to the domain, in units of its width.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import PolicyError
from indistinct.hierarchies.dates import CALENDAR, period
from indistinct.hierarchies.hierarchy import Fractions, Hierarchy, RangeLabels, assemble
from indistinct.hierarchies.values import LAST_DAY, exact, limits, moment_text, number_text, range_text, scale, times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.hierarchies.values import Positions, Scale

BOUNDS = ("members", "snapped", "region")
DEFAULT_BOUNDS = {"integer": "members", "ordinal": "members", "decimal": "snapped", "date": "snapped"}
STEPS_PER_DOMAIN = 50
"""The default grid of numbers has at most this many steps over the domain, whole numbers fewer."""


@dataclass(frozen=True, slots=True)
class MemberLabels(RangeLabels):
    """The smallest and largest member: ``[20, 29]``; a single value as itself."""

    texts: tuple[str, ...]
    decimal: str

    def __call__(self, lo: int, hi: int) -> str:
        """Text for the members ``lo..hi``."""
        return self.texts[lo] if lo == hi else range_text(self.texts[lo], self.texts[hi], decimal=self.decimal)


@dataclass(frozen=True, slots=True)
class BoundLabels(RangeLabels):
    """Bounds that belong to the values: ``low[lo]`` to ``high[hi]``, in whole multiples of 1 / unit.

    ``order`` names the ranks of an ordinal attribute; a range of one whole step is written as its value.
    """

    scale: Scale
    low: Positions
    high: Positions
    unit: int
    closed: NDArray[np.bool_]
    decimal: str
    order: tuple[str, ...]

    def __call__(self, lo: int, hi: int) -> str:
        """Text for the members ``lo..hi``."""
        low, high = int(self.low[lo]), int(self.high[hi])
        if low == high:
            return self.scale.texts[lo] if lo == hi else self._write(low)
        return range_text(self._write(low), self._write(high), closed=bool(self.closed[hi]), decimal=self.decimal)

    def _write(self, bound: int) -> str:
        if self.order:
            return self.order[bound]
        if self.scale.type == "date":
            return moment_text(bound, self.unit)
        return number_text(bound, self.unit, self.decimal)


def build(
    attribute: str,
    texts: Sequence[str | None],
    *,
    type: str = "integer",
    bounds: str | None = None,
    step: Any = None,
    domain: Sequence[Any] | None = None,
    decimal: str = ".",
    format: str | None = None,
    order: Sequence[str] | None = None,
) -> Hierarchy:
    """Build the record of a ``range`` attribute of type integer, decimal, date or ordinal.

    ``bounds``: ``members`` (default of integer and ordinal) publishes the smallest and the largest member.
    ``snapped`` (default of decimal and date) moves both outward to a grid of ``step``: ``[170, 175)``, for
    whole steps ``[20, 29]``; the default step is the smallest of 1, 2, 5 times a power of ten that is at least
    1/50 of the domain width, at least 2 for integers and ranks, and a month for dates: a function of domain and
    type alone; for dates ``step`` is a number of days or a unit of the calendar. ``region`` goes half way to the
    neighbouring distinct values of the column, to the ends of the domain at the ends; regions tile the domain. A
    value that occurs alone in the domain is published as itself.

    ``domain``: declared, else smallest and largest value (ordinal: the whole order, in ranks). Levels for
    full-domain search are the value (cost 0) and the root ``*`` (cost 1, or 0 for a domain of one point).
    ``lower`` and ``upper`` are 0 for the missing value.

    Raises PolicyError for an unknown kind of bounds, a step that is not above 0, a text attribute; DataError
    for values that are none of the type or outside a declared domain.

    >>> ages = build("age", ["21", "20", "29", "60"], domain=[0, 100])
    >>> ages.label(0, 2), ages.cost(0, 2)
    ('[20, 29]', Fraction(9, 100))
    >>> heights = build("height", ["1.71", "1.79", "1.93"], type="decimal", step="0.05")
    >>> heights.label(0, 1)
    '[1.7, 1.8)'
    """
    bounds = DEFAULT_BOUNDS.get(type, "members") if bounds is None else bounds
    if bounds not in BOUNDS or (step is not None and bounds != "snapped"):
        what = (
            f'no bounds "{bounds}"; choose {", ".join(BOUNDS)}'
            if bounds not in BOUNDS
            else 'a step, which goes with "snapped"'
        )
        raise PolicyError(f'range of column "{attribute}" has {what}', column=attribute)
    if type == "text":
        raise PolicyError(f'range needs an ordered type, but column "{attribute}" is text', column=attribute)
    reading: dict[str, Any] = {"decimal": decimal, "format": format, "order": order}
    found = scale(attribute, texts, type, **reading)
    ends = limits(found, domain, **reading)
    places, unit, (start, stop) = found.aligned(*ends)
    mark = "," if decimal == "," and type != "ordinal" and any("," in text for text in found.texts) else "."
    labels: RangeLabels = MemberLabels(found.texts, mark)
    low, high = places, places
    width = stop - start
    if bounds != "members" and width:
        if bounds == "snapped":
            low, high, unit, closed = _snapped(found, ends, step)
            high = np.minimum(high, len(order) - 1) if order else high
        else:
            low, high, unit, closed = _regions(found, ends)
        mark = decimal if type == "decimal" else "."
        labels = BoundLabels(found, low, high, unit, closed, mark, tuple(order or ()))
        start, stop = int(ends[0] * unit), int(ends[1] * unit)
        width = stop - start
    denominator = width or 1
    exact_lower = Fractions(_with_missing(found, np.clip(low, start, stop) - start), denominator)
    exact_upper = Fractions(_with_missing(found, np.clip(high, start, stop) - start), denominator)
    return assemble(
        attribute,
        "range",
        found.texts,
        missing=found.missing,
        wide=width > 0,
        lower=exact_lower.floats(),
        upper=exact_upper.floats(),
        exact_lower=exact_lower,
        exact_upper=exact_upper,
        range_labels=labels,
        positions=found.fractions,
        spellings=found.spellings,
    )


def default_step(width: Fraction, *, whole: bool) -> Fraction:
    """Smallest of 1, 2, 5 times a power of ten that is at least 1/50 of ``width``; at least 2 where ``whole``.

    A step of 1 would publish whole numbers as they are.

    >>> default_step(Fraction(40), whole=False), default_step(Fraction(40), whole=True)
    (Fraction(1, 1), Fraction(2, 1))
    >>> default_step(Fraction(3, 10), whole=False)
    Fraction(1, 100)
    """
    goal = width / STEPS_PER_DOMAIN
    power = Fraction(1)
    while power > goal:
        power /= 10
    while power * 10 <= goal:
        power *= 10
    step = min(multiple * power for multiple in (1, 2, 5, 10) if multiple * power >= goal)
    return max(step, Fraction(2)) if whole else step


def _snapped(
    found: Scale, ends: tuple[Fraction, Fraction], step: Any
) -> tuple[Positions, Positions, int, NDArray[np.bool_]]:
    """Outward to the grid: bounds, their unit, and whether the upper one belongs to the range."""
    if found.type == "date" and (step is None or step in CALENDAR):
        places, unit, _ = found.aligned(*ends)
        low, high = period(places // unit, step or "month")
        return low * unit, high * unit, unit, high > LAST_DAY  # the last day that can be written is inside
    name = f'step of column "{found.attribute}"'
    whole = found.type in ("integer", "ordinal")
    size = default_step(ends[1] - ends[0], whole=whole) if step is None else exact(step, name)
    if size <= 0 or ((whole or found.is_whole) and size.denominator > 1):
        raise PolicyError(f"{name} must be {'a whole number' if whole or found.is_whole else 'a number'} above 0")
    places, unit, (grid, *_) = found.aligned(size, *ends)
    low = places // grid * grid
    high = low + (grid - 1 if whole else grid)
    past = high // unit > LAST_DAY if found.type == "date" else np.full(len(places), whole)
    return low, high, unit, past.astype(np.bool_)


def _regions(found: Scale, ends: tuple[Fraction, Fraction]) -> tuple[Positions, Positions, int, NDArray[np.bool_]]:
    """Half way to the neighbours: bounds, their unit, and whether the upper one belongs to the range."""
    places, unit, (start, stop) = found.aligned(*ends)
    whole = found.is_whole
    if found.type == "decimal":  # so that half way is whole too
        places, unit, start, stop = times(places, 2), unit * 2, start * 2, stop * 2
    low, high = places.copy(), places.copy()
    total = places[:-1] + places[1:]
    low[1:], high[:-1] = (total // 2 + 1, total // 2) if whole else (-(-total // 2), -(-total // 2))
    low[:1], high[-1:] = start, stop
    closed = np.full(len(places), whole)
    closed[-1:] = True
    return low, high, unit, closed


def _with_missing(found: Scale, numerators: Positions) -> Positions:
    return np.append(numerators, 0) if found.missing else numerators
