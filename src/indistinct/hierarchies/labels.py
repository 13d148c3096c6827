"""Which original values a published label covers, for files of any origin.

This is the eye of verification: it reads what stands in a published file and shares no code with what wrote
it. Only the casting of original values (``values``) is common.

Read are: a value itself; the suppression token and ``*`` (everything, missing values too); the labels of a hierarchy
file on any level; intervals ``[20, 30)``, ``[20, 30[``, ``(20,30]``, ``[20, 29]``, ``20-29``, ``[5 - 10]``,
``-10--5``, ``<20``, ``<=40``, ``>40``, ``>=90``, ``90+``; dates ``2024-03``, ``2024-Q1``, ``2024-H1``,
``2024-W05``, ``2024``, ``2020s``, ``1900-1909`` and intervals of them; masks ``0213*``, ``**139``; sets ``{a,
b}``, elements with commas, braces, quotes or outer blanks between quotes: ``{"a, b", c}``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, floor, lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import DataError
from indistinct.hierarchies.cut_labels import cut_dates, cut_numbers
from indistinct.hierarchies.suppression import ROOT
from indistinct.hierarchies.taxonomy import read_taxonomy
from indistinct.hierarchies.values import (
    EPOCH,
    LARGE,
    PARTIAL,
    iso_date,
    number_key,
    parse_number,
    positions,
    precision,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Indices = NDArray[np.int64]

DASH = "[-\N{HYPHEN}\N{EN DASH}\N{EM DASH}]"
OPENING, CLOSING = r"[\[(\]]", r"[\])\[]"


@dataclass(frozen=True, slots=True)
class Interval:
    """Positions between two ends on the scale of the column; None is without end."""

    low: Fraction | None
    high: Fraction | None
    low_closed: bool = True
    high_closed: bool = True


@dataclass(frozen=True, slots=True)
class Mask:
    """Texts of one length of which only the beginning and the end are shown; shorter ones where masks fill up."""

    prefix: str
    suffix: str
    length: int


@dataclass(frozen=True, slots=True)
class Members:
    """The texts listed between braces; those between ``quoted`` marks are values, whatever they look like."""

    texts: frozenset[str]
    quoted: frozenset[str] = frozenset()


Pattern = Interval | Mask | Members


def parse(
    label: str,
    type: str = "text",
    *,
    decimal: str = ".",
    format: str | None = None,
    order: Sequence[str] | None = None,
    character: str = "*",
) -> Pattern | None:
    """Read a label as the set of values it describes; None when it can only be a value itself or a name.

    Ends of intervals of dates are days since 1970-01-01, those of an ordinal column ranks. In a text column a
    lone number is no interval, since "02138" is not "2138".

    >>> parse("[20, 30[", "integer") == Interval(Fraction(20), Fraction(30), True, False)
    True
    >>> parse("0213*"), parse("{a, b}") == Members(frozenset({"a", "b"})), parse("flu")
    (Mask(prefix='0213', suffix='', length=5), True, None)
    """
    text = label.strip()
    if text.startswith("{") and text.endswith("}"):
        elements = list(_elements(text[1:-1], brackets=type != "text"))
        plain, quoted = (frozenset(text for text, marked in elements if marked is want) for want in (False, True))
        return Members(plain, quoted)
    found: Interval | None
    if type == "date":
        found = _date_interval(text, format)
    elif type == "ordinal":
        found = _ordinal_interval(text, order or ())
    else:
        found = _number_interval(text, decimal, alone=type != "text")
    return found or _mask(label, character)


class Reader:
    """The distinct original values of one column, prepared for asking which of them labels cover.

    ``texts`` as they stand in the original, None for missing; ``rows`` those of a hierarchy file, if the
    column has one; ``token`` the suppression token; ``character`` the mask, and ``filled`` whether shorter values are
    filled up with it (``masks_of`` reads both from a hierarchy). Preparing costs n log n; a question costs about as
    much as its answer is long.

    >>> reader = Reader(["5", "12", "33", None], "integer")
    >>> reader.find("[10, 40)").tolist(), reader.find("*").tolist(), reader.covers(None).tolist()
    ([1, 2], [0, 1, 2, 3], [False, False, False, True])
    """

    def __init__(
        self,
        texts: Sequence[str | None],
        type: str = "text",
        *,
        rows: Sequence[Sequence[str]] | None = None,
        token: str = "*",  # noqa: S107  # the mark of a suppressed cell
        decimal: str = ".",
        format: str | None = None,
        order: Sequence[str] | None = None,
        character: str = "*",
        filled: bool = False,
    ) -> None:
        self.texts = list(texts)
        self.type = type
        self.token = token
        self._reading: dict[str, Any] = {"decimal": decimal, "format": format, "order": order}
        self._character, self._filled = character, filled
        self._index = {text: number for number, text in enumerate(self.texts)}
        self._known: dict[str | None, Indices] = {}
        self._scale: tuple[Indices, NDArray[Any], int] | None = None
        self._masked: dict[tuple[int, int, int], dict[str, list[int]]] = {}
        self._nodes = {} if rows is None else self._read_rows(rows)

    def covers(self, label: str | None) -> NDArray[np.bool_]:
        """bool[n]: which of the values the label covers."""
        covered = np.zeros(len(self.texts), np.bool_)
        covered[self.find(label)] = True
        return covered

    def agrees(
        self, labels: Sequence[str | None], label: NDArray[np.integer[Any]], value: NDArray[np.integer[Any]]
    ) -> NDArray[np.bool_]:
        """bool[pairs]: whether ``labels[label[i]]`` covers value number ``value[i]``, without a table of all pairs.

        >>> Reader(["5", "12"], "integer").agrees(["[0, 9]", "12"], np.array([0, 0, 1]), np.array([0, 1, 1])).tolist()
        [True, False, True]
        """
        agree, others = np.zeros(len(label), np.bool_), np.arange(len(label))
        if (found := self._cut(labels)) is not None:
            places, low, high, cut = found
            is_cut = cut[label]
            at_once, others = np.flatnonzero(is_cut), np.flatnonzero(~is_cut)
            own, which = self._places[value[at_once]], label[at_once]
            agree[at_once] = (own >= 0) & (low[which] <= places[own]) & (places[own] < high[which])
        arrangement = others[np.argsort(label[others], kind="stable")]
        starts = np.searchsorted(label[arrangement], np.arange(len(labels) + 1)).tolist()
        for number in np.flatnonzero(np.diff(starts)).tolist():
            pairs = arrangement[starts[number] : starts[number + 1]]
            agree[pairs] = self._covered(labels[number], value[pairs])
        return agree

    def _cut(self, labels: Sequence[str | None]) -> tuple[Indices, Indices, Indices, NDArray[np.bool_]] | None:
        """Read all labels like ``[20, 30)`` of a column of numbers or days at once, as whole numbers of one unit.

        The values in the order of the scale; first and past the last place inside each label, and which labels are so.
        None where the column has no such scale, or numbers too large; what is written otherwise is read one by one.
        """
        plain = self._reading["decimal"] == "." if self.type != "date" else self._reading["format"] is None
        if self.type not in ("integer", "decimal", "date") or not plain or self._partial:
            return None
        _, places, unit = self._ordered()
        named = [
            None if label in self._index or label in self._nodes or label == self.token else label for label in labels
        ]
        found = cut_dates(named) if self.type == "date" else cut_numbers(named)
        if found is None or not len(places) or places.dtype == object:
            return None
        low, high, cut, own = found
        common = lcm(unit, own)
        far = max(int(np.abs(part).max()) * (common // of) for part, of in ((places, unit), (low, own), (high, own)))
        if far >= LARGE:
            return None
        step = common if self.type == "date" else 1  # a closed end takes in its day, or the number alone
        low, high = low * (common // own), high * (common // own)
        return places * (common // unit), low + step * (cut & 1), high + step * (cut >> 1 & 1), cut >= 0

    def _covered(self, label: str | None, values: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Say which of some values a label covers; an interval is not spelled out, however many values it covers."""
        pattern = self._pattern(label)
        if not isinstance(pattern, Interval) or self._partial:
            return _among(values, self.find(label))
        first, last = self._stretch(pattern)
        places = self._places[values]
        return np.asarray((first <= places) & (places < last) | (values == self._index.get(label, -1)))

    def find(self, label: str | None) -> Indices:
        """Ascending indices of the values that the label covers; None covers missing values only."""
        found = self._known.get(label)
        if found is None:
            found = self._known[label] = np.unique(np.asarray(self._find(label), dtype=np.int64))
        return found

    def _find(self, label: str | None) -> Iterable[int] | Indices:
        itself = [self._index[label]] if label in self._index else []
        if label is None:
            return itself
        if label == self.token:
            return np.arange(len(self.texts))
        if label in self._nodes:
            return [*itself, *self._nodes[label]]
        if label == ROOT and not itself:
            return np.arange(len(self.texts))
        pattern = self._pattern(label)
        if isinstance(pattern, Interval):
            return np.append(self._inside(pattern), np.array(itself, dtype=np.int64))
        if isinstance(pattern, Mask):
            itself += self._behind(pattern)
        elif isinstance(pattern, Members):
            itself += [number for text in pattern.texts for number in self._find_member(text)]
            itself += [number for text in pattern.quoted for number in self._find_value(text)]
        return itself

    def _pattern(self, label: str | None) -> Pattern | None:
        """Read a label that is no name: not the token, not a node, not the mark of the root."""
        if label is None or label == self.token or label in self._nodes:
            return None
        if label == ROOT and label not in self._index:
            return None
        return parse(label, self.type, character=self._character, **self._reading)

    def _find_member(self, text: str) -> list[int]:
        itself = self._find_value(text)
        if itself:
            return itself
        pattern = parse(text, self.type, character=self._character, **self._reading)
        return self._inside(pattern).tolist() if isinstance(pattern, Interval) else []

    def _find_value(self, text: str) -> list[int]:
        """Values of the text, in all spellings of a number or a day."""
        return self._alike.get(self._key(text), [])

    @cached_property
    def _alike(self) -> dict[object, list[int]]:
        alike: dict[object, list[int]] = {}
        for number, text in enumerate(self.texts):
            if text is not None:
                alike.setdefault(self._key(text), []).append(number)
        return alike

    def _inside(self, interval: Interval) -> Indices:
        first, last = self._stretch(interval)
        found = self._ordered()[0][first:last] if first < last else np.zeros(0, np.int64)
        inside = [number for number, own in self._partial if _holds(interval, own)]
        return np.append(found, np.array(inside, np.int64)) if inside else found

    @cached_property
    def _partial(self) -> list[tuple[int, Interval]]:
        """Months and years among dates, which a label covers only as a whole."""
        if self.type != "date" or self._reading["format"] != PARTIAL:
            return []
        found = []
        for number, text in enumerate(self.texts):
            if text is not None and precision(text) and (own := _calendar(text)):
                found.append((number, own))
        return found

    @cached_property
    def _places(self) -> Indices:
        """int64[n]: place of each value in the order of the scale, -1 for those without one."""
        arrangement = self._ordered()[0]
        places = np.full(len(self.texts), -1, np.int64)
        places[arrangement] = np.arange(len(arrangement))
        return places

    def _stretch(self, interval: Interval) -> tuple[int, int]:
        """First value inside an interval and first beyond, in the order of the scale; none where they are no less."""
        _, places, unit = self._ordered()
        start, stop = 0, len(places)
        if interval.low is not None:
            low = interval.low * unit
            start = _search(places, ceil(low), "left") if interval.low_closed else _search(places, floor(low), "right")
        if interval.high is not None:
            high = interval.high * unit
            stop = (
                _search(places, floor(high), "right") if interval.high_closed else _search(places, ceil(high), "left")
            )
        return start, stop

    def _ordered(self) -> tuple[Indices, NDArray[Any], int]:
        """Values that have a place on the scale, in its order; in a text column those that are numbers."""
        if self._scale is None:
            numbered = [(number, text) for number, text in enumerate(self.texts) if text is not None]
            kind = self.type
            whole = {number for number, _ in self._partial}
            numbered = [(number, text) for number, text in numbered if number not in whole]
            if kind == "text":
                kind = "decimal"
                mark = self._reading["decimal"]
                numbered = [(number, text) for number, text in numbered if parse_number(text, mark) is not None]
            places, unit = positions("", [text for _, text in numbered], kind, **self._reading)
            arrangement = np.argsort(places, kind="stable")
            indices = np.array([number for number, _ in numbered], dtype=np.int64)
            self._scale = indices[arrangement], places[arrangement], unit
        return self._scale

    def _behind(self, mask: Mask) -> list[int]:
        """Values of the length of a mask that show the same; grouped once for each shape of mask."""
        shape = (mask.length, len(mask.prefix), len(mask.suffix))
        if shape not in self._masked:
            groups: dict[str, list[int]] = {}
            for number, given in enumerate(self.texts):
                text = self._filled_up(given, mask) if self._filled else given
                if text is not None and len(text) == mask.length:
                    groups.setdefault(text[: shape[1]] + text[mask.length - shape[2] :], []).append(number)
            self._masked[shape] = groups
        return self._masked[shape].get(mask.prefix + mask.suffix, [])

    def _filled_up(self, text: str | None, mask: Mask) -> str | None:
        """Write a text as masking with ``fill`` does before it hides anything."""
        if text is None:
            return None
        fill = text.rjust if mask.suffix else text.ljust
        return fill(mask.length, self._character)

    def _read_rows(self, rows: Sequence[Sequence[str]]) -> dict[str, list[int]]:
        """List the indices under each label of a hierarchy file.

        A missing value is under the leaf ``""``, else under the root alone.
        """
        by_key = {self._key(text): number for number, text in enumerate(self.texts) if text is not None}
        missing = self._index.get(None)
        nodes: dict[str, list[int]] = {}
        listed = False
        for row in rows:
            number = by_key.get(self._key(row[0]))
            if row[0] == "" and "" not in self._index and missing is not None:
                number, listed = missing, True
            for label in dict.fromkeys(row):
                members = nodes.setdefault(label, [])
                if number is not None:
                    members.append(number)
        tops = {row[-1] for row in rows if len(row) > 1}
        if missing is not None and not listed and len(tops) == 1:
            nodes[tops.pop()].append(missing)
        return nodes

    def _key(self, text: str) -> object:
        """Say what a text means: a number, a day, or itself."""
        if self.type in ("integer", "decimal"):
            return number_key(text, self._reading["decimal"]) or text
        if self.type == "date":
            interval = _date_interval(text, self._reading["format"])
            return text if interval is None else interval
        return text


