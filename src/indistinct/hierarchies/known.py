"""Hierarchies out of the box: of codes, postcodes, bands and times, from the form of the values alone.

No titles are shipped. ICD-10 is published by the World Health Organization, which licenses its titles, as national
offices do theirs; the ends of chapters are facts of its structure. ATC belongs to the WHO Collaborating Centre for Drug
Statistics Methodology. Every row ends in the root ``*``; what has not the form is ``other codes``.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from indistinct.errors import DataError
from indistinct.hierarchies.suppression import ROOT
from indistinct.hierarchies.values import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Row = tuple[str, ...]

OTHER = "other codes"
# first and last category of each chapter, wide enough for the versions of WHO, Germany (GM) and the USA (CM)
CHAPTERS = (
    *("A00-B99", "C00-D49", "D50-D90", "E00-E90", "F00-F99", "G00-G99", "H00-H59", "H60-H95", "I00-I99", "J00-J99"),
    *("K00-K95", "L00-L99", "M00-M99", "N00-N99", "O00-O99", "P00-P96", "Q00-Q99", "R00-R99", "S00-T98", "U00-U99"),
    *("V00-Y99", "Z00-Z99"),
)
# the three-digit areas of at most 20,000 people: census of 2000, as in the guidance of the US Department of Health and
# Human Services on de-identification (26 November 2012), which asks for current figures where there are some;
# quoted from memory
SMALL_AREAS = frozenset(
    (
        "036",
        "059",
        "063",
        "102",
        "203",
        "556",
        "692",
        "790",
        "821",
        "823",
        "830",
        "831",
        "878",
        "879",
        "884",
        "890",
        "893",
    )
)

_ICD = re.compile(r"([A-Z]\d[0-9AB])(\.?[0-9A-Z-]{0,4})[-+*!†]?")
_ATC = re.compile(r"[A-Z](\d\d([A-Z]([A-Z](\d\d)?)?)?)?")
_ZIP = re.compile(r"(\d{5})(-?\d{4})?", re.ASCII)
_TIME = re.compile(r"(\d{1,2}):([0-5]\d)(:[0-5]\d)?", re.ASCII)
_BAND = re.compile(
    r"(?P<low>\d+)\s*[-\N{EN DASH}]\s*(?P<high>\d+)|(?P<over>\d+)\s*\+|(?:>=|≥)\s*(?P<least>\d+)|>\s*(?P<above>\d+)"
    r"|<\s*(?P<below>\d+)|(?:<=|≤)\s*(?P<most>\d+)|(?P<one>\d+)",
    re.ASCII,
)


def apart(rows: Sequence[Row]) -> list[Row]:
    """Call groups otherwise that are called like a value, unless they hold it alone: a label stands for one set.

    >>> apart([("Europe", "other", "*"), ("FR", "Europe", "*"), ("Oman", "Oman", "*")])
    [('Europe', 'other', '*'), ('FR', 'Europe (all)', '*'), ('Oman', 'Oman', '*')]
    """
    values = {row[0] for row in rows}
    members: dict[tuple[int, str], set[str]] = {}
    for text, *labels in rows:
        for level, label in enumerate(labels):
            members.setdefault((level, label), set()).add(text)
    clashing = {label for (_, label), own in members.items() if label in values and own != {label}}
    return [(text, *(f"{one} (all)" if one in clashing else one for one in labels)) for text, *labels in rows]


def icd10(texts: Iterable[str]) -> list[Row]:
    """Code, category of three signs (``J18.-``), chapter (``J00-J99``).

    >>> icd10(["J18.1", "I10", "?"])
    [('?', 'other codes', 'other codes', '*'), ('I10', 'I10.-', 'I00-I99', '*'), ('J18.1', 'J18.-', 'J00-J99', '*')]
    """
    rows: list[Row] = []
    for text in sorted(set(texts)):
        found = _ICD.fullmatch(text.strip())
        chapter = next((own for own in CHAPTERS if found and own[:3] <= found[1] <= own[4:]), OTHER)
        rows.append((text, f"{found[1]}.-" if found and chapter != OTHER else OTHER, chapter, ROOT))
    return apart(rows)


def atc(texts: Iterable[str]) -> list[Row]:
    """Substance (7 signs), then groups of 5, 4, 3 and 1 signs.

    >>> atc(["C09AA05"])
    [('C09AA05', 'C09AA*', 'C09A*', 'C09*', 'C*', '*')]
    """
    rows: list[Row] = []
    for text in sorted(set(texts)):
        code = text.strip()
        groups = [text if length > len(code) else f"{code[:length]}*" for length in (5, 4, 3, 1)]
        groups = groups if _ATC.fullmatch(code) else [OTHER] * 4
        rows.append((text, *groups, ROOT))
    return apart(rows)


def zip3(texts: Iterable[str]) -> list[Row]:
    """ZIP or ZIP+4, five digits, three digits where more than 20,000 people live (else ``000``), as Safe Harbor asks.

    >>> zip3(["02139-4307", "03601"])
    [('02139-4307', '02139-*', '021**', '*'), ('03601', '03601-*', '000', '*')]
    """
    rows: list[Row] = []
    for text in sorted(set(texts)):
        found = _ZIP.fullmatch(text.strip())
        if found is None:
            rows.append((text, OTHER, OTHER, ROOT))
        else:
            area = "000" if found[1][:3] in SMALL_AREAS else f"{found[1][:3]}**"
            rows.append((text, f"{found[1]}-*", area, ROOT))
    return apart(rows)


def times(texts: Iterable[str]) -> list[Row]:
    """Time of day, hour, quarter of the day.

    >>> times(["14:35"])
    [('14:35', '14:00-14:59', '12:00-17:59', '*')]
    """
    rows: list[Row] = []
    for text in sorted(set(texts)):
        found = _TIME.fullmatch(text.strip())
        if found is None or int(found[1]) > 23:
            rows.append((text, "other times", "other times", ROOT))
        else:
            hour, start = int(found[1]), int(found[1]) // 6 * 6
            rows.append((text, f"{hour:02}:00-{hour:02}:59", f"{start:02}:00-{start + 5:02}:59", ROOT))
    return apart(rows)


def bands(texts: Iterable[str]) -> list[Row]:
    """Bands that are bands already: spellings of one band meet, then 2, 4, 8 ... neighbours.

    Raises DataError for texts that are no band.

    >>> bands(["20-29", "30-39", "90+", ">=90"])[2:]
    [('90+', '[90, ...)', '[90, ...)', '*'), ('>=90', '[90, ...)', '[90, ...)', '*')]
    """
    ends = {text: _ends(text) for text in set(texts)}
    bad = sorted(text for text, own in ends.items() if own is None)
    if bad:
        few = quoted(bad)
        raise DataError(f"{few} {'is' if len(bad) == 1 else 'are'} no band such as 20-29 or 90+").showing(few)
    known = sorted(((own, text) for text, own in ends.items() if own is not None), key=lambda pair: pair)
    merged = [(own, [text for _, text in group]) for own, group in groupby(known, key=lambda pair: pair[0])]
    rows: dict[str, list[str]] = {text: [text] for _, text in known}
    size = 1
    while size == 1 or size < len(merged):
        for first in range(0, len(merged), size):
            group = merged[first : first + size]
            label = _closed(group[0][0][0], max(own[1] for own, _ in group))
            for text in (text for _, spelt in group for text in spelt):
                rows[text].append(label)
        size *= 2
    return [(*path, ROOT) for path in rows.values()]


def frequent(counts: Mapping[str, int], keep: int = 10) -> list[Row]:
    """The ``keep`` most frequent values stay, all others are ``other``; of equals the first by code point.

    >>> frequent({"a": 9, "b": 8, "c": 1, "d": 1}, keep=2)
    [('a', 'a', '*'), ('b', 'b', '*'), ('c', 'other', '*'), ('d', 'other', '*')]
    """
    top = set(sorted(counts, key=lambda text: (-counts[text], text))[:keep])
    name = "other"
    while name in counts:
        name = f"{name} values"
    return [(text, (text or "(empty)") if text in top else name, ROOT) for text in sorted(counts)]


_OPEN = 10**9


def _ends(text: str) -> tuple[int, int] | None:
    """Lower and upper end of a band; an open one ends far out."""
    found = _BAND.fullmatch(text.strip())
    if found is None:
        return None
    part = {name: int(end) for name, end in found.groupdict().items() if end is not None}
    if "low" in part:
        return (part["low"], part["high"]) if part["low"] <= part["high"] else None
    one = part.get("one")
    if one is not None:
        return one, one
    low = part.get("over", part.get("least", part.get("above", -2) + 1))
    high = part.get("most", part.get("below", _OPEN + 1) - 1)
    return low, high


def _closed(low: int, high: int) -> str:
    if low < 0:
        return "*" if high >= _OPEN else f"(..., {high}]"
    return f"[{low}, ...)" if high >= _OPEN else f"[{low}, {high}]"
