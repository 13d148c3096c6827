"""What the values of a column look like: a type fits where 95 % of the cells have it, and the rest is named."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Pairs = Sequence[tuple[str, int]]

# most cells that may be no value of the type, and most different texts among them
STRAY_SHARE, STRAYS = 0.05, 12
# of more values these many are looked at first: what does not fit most of them is no type of the column
LOOKED_AT = 2000
ISO = "%Y-%m-%d"
_DATE_FORMATS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%Y%m%d", "%d-%m-%Y")
_TIMES = (" %H:%M", " %H:%M:%S")

_ISO = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
_PARTIAL = re.compile(r"(1[89]|2[01])\d\d(-(0[1-9]|1[0-2]))?", re.ASCII)
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_PHONE = re.compile(r"\+?[\d(][\d\s()/.-]{6,}\d")
_INTEGER = re.compile(r"[+-]?(0|[1-9]\d*)", re.ASCII)
_POINT = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_COMMA = re.compile(r"[+-]?(0|[1-9]\d*)(,\d+)?([eE][+-]?\d+)?", re.ASCII)
_CODE = re.compile(r"(?=\S*\d)[\w./-]{2,20}")
# texts that stand for no number: codes of surveys, repeated digits below zero or far above everything else
_BELOW, _ABOVE = re.compile(r"-(7+|8+|9+)", re.ASCII), re.compile(r"9{2,}|8{3,}|7{3,}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Look:
    """``kind`` of the values; ``detail``: format of dates, mark of decimals; ``strays``: what is none, with counts.

    ``partial``: some dates are written to the month or the year only.
    """

    kind: str
    detail: str | None = None
    strays: tuple[tuple[str, int], ...] = ()
    partial: bool = False


def look(pairs: Pairs) -> Look:
    """Say what the present values of a column look like, from its distinct texts and their counts.

    Texts of blanks only are strays of every kind. Numbers and dates may have further strays: at most 5 % of the cells,
    and none that could be a value written in another way.

    >>> look([("31.12.1980", 50), ("01.02.1990", 45), ("00.00.0000", 3)])
    Look(kind='date', detail='%d.%m.%Y', strays=(('00.00.0000', 3),), partial=False)
    >>> look([("31", 50), ("45", 45), ("unbek.", 3), ("999", 1)]).strays
    (('unbek.', 3), ('999', 1))
    """
    blanks = tuple((text, count) for text, count in pairs if not text.strip())
    values = [(text, count) for text, count in pairs if text.strip()]
    if len(values) < 2:
        return Look("constant" if values else "empty", strays=blanks)
    found = _ordered(values) or Look(_plain([text for text, _ in values]))
    return Look(found.kind, found.detail, (*blanks, *found.strays), found.partial)


def _ordered(values: Pairs) -> Look | None:
    """Find numbers or dates: the kind with the fewest strays, the first of equals."""
    total = sum(count for _, count in values)
    best: tuple[int, Look] | None = None
    kinds: list[tuple[str, str | None, Callable[[str], object]]] = [
        ("date", form, fits) for form, fits in _date_kinds(values)
    ]
    kinds += [
        ("integer", None, _INTEGER.fullmatch),
        ("decimal", ".", _POINT.fullmatch),
        ("decimal", ",", _COMMA.fullmatch),
    ]
    some = _some(values)
    for kind, detail, fits in kinds:
        if sum(bool(fits(text)) for text, _ in some) < len(some) / 2 and len(values) > STRAYS:
            continue
        outside = [(text, count) for text, count in values if not fits(text)]
        halves = detail == ISO and any(_PARTIAL.fullmatch(text) for text, _ in outside)
        strays = [(text, count) for text, count in outside if not (halves and _PARTIAL.fullmatch(text))]
        weight = sum(count for _, count in strays)
        if len(values) - len(outside) < 2 or weight > STRAY_SHARE * total or len(strays) > STRAYS:
            continue
        if not all(_stands_for_nothing(kind, text) for text, _ in strays):
            continue
        if best is None or weight < best[0]:
            best = weight, Look(kind, detail, tuple(strays), halves)
    if best is None or best[1].kind == "date":
        return None if best is None else best[1]
    found = best[1]
    gone = {text for text, _ in found.strays}
    far = far_codes([(text, count) for text, count in values if text not in gone], comma=found.detail == ",")
    return Look(found.kind, found.detail, (*found.strays, *far))


def _some(values: Pairs) -> Pairs:
    if len(values) <= LOOKED_AT:
        return values
    return sorted(values, key=lambda pair: (crc32(pair[0].encode()), pair[0]))[:LOOKED_AT]


def _date_kinds(values: Pairs) -> list[tuple[str, Callable[[str], object]]]:
    """Return the formats of dates that at least half of some values have, each with its test."""
    some = _some(values)
    shaped = sum(8 <= len(text) <= 35 and text[0].isdigit() for text, _ in some)
    if shaped < len(some) / 2 and len(values) > STRAYS:
        return []
    timed = any(":" in text for text, _ in some)
    forms = [*_DATE_FORMATS, *(day + time for day in _DATE_FORMATS for time in _TIMES if timed)]
    return [(ISO, is_iso), *((form, lambda text, form=form: _reads(text, form)) for form in forms)]


def is_iso(text: str) -> bool:
    """Whether a text is an ISO date of our time, or one with a time of day and an offset from UTC."""
    if _ISO.fullmatch(text) is None:
        return False
    try:
        year = datetime.fromisoformat(text).year
    except ValueError:
        return False
    return 1800 <= year <= 2200


def _reads(text: str, form: str) -> bool:
    if not (8 <= len(text) <= 19 and text[0].isdigit()):
        return False
    try:
        year = datetime.strptime(text, form).year  # noqa: DTZ007  # a calendar date, nowhere in particular
    except ValueError:
        return False
    return 1800 <= year <= 2200


def _stands_for_nothing(kind: str, text: str) -> bool:
    """Whether a text can hardly be a value of the kind: without digits, or for dates all zeros, all nines, a code."""
    digits = {character for character in text if character.isdigit()}
    if kind != "date":
        return not digits
    return not digits or digits in ({"0"}, {"9"}) or _BELOW.fullmatch(text) is not None


def far_codes(values: Pairs, *, comma: bool = False) -> tuple[tuple[str, int], ...]:
    """Return the values that look like codes for missing numbers: -9 where nothing else is below 0, 999 far above.

    Far is more than twice the next largest number. What looks so is proposed as missing, never taken as it.

    >>> far_codes([("-9", 3), ("20", 1), ("47", 1), ("999", 2)])
    (('-9', 3), ('999', 2))
    >>> far_codes([("-9", 3), ("-4", 1), ("47", 1), ("99", 1)])
    (('99', 1),)
    """
    numbers = {text: float(text.replace(",", ".") if comma else text) for text, _ in values}
    low = {text for text in numbers if _BELOW.fullmatch(text)}
    if any(number < 0 for text, number in numbers.items() if text not in low):
        low = set()
    high = {text for text in numbers if _ABOVE.fullmatch(text)}
    rest = max((number for text, number in numbers.items() if text not in high), default=0.0)
    far = {text for text in high if numbers[text] > 2 * rest > 0}
    return tuple((text, count) for text, count in values if text in low | far)


def _plain(values: Sequence[str]) -> str:
    """Say what texts look like that are neither numbers nor dates."""
    kinds: tuple[tuple[str, Callable[[str], object]], ...] = (
        ("email", _EMAIL.fullmatch),
        ("code", _CODE.fullmatch),
        ("phone", _PHONE.fullmatch),
        ("free text", lambda text: len(text) > 100),
    )
    for kind, test in kinds:
        if all(test(text) for text in values):
            return kind
    words = sum(len(text.split()) for text in values) / len(values)
    return "free text" if words > 6 else "text"