def covers(
    labels: str | Sequence[str | None] | None,
    texts: Sequence[str | None],
    type: str = "text",
    rows: Sequence[Sequence[str]] | None = None,
    token: str = "*",  # noqa: S107  # a mark for suppressed cells, no secret
    *,
    spec: Mapping[str, Any] | None = None,
    base: Path | None = None,
    **reading: Any,
) -> NDArray[np.bool_]:
    """Which original values published labels cover: bool[n] for one label, bool[labels, n] for several.

    ``spec`` is the hierarchy as in a policy, of which only the rows of a file (relative to ``base``) and the
    masks are used; other keywords as in ``Reader``, which answers without a table of all pairs.

    >>> covers("90+", ["89", "90", "104", None], "integer").tolist()
    [False, True, True, False]
    >>> covers(["[0, 90)", "*"], ["89", "90", None], "integer").tolist()
    [[True, False, False], [True, True, True]]
    """
    given = dict(spec or {})
    if rows is None:
        rows = given.get("rows")
    if rows is None and given.get("file") is not None:
        rows = read_taxonomy(given["file"] if base is None else base / given["file"])
    reader = Reader(texts, type, rows=rows, token=token, **{**masks_of(given), **reading})
    if labels is None or isinstance(labels, str):
        return reader.covers(labels)
    table = np.zeros((len(labels), len(texts)), np.bool_)
    for row, label in zip(table, labels, strict=True):
        row[reader.find(label)] = True
    return table


