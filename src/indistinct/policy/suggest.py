"""Suggestions: what a column may be, with the reason. A person confirms them; nothing here decides."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from indistinct.notices import Sentence
from indistinct.policy.identifiers import recognise
from indistinct.policy.looks import look
from indistinct.policy.systems import MEDICAL, system_of
from indistinct.policy.words import has_word, header_words, match, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.policy.identifiers import Recognised
    from indistinct.policy.roles import Role

POOLED = 90
"""Ages from here on are one class under the Safe Harbor list of HIPAA."""
# a value seen less often than this could point to a person, so it is no example
_COMMON = 10
# share of rows with a value of their own: above it a column is like a key, or nearly unique (the limit for
# insensitive columns in the contract)
_KEY_SHARE, _NEAR_UNIQUE = 0.9, 0.05
# integers with so few values are codes, unless the header says what is measured
_FEW, _SMALL = 10, 99
# codes of so many signs are numbers of somebody or something, however often each occurs
_LONG = 5
# a column of fewer rows is not judged by how many of its values differ
_FEW_ROWS = 20


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What was measured about one column.

    ``rows`` of the table, ``missing`` cells among them, ``distinct`` present values, ``singletons``: values
    that occur in one row only. ``examples``: up to three frequent values; they are shown for
    quasi-identifiers only. ``looks_like``: empty, constant, integer, decimal, date, time, bands, code, email, phone,
    free text or text. ``format``: that of dates. ``decimal``: the mark of decimals. ``identifier``: the form of
    identifiers that values have, if any. ``strays``: texts that are no value of this look, with their counts.
    ``partial``: some dates are written to the month or year only. ``system``: the classification that the
    codes have the form of. ``longest``, ``shortest``: characters of the values. ``largest``: the largest number.
    ``unsettled``: why dates cannot be read as such. ``order``: bands from the lowest up. ``labelled``: the values have
    labels in the file.
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
    system: str | None = field(default=None, repr=False)
    shortest: int = field(default=0, repr=False)
    longest: int = field(default=0, repr=False)
    largest: float = field(default=0.0, repr=False)
    unsettled: str = field(default="", repr=False)
    order: tuple[str, ...] = field(default=(), repr=False)
    labelled: bool = field(default=False, repr=False)

    @property
    def unique_share(self) -> float:
        """Share of the rows that hold a value which occurs once."""
        return self.singletons / self.rows if self.rows else 0.0

    @property
    def repeats(self) -> bool:
        """Whether some rows share a value."""
        return self.distinct < self.rows - self.missing

    @property
    def fitting(self) -> int:
        """Distinct values without strays."""
        return self.distinct - len(self.strays)

    def says(self, *kinds: str) -> str:
        """Return the first word in the header that stands in one of the lists of words, "" for none."""
        known = header_words()
        return next(filter(None, (match(words_of(self.name), known[kind]) for kind in kinds)), "")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested role with the measured reason, and whether the column looks like a person key.

    ``rank``: of several such keys the one with the highest is proposed: a household before a person.
    """

    role: Role
    reason: str
    is_person: bool = False
    rank: int = 0


def facts_of(name: str, texts: Sequence[str | None], counts: Sequence[int], *, labelled: bool = False) -> ColumnFacts:
    """Measure a column from its distinct texts (None = missing) and how often each occurs.

    >>> facts_of("zip", ["02138", "10115", None], [20, 1, 3])  # doctest: +NORMALIZE_WHITESPACE
    ColumnFacts(name='zip', rows=24, distinct=2, missing=3, singletons=1, examples=('02138',),
                looks_like='code', format=None, decimal='.')

    Raises ValueError when the two differ in length. Not checked: that the texts are distinct.
    """
    pairs = list(zip(texts, counts, strict=True))
    present = [(text, int(count)) for text, count in pairs if text is not None]
    values = [text for text, _ in present]
    seen = look(present, measured=has_word(name, header_words()["measures"]))
    strays = {text for text, _ in seen.strays}
    regular = [text for text in values if text not in strays]
    common = sorted(
        (pair for pair in present if pair[1] >= _COMMON and pair[0] not in strays), key=lambda pair: (-pair[1], pair[0])
    )
    lengths = [len(text) for text in regular] or [0]
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
        identifier=None if seen.kind in ("date", "decimal", "empty") else recognise(regular),
        strays=seen.strays,
        partial=seen.partial,
        system=system_of(regular) or None,
        shortest=min(lengths),
        longest=max(lengths),
        largest=max((float(text.replace(",", ".")) for text in regular), default=0.0) if number else 0.0,
        unsettled=seen.unsettled,
        order=seen.order,
        labelled=labelled,
    )


