"""Hierarchies made from data, as rows of a hierarchy file that a person can edit.

``draft`` chooses by type: round quantiles for numbers, the calendar for dates, prefixes for codes, rare
values lumped for other categories. Every drafted hierarchy ends in the root ``*`` and holds a row for each
value of the column.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import PolicyError
from indistinct.hierarchies.dates import period, period_label
from indistinct.hierarchies.ordinal import build as build_ordinal
from indistinct.hierarchies.suppression import ROOT
from indistinct.hierarchies.values import number_text, range_text, scale

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.hierarchies.values import Scale

    Row = tuple[str, ...]

BINS = (16, 8, 4, 2)
CALENDAR_LEVELS = ("month", "quarter", "year", "decade")
CODE_SHARE = 0.9
"""Texts are taken for codes when this share of them is short, holds digits and has no blank."""
EMPTY = "(empty)"
"""Label of the empty text, since labels must not be empty."""


def draft(
    attribute: str,
    counts: Mapping[str | None, int],
    *,
    type: str = "text",
    minimum: int = 5,
    decimal: str = ".",
    format: str | None = None,
    order: Sequence[str] | None = None,
) -> list[Row]:
    """Make a hierarchy for a column from its distinct values and their rows.

    ``counts`` maps each text to its rows; missing values (None) need no row in a file and are left out.
    ``minimum`` is the number of rows that a lumped group of rare categories must have.

    Raises DataError for texts that are none of the type; PolicyError for an ordinal column without order.

    >>> draft("sex", {"f": 30, "m": 28, "x": 1, "u": 2}, minimum=3)
    [('f', 'f', '*'), ('m', 'm', '*'), ('u', 'other', '*'), ('x', 'other', '*')]
    """
    present = {text: rows for text, rows in counts.items() if text is not None}
    if type in ("integer", "decimal"):
        return quantiles(attribute, present, type=type, decimal=decimal)
    if type == "date":
        return calendar(attribute, present, format=format)
    if type == "ordinal":
        return neighbours(attribute, present, order=order)
    return prefixes(present) if looks_like_codes(present) else lump(present, minimum)


def quantiles(
    attribute: str,
    counts: Mapping[str, int],
    *,
    type: str = "integer",
    decimal: str = ".",
    bins: Sequence[int] = BINS,
) -> list[Row]:
    """Intervals that hold about equally many rows, with round ends, nested.

    A level of b intervals is cut near its i-th quantile at the roundest number between the quantiles ``(i -
    1/2) / b`` and ``(i + 1/2) / b``, unless a coarser level has a cut there. The first interval is written
    ``<20``, the last ``80+``.

    >>> rows = quantiles("age", {str(age): 1 for age in range(100)}, bins=(4, 2))
    >>> rows[0], rows[30], rows[99]
    (('0', '<20', '<50', '*'), ('30', '[20, 50)', '<50', '*'), ('99', '80+', '50+', '*'))
    """
    found = scale(attribute, list(counts), type, decimal=decimal)
    levels: list[list[int]] = []
    for number in sorted(set(bins)):  # coarse first: its cuts stay in all finer levels
        cuts = _refined(levels[-1] if levels else [], found, _rows(found, counts), number)
        if cuts and cuts not in levels:
            levels.append(cuts)
    return [
        (text, *(_interval(level, place, found.unit, decimal) for level in reversed(levels)), ROOT)
        for text, place in zip(found.texts, found.positions.tolist(), strict=True)
    ]


def calendar(
    attribute: str,
    texts: Iterable[str],
    *,
    levels: Sequence[str] = CALENDAR_LEVELS,
    format: str | None = None,
) -> list[Row]:
    """Periods of the calendar, fine to coarse.

    >>> calendar("seen", ["2024-03-31"])
    [('2024-03-31', '2024-03', '2024-Q1', '2024', '2020s', '*')]
    """
    found = scale(attribute, list(texts), "date", format=format)
    days = found.positions // found.unit
    columns = [[period_label(day, level) for day in period(days, level)[0].tolist()] for level in levels]
    return [(text, *labels, ROOT) for text, *labels in zip(found.texts, *columns, strict=True)]


def neighbours(attribute: str, texts: Iterable[str], *, order: Sequence[str] | None) -> list[Row]:
    """Group 2, 4, 8, ... neighbours of a declared order; the whole order is listed.

    >>> neighbours("size", [], order=["S", "M", "L"])
    [('S', '[S, M]', '*'), ('M', '[S, M]', '*'), ('L', 'L', '*')]
    """
    scale(attribute, list(texts), "ordinal", order=order)  # every value must have its place
    names = list(order or ())
    sizes = [2**power for power in range(1, max(len(names) - 1, 1).bit_length())]
    if not sizes:
        return [(text, ROOT) for text in names]
    built = build_ordinal(attribute, names, order=names, sizes=sizes)
    columns = [[level.labels[node] for node in level.node_of.tolist()] for level in built.levels[1:]]
    return [(text, *labels) for text, *labels in zip(names, *columns, strict=True)]


def prefixes(texts: Iterable[str]) -> list[Row]:
    """Tree of prefixes: ZIP codes lose digits from the right, ``J18.1`` goes to ``J18*`` and ``J*``.

    A prefix length that joins nothing more than the one before is left out. Where all codes have one length,
    groups are written as masks of that length, else as the prefix and one mask character; a code that is
    wholly its prefix and alone stays itself.

    >>> prefixes(["02138", "02139", "10115"])
    [('02138', '0213*', '*'), ('02139', '0213*', '*'), ('10115', '1011*', '*')]
    >>> prefixes(["J18", "J18.1", "K35"])
    [('J18', 'J18*', '*'), ('J18.1', 'J18*', '*'), ('K35', 'K35', '*')]
    """
    codes = sorted(set(texts))
    lengths = {len(code) for code in codes}
    same = len(lengths) == 1
    levels: list[list[str]] = []
    groups = len(codes)
    for prefix in range(max(lengths, default=1) - 1, 0, -1):
        heads = Counter(code[:prefix] for code in codes)
        if 1 < len(heads) < groups:
            groups = len(heads)
            mask = ROOT * (max(lengths) - prefix) if same else ROOT
            whole = {code for code in codes if heads[code] == 1}
            levels.append([code or EMPTY if code in whole else code[:prefix] + mask for code in codes])
    return [(code, *labels, ROOT) for code, *labels in zip(codes, *levels, strict=True)]


def lump(counts: Mapping[str, int], minimum: int, name: str = "other") -> list[Row]:
    """Categories with fewer than ``minimum`` rows become one, which takes in the next rare ones until it has enough.

    Kept categories come first, by code point. With nothing to lump the file has the value and the root only.

    >>> lump({"a": 9, "b": 8, "c": 1}, 5)
    [('a', 'a', '*'), ('b', 'other', '*'), ('c', 'other', '*')]
    """
    if minimum < 1:
        raise PolicyError(f"the least number of rows of a category must be 1 or more, not {minimum}")
    rising = sorted(counts, key=lambda text: (counts[text], text))
    rare: list[str] = []
    for text in rising:
        if counts[text] >= minimum and (not rare or sum(counts[known] for known in rare) >= minimum):
            break
        rare.append(text)
    prefix = sorted(set(counts) - set(rare))
    if not rare or not prefix:
        return [(text, ROOT) for text in sorted(counts)]
    while name in counts:
        name = f"{name} values"
    return [*((text, text or EMPTY, ROOT) for text in prefix), *((text, name, ROOT) for text in sorted(rare))]


def looks_like_codes(texts: Iterable[str]) -> bool:
    """Whether texts look like codes (ZIP, ICD): short, without blanks, nearly all with digits, and not just a few.

    >>> looks_like_codes(["J18", "K35.8", "E11"]), looks_like_codes(["female", "male"])
    (True, False)
    """
    known = list(texts)
    coded = sum(" " not in text and len(text) <= 12 and any(map(str.isdigit, text)) for text in known)
    return len(known) > 2 and coded >= CODE_SHARE * len(known)


def _rows(found: Scale, counts: Mapping[str, int]) -> NDArray[np.int64]:
    """Rows of each value, other spellings added."""
    rows = dict.fromkeys(found.texts, 0)
    for text, number in counts.items():
        rows[found.spellings.get(text, text)] += number
    return np.array(list(rows.values()), dtype=np.int64)


def _refined(cuts: list[int], found: Scale, rows: NDArray[np.int64], number: int) -> list[int]:
    """Cuts of a coarser level and, near each quantile of ``number`` intervals that has none, the roundest number."""
    places: list[int] = found.positions.tolist()
    if not places:
        return []
    below = np.cumsum(rows) - rows  # rows before each value
    refined = set(cuts)
    parted = {bisect_left(places, cut) for cut in cuts} | {0, len(places)}
    total = int(rows.sum())
    for step in range(1, number):
        # the values that hold the quantiles of a half step before, the step itself and a half step after
        ranks = [(2 * step + half) * total // (2 * number) for half in (-1, 0, 1)]
        low, near, high = (places[int(np.searchsorted(below, rank, side="right")) - 1] for rank in ranks)
        if any(low < cut <= high for cut in refined):
            continue
        cut = _roundest(low, high, near, found)
        if bisect_left(places, cut) not in parted:  # it parts values that no other cut parts
            parted.add(bisect_left(places, cut))
            refined.add(cut)
    return sorted(refined)


def _roundest(low: int, high: int, near: int, found: Scale) -> int:
    """Multiple of the largest 1-2-5 step in (low, high], nearest to ``near``."""
    powers = range(len(str(max(abs(low), abs(high)))), -1, -1)
    steps: list[int] = [factor * 10**power for power in powers for factor in (5, 2, 1)]
    for step in steps:
        if found.type == "integer" and step % found.unit:
            continue
        first, last = (low // step + 1) * step, high // step * step
        if first <= last:
            middle = (2 * near + step) // (2 * step) * step
            return min(max(middle, first), last)
    return near


def _interval(cuts: list[int], place: int, unit: int, decimal: str) -> str:
    index = bisect_right(cuts, place)
    if index == 0:
        return f"<{number_text(cuts[0], unit, decimal)}"
    low = number_text(cuts[index - 1], unit, decimal)
    if index == len(cuts):
        return f"{low}+"
    return range_text(low, number_text(cuts[index], unit, decimal), closed=False, decimal=decimal)
