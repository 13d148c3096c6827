"""What the values of a column look like: a type fits where 95 % of the cells have it, and the rest is named."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING
from zlib import crc32

from indistinct.policy.words import header_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Pairs = Sequence[tuple[str, int]]

# most cells that may be no value of the type, and most different texts among them
STRAY_SHARE, STRAYS = 0.05, 50
# a column of so few different values is looked at whole
FEW = 12
# of more values these many are looked at first: what does not fit most of them is no type of the column
LOOKED_AT = 2000
ISO = "%Y-%m-%d"
_DATE_FORMATS = (
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%Y%m%d", "%d-%m-%Y", "%m-%d-%Y", "%Y.%m.%d"),
    *("%Y年%m月%d日", "%d-%b-%Y"),
)
_TIMES = (" %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S", " %I:%M %p", " %I:%M:%S %p")

_ISO = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
_PARTIAL = re.compile(r"(1[89]|2[01])\d\d(-(0[1-9]|1[0-2]))?", re.ASCII)
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_PHONE = re.compile(r"\+?[\d(][\d\s()/.-]{6,}\d")
_INTEGER = re.compile(r"[+-]?(0|[1-9]\d*)", re.ASCII)
_POINT = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_COMMA = re.compile(r"[+-]?(0|[1-9]\d*)(,\d+)?([eE][+-]?\d+)?", re.ASCII)
_CODE = re.compile(r"(?=\S*\d)[\w./-]{2,20}")
SENTENCE_MARKS = "\uff0c\u3002\uff1b\uff01\uff1f"
_ZONE = re.compile(r"(Z|[+-]\d\d:?\d\d)$", re.ASCII)
_SHORT_DATE = re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{2}", re.ASCII)
_CLOCK = re.compile(r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d)?", re.ASCII)
# 20-29, 90+, <20, >=90: the digits of the lower end, or of the only one
_BAND = re.compile(r"(\d{1,6})\s*[-\N{EN DASH}]\s*\d{1,6}|(\d{1,6})\s*\+|[<>]=?\s*(\d{1,6})|[≤≥]\s*(\d{1,6})", re.ASCII)
# texts that stand for no number: codes of surveys, repeated digits below zero or far above everything else
_BELOW, _ABOVE = re.compile(r"-(7+|8+|9+)", re.ASCII), re.compile(r"9{2,}|8{3,}|7{3,}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Look:
    """``kind`` of the values; ``detail``: format of dates, mark of decimals; ``strays``: what is none, with counts.

    ``partial``: some dates are written to the month or the year only. ``unsettled``: why dates cannot be read as such.
    ``order``: the bands of a column, such as 20-29 and 90+, from the lowest up.
    """

    kind: str
    detail: str | None = None
    strays: tuple[tuple[str, int], ...] = ()
    partial: bool = False
    unsettled: str = ""
    order: tuple[str, ...] = ()


def look(pairs: Pairs, *, measured: bool = False) -> Look:
    """Say what the present values of a column look like, from its distinct texts and their counts.

    Texts of blanks only are strays of every kind. Numbers and dates may have further strays: at most 5 % of the cells.
    Codes are no numbers with strays, unless the header says that the column is ``measured``. Of texts, the words that
    say that a value is missing are strays.

    >>> look([("31.12.1980", 50), ("01.02.1990", 45), ("00.00.0000", 3)])
    Look(kind='date', detail='%d.%m.%Y', strays=(('00.00.0000', 3),), partial=False, unsettled='', order=())
    >>> look([("31", 50), ("45", 45), ("unbek.", 3), ("999", 1)]).strays
    (('unbek.', 3), ('999', 1))
    """
    blanks = tuple((text, count) for text, count in pairs if not text.strip())
    values = [(text, count) for text, count in pairs if text.strip()]
    if len(values) < 2:
        return Look("constant" if values else "empty", strays=blanks)
    found = _ordered(values, measured=measured) or _unsettled(values) or _in_bands(values) or _plain(values)
    return replace(found, strays=(*blanks, *found.strays))


def _ordered(values: Pairs, *, measured: bool) -> Look | None:
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
        if sum(bool(fits(text)) for text, _ in some) < len(some) / 2 and len(values) > FEW:
            continue
        outside = [(text, count) for text, count in values if not fits(text)]
        halves = detail == ISO and any(_PARTIAL.fullmatch(text) for text, _ in outside)
        strays = [(text, count) for text, count in outside if not (halves and _PARTIAL.fullmatch(text))]
        weight = sum(count for _, count in strays)
        if len(values) - len(outside) < 2 or weight > STRAY_SHARE * total or len(strays) > STRAYS:
            continue
        if kind != "date" and not all(_is_no_code(text, measured=measured) for text, _ in strays):
            continue
        if best is None or weight < best[0]:
            best = weight, Look(kind, detail, tuple(strays), halves)
    if best is None or best[1].kind == "date":
        return None if best is None else _settled(best[1], values)
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
    if shaped < len(some) / 2 and len(values) > FEW:
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
    if not (8 <= len(text) <= 26 and text[0].isdigit()):
        return False
    try:
        year = datetime.strptime(text, form).year  # noqa: DTZ007  # a calendar date, nowhere in particular
    except ValueError:
        return False
    return 1800 <= year <= 2200


def _is_no_code(text: str, *, measured: bool) -> bool:
    """Whether a text beside numbers is dirt: 01067 and A12 say that all are codes, 90+ that they are bands."""
    if not any(character.isdigit() for character in text):
        return True
    return measured and _BAND.fullmatch(text) is None


def _settled(found: Look, values: Pairs) -> Look:
    """Dates that can be read: those with several offsets from UTC have no common calendar."""
    if found.detail != ISO:
        return found
    stamps = [text for text, _ in values if len(text) > len("2024-01-31") and is_iso(text)]
    zones = {zone[1] if (zone := _ZONE.search(text[10:])) else "" for text in stamps}
    if len(zones) < 2:
        return found
    return replace(found, unsettled="the stamps have several offsets from UTC; convert them to one time zone")


def _unsettled(values: Pairs) -> Look | None:
    """Dates whose year has two digits."""
    outside = [(text, count) for text, count in values if not _SHORT_DATE.fullmatch(text)]
    if not _few(outside, values):
        return None
    why = "a year of two digits does not tell the century; write it with four"
    return Look("date", strays=tuple(outside), unsettled=why)


def _few(strays: Pairs, values: Pairs) -> bool:
    total = sum(count for _, count in values)
    return len(strays) <= STRAYS and sum(count for _, count in strays) <= STRAY_SHARE * total


def _in_bands(values: Pairs) -> Look | None:
    """Bands of numbers, in their order; single numbers beside them are bands of one."""
    if not any(_BAND.fullmatch(text) for text, _ in values):
        return None
    places = {text: place for text, _ in values if (place := _place(text)) is not None}
    strays = [(text, count) for text, count in values if text not in places]
    if not _few(strays, values) or len(places) < 2:
        return None
    if not all(_is_no_code(text, measured=False) for text, _ in strays):
        return None
    return Look("bands", strays=tuple(strays), order=tuple(sorted(places, key=lambda text: (places[text], text))))


def _place(text: str) -> tuple[int, int] | None:
    """Where a band lies: its lower end, and what comes first of two with the same."""
    if _INTEGER.fullmatch(text):
        return int(text), 0
    found = _BAND.fullmatch(text)
    if found is None:
        return None
    return int(next(filter(None, found.groups()))), -1 if text[0] in "<≤" else 1


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


def _plain(values: Pairs) -> Look:
    """Say what texts look like that are neither numbers nor dates."""
    said = [(text, count) for text, count in values if text.strip().casefold() in header_words()["missing"]]
    gone = {text for text, _ in said}
    if sum(count for _, count in said) * 2 > sum(count for _, count in values) or len(values) - len(said) < 2:
        said, gone = [], set()
    texts = [(text, count) for text, count in values if text not in gone]
    kinds: tuple[tuple[str, Callable[[str], object]], ...] = (
        ("email", _EMAIL.fullmatch),
        ("time", _CLOCK.fullmatch),
        ("code", _CODE.fullmatch),
        ("phone", _PHONE.fullmatch),
        ("free text", lambda text: len(text) > 100),
    )
    rows = sum(count for _, count in texts)
    for kind, test in kinds:
        if sum(count for text, count in texts if test(text)) >= (1 - STRAY_SHARE) * rows:
            return Look(kind, strays=tuple(said))
    words = sum(len(text.split()) for text, _ in texts) / len(texts)
    letters = sum(map(len, (text for text, _ in texts))) / len(texts)
    sentences = sum(any(mark in text for mark in SENTENCE_MARKS) for text, _ in texts) > len(texts) / 2
    free = words > 6 or ((letters > 40 or sentences) and len(texts) > rows / 5)
    return Look("free text" if free else "text", strays=tuple(said))