def suggest(facts: ColumnFacts) -> Suggestion:
    """Suggest a role from the name, the look and the uniqueness of a column.

    In doubt a column is a quasi-identifier, and identifying where it is like a key: that costs quality, the opposite
    costs privacy.

    >>> suggest(facts_of("Sex", ["f", "m"], [60, 40])).role
    'quasi_identifying'
    >>> suggest(facts_of("disease", ["flu", "ulcer"], [60, 40])).reason
    'the name contains "disease"'
    """
    rules = (
        *(_by_whole_name, _by_identifier, _by_values, _by_person, _by_free_text, _by_identifying_name),
        *(_by_form, _by_key, _by_many_texts, _by_name),
    )
    found = next(filter(None, (rule(facts) for rule in rules)), None) or _by_uniqueness(facts)
    if facts.identifier is not None and not facts.identifier.mostly:
        seen, some = facts.identifier, facts.identifier.identifier.name
        reason = Sentence(
            "{reason}; {n} of {all} values look like {what}",
            reason=found.reason, n=seen.matched, all=seen.looked_at, what=_a(some),
        )  # fmt: skip
        return replace(found, reason=reason)
    return found


def is_code(facts: ColumnFacts) -> bool:
    """Tell whether a column holds codes: by its look, or as digits under a name such as zip.

    >>> is_code(facts_of("zip", ["10115", "80331"], [5, 5])), is_code(facts_of("age", ["10", "80"], [5, 5]))
    (True, False)
    """
    return facts.looks_like == "code" or (facts.looks_like == "integer" and bool(facts.says("codes")))


def is_age(name: str) -> bool:
    """Tell whether a header speaks of age.

    >>> is_age("AgeAtVisit"), is_age("Lebensalter"), is_age("image")
    (True, True, False)
    """
    return has_word(name, header_words()["age"])


def is_category(facts: ColumnFacts) -> bool:
    """Tell whether whole numbers are codes of a few categories, such as sex 1, 2, 9, and no quantity.

    >>> is_category(facts_of("sex", ["1", "2", "9"], [50, 45, 5])), is_category(facts_of("age", ["1", "2"], [5, 5]))
    (True, False)
    """
    few = facts.fitting <= _FEW and facts.largest <= _SMALL and not facts.says("measures")
    return facts.looks_like == "integer" and (few or facts.labelled)


def _by_whole_name(facts: ColumnFacts) -> Suggestion | None:
    """Recognise headers that name a person only where nothing else stands beside them, such as FIRST and LAST."""
    words = words_of(facts.name)
    word = facts.says("alone") if len(words) == 1 else ""
    return Suggestion("identifying", Sentence('the name is "{word}"', word=word)) if word in words else None


def _by_identifier(facts: ColumnFacts) -> Suggestion | None:
    """Recognise identifiers by their form, where nearly all values have it, or some that chance does not produce."""
    seen = facts.identifier
    if seen is None or facts.looks_like == "constant":
        return None
    some = seen.identifier.sure and seen.matched > _NEAR_UNIQUE * seen.looked_at and facts.rows > _FEW_ROWS
    if not (seen.mostly or (some and facts.distinct > _FEW)):
        return None
    person = facts.repeats and seen.identifier.hipaa in (7, 8, 9, 18) and facts.distinct > facts.rows / 20
    what = _a(seen.identifier.name)
    reason = (
        Sentence("all values look like {what}", what=what)
        if seen.matched == seen.looked_at
        else Sentence("{n} of {all} values look like {what}", n=seen.matched, all=seen.looked_at, what=what)
    )
    return Suggestion("identifying", reason, is_person=person, rank=2)


def _named(word: str) -> Sentence:
    return Sentence('the name contains "{word}"', word=word)


def _share(facts: ColumnFacts) -> Sentence:
    return Sentence("{percent:.1f} % of the rows hold a value of their own", percent=100 * facts.unique_share)


def _a(name: str) -> str:
    return f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}"


def _by_values(facts: ColumnFacts) -> Suggestion | None:
    if facts.looks_like in ("empty", "constant"):
        word = facts.says("identifying", "perhaps")
        role: Role = "identifying" if word else "insensitive"
        if word:
            return Suggestion(role, _named(word))
        is_empty = facts.looks_like == "empty"
        return Suggestion(role, Sentence("the column is empty") if is_empty else Sentence("the column is constant"))
    if facts.looks_like in ("email", "phone"):
        return Suggestion("identifying", Sentence("nearly all values look like a {kind} entry", kind=facts.looks_like))
    return None


