"""Suggestions: what a column may be, with the reason. A person confirms them; nothing here decides."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from indistinct.policy.identifiers import recognise
from indistinct.policy.looks import look

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.policy.identifiers import Recognised
    from indistinct.policy.roles import Role

# a value seen less often than this could point to a person, so it is no example
_COMMON = 10
# share of rows with a value of their own: above it a column is like a key, or nearly unique (the limit for
# insensitive columns in the contract)
_KEY_SHARE, _NEAR_UNIQUE = 0.9, 0.05
# integers with so few values are codes, unless the header says what is measured
_FEW, _SMALL = 10, 99
# Patientennummer, Fallnr
_COMPOUND = re.compile(r"(\w{3,}?)(nummer|number|nr|schlüssel|schluessel)")
# with the dot: P1234 is a number of a patient
_ICD = re.compile(r"[A-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4})?[*+!†]?")
_ATC = re.compile(r"[A-V]\d{2}[A-Z]{2}(\d{2})?")
_MEDICAL = (("ICD-10 codes", _ICD), ("ATC codes", _ATC))


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What was measured about one column.

    ``rows`` of the table, ``missing`` cells among them, ``distinct`` present values, ``singletons``: values
    that occur in one row only. ``examples``: up to three frequent values; they are shown for
    quasi-identifiers only. ``looks_like``: empty, constant, integer, decimal, date, code, email, phone, free
    text or text. ``format``: that of dates. ``decimal``: the mark of decimals. ``identifier``: the form of
    identifiers that values have, if any. ``strays``: texts that are no value of this look, with their counts.
    ``partial``: some dates are written to the month or year only. ``medical``: the codes that all values look like,
    if they are of medicine. ``longest``, ``shortest``: characters of the values. ``largest``: the largest number.
    """

    name: str
    rows: int
    distinct: int
    missing: int
    singletons: int
    examples: tuple[str, ...] = ()
    looks_like: str = "text"
    format: str | None = None
    decimal: str = "."
    identifier: Recognised | None = field(default=None, repr=False)
    strays: tuple[tuple[str, int], ...] = field(default=(), repr=False)
    partial: bool = field(default=False, repr=False)
    medical: str | None = field(default=None, repr=False)
    shortest: int = field(default=0, repr=False)
    longest: int = field(default=0, repr=False)
    largest: float = field(default=0.0, repr=False)

    @property
    def unique_share(self) -> float:
        """Share of the rows that hold a value which occurs once."""
        return self.singletons / self.rows if self.rows else 0.0


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested role with the measured reason, and whether the column looks like a person key."""

    role: Role
    reason: str
    is_person: bool = False


def facts_of(name: str, texts: Sequence[str | None], counts: Sequence[int]) -> ColumnFacts:
    """Measure a column from its distinct texts (None = missing) and how often each occurs.

    >>> facts_of("zip", ["02138", "10115", None], [20, 1, 3])  # doctest: +NORMALIZE_WHITESPACE
    ColumnFacts(name='zip', rows=24, distinct=2, missing=3, singletons=1, examples=('02138',),
                looks_like='code', format=None, decimal='.')

    Raises ValueError when the two differ in length. Not checked: that the texts are distinct.
    """
    pairs = list(zip(texts, counts, strict=True))
    present = [(text, int(count)) for text, count in pairs if text is not None]
    values = [text for text, _ in present]
    seen = look(present)
    strays = {text for text, _ in seen.strays}
    kept = [text for text in values if text not in strays]
    common = sorted(
        (pair for pair in present if pair[1] >= _COMMON and pair[0] not in strays), key=lambda pair: (-pair[1], pair[0])
    )
    lengths = [len(text) for text in kept] or [0]
    number = seen.kind in ("integer", "decimal")
    return ColumnFacts(
        name=name,
        rows=sum(int(count) for _, count in pairs),
        distinct=len(values),
        missing=sum(int(count) for text, count in pairs if text is None),
        singletons=sum(count == 1 for _, count in present),
        examples=tuple(text for text, _ in common[:3]),
        looks_like=seen.kind,
        format=seen.detail if seen.kind == "date" else None,
        decimal="," if seen.kind == "decimal" and seen.detail == "," else ".",
        identifier=None if seen.kind in ("date", "decimal", "empty") else recognise(kept),
        strays=seen.strays,
        partial=seen.partial,
        medical=next((what for what, form in _MEDICAL if len(kept) > 2 and all(map(form.fullmatch, kept))), None),
        shortest=min(lengths),
        longest=max(lengths),
        largest=max((float(text.replace(",", ".")) for text in kept), default=0.0) if number else 0.0,
    )


@cache
def _header_words() -> dict[str, tuple[str, ...]]:
    """Read the words of headers by what they suggest, those of all languages together."""
    text = (files("indistinct.policy") / "header_words.toml").read_text(encoding="utf-8")
    return {kind: tuple(" ".join(lists.values()).split()) for kind, lists in tomllib.loads(text).items()}


def suggest(facts: ColumnFacts) -> Suggestion:
    """Suggest a role from the name, the look and the uniqueness of a column.

    In doubt a column is a quasi-identifier: that costs quality, the opposite costs privacy.

    >>> suggest(facts_of("Sex", ["f", "m"], [60, 40])).role
    'quasi_identifying'
    >>> suggest(facts_of("disease", ["flu", "ulcer"], [60, 40])).reason
    'the name contains "disease"'
    """
    rules = (_by_whole_name, _by_identifier, _by_values, _by_person, _by_name, _by_key, _by_form)
    found = next(filter(None, (rule(facts) for rule in rules)), None) or _by_uniqueness(facts)
    if facts.identifier is not None and not facts.identifier.mostly:
        seen, some = facts.identifier, facts.identifier.identifier.name
        return replace(found, reason=f"{found.reason}; {seen.matched} of {seen.looked_at} values look like {_a(some)}")
    return found


def is_code(facts: ColumnFacts) -> bool:
    """Tell whether a column holds codes: by its look, or as digits under a name such as zip.

    >>> is_code(facts_of("zip", ["10115", "80331"], [5, 5])), is_code(facts_of("age", ["10", "80"], [5, 5]))
    (True, False)
    """
    named = bool(_match(_words(facts.name), _header_words()["codes"]))
    return facts.looks_like == "code" or (facts.looks_like == "integer" and named)


def is_age(facts: ColumnFacts) -> bool:
    """Tell whether the header speaks of age."""
    return bool(_match(_words(facts.name), _header_words()["age"]))


def is_category(facts: ColumnFacts) -> bool:
    """Tell whether whole numbers are codes of a few categories, such as sex 1, 2, 9, and no quantity.

    >>> is_category(facts_of("sex", ["1", "2", "9"], [50, 45, 5])), is_category(facts_of("age", ["1", "2"], [5, 5]))
    (True, False)
    """
    few = facts.looks_like == "integer" and facts.distinct <= _FEW and facts.largest <= _SMALL
    return few and not _match(_words(facts.name), _header_words()["measures"])


def _by_whole_name(facts: ColumnFacts) -> Suggestion | None:
    """Recognise headers that name a person only where nothing else stands beside them, such as FIRST and LAST."""
    words = _words(facts.name)
    word = _match(words, _header_words()["alone"]) if len(words) == 1 else ""
    return Suggestion("identifying", f'the name is "{word}"') if word in words else None


def _by_identifier(facts: ColumnFacts) -> Suggestion | None:
    """Recognise identifiers by their form, where nearly all values of a column that is no constant have it."""
    seen = facts.identifier
    if seen is None or not seen.mostly or facts.looks_like == "constant":
        return None
    count = "all" if seen.matched == seen.looked_at else f"{seen.matched} of {seen.looked_at}"
    repeats = facts.distinct < facts.rows - facts.missing
    person = repeats and seen.identifier.hipaa in (7, 8, 9, 18) and facts.distinct > facts.rows / 20
    return Suggestion("identifying", f"{count} values look like {_a(seen.identifier.name)}", is_person=person)


def _a(name: str) -> str:
    return f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}"


def _by_values(facts: ColumnFacts) -> Suggestion | None:
    if facts.looks_like in ("empty", "constant"):
        return Suggestion("insensitive", f"the column is {facts.looks_like}")
    if facts.looks_like in ("email", "phone"):
        return Suggestion("identifying", f"all values look like a {facts.looks_like} entry")
    return None


def _by_person(facts: ColumnFacts) -> Suggestion | None:
    """Recognise a key of persons, such as patient_id, by its name and by many distinct values."""
    words = _words(facts.name)
    person = _match(words, _header_words()["person"])
    keyed = bool(words & {"id", "key", "no", "nr", "number", "code"}) or len(words) == 1
    if not (person and keyed and facts.distinct > facts.rows / 20):
        return None
    repeats = facts.distinct < facts.rows - facts.missing
    several = "; some have several rows" if repeats else ""
    reason = f'the name contains "{person}", {facts.distinct} values in {facts.rows} rows{several}'
    return Suggestion("identifying", reason, is_person=repeats)


def _by_name(facts: ColumnFacts) -> Suggestion | None:
    words = _words(facts.name)
    roles: tuple[Role, ...] = ("sensitive", "quasi_identifying", "identifying")
    for role in roles:
        word = _match(words, _header_words()[role])
        if word:
            return Suggestion(role, f'the name contains "{word}"')
    return None


def _by_form(facts: ColumnFacts) -> Suggestion | None:
    """Recognise what concerns health by the form of its codes, whatever the header."""
    return None if facts.medical is None else Suggestion("sensitive", f"all values look like {facts.medical}")


def _by_key(facts: ColumnFacts) -> Suggestion | None:
    """Recognise codes with so many values that they stand for persons, cases or devices, whatever the header."""
    if facts.medical is not None and facts.distinct < facts.rows / 4:
        return None
    fixed = facts.looks_like == "integer" and facts.shortest == facts.longest >= 5
    if not (facts.looks_like == "code" or fixed) or facts.distinct <= max(facts.rows / 20, _FEW):
        return None
    repeats = facts.distinct < facts.rows - facts.missing
    several = "some have several rows: they may be persons" if repeats else "each has a row of its own"
    reason = f"{facts.distinct} different codes in {facts.rows} rows; {several}"
    return Suggestion("identifying", reason, is_person=repeats)


def _by_uniqueness(facts: ColumnFacts) -> Suggestion:
    share = f"{100 * facts.unique_share:.1f} % of the rows hold a value of their own"
    if facts.looks_like == "free text":
        return Suggestion("identifying", "free text can name anybody, and no model here protects it")
    if facts.unique_share > _KEY_SHARE and facts.looks_like not in ("decimal", "date"):
        return Suggestion("identifying", f"it is like a key: {share}")
    if facts.unique_share > _NEAR_UNIQUE:
        return Suggestion("quasi_identifying", f"nearly unique: {share}")
    return Suggestion("quasi_identifying", "no rule fits; in doubt others may know it")


def _words(name: str) -> set[str]:
    """Split a column name at case changes, digits and signs; compounds with a number after them count as two words."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    words = {word for word in re.split(r"[\W\d_]+", spaced.casefold()) if word}
    parts = [found.groups() for word in words if (found := _COMPOUND.fullmatch(word))]
    return words.union(*parts)


def _match(words: set[str], known: Sequence[str]) -> str:
    """Return the first known word in a name: as a whole word, or inside it where words are not spaced."""
    for word in known:
        if word in words or (not word.isascii() and any(word in part for part in words)):
            return word
    return ""
