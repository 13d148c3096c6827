"""Whether a column that is published unchanged tells a generalized one all the same.

*By value*: rows are grouped by the values of the unchanged column and by the published label. The column determines the
generalized one where the rows of every group have one value, although those of a label have several. Two things would
look like it and are not: values that occur once determine everything, and what is almost constant is determined by
anything. So only groups of at least two rows count, at least ``REMAINING`` of what the label leaves open must be
settled, and the agreement must be more than chance: two random rows of a label agree with probability q, and each row
beyond the first of its group agrees with the others by chance with about q, so that all do with q ** (rows - groups),
which must be below ``CHANCE``.

*By arithmetic*: the generalized number or date is the sum or the difference of unchanged ones, but for a constant, in
nearly every row. Here every row beyond the first counts, since the same constant comes out of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING

import numpy as np

from indistinct.notices import Sentence
from indistinct.tables.order import numbered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Codes = NDArray[np.integer]
    Float64 = NDArray[np.float64]

CHANCE = 0.01
REMAINING = 0.05
SCREENED = 5_000  # rows by which a pair of columns is ruled out before all are counted
LOOSE = 4  # times what may remain open in so few rows
YEAR = 10_000  # as one number: year, month and day


@dataclass(frozen=True)
class Determined:
    """Of ``rows``, ``determined`` have the value that follows from the column, ``guessed`` the likeliest of the label.

    Over the labels of several values, ``steps`` is the number of rows that could have contradicted, and ``agreement``
    the chance that two rows of one label have one value.
    """

    rows: int
    determined: int
    guessed: int
    steps: int
    agreement: float

    def holds(self, remaining: float = REMAINING, chance: float = CHANCE) -> bool:
        """Whether the column settles what the label leaves open, and not by chance."""
        open_before, open_after = self.rows - self.guessed, self.rows - self.determined
        if not open_before or open_after > remaining * open_before:
            return False
        # no sample shows that rows never agree
        likely = max(self.agreement, 1 / (self.rows * (self.rows - 1)))
        return likely < 1 and -(self.steps - 2 * open_after) * log2(likely) >= -log2(chance)


def by_value(value: Codes, label: Codes, column: Codes, weight: Codes) -> Determined:
    """Count what a column tells of a value beyond its published label; all are codes from 0 on, one for each unit.

    ``weight`` is the number of rows of each unit.

    >>> ward, star, unit = np.repeat([0, 1, 2], 4), np.zeros(12, int), np.repeat([5, 3, 1], 4)
    >>> by_value(ward, star, unit, np.ones(12, int))  # two of twelve rows are of one ward with 3 in 11
    Determined(rows=12, determined=12, guessed=4, steps=9, agreement=0.2727272727272727)
    >>> by_value(ward, star, np.arange(12), np.ones(12, int)).holds()
    False
    """
    values, labels = int(value.max(initial=0)) + 1, int(label.max(initial=0)) + 1
    groups, group = _numbered(column, label, labels)
    pairs, pair = _numbered(group, value, values)
    rows = np.bincount(pair, weight, len(pairs)).astype(np.int64)
    of_group, of_value = pairs // values, pairs % values
    first = np.flatnonzero(np.diff(of_group, prepend=-1))
    size = np.add.reduceat(rows, first) if len(rows) else rows
    most = np.maximum.reduceat(rows, first) if len(rows) else rows
    several = size > 1
    shared = several[of_group]
    in_label, owner = _numbered((groups % labels)[of_group[shared]], of_value[shared], values)
    both = np.bincount(owner, rows[shared], len(in_label)).astype(np.int64)
    start = np.flatnonzero(np.diff(in_label // values, prepend=-1))
    whole = np.add.reduceat(both, start) if len(both) else both
    likeliest = np.maximum.reduceat(both, start) if len(both) else both
    # where a label has one value there is nothing to tell, and nothing to contradict
    undecided = np.zeros(labels, np.bool_)
    undecided[in_label[start] // values] = likeliest < whole
    steps = int((size - 1)[several & undecided[groups % labels]].sum())
    couples = float((whole * (whole - 1.0))[likeliest < whole].sum())
    agreeing = float((both * (both - 1.0))[undecided[in_label // values]].sum())
    determined, judged = int(most[several].sum()), int(size[several].sum())
    return Determined(judged, determined, int(likeliest.sum()), steps, agreeing / couples if couples else 1.0)


def sample(units: int, most: int = SCREENED) -> Codes:
    """Choose the units by which columns are ruled out: all of a small table."""
    return np.linspace(0, units - 1, most).astype(np.int64) if units > 2 * most else np.arange(units)


def may_determine(value: Codes, label: Codes, column: Codes, weight: Codes) -> bool:
    """Whether a few rows leave it open that a column determines a value."""
    found = by_value(value, label, column, weight)
    return found.rows - found.determined <= LOOSE * REMAINING * max(found.rows - found.guessed, 1)


def may_be_equal(number: Float64, expected: Float64) -> NDArray[np.bool_]:
    """Whether a few rows (the last axis) leave it open that two numbers are equal but for a constant.

    A difference that nearly all rows have is the median of them.

    >>> may_be_equal(np.array([1.0, 2, 3]), np.array([[4.0, 5, 6], [1.0, 4, 9]])).tolist()
    [True, False]
    """
    apart = np.round(number - expected, 6)
    apart = np.sort(np.where(np.isfinite(apart), apart, np.nan))
    known = np.isfinite(apart).sum(axis=-1, keepdims=True)
    alike = (apart == np.take_along_axis(apart, known // 2 * (known > 0), -1)).sum(axis=-1)
    return np.asarray(alike >= (1 - LOOSE * REMAINING) * known[..., 0], np.bool_)


def by_arithmetic(number: Float64, label: Codes, expected: Float64, weight: Codes) -> Determined | None:
    """Say whether a number is an expected one, but for a constant that is the same in nearly every row; NaN: unknown.

    >>> admitted, discharged = np.array([3.0, 17, 37, 51]), np.array([5.0, 20, 38, 55])
    >>> nights = np.array([2.0, 3, 1, 4])
    >>> by_arithmetic(admitted, np.zeros(4, int), discharged - nights, np.ones(4, int)).determined
    4
    """
    apart = np.round(number - expected, 6)
    known = np.isfinite(apart)
    if not known.any():
        return None
    differences, place = np.unique(apart[known], return_inverse=True)
    determined = int(np.bincount(place.reshape(-1), weight[known], len(differences)).max())
    value = np.unique(number[known], return_inverse=True)[1].reshape(-1)
    alone = by_value(value, label[known], np.zeros(int(known.sum()), np.int64), weight[known])
    rows = int(weight[known].sum())
    found = Determined(rows, determined, alone.guessed + rows - alone.rows, rows - 1, alone.agreement)
    return found if found.holds() else None


def combined(one: Float64, other: Float64, kinds: tuple[str, str], wanted: str) -> Iterator[tuple[Sentence, Float64]]:
    """Yield the sums and differences of two columns that give a ``wanted`` number or date, with a word for each.

    ``kinds`` are ``date`` (in days) or ``number``; a number beside dates may count days, weeks, hours or minutes.

    >>> [how for how, _ in combined(np.array([20.0]), np.array([2.0]), ("date", "number"), "date")][:3]
    ['difference', 'sum', 'difference']
    """
    if kinds == ("date", "date"):
        if wanted == "number":
            for late, early in ((one, other), (other, one)):
                for scale in SCALES:
                    yield Sentence("difference"), (late - early) / scale
                yield Sentence("difference in years"), _years(late, early)
    elif "date" not in kinds:
        if wanted == "number":
            yield Sentence("sum"), one + other
            yield Sentence("difference"), one - other
            yield Sentence("difference"), other - one
    elif wanted == "date":
        day, length = (one, other) if kinds[0] == "date" else (other, one)
        for scale in SCALES:
            yield Sentence("difference"), day - length * scale
            yield Sentence("sum"), day + length * scale


SCALES = (1.0, 7.0, 1 / 24, 1 / 1440)


def _years(late: Float64, early: Float64) -> Float64:
    """Completed years between two days."""
    late, early = np.broadcast_arrays(late, early)
    found = np.full(late.shape, np.nan)
    known = np.isfinite(late) & np.isfinite(early)
    one, other = _calendar(late[known]), _calendar(early[known])
    found[known] = (one - other) // YEAR
    return found


def _calendar(days: Float64) -> NDArray[np.int64]:
    """Write days as year, month and day in one number, so that whole years are whole multiples apart."""
    day = np.floor(days).astype("datetime64[D]")
    month = day.astype("datetime64[M]")
    year = month.astype("datetime64[Y]")
    months, in_month = (month - year).astype(np.int64), (day - month).astype(np.int64)
    return np.asarray((year.astype(np.int64) + 1970) * YEAR + (months + 1) * 100 + in_month + 1, np.int64)


def _numbered(one: Codes, other: Codes, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct pairs of two codes, the second below ``size``: pairs as single numbers, and each unit's."""
    keys = one.astype(np.int64) * size + other
    return numbered(keys, int(keys.max(initial=0)) + 1)