def _by_person(facts: ColumnFacts) -> Suggestion | None:
    """Recognise a key of households or persons by its name: patient_id always, patient where many values differ."""
    if facts.looks_like in ("date", "decimal", "bands", "time") or facts.says("measures"):
        return None
    if facts.distinct <= facts.rows / 20 and not facts.says("key"):
        return None
    key, household, person = facts.says("key", "codes"), facts.says("household"), facts.says("person")
    size = Sentence("{n} values in {rows} rows", n=facts.distinct, rows=facts.rows)
    if household and key and facts.repeats:
        reason = Sentence(
            'the name contains "{word}", {size}: who lives together is counted once', word=household, size=size
        )
        return Suggestion("identifying", reason, is_person=True, rank=4)
    if not (person and (key or len(words_of(facts.name)) == 1)):
        return None
    reason = (
        Sentence('the name contains "{word}", {size}; some have several rows', word=person, size=size)
        if facts.repeats
        else Sentence('the name contains "{word}", {size}', word=person, size=size)
    )
    return Suggestion("identifying", reason, is_person=facts.repeats, rank=3)


def _by_free_text(facts: ColumnFacts) -> Suggestion | None:
    if facts.looks_like != "free text":
        return None
    return Suggestion("identifying", Sentence("free text can name anybody, and no model here protects it"))


def _by_identifying_name(facts: ColumnFacts) -> Suggestion | None:
    """Recognise headers that name or locate a person, whatever else stands in them."""
    word = facts.says("identifying")
    if not word or (facts.looks_like in ("date", "time") and not facts.unsettled):
        return None
    return Suggestion("identifying", _named(word))


def _by_form(facts: ColumnFacts) -> Suggestion | None:
    """Recognise what concerns health by the form of its codes, whatever the header, where many rows share them."""
    if facts.system not in MEDICAL or (facts.rows > _FEW_ROWS and facts.distinct > facts.rows / 4):
        return None
    return Suggestion("sensitive", Sentence("the values have the form of {system} codes", system=facts.system))


def _by_key(facts: ColumnFacts) -> Suggestion | None:
    """Recognise codes that may stand for persons, cases or devices, whatever the header: many values, or long ones."""
    named = bool(facts.says("key"))
    fixed = facts.looks_like == "integer" and (named or facts.shortest == facts.longest >= _LONG)
    if not (facts.looks_like == "code" or fixed) or facts.distinct <= _FEW:
        return None
    if facts.distinct <= facts.rows / 20 and not (named or fixed or facts.shortest >= _LONG):
        return None
    if facts.says("postcodes", "measures") or (not named and facts.says("sensitive", "quasi_identifying")):
        return None
    size = {"n": facts.distinct, "rows": facts.rows}
    reason = (
        Sentence("{n} different codes in {rows} rows; some have several rows: they may be persons", **size)
        if facts.repeats
        else Sentence("{n} different codes in {rows} rows; each has a row of its own", **size)
    )
    return Suggestion("identifying", reason, is_person=facts.repeats and facts.unique_share < _KEY_SHARE, rank=1)


def _by_many_texts(facts: ColumnFacts) -> Suggestion | None:
    """Recognise names and texts by how many differ, where the header says nothing or only that they may be names."""
    if facts.looks_like not in ("text", "code") or facts.rows <= _FEW_ROWS or facts.says("postcodes"):
        return None
    if facts.looks_like == "text" and facts.says("perhaps") and facts.distinct > facts.rows / 5:
        reason = Sentence('the name contains "{word}", {n} texts differ', word=facts.says("perhaps"), n=facts.distinct)
        return Suggestion("identifying", reason)
    share = _share(facts)
    if facts.unique_share > _KEY_SHARE:
        return Suggestion("identifying", Sentence("it is like a key: {share}", share=share))
    if facts.unique_share > _NEAR_UNIQUE and not facts.says("sensitive", "quasi_identifying"):
        return Suggestion("identifying", Sentence("many different texts may name persons: {share}", share=share))
    return None


def _by_name(facts: ColumnFacts) -> Suggestion | None:
    roles: tuple[tuple[Role, str], ...] = (
        ("sensitive", "sensitive"),
        ("quasi_identifying", "quasi_identifying"),
        ("identifying", "perhaps"),
    )
    for role, kind in roles:
        if word := facts.says(kind):
            return Suggestion(role, _named(word))
    return None


def _by_uniqueness(facts: ColumnFacts) -> Suggestion:
    share = _share(facts)
    if facts.unique_share > _KEY_SHARE and facts.looks_like not in ("decimal", "date", "time", "bands"):
        return Suggestion("identifying", Sentence("it is like a key: {share}", share=share))
    if facts.unique_share > _NEAR_UNIQUE:
        return Suggestion("quasi_identifying", Sentence("nearly unique: {share}", share=share))
    return Suggestion("quasi_identifying", Sentence("no rule fits; in doubt others may know it"))
