"""HIPAA Safe Harbor: the checklist of 45 CFR 164.514(b)(2) applied to columns, ZIP codes, ages and years of birth.

A checklist, not a model: it recognises columns by name and form, and cannot see what stands inside free text, who else
knows what, or whether the holder has actual knowledge (164.514(b)(2)(ii)). It says what to do, never "compliant".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indistinct.policy.suggest import POOLED, is_age

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indistinct.policy.suggest import ColumnFacts

MOST_SMALL = 20_000  # a three-digit area is kept if MORE people live in it

CATEGORIES = {
    1: "names",
    2: "geographic units smaller than a state",
    3: "date elements other than the year, and ages over 89",
    4: "telephone numbers",
    5: "fax numbers",
    6: "e-mail addresses",
    7: "social security numbers",
    8: "medical record numbers",
    9: "health plan beneficiary numbers",
    10: "account numbers",
    11: "certificate and licence numbers",
    12: "vehicle identifiers and licence plates",
    13: "device identifiers and serial numbers",
    14: "web addresses",
    15: "IP addresses",
    16: "biometric identifiers",
    17: "full-face photographs and comparable images",
    18: "any other unique identifying number, characteristic or code",
}
# words in column names, by category
_NAMES: tuple[tuple[int, str], ...] = (
    (1, "name surname firstname lastname forename maiden initials"),
    (2, "street address city town county precinct district parish municipality geocode latitude longitude lat lon"),
    (4, "phone telephone mobile cell"),
    (5, "fax"),
    (6, "email mail"),
    (7, "ssn"),
    (8, "mrn"),
    (9, "beneficiary insurance"),
    (10, "account iban"),
    (11, "certificate licence license passport"),
    (12, "vin plate vehicle"),
    (13, "device serial imei"),
    (14, "url website"),
    (15, "ip"),
    (16, "fingerprint voiceprint retina biometric iris"),
    (17, "photo photograph image picture"),
    (18, "id uuid guid identifier"),
)
_ZIP = {"zip", "zipcode", "postcode", "postal", "zcta"}
_DATES = {"date", "birthdate", "birthday", "admitted", "admission", "discharge", "discharged", "death", "dob"}
_YEARS = {"year", "birthyear", "yob"}


@dataclass(frozen=True, slots=True)
class Item:
    """The verdict on a column: ``verdict`` remove, change, keep or judge (a person has to look)."""

    column: str
    category: int | None
    verdict: str
    reason: str

    def document(self) -> dict[str, object]:
        """Return the verdict as it stands in JSON documents."""
        title = None if self.category is None else CATEGORIES[self.category]
        return {
            "column": self.column,
            "number": self.category,
            "category": title,
            "verdict": self.verdict,
            "reason": self.reason,
        }


def check_column(facts: ColumnFacts) -> Item:
    """Say which item of the list a column falls under, and what the list asks for.

    >>> from indistinct.policy.suggest import facts_of
    >>> check_column(facts_of("zip", ["02138", "10115"], [5, 5])).verdict
    'change'
    >>> check_column(facts_of("state", ["MA", "NY"], [5, 5])).verdict
    'keep'
    """
    name = facts.name
    words = {w for w in re.split(r"[\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold()) if w}
    seen = facts.identifier
    found = "" if seen is None else f"{seen.matched} of {seen.looked_at} values look like: {seen.identifier.name}"
    if seen is not None and seen.mostly and seen.identifier.hipaa:
        return Item(name, seen.identifier.hipaa, "remove", found)
    if (item := _by_rule(facts, words) or _by_name(name, words)) is not None:
        return item
    if facts.looks_like == "free text":
        return Item(name, None, "judge", "free text may name anybody; a person or a text tool has to look")
    if seen is not None:
        return Item(name, seen.identifier.hipaa or None, "judge", found)
    if facts.rows > 1 and facts.unique_share > 0.9 and facts.looks_like != "decimal":
        return Item(name, 18, "judge", "nearly every row has a value of its own: is it a number or code of a person?")
    return Item(name, None, "keep", "no item of the list was recognised by name or form")


def _by_rule(facts: ColumnFacts, words: set[str]) -> Item | None:
    """Places, dates and ages: the list lets a coarser form stay."""
    rules = (
        (2, bool(words & _ZIP), f"keep three digits where more than {MOST_SMALL} people live in that area, else 000"),
        (
            3,
            facts.looks_like == "date" or bool(words & _DATES),
            "keep the year only, and not the year where it shows an age over 89",
        ),
        (3, is_age(facts.name), "write ages over 89 as 90+"),
        (3, bool(words & _YEARS), "keep a year unless it shows an age over 89"),
    )
    return next((Item(facts.name, number, "change", reason) for number, applies, reason in rules if applies), None)


def _by_name(column: str, words: set[str]) -> Item | None:
    for number, known in _NAMES:
        if found := words & set(known.split()):
            return Item(column, number, "remove", f'the name contains "{min(found)}"')
    return None


def zip3_population(people: Mapping[str, int]) -> dict[str, int]:
    """Add up the people of five-digit areas by their first three digits.

    >>> zip3_population({"03601": 12000, "03602": 8000})
    {'036': 20000}
    """
    total: dict[str, int] = {}
    for area, count in people.items():
        total[area[:3]] = total.get(area[:3], 0) + count
    return total


def zip3(codes: Sequence[str], people: Mapping[str, int]) -> list[str]:
    """Three digits where more than 20,000 ``people`` live in the area they name, else ``000``.

    ``people``: inhabitants by ZIP code from current census data; an area that is not in it counts as unknown, 000.

    >>> zip3(["03601", "02138", "99999"], {"03601": 20000, "02138": 20001})
    ['000', '021', '000']
    """
    total = zip3_population(people)
    return [code[:3] if total.get(code[:3], 0) > MOST_SMALL else "000" for code in codes]


def age(years: int) -> int | str:
    """Ages over 89 are pooled.

    >>> age(89), age(90)
    (89, '90+')
    """
    return years if years < POOLED else "90+"


def birth_year(year: int, reference_year: int) -> int | str:
    """A year of birth is left out when its owner may be 90 in the reference year.

    >>> birth_year(1937, 2026), birth_year(1936, 2026)
    (1937, 'suppress')
    """
    return year if reference_year - year < POOLED else "suppress"