def masks_of(spec: Mapping[str, Any] | None) -> dict[str, Any]:
    """Read from a hierarchy, as in a policy, what ``Reader`` must know of masks.

    >>> masks_of({"kind": "masking", "fill": "longest"})
    {'character': '*', 'filled': True}
    """
    given = spec or {}
    return {"character": given.get("character") or "*", "filled": given.get("fill") is not None}


def _among(numbers: NDArray[np.integer[Any]], ascending: Indices) -> NDArray[np.bool_]:
    """Say which numbers are among others: a tenth of the time of ``np.isin`` for a few."""
    if not len(ascending):
        return np.zeros(len(numbers), np.bool_)
    place = np.searchsorted(ascending, numbers)
    return np.asarray(ascending[np.minimum(place, len(ascending) - 1)] == numbers)


def _search(places: NDArray[Any], number: int, side: Any) -> int:
    if places.dtype != object:
        number = min(max(number, -(1 << 63)), (1 << 63) - 1)
    return int(np.searchsorted(places, number, side=side))


def _elements(inner: str, *, brackets: bool) -> Iterator[tuple[str, bool]]:
    """Split what stands between the braces of a set: each element, and whether it stood between quotes.

    A quote counts as the first character of an element only, and where it closes before a comma or the end; doubled, it
    stands for itself. With ``brackets`` a comma inside ``[`` or ``(`` does not separate.

    >>> list(_elements('"a, b", c d, "e"', brackets=False)), list(_elements('[0, 10), 33', brackets=True))
    ([('a, b', True), ('c d', False), ('e', True)], [('[0, 10)', False), ('33', False)])
    """
    pattern = _BRACKETED if brackets else _ELEMENT
    place = 0
    while place <= len(inner):
        match = _QUOTED.match(inner, place) or pattern.match(inner, place)
        assert match is not None  # noqa: S101  # the second matches any text
        marked = match.re is _QUOTED
        yield (match[1].replace('""', '"') if marked else match[1].strip()), marked
        place = match.end() + 1


