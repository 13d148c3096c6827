"""Countries by code or name, their subregions and regions (``countries.toml``)."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from indistinct.hierarchies.known import apart
from indistinct.hierarchies.suppression import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable

    Row = tuple[str, ...]

OTHER = "other countries"
_SIGNS = re.compile(r"[\s_.-]+")


def countries(texts: Iterable[str]) -> list[Row]:
    """Country, subregion, region (UN M49), for codes of two and three letters (ISO 3166-1) and English names.

    >>> countries(["DE", "Germany", "united-states", "?"])  # doctest: +NORMALIZE_WHITESPACE
    [('?', 'other countries', 'other countries', 'other countries', '*'),
     ('DE', 'Germany (all)', 'Western Europe', 'Europe', '*'),
     ('Germany', 'Germany (all)', 'Western Europe', 'Europe', '*'),
     ('united-states', 'United States', 'Northern America', 'Americas', '*')]
    """
    known = _known()
    return apart([(text, *known.get(_spelt(text), (OTHER, OTHER, OTHER)), ROOT) for text in sorted(set(texts))])


def is_country(text: str) -> bool:
    """Tell whether a text is the code or the name of a country.

    >>> is_country("FRA"), is_country("Côte d'Ivoire"), is_country("Bavaria")
    (True, True, False)
    """
    return _spelt(text) in _known()


def _spelt(text: str) -> str:
    return _SIGNS.sub(" ", text.casefold()).strip().removeprefix("the ")


@cache
def _known() -> dict[str, Row]:
    """Name, subregion and region by every spelling."""
    found: dict[str, Row] = {}
    text = (files("indistinct.hierarchies") / "countries.toml").read_text(encoding="utf-8")
    for region, subregions in tomllib.loads(text).items():
        for subregion, lines in subregions.items():
            for line in lines.strip().splitlines():
                two, three, names = line.split(" ", 2)
                spellings = names.split("|")
                found.update(dict.fromkeys(map(_spelt, (two, three, *spellings)), (spellings[0], subregion, region)))
    return found
