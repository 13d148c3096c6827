"""Casting the texts of a column by its declared type, exactly, and the order that follows from it.

Types: ``text`` (exact match, code-point order), ``integer``, ``decimal``, ``date`` (ISO or a strptime format,
with or without a time of day) and ``ordinal`` (the declared order). Two texts of one number or date are one
value.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from indistinct.errors import DataError, PolicyError
from indistinct.hierarchies.hierarchy import Fractions, runs
from indistinct.notices import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    Positions = NDArray[Any]

Value = int | Decimal | date | datetime | str

TYPES = ("text", "integer", "decimal", "date", "ordinal")
EXPECTED = {"integer": "a whole number", "decimal": "a number", "date": "a date", "ordinal": "in its order"}

DAY = 86_400_000_000
"""Microseconds in a day: the unit of dates with a time of day."""
EPOCH = date(1970, 1, 1).toordinal()
FIRST_DAY, LAST_DAY = date.min.toordinal() - EPOCH, date.max.toordinal() - EPOCH
LARGE = 2**60
"""Positions below this are int64, so that sums and differences of two of them are; larger ones are Python integers."""
LONGEST_NUMBER = 400
LISTED_TOKENS = 20
ZONED = "zoned"
"""Format of the moments of one time zone, whose offset from UTC may change with the season."""
PARTIAL = "partial"
"""Format of ISO dates of which some say the month or the year only: 2024-02-28, 2024-02, 2024."""
_PARTIAL = re.compile(r"(\d{4})(?:-(\d{2}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Cast(Sequence[Value | None]):
    """Typed values, one for each text given, and what else casting found out.

    ``canonical`` maps every text that is another spelling of an earlier named value to the spelling that
    stands for it: the shortest that occurs, then the first in code-point order. ``notes`` says so in a
    sentence.
    """

    values: list[Value | None]
    canonical: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> Value | None: ...
    @overload
    def __getitem__(self, index: slice) -> list[Value | None]: ...
    def __getitem__(self, index: int | slice) -> Value | list[Value | None] | None:
        return self.values[index]


@dataclass(frozen=True, slots=True)
class Scale:
    """The distinct present values of a column in canonical order.

    Value i stands at ``positions[i] / unit`` (ascending; int64, or Python integers where those are too
    small): the number, the days since 1970-01-01, the rank; for text the place in code-point order.
    ``spellings`` maps other spellings to ``texts``; ``missing`` says whether the column has missing values.
    """

    attribute: str
    type: str
    texts: tuple[str, ...]
    positions: Positions
    unit: int
    missing: bool
    spellings: Mapping[str, str] = field(default_factory=dict)

    @property
    def fractions(self) -> Sequence[Fraction]:
        """Exact positions, empty for text."""
        return () if self.type == "text" else Fractions(self.positions, self.unit)

    @property
    def is_whole(self) -> bool:
        """Whether neighbouring values are whole steps apart: integers, dates without time, ranks."""
        return self.type in ("integer", "ordinal") or (self.type == "date" and self.unit == 1)

    def aligned(self, *numbers: Fraction) -> tuple[Positions, int, list[int]]:
        """Positions in a unit in which the given numbers are whole too, that unit, and the numbers in it."""
        unit = lcm(self.unit, *(number.denominator for number in numbers))
        whole = [int(number * unit) for number in numbers]
        places = times(self.positions, unit // self.unit)
        if any(abs(number) >= LARGE for number in whole):
            places = places.astype(object)
        return places, unit, whole


def cast(
    attribute: str,
    texts: Sequence[str | None],
    type: str = "text",
    *,
    decimal: str = ".",
    format: str | None = None,
    order: Sequence[str] | None = None,
) -> Cast:
    """Turn the texts of a column into typed values; None stays None.

    Integers become int, decimals Decimal (exact), dates date or datetime, ordinal values their rank, text
    itself. Blanks around numbers do not matter; ``5.0`` and ``5e0`` are whole numbers. ``decimal`` is the
    decimal mark.

    Raises DataError that names the column, up to five of the texts that are none of the type, and what is
    expected; PolicyError for an unknown type, a format that is none, an ordinal type without order.

    >>> found = cast("age", ["5", "05", None, "7.0"], "integer")
    >>> list(found), dict(found.canonical)
    ([5, 5, None, 7], {'05': '5'})
    """
    present = [text for text in texts if text is not None]
    typed: list[Value]
    if type == "date":
        typed = list(_dates(attribute, present, format))
    elif type == "decimal":
        typed = [Decimal(f"{digits}E{-scale}") for digits, scale in _numbers(attribute, present, type, decimal)]
    elif type == "integer":
        typed = [digits * 10**-scale for digits, scale in _numbers(attribute, present, type, decimal)]
    elif type == "ordinal":
        typed = list(_ranks(attribute, present, order))
    else:
        _known(attribute, type)
        typed = list(present)
    canonical = {} if type in ("text", "ordinal") or format == PARTIAL else _spellings(present, _keys(type, typed))
    values = iter(typed)
    notes = (spelling_note(attribute, canonical),) if canonical else ()
    return Cast([None if text is None else next(values) for text in texts], canonical, notes)


def scale(
    attribute: str,
    texts: Sequence[str | None],
    type: str = "text",
    *,
    decimal: str = ".",
    format: str | None = None,
    order: Sequence[str] | None = None,
) -> Scale:
    """Sort the distinct values of a column canonically; the input may be in any order. Errors as in ``cast``.

    >>> scale("dose", ["0.5", "10", "2", None], "decimal").texts
    ('0.5', '2', '10')
    """
    missing = None in texts
    present = list(dict.fromkeys(text for text in texts if text is not None))
    if type == "text":
        present.sort()
        return Scale(attribute, type, tuple(present), np.arange(len(present)), 1, missing)
    places, unit = positions(attribute, present, type, decimal=decimal, format=format, order=order)
    # a year comes before its months, and a month before its days: they begin on the same day and are not one value
    ranks = {"year": 0, "month": 1, None: 2} if format == PARTIAL else {}
    rank = np.array([ranks[precision(text)] if ranks else 0 for text in present], np.int64)
    arrangement = np.lexsort((rank, places))
    places, ordered = places[arrangement], [present[index] for index in arrangement.tolist()]
    starts = runs(places, rank[arrangement])[1]
    if len(starts) == len(ordered):
        return Scale(attribute, type, tuple(ordered), places, unit, missing)
    spellings: dict[str, str] = {}
    fitting = []
    for start, stop in pairwise((*starts.tolist(), len(ordered))):
        group = ordered[start:stop]
        fitting.append(min(group, key=_preferred) if len(group) > 1 else group[0])
        spellings.update({text: fitting[-1] for text in group if text != fitting[-1]})
    return Scale(attribute, type, tuple(fitting), places[starts], unit, missing, spellings)


def positions(
    attribute: str,
    texts: Sequence[str],
    type: str,
    *,
    decimal: str = ".",
    format: str | None = None,
    order: Sequence[str] | None = None,
) -> tuple[Positions, int]:
    """Place of each text on the scale of an ordered type, as whole multiples of 1 / unit. Errors as in ``cast``."""
    if type == "date":
        dates = _dates(attribute, texts, format)
        if any(isinstance(value, datetime) and value.time() != time() for value in dates):
            return _array([_microseconds(value) for value in dates]), DAY
        return _array([value.toordinal() - EPOCH for value in dates]), 1
    if type == "ordinal":
        return _array(_ranks(attribute, texts, order)), 1
    if type not in ("integer", "decimal"):
        _known(attribute, type)
        raise PolicyError(f'column "{attribute}" is text, which has no scale', column=attribute)
    numbers = _numbers(attribute, texts, type, decimal)
    digits = max((scale for _, scale in numbers), default=0)
    if digits <= 0 and not any(scale for _, scale in numbers):
        return _array([number for number, _ in numbers]), 1
    digits = max(digits, 0)
    return _array([number * 10 ** (digits - scale) for number, scale in numbers]), 10**digits


def times(places: Positions, factor: int) -> Positions:
    """Multiply positions by a whole number, in Python integers where int64 would be too small."""
    if factor == 1:
        return places
    if places.dtype == object or not len(places) or int(np.abs(places).max()) * factor < LARGE:
        return places * factor
    return places.astype(object) * factor


def exact(value: Any, what: str) -> Fraction:
    """Read a number of a specification exactly: int, Decimal, Fraction, float by its shortest text, or a text.

    Raises PolicyError naming ``what``.

    >>> exact(0.1, "origin"), exact("1/4", "origin")
    (Fraction(1, 10), Fraction(1, 4))
    """
    if not isinstance(value, bool):
        try:
            return Fraction(repr(value) if isinstance(value, float) else value)
        except (TypeError, ValueError, OverflowError, ZeroDivisionError):
            pass
    raise PolicyError(f"{what} must be a number, not {value!r}")


def place(attribute: str, value: Any, found: Scale, what: str, **reading: Any) -> Fraction:
    """Exact position of a number, date or ordinal value of a specification. Raises PolicyError naming ``what``."""
    if found.type in ("integer", "decimal"):
        return exact(value, f'{what} of column "{attribute}"')
    text = value.isoformat() if isinstance(value, date) else str(value)
    for format in dict.fromkeys((None if isinstance(value, date) else reading.get("format"), None)):
        try:
            places, unit = positions(attribute, [text], found.type, **{**reading, "format": format})
        except DataError:
            continue
        return Fraction(int(places[0]), unit)
    expected = EXPECTED[found.type]
    raise PolicyError(f'{what} of column "{attribute}" must be {expected}, not "{text}"', column=attribute)


def limits(found: Scale, domain: Sequence[Any] | None, **reading: Any) -> tuple[Fraction, Fraction]:
    """Find the ends of the domain: as declared, else the smallest and largest value (0, 0 if there is none).

    An ordinal attribute has the whole of its order. Raises PolicyError for a domain that is no pair in
    ascending order, DataError naming the values outside a declared one.
    """
    attribute = found.attribute
    if domain is None:
        if found.type == "ordinal":
            return Fraction(0), Fraction(max(len(reading["order"]) - 1, 0))
        ends = found.positions[[0, -1]].tolist() if len(found.positions) else [0, 0]
        return Fraction(ends[0], found.unit), Fraction(ends[1], found.unit)
    if isinstance(domain, str) or len(domain) != 2:
        raise PolicyError(f'domain of column "{attribute}" must be a pair [smallest, largest]', column=attribute)
    low, high = (place(attribute, end, found, "domain", **reading) for end in domain)
    if low > high:
        raise PolicyError(f'domain of column "{attribute}" must ascend, not {list(domain)!r}', column=attribute)
    places, _, (lowest, highest) = found.aligned(low, high)
    outside = np.flatnonzero(((places < lowest) | (places > highest)).astype(np.bool_))
    if len(outside):
        named = quoted([found.texts[index] for index in outside[:6].tolist()], len(outside))
        raise DataError(
            f'column "{attribute}" holds {named} outside its domain {_shown(domain)}; '
            "widen the domain or mend the cells",
            column=attribute,
        ).showing(named)
    return low, high


def look_alikes(texts: Iterable[str | None]) -> list[tuple[str, ...]]:
    """Group texts that differ only by blanks, case or composed characters, in code-point order.

    >>> look_alikes(["north", "north ", "North", "south"])
    [('North', 'north', 'north ')]
    """
    present = [text for text in texts if text is not None]
    joined = "".join(present)
    if joined.isascii() and joined == joined.strip() and len(joined.split(maxsplit=1)) < 2:
        if joined in (joined.lower(), joined.upper()):
            return []  # no blanks and one case only: nothing can look alike
        keys = [text.lower() for text in present]
    else:
        keys = [" ".join(unicodedata.normalize("NFC", text).casefold().split()) for text in present]
    if len(set(keys)) == len(keys):
        return []
    groups: dict[str, list[str]] = {}
    for text, key in zip(present, keys, strict=True):
        groups.setdefault(key, []).append(text)
    return sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1)


# published labels that no value of a type is written like; a lone year is one only where dates are written in ISO form
_SETS = r"[\[(]\s*[^,;]+[,;].+[\])]|\{.+,.+\}"
_NUMBERS = r"-?[\d.,]+\s*[-\N{EN DASH}]\s*-?[\d.,]+|\d+\+|[<>]=?\s*-?[\d.,]+"
_PERIODS = r"\d{4}-\d{2}|\d{4}-[QHW]\d{1,2}|\d{4}s|\d{4}-\d{4}"


def already_generalized(
    texts: Sequence[str], type: str = "text", *, format: str | None = None, character: str = "*"
) -> str:
    """The first text that is no value and looks like a published label, in quotes; "" where none does.

    ``type`` and ``format`` are those that the column was to have, ``character`` is the mask.

    >>> already_generalized(["[20, 21]"], "integer"), already_generalized(["2024"], "date", format="%d.%m.%Y")
    ('"[20, 21]"', '')
    """
    mask = re.escape(character)
    forms = [_SETS, r"\*+", f"{mask}+", f"[^{mask}]+{mask}+", f"{mask}+[^{mask}]+"]
    forms += {"integer": [_NUMBERS], "decimal": [_NUMBERS], "date": [_PERIODS]}.get(type, [])
    forms += [r"\d{4}"] if type == "date" and format in (None, ZONED, PARTIAL) else []
    pattern = re.compile("|".join(forms))
    label = next((text for text in texts if pattern.fullmatch(text)), None)
    return "" if label is None else f'"{label}"'


def from_source(label: str) -> str:
    """End of a message about a text that looks like a published label; "" without one.

    >>> from_source('"[20, 21]"')
    '; "[20, 21]" looks like a label that is already generalized: make the release from the source'
    """
    return label and f"; {label} looks like a label that is already generalized: make the release from the source"


def spelling_note(attribute: str, canonical: Mapping[str, str]) -> Sentence:
    """Sentence that says which texts were read as one value."""
    text, chosen = min(canonical.items())
    found = Sentence(
        'column "{name}": "{text}" and "{chosen}" are one value, published as "{chosen}"',
        name=attribute,
        text=text,
        chosen=chosen,
    )
    more = len(canonical) - 1
    return Sentence("{found}; so are {n} more spellings", found=found, n=more) if more else found


def quoted(texts: Sequence[str], count: int | None = None, limit: int = 5) -> str:
    """Name a few texts in quotes and say how many more there are.

    >>> quoted(["a", "b", "c"], limit=2)
    '"a", "b" and 1 more'
    """
    count = len(texts) if count is None else count
    shown = [f'"{text}"' for text in texts[:limit]]
    if count > limit:
        return f"{', '.join(shown)} and {count - limit} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def number_text(number: int, unit: int, decimal: str = ".") -> str:
    """Write ``number / unit`` in plain digits.

    Raises PolicyError for a fraction that has no finite decimal form, such as a width of 1/3.

    >>> number_text(-1250, 100), number_text(20, 1), number_text(1, 4, ",")
    ('-12.5', '20', '0,25')
    """
    if unit == 1:
        return str(number)
    value = Fraction(number, unit)
    digits = 0
    while 10**digits % value.denominator:
        digits += 1
        if digits > value.denominator.bit_length():
            raise PolicyError(f"{value} cannot be written in decimals; choose bounds and widths that can")
    whole, part = divmod(abs(value.numerator) * (10**digits // value.denominator), 10**digits)
    sign = "-" if number < 0 else ""
    return f"{sign}{whole}{decimal}{part:0{digits}}" if digits else f"{sign}{whole}"


def range_text(low: str, high: str, *, closed: bool = True, decimal: str = ".") -> str:
    """Write a range with its ends; a decimal comma parts them by a semicolon.

    >>> range_text("20", "30", closed=False), range_text("0,5", "1,5", decimal=",")
    ('[20, 30)', '[0,5; 1,5]')
    """
    return f"[{low}{', ' if decimal == '.' else '; '}{high}{']' if closed else ')'}"


def moment_text(number: int, unit: int) -> str:
    """Write a position of a date scale in ISO form, with the time of day where it has one, within years 1 to 9999.

    >>> moment_text(0, 1), moment_text(DAY // 2, DAY)
    ('1970-01-01', '1970-01-01 12:00:00')
    """
    day, rest = divmod(number, unit)
    start = date.fromordinal(min(max(day, FIRST_DAY), LAST_DAY) + EPOCH)
    if not rest:
        return start.isoformat()
    return (datetime.combine(start, time()) + timedelta(microseconds=rest * DAY // unit)).isoformat(sep=" ")


def _keys(type: str, typed: list[Value]) -> Sequence[Value]:
    """Say what must be equal for two values to be one: a date is its midnight."""
    if type == "date" and any(isinstance(value, datetime) for value in typed):
        return [_microseconds(value) for value in typed if isinstance(value, date)]
    return typed


def _spellings(texts: Sequence[str], typed: Sequence[Value]) -> dict[str, str]:
    if len(set(typed)) == len(texts):
        return {}
    chosen: dict[Value, str] = {}
    for text, value in zip(texts, typed, strict=True):
        chosen[value] = min(chosen.get(value, text), text, key=_preferred)
    return {text: chosen[value] for text, value in zip(texts, typed, strict=True) if chosen[value] != text}


def _preferred(text: str) -> tuple[int, str]:
    return len(text), text


def _array(numbers: list[int]) -> Positions:
    """int64 where sums and differences of two numbers fit, else Python integers."""
    return np.array(numbers, dtype=np.int64 if max(map(abs, numbers), default=0) < LARGE else object)


def _known(attribute: str, type: str) -> None:
    if type not in TYPES:
        raise PolicyError(f'column "{attribute}" has no type "{type}"; choose {", ".join(TYPES)}', column=attribute)


def _refuse(attribute: str, type: str, bad: list[str], expected: str, format: str | None = None) -> DataError:
    few = list(dict.fromkeys(bad))
    verb = "is" if len(few) == 1 else "are"
    how = "say how dates are written (format, such as %d.%m.%Y), " if type == "date" else ""
    if type == "date" and format in (None, ZONED, PARTIAL) and all(precision(text) for text in few):
        how = "say partial = true to accept months and years beside full dates, "
    label = already_generalized(few, type, format=format)
    line = f"missing_values = {json.dumps(few[:LISTED_TOKENS], ensure_ascii=False)}"
    more = "" if len(few) <= LISTED_TOKENS else f" and {len(few) - LISTED_TOKENS} more"
    key = attribute if re.fullmatch(r"[\w-]+", attribute, re.ASCII) else json.dumps(attribute, ensure_ascii=False)
    nothing = "" if label else f"say {line}{more} under [attributes.{key}] where they stand for nothing, "
    return DataError(
        f'column "{attribute}" is declared {type}, but {quoted(few)} {verb} not {expected}; '
        f"mend the cells, {nothing}{how}or declare another type{from_source(label)}",
        column=attribute,
    ).showing(line, quoted(few), *filter(None, [label]))


def parse_number(text: str, decimal: str = ".") -> tuple[int, int] | None:
    """Read a number exactly as (digits, scale), meaning digits / 10**scale with the least scale; None if it is none.

    >>> parse_number("-12.50"), parse_number("2e3"), parse_number("1_000")
    ((-125, 1), (2, -3), None)
    """
    if text.isdecimal() and text.isascii() and len(text) <= LONGEST_NUMBER:
        return int(text), 0
    if len(text) > LONGEST_NUMBER:
        return None
    whole, _, fraction = text.partition(decimal)
    if whole.isdecimal() and fraction.isdecimal() and text.isascii():  # twice as fast as the pattern
        fraction = fraction.rstrip("0")
        return int(whole + fraction), len(fraction)
    match = _NUMBER[decimal].fullmatch(text)
    if match is None:
        return None
    sign, whole, fraction, exponent = match.groups("")
    fraction = fraction.rstrip("0")
    if not whole and not match[3]:
        return None
    digits, scale = int(f"{sign}{whole}{fraction}"), len(fraction)
    if exponent:
        scale -= int(exponent)
        while scale > 0 and digits % 10 == 0 and digits:
            digits, scale = digits // 10, scale - 1
    return (digits, scale) if digits else (0, 0)


_NUMBER = {
    mark: re.compile(rf"\s*([+-]?)(\d*)(?:{re.escape(mark)}(\d*))?(?:[eE]([+-]?\d{{1,3}}))?\s*", re.ASCII)
    for mark in (".", ",")
}


def number_key(text: str, decimal: str = ".") -> tuple[int, int] | None:
    """Say which number a text is, in one way for all its spellings; None if it is none.

    >>> number_key("1e3") == number_key("1000.0") == (1, -3), number_key("-0")
    (True, (0, 0))
    """
    found = parse_number(text, decimal)
    if found is None:
        return None
    digits, scale = found
    while digits and digits % 10 == 0:
        digits, scale = digits // 10, scale - 1
    return (digits, scale) if digits else (0, 0)


def _numbers(attribute: str, texts: Sequence[str], type: str, decimal: str) -> list[tuple[int, int]]:
    if decimal not in _NUMBER:
        raise PolicyError(f'the decimal mark must be "." or ",", not "{decimal}"')
    numbers = [parse_number(text, decimal) for text in texts]
    whole = type == "integer"
    bad = [text for text, number in zip(texts, numbers, strict=True) if number is None or (whole and number[1] > 0)]
    if bad:
        expected = EXPECTED[type] if whole else f'{EXPECTED[type]} with the decimal mark "{decimal}"'
        raise _refuse(attribute, type, bad, expected)
    return numbers  # type: ignore[return-value]  # none of them is None


def _ranks(attribute: str, texts: Sequence[str], order: Sequence[str] | None) -> list[int]:
    if not order:
        raise PolicyError(f'column "{attribute}" is ordinal and needs its order = [...]', column=attribute)
    rank = {text: index for index, text in enumerate(order)}
    if len(rank) < len(order):
        twice = next(text for index, text in enumerate(order) if rank[text] != index)
        raise PolicyError(f'the order of column "{attribute}" names "{twice}" twice', column=attribute)
    bad = [text for text in texts if text not in rank]
    if bad:
        raise _refuse(attribute, "ordinal", bad, f"in its order {quoted(list(order))}")
    return [rank[text] for text in texts]


def _dates(attribute: str, texts: Sequence[str], format: str | None) -> list[date]:
    parse = (
        partial_date
        if format == PARTIAL
        else iso_date
        if format in (None, ZONED)
        else _format_parser(attribute, str(format))
    )
    dates: list[date] = []
    bad = []
    for text in texts:
        value = parse(text)
        if value is None:
            bad.append(text)
        else:
            dates.append(value)
    if bad:
        like = "2024-03-31" if format in (None, ZONED, PARTIAL) else format
        raise _refuse(attribute, "date", bad, f"a date like {like}", format)
    offsets = {value.utcoffset() if isinstance(value, datetime) else None for value in dates}
    if offsets == {None} or not offsets:
        return dates
    local = [value.replace(tzinfo=None) if isinstance(value, datetime) else value for value in dates]
    if format == ZONED:
        if len(set(local)) < len(set(dates)):
            raise DataError(
                f'column "{attribute}" has moments that its clocks showed twice, in the hour when they were put back; '
                "cut the moments to days, or convert them to UTC",
                column=attribute,
            )
        return local
    if len(offsets) > 1:
        raise DataError(
            f'column "{attribute}" mixes offsets from UTC, so its dates have no common calendar; '
            "convert them to one time zone",
            column=attribute,
        )
    return local


def precision(text: str) -> str | None:
    """Say whether a text is a date to the ``month`` or the ``year`` only; None for anything else.

    >>> precision("2024-02"), precision("2024"), precision("2024-02-28"), precision("2024-13")
    ('month', 'year', None, None)
    """
    match = _PARTIAL.fullmatch(text)
    if match is None or match[1] == "0000":
        return None
    if match[2] is None:
        return "year"
    return "month" if 1 <= int(match[2]) <= 12 else None


def partial_date(text: str) -> date | None:
    """Read an ISO date, or the first day of a month or year; None if it is neither.

    >>> partial_date("2024-02")
    datetime.date(2024, 2, 1)
    """
    known = precision(text)
    return iso_date(text if known is None else text + ("-01" if known == "month" else "-01-01"))


def iso_date(text: str) -> date | None:
    """Read ``2024-03-31``, or with a time of day after a blank or T; None if it is neither."""
    if len(text) < 10 or text[4] != "-" or text[7] != "-":
        return None
    try:
        return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
    except ValueError:
        return None


def _format_parser(attribute: str, format: str) -> Callable[[str], date | None]:
    try:
        datetime.strptime(datetime(2024, 3, 31, tzinfo=UTC).strftime(format), format)  # noqa: DTZ007  # a calendar date
    except ValueError as problem:
        message = f'format "{format}" of column "{attribute}" is no date format ({problem})'
        raise PolicyError(message, column=attribute) from None
    has_time = re.search(r"%-?[HIMSfpTXcz]", format) is not None

    def parse(text: str) -> date | None:
        try:
            moment = datetime.strptime(text, format)  # noqa: DTZ007  # times stay as the column writes them
        except ValueError:
            return None
        return moment if has_time else moment.date()

    return parse


def _microseconds(value: date) -> int:
    moment = value if isinstance(value, datetime) else datetime.combine(value, time())
    days = moment.toordinal() - EPOCH
    clock = timedelta(hours=moment.hour, minutes=moment.minute, seconds=moment.second, microseconds=moment.microsecond)
    return days * DAY + clock // timedelta(microseconds=1)


def _shown(domain: Sequence[Any]) -> str:
    return f"[{domain[0]}, {domain[1]}]"