_QUOTED = re.compile(r'\s*"((?:[^"]|"")*)"\s*(?=,|$)')
_ELEMENT = re.compile(r"([^,]*)")
_BRACKETED = re.compile(r"(\s*[\[(][^\])]*[\])][^,]*|[^,]*)")


def _mask(label: str, character: str) -> Mask | None:
    rest = label.strip(character)
    hidden = len(label) - len(rest)
    if not hidden or character in rest:
        return None
    prefix = len(label) - len(label.lstrip(character)) == 0
    if not prefix and label.endswith(character) and rest:
        return None  # hidden on both sides: no mask that anyone writes
    return Mask(rest, "", len(label)) if prefix else Mask("", rest, len(label))


# -- numbers ------------------------------------------------------------------------------------------------------

NUMBER = {
    ".": r"[-+\N{MINUS SIGN}]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?",
    ",": r"[-+\N{MINUS SIGN}]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][-+]?\d{1,3})?",
}
INFINITE = r"[-+\N{MINUS SIGN}]?(?:inf(?:inity)?|\N{INFINITY})"


def _patterns(number: str) -> dict[str, re.Pattern[str]]:
    end = rf"({number}|{INFINITE})"
    return {
        "bracket": re.compile(rf"({OPENING})\s*{end}\s*(?:[,;:]|\.\.|{DASH}|to)\s*{end}\s*({CLOSING})", re.IGNORECASE),
        "dash": re.compile(rf"({number})\s*{DASH}\s*({number})"),
        "sign": re.compile(rf"(<=|>=|<|>|\N{{LESS-THAN OR EQUAL TO}}|\N{{GREATER-THAN OR EQUAL TO}})\s*({number})"),
        "plus": re.compile(rf"({number})\s*\+"),
        "alone": re.compile(rf"({number})"),
    }


