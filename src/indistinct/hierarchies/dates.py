"""Calendar levels of dates: day, week, month, quarter, half, year, decade, century.

A level is a unit of the calendar; its nodes are the half-open periods ``[start, end)`` of days since
1970-01-01.
"""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import PolicyError
from indistinct.hierarchies.hierarchy import Fractions, Grouping, Hierarchy, assemble, runs
from indistinct.hierarchies.values import EPOCH, PARTIAL, Scale, limits, precision, scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Days = NDArray[np.int64]

MONTHS = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200}
CALENDAR = ("day", "week", *MONTHS)
"""Units from fine to coarse; a week crosses the ends of all coarser ones."""
MONDAY = 3
"""1970-01-01 was a Thursday, three days after a Monday."""


def build(
    attribute: str,
    texts: Sequence[str | None],
    *,
    levels: Sequence[str],
    format: str | None = None,
    domain: Sequence[Any] | None = None,
) -> Hierarchy:
    """Build the levels value, one for each unit of the calendar (fine to coarse), and the root ``*``.

    Labels: day ``2024-03-31``, ISO week ``2024-W13``, month ``2024-03``, quarter ``2024-Q1``, half
    ``2024-H1``, year ``2024``, decade ``2020s``, century ``1900s``; the first decade of a century is written
    ``1900-1909``, so that no label means two things.

    LM cost of a node: length of its period in days, clipped to the domain (declared, else first and last
    value), over the length of the domain; a day of a column of pure dates is the value itself and costs 0;
    root 1.

    The first of ``levels`` is the finest that a release publishes (``build_hierarchy``).

    With ``format = PARTIAL`` a date may be a month (``2024-02``) or a year: it is a value of its own that joins the
    period of its length, and what is longer; on finer levels it stays as it is and costs nothing.

    Raises PolicyError for unknown units, units that do not go from fine to coarse, and a week below a coarser
    unit; DataError for texts that are no dates or outside a declared domain.

    >>> build("seen", ["2024-03-31", "2024-04-01"], levels=["month", "year"]).levels[1].labels
    ('2024-03', '2024-04')
    """
    _check(attribute, levels)
    if format == PARTIAL and "week" in levels:
        raise PolicyError(
            f'dates of column "{attribute}" may be partial, and a month lies in no week; leave "week" out',
            column=attribute,
        )
    found = scale(attribute, texts, "date", format=format)
    low, high = limits(found, domain, format=format)
    known = [precision(text) if format == PARTIAL else None for text in found.texts]
    # in months, 0 for a full date: on finer levels than this a partial date stays what it is
    length_of = np.array([0 if one is None else MONTHS[one] for one in known], np.int64)
    if domain is None:
        high = max([high, *(Fraction(int(_ends_of(found, at, one)[1]) - 1) for at, one in enumerate(known) if one)])
    places, unit, (first_day, last_day) = found.aligned(low, high)
    days = places // unit
    groupings = []
    for level in levels:
        start, end = period(days, level)
        stays = length_of > MONTHS.get(level, 0)
        for at in np.flatnonzero(stays).tolist():
            start[at], end[at] = _ends_of(found, at, known[at])
        node_of, first = runs(start, end)
        start, end = start[first], end[first]
        if (level == "day" and unit == 1) or first_day == last_day:
            costs = Fractions(np.zeros(len(first), np.int64), 1)
        else:
            length = np.minimum(end * unit, last_day) - np.maximum(start * unit, first_day)
            costs = Fractions(np.where(stays[first], 0, length), last_day - first_day)
        labels = [
            found.texts[at] if stays[at] else period_label(day, level)
            for at, day in zip(first.tolist(), start.tolist(), strict=True)
        ]
        groupings.append(Grouping(node_of, labels, costs))
    return assemble(
        attribute,
        "dates",
        found.texts,
        groupings,
        missing=found.missing,
        wide=high > low,
        positions=found.fractions,
        spellings=found.spellings,
    )


def _ends_of(found: Scale, at: int, known: str | None) -> tuple[int, int]:
    """First day of a partial date, and first day after it."""
    start, end = period(np.array([int(found.positions[at]) // found.unit], np.int64), str(known))
    return int(start[0]), int(end[0])


def period(days: Days, unit: str) -> tuple[Days, Days]:
    """First day of the period of each day, and first day of the period after it.

    >>> [ends.tolist() for ends in period(np.array([40]), "month")]
    [[31], [59]]
    """
    if unit == "day":
        return days, days + 1
    if unit == "week":
        start = (days + MONDAY) // 7 * 7 - MONDAY
        return start, start + 7
    length = MONTHS[unit]
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) + 12 * 1970  # since year 0
    start = months // length * length
    return _first_day(start), _first_day(start + length)


def period_label(day: int, unit: str) -> str:
    """Text of the period that begins on a day.

    >>> [period_label(0, unit) for unit in CALENDAR]
    ['1970-01-01', '1970-W01', '1970-01', '1970-Q1', '1970-H1', '1970', '1970s', '1900s']
    """
    start = date.fromordinal(max(day + EPOCH, 1))  # the first week, decade and century begin before year 1
    year, month = start.year, start.month
    if unit == "day":
        return start.isoformat()
    if unit == "week":
        iso = start.isocalendar()
        return f"{iso.year:04}-W{iso.week:02}"
    if unit in ("decade", "century"):
        years = MONTHS[unit] // 12
        first = year // years * years
        return f"{first:04}-{first + 9:04}" if unit == "decade" and first % 100 == 0 else f"{first:04}s"
    periods = {"month": f"-{month:02}", "quarter": f"-Q{(month + 2) // 3}", "half": f"-H{(month + 5) // 6}", "year": ""}
    return f"{year:04}{periods[unit]}"


def _first_day(months: Days) -> Days:
    return (months - 12 * 1970).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


def _check(attribute: str, levels: Sequence[str]) -> None:
    unknown = [level for level in levels if level not in CALENDAR]
    if unknown or not levels or isinstance(levels, str):
        what = f'no level "{unknown[0]}"' if unknown and not isinstance(levels, str) else "no levels"
        raise PolicyError(
            f'dates of column "{attribute}" have {what}; choose from {", ".join(CALENDAR)}', column=attribute
        )
    for fine, coarse in pairwise(levels):
        if CALENDAR.index(fine) >= CALENDAR.index(coarse):
            raise PolicyError(
                f'levels of column "{attribute}" must go from fine to coarse, but {coarse} follows {fine}',
                column=attribute,
            )
        if fine == "week":
            raise PolicyError(
                f'levels of column "{attribute}" do not nest: a week may lie in two {coarse}s; let week be last',
                column=attribute,
            )
