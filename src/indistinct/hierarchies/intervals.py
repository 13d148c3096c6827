"""Intervals of numbers, closed on the left so that every label contains its values: ``[20, 30)``."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import HierarchyError, PolicyError
from indistinct.hierarchies.hierarchy import Fractions, Grouping, Hierarchy, assemble, runs
from indistinct.hierarchies.values import exact, limits, number_text, quoted, range_text, scale

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from indistinct.hierarchies.values import Positions, Scale


def build(
    attribute: str,
    texts: Sequence[str | None],
    *,
    type: str = "integer",
    decimal: str = ".",
    widths: Sequence[Any] | None = None,
    breaks: Sequence[Any] | None = None,
    origin: Any = 0,
    bottom: Any = None,
    top: Any = None,
    domain: Sequence[Any] | None = None,
    pooled: bool = True,
) -> Hierarchy:
    """Build the levels value, one for each width or list of breaks, and the root ``*``.

    A value x lies in ``[origin + i w, origin + (i + 1) w)`` or between two breaks. With ``bottom`` (``top``)
    the values below (from there on) are one node ``<0`` (``90+``) on every level, 0 included, and the intervals
    end there; without ``pooled`` level 0 is the values all the same. An interval that holds a single whole number is
    written as that value.

    LM cost of a node with bounds [a, b): ``(hi - lo) / (domain_hi - domain_lo)``, lo and hi being the
    smallest and largest whole number of the interval for integers and a, b for decimals, clipped to the
    domain (``domain``, else the smallest and largest value); root 1; all 0 for a domain of one point.

    Raises PolicyError for widths that are not multiples of the one before, breaks that do not ascend or are
    not among those of the level before, another type than integer or decimal; HierarchyError naming values
    outside all breaks; DataError for values that are no numbers or outside a declared domain.

    >>> ages = build("age", ["0", "9", "10", "93"], widths=[5, 10], top=90)
    >>> ages.levels[2].labels, ages.levels[1].labels
    (('[0, 10)', '[10, 20)', '90+'), ('[0, 5)', '[5, 10)', '[10, 15)', '90+'))
    """
    if type not in ("integer", "decimal"):
        raise PolicyError(
            f'intervals need type integer or decimal, but column "{attribute}" is {type}', column=attribute
        )
    found = scale(attribute, texts, type, decimal=decimal)
    low, high = limits(found, domain, decimal=decimal)
    ends = {"bottom": bottom, "top": top}
    tails = {name: exact(end, f'{name} of column "{attribute}"') for name, end in ends.items() if end is not None}
    if len(tails) == 2 and tails["bottom"] >= tails["top"]:
        raise PolicyError(f'bottom {bottom} of column "{attribute}" must be below top {top}', column=attribute)
    if (widths is None) == (breaks is None):
        raise PolicyError(f'intervals of column "{attribute}" need either widths or breaks', column=attribute)
    steps, cuts = _widths(attribute, widths or ()), _breaks(attribute, breaks or ())
    if not (steps or cuts):
        raise PolicyError(f'widths or breaks of column "{attribute}" must not be empty', column=attribute)
    start = exact(origin, f'origin of column "{attribute}"')
    given = (low, high, start, *tails.values(), *steps, *(cut for level in cuts for cut in level))
    places, unit, whole = found.aligned(*given)
    to_unit = dict(zip(given, whole, strict=True))
    tail_ends = {name: to_unit[end] for name, end in tails.items()}
    frame = _Frame(found, places, unit, decimal, (to_unit[low], to_unit[high]), **tail_ends)
    finders = [_repeated(to_unit[step], to_unit[start]) for step in steps]
    finders += [_between(frame, [to_unit[cut] for cut in level]) for level in cuts]
    return assemble(
        attribute,
        "intervals",
        found.texts,
        [_level(frame, find) for find in finders],
        missing=found.missing,
        wide=high > low,
        floor=_level(frame, _single(unit if type == "integer" else 0)) if tails and pooled else None,
        positions=found.fractions,
        spellings=found.spellings,
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    """Values, domain and tails, all as whole multiples of 1 / unit."""

    found: Scale
    places: Positions
    unit: int
    decimal: str
    domain: tuple[int, int]
    bottom: int | None = None
    top: int | None = None

    def tail(self) -> Positions:
        """-1 for values below bottom, 1 from top on, else 0."""
        side = np.zeros(len(self.places), np.int64)
        if self.bottom is not None:
            side[(self.places < self.bottom).astype(np.bool_)] = -1
        if self.top is not None:
            side[(self.places >= self.top).astype(np.bool_)] = 1
        return side


def _widths(attribute: str, widths: Sequence[Any]) -> tuple[Fraction, ...]:
    steps = tuple(exact(width, f'widths of column "{attribute}"') for width in widths)
    if any(step <= 0 for step in steps):
        raise PolicyError(f'widths of column "{attribute}" must be numbers above 0', column=attribute)
    for fine, coarse in pairwise(steps):
        if coarse <= fine or (coarse / fine).denominator != 1:
            raise PolicyError(
                f'width {coarse} of column "{attribute}" must be a multiple of the width before it, {fine}, '
                "or the levels would not nest",
                column=attribute,
            )
    return steps


def _breaks(attribute: str, breaks: Sequence[Any]) -> tuple[tuple[Fraction, ...], ...]:
    flat = bool(breaks) and all(isinstance(level, str) or not hasattr(level, "__len__") for level in breaks)
    what = f'breaks of column "{attribute}"'
    levels = tuple(tuple(exact(cut, what) for cut in level) for level in ([breaks] if flat else breaks))
    for number, level in enumerate(levels, 1):
        if len(level) < 2 or any(a >= b for a, b in pairwise(level)):
            raise PolicyError(
                f'breaks of column "{attribute}", level {number}, must be two or more ascending numbers',
                column=attribute,
            )
    for number, (fine, coarse) in enumerate(pairwise(levels), 2):
        extra = [cut for cut in coarse if cut not in fine]
        if extra:
            raise PolicyError(
                f'break {extra[0]} of column "{attribute}", level {number}, is not a break of the level before it, '
                "so the levels would not nest",
                column=attribute,
            )
    return levels


def _repeated(width: int, origin: int) -> Callable[[Positions], tuple[Positions, Positions]]:
    def find(places: Positions) -> tuple[Positions, Positions]:
        low = (places - origin) // width * width + origin
        return low, low + width

    return find


def _between(frame: _Frame, cuts: list[int]) -> Callable[[Positions], tuple[Positions, Positions]]:
    ends = np.array(cuts, dtype=frame.places.dtype if max(map(abs, cuts)) < 2**62 else object)

    def find(places: Positions) -> tuple[Positions, Positions]:
        index = np.searchsorted(ends, places, side="right") - 1
        inside = (index >= 0) & (index < len(cuts) - 1)
        lost = np.flatnonzero(~inside & (frame.tail() == 0))
        if len(lost):
            attribute = frame.found.attribute
            named = quoted([frame.found.texts[i] for i in lost[:6].tolist()], len(lost))
            low, high = (number_text(cut, frame.unit, frame.decimal) for cut in (cuts[0], cuts[-1]))
            raise HierarchyError(
                f'column "{attribute}" holds {named} outside all intervals, which span [{low}, {high}); '
                f"widen the breaks, or ask for bottom or top coding",
                column=attribute,
            ).showing(named)
        index = np.clip(index, 0, len(cuts) - 2)
        return ends[index], ends[index + 1]

    return find


def _single(width: int) -> Callable[[Positions], tuple[Positions, Positions]]:
    return lambda places: (places, places + width)


def _level(frame: _Frame, find: Callable[[Positions], tuple[Positions, Positions]]) -> Grouping:
    low, high = find(frame.places)
    tail = frame.tail()
    if frame.bottom is not None:
        low = np.maximum(low, frame.bottom)
    if frame.top is not None:
        high = np.minimum(high, frame.top)
    node_of, first = runs(np.where(tail == 0, low, 0), tail)
    low, high, tail = low[first], high[first], tail[first]
    least, most = _span(frame, low, high, tail)
    alone = ((least == most) & (tail == 0)).astype(np.bool_)
    start, stop = frame.domain
    if start == stop:
        costs = Fractions(np.zeros(len(first), np.int64), 1)
    else:
        costs = Fractions(np.minimum(most, stop) - np.maximum(least, start), stop - start)
    labels = [_label(frame, *node) for node in zip(low.tolist(), high.tolist(), tail.tolist(), strict=True)]
    for node in np.flatnonzero(alone).tolist():
        labels[node] = frame.found.texts[first[node]]
    return Grouping(node_of, labels, costs)


def _span(frame: _Frame, low: Positions, high: Positions, tail: Positions) -> tuple[Positions, Positions]:
    """Bounds that the cost of a node counts: smallest and largest whole number, or the bounds of a decimal."""
    whole = frame.found.type == "integer"
    unit = frame.unit
    start, stop = frame.domain
    low = np.where(tail < 0, start, np.where(tail > 0, frame.top or 0, low))
    high = np.where(tail > 0, stop + unit if whole else stop, np.where(tail < 0, frame.bottom or 0, high))
    return (-(-low // unit) * unit, (-(-high // unit) - 1) * unit) if whole else (low, high)


def _label(frame: _Frame, low: int, high: int, tail: int) -> str:
    if tail:
        end = frame.bottom if tail < 0 else frame.top
        text = number_text(end or 0, frame.unit, frame.decimal)
        return f"<{text}" if tail < 0 else f"{text}+"
    ends = number_text(low, frame.unit, frame.decimal), number_text(high, frame.unit, frame.decimal)
    return range_text(*ends, closed=False, decimal=frame.decimal)