NUMBERS = {mark: _patterns(number) for mark, number in NUMBER.items()}


@lru_cache(4096)  # the ends of ranges come again and again
def _number(text: str) -> Fraction | None:
    text = text.replace("\N{MINUS SIGN}", "-").replace(",", ".").lower()
    return None if "inf" in text or "\N{INFINITY}" in text else Fraction(text)


def _number_interval(text: str, decimal: str, *, alone: bool) -> Interval | None:
    patterns = NUMBERS[decimal]
    if match := patterns["alone"].fullmatch(text):
        value = _number(match[1])
        return Interval(value, value) if alone else None
    if match := patterns["bracket"].fullmatch(text):
        return Interval(_number(match[2]), _number(match[3]), match[1] == "[", match[4] == "]")
    if match := patterns["dash"].fullmatch(text):
        return Interval(_number(match[1]), _number(match[2]))
    if match := patterns["plus"].fullmatch(text):
        return Interval(_number(match[1]), None)
    if match := patterns["sign"].fullmatch(text):
        return _half_line(match[1], _number(match[2]), _number(match[2]))
    return None


def _half_line(sign: str, first: Fraction | None, last: Fraction | None, *, last_closed: bool = True) -> Interval:
    """``< x`` and so on, where x may be a whole period from first to last."""
    if sign == "<":
        return Interval(None, first, high_closed=False)
    if sign == ">":
        return Interval(last, None, low_closed=not last_closed)
    if sign in ("<=", "\N{LESS-THAN OR EQUAL TO}"):
        return Interval(None, last, high_closed=last_closed)
    return Interval(first, None)


# -- ordinal values -----------------------------------------------------------------------------------------------


def _ordinal_interval(text: str, order: Sequence[str]) -> Interval | None:
    rank = {value: Fraction(number) for number, value in enumerate(order)}
    if text in rank:
        return Interval(rank[text], rank[text])
    if text.startswith("[") and text.endswith("]"):
        inner = text[1:-1]
        for comma in (match.start() for match in re.finditer(",", inner)):
            low, high = inner[:comma].strip(), inner[comma + 1 :].strip()
            if low in rank and high in rank:
                return Interval(rank[low], rank[high])
    return None


# -- dates --------------------------------------------------------------------------------------------------------

BRACKETED = re.compile(rf"({OPENING})\s*(.+?)\s*(?:[,;]|\.\.|\bto\b|\s{DASH}\s)\s*(.+?)\s*({CLOSING})")
SIGNED = re.compile(r"(<=|>=|<|>|\N{LESS-THAN OR EQUAL TO}|\N{GREATER-THAN OR EQUAL TO})\s*(.+)")
YEARS = re.compile(rf"(\d{{4}})(?:\s*{DASH}\s*(\d{{4}}))?")
DECADE = re.compile(r"(\d{3}0)s")
PART = re.compile(r"(?P<year>\d{4})-(?P<part>[QH])(?P<number>\d)")
PART_FIRST = re.compile(r"(?P<part>[QH])(?P<number>\d)[ /-](?P<year>\d{4})")
MONTH = re.compile(r"(?P<year>\d{4})[-/](?P<month>\d{2})")
MONTH_FIRST = re.compile(r"(?P<month>\d{2})[./](?P<year>\d{4})")
WEEK = re.compile(r"(\d{4})-W(\d{2})")
PART_MONTHS = {"Q": 3, "H": 6}


def _date_interval(text: str, format: str | None) -> Interval | None:
    if match := BRACKETED.fullmatch(text):
        low, high = _period(match[2], format), _period(match[3], format)
        if low is None or high is None:
            return None
        # a closed end takes in the whole period that it names, an open one ends before it
        first = low.low if match[1] == "[" else low.high
        low_closed = match[1] == "[" or not low.high_closed
        return Interval(
            first,
            high.high if match[4] == "]" else high.low,
            low_closed,
            match[4] == "]" and high.high_closed,
        )
    if match := SIGNED.fullmatch(text):
        end = _period(match[2], format)
        return None if end is None else _half_line(match[1], end.low, end.high, last_closed=end.high_closed)
    if text.endswith("+"):
        end = _period(text[:-1].strip(), format)
        return None if end is None else Interval(end.low, None)
    return _period(text, format)


def _period(text: str, format: str | None) -> Interval | None:
    """Read a moment, a day or a longer period of the calendar."""
    if format is not None and (moment := _moment(text, format)):
        return moment
    return _moment(text, None) or _calendar(text)


def _moment(text: str, format: str | None) -> Interval | None:
    """Read a day as all of its hours, a time of day as that moment."""
    if format == PARTIAL:  # a month or year is a period, not its first day
        format = None
    if format is None and iso_date(text) is None:
        return None
    try:
        places, unit = positions("", [text], "date", format=format)
    except DataError:
        return None
    day = Fraction(int(places[0]), unit)
    return Interval(day, day + 1, high_closed=False) if day.denominator == 1 else Interval(day, day)


def _calendar(text: str) -> Interval | None:
    """Read a week, month, quarter, half, year, decade or century."""
    if match := WEEK.fullmatch(text):
        return _week(int(match[1]), int(match[2]))
    year, month, length = 0, 1, 0
    if match := YEARS.fullmatch(text):
        year, length = int(match[1]), 12 * (int(match[2] or match[1]) - int(match[1]) + 1)
    elif match := DECADE.fullmatch(text):
        # 1900s is a century to most, so the wider reading is taken
        year, length = int(match[1]), 1200 if match[1].endswith("00") else 120
    elif match := PART.fullmatch(text) or PART_FIRST.fullmatch(text):
        length = PART_MONTHS[match["part"]]
        year, month = int(match["year"]), (int(match["number"]) - 1) * length + 1
    elif match := MONTH.fullmatch(text) or MONTH_FIRST.fullmatch(text):
        year, month, length = int(match["year"]), int(match["month"]), 1
    return _months(year, month, length)


def _holds(interval: Interval, period: Interval) -> bool:
    """Whether an interval takes in all of a period of the calendar, which ends before its upper end."""
    low, high = period.low, period.high
    assert low is not None and high is not None  # noqa: S101, PT018  # a period has both ends
    begins = interval.low is None or interval.low < low or (interval.low == low and interval.low_closed)
    return begins and (interval.high is None or interval.high >= high)


def _months(year: int, month: int, length: int) -> Interval | None:
    if length < 1 or not 1 <= month <= 12:
        return None
    past = year * 12 + month - 1 + length
    end = _day(date(past // 12, past % 12 + 1, 1)) if past // 12 <= date.max.year else _day(date.max) + 1
    start = _day(date(year, month, 1)) if year >= date.min.year else _day(date.min)
    return Interval(start, end, high_closed=False)


def _week(year: int, week: int) -> Interval | None:
    try:
        monday = date.fromisocalendar(year, week, 1)
    except ValueError:
        return None
    return Interval(_day(monday), _day(monday) + 7, high_closed=False)


def _day(day: date) -> Fraction:
    return Fraction(day.toordinal() - EPOCH)
