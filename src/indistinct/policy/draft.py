"""A draft of a policy, made from measured facts for a person to complete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.plain import visible
from indistinct.policy.recipients import start_of
from indistinct.policy.suggest import POOLED, ColumnFacts, Suggestion, facts_of, is_age, is_category, is_code, suggest
from indistinct.policy.systems import MADE_BY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.policy.recipients import Start

__all__ = ["ColumnFacts", "Suggestion", "draft", "facts_of", "suggest"]

# values of a set before the root; ages from here on are pooled; words of sensitive columns shown from this count on
MOST, _SHOWN = 8, 10
# so many different values can still be listed in sets
MANY = 200
_TYPES = {"integer": "integer", "decimal": "decimal", "date": "date", "bands": "ordinal"}
_CLOSENESS = """\
# In every class the shares of the values stay near those of the table; choose t from 0 to 1:
{mark}[[privacy]]
{mark}model = "t_closeness"
{mark}attribute = {name}
{mark}t = {t}  # CONFIRM: {why}
{mark}distance = "equal"  # CONFIRM: or ordered (numbers, dates), hierarchical (needs a hierarchy)"""
_HEAD = """\
# Draft of a policy for a table of {rows} rows and {columns} columns. Nothing in it is decided yet:
# every line marked CONFIRM is a suggestion with its reason. Change it or remove the mark.
#   identifying        names a person: the column is dropped
#   quasi_identifying  others may know it about a person: it is generalized
#   sensitive          what nobody may learn about a person: it is published unchanged, models protect it
#   insensitive        nobody knows it and nobody minds: it is published unchanged
"""


def draft(
    columns: Sequence[ColumnFacts],
    *,
    source: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
    related: Sequence[str] = (),
    recipient: str | None = None,
) -> str:
    """Write a policy draft as TOML with a comment that gives the reason of every suggestion.

    The text is a valid policy (``Policy.load`` reads it) whenever some column looks like a quasi-identifier;
    otherwise a comment asks for one. ``related`` says which columns tell each other;
    ``recipient`` chooses where k, l, t and the limit start (``policy.recipients``).
    Values of sensitive and identifying columns are never shown, but for those that stand for nothing; of
    quasi-identifiers up to three frequent ones.

    >>> print(draft([facts_of("sex", ["f", "m"], [30, 20])]).split("version = 2")[1])
    <BLANKLINE>
    <BLANKLINE>
    [attributes.sex]
    # for example "f", "m"
    role = "quasi_identifying"  # CONFIRM: the name contains "sex"; 2 values, 0 of them in one row only
    hierarchy = { kind = "suppress" }  # CONFIRM: the value or *
    <BLANKLINE>
    [[privacy]]
    model = "k_anonymity"
    k = 5  # CONFIRM: a usual threshold; every class of look-alikes has at least 5 rows
    <BLANKLINE>
    [suppression]
    limit = 0  # CONFIRM: share of rows that may be left out, 0 to 1; 0.02 often keeps much detail
    <BLANKLINE>
    """
    rows = max((facts.rows for facts in columns), default=0)
    found = [(facts, suggest(facts)) for facts in columns]
    keys = [(suggestion.rank, facts) for facts, suggestion in found if suggestion.is_person]
    person = max(keys, key=lambda own: own[0])[1] if keys else None
    start = start_of(recipient)
    lines = [*_HEAD.format(rows=rows, columns=len(columns)).splitlines(), *_for_whom(recipient, start), "version = 2"]
    comma = any(facts.decimal == "," for facts in columns)
    if comma or any(given is not None for given in (source, delimiter, encoding, missing)):
        lines += ["", "[table]"]
        lines += [f"source = {_toml(source)}"] if source is not None else []
        lines += [f"delimiter = {_toml(delimiter)}"] if delimiter is not None else []
        lines += [f"encoding = {_toml(encoding)}"] if encoding is not None else []
        lines += ['decimal = ","  # CONFIRM: some columns hold numbers with a decimal comma'] if comma else []
        lines += [f"missing = {_listed(missing)}"] if missing is not None else []
    if person is not None:
        reason = suggest(person).reason
        about = f"CONFIRM: {reason}; sizes count persons, not rows"
        lines += ["", "[person]", f"key = {_toml(person.name)}  # {about}"]
        others = ", ".join(_toml(facts.name) for _, facts in keys if facts is not person)
        lines += [f"# {others} could be the key too: take what all rows of one person share"] if others else []
    for facts, suggestion in found:
        if facts is not person:
            lines += ["", *section(facts, suggestion)]
    if not any(suggestion.role == "quasi_identifying" for _, suggestion in found):
        lines += ["", "# TO DO: no column looks like a quasi-identifier; give this role to at least one."]
    if related:
        lines += ["", "# Columns that tell each other are decided together: leave one out, or generalize all of them."]
        lines += [f"#   {visible(text)}" for text in related]
    lines += [*_models(found, start), ""]
    return "\n".join(lines)


def section(facts: ColumnFacts, suggestion: Suggestion) -> list[str]:
    """Write the lines of ``[attributes.NAME]`` for a column under the suggested role."""
    import tomlkit

    lines = [f"[attributes.{tomlkit.key([facts.name]).as_string()}]"]
    role = suggestion.role
    if role == "quasi_identifying" and facts.examples:
        lines.append(f"# for example {', '.join(_toml(text[:30]) for text in facts.examples)}")
    measured = f"{facts.distinct} values, {facts.singletons} of them in one row only"
    missing = f", {facts.missing} missing" if facts.missing else ""
    lines.append(f"role = {_toml(role)}  # CONFIRM: {suggestion.reason}; {measured}{missing}")
    if role in ("quasi_identifying", "sensitive"):
        lines += _reading(facts, role)
    if facts.system is not None:
        kind, groups = MADE_BY[facts.system]
        lines.append(f"# a file of its {groups} makes: indistinct hierarchy build --kind {kind}")
    if role == "quasi_identifying":
        spec, why = _hierarchy(facts)
        lines.append(f"hierarchy = {spec}  # CONFIRM: {why}")
    if role == "identifying":
        lines.append('# dropped; action = "pseudonym" with key_file or key_env would keep a form of it')
    return lines


def _reading(facts: ColumnFacts, role: str) -> list[str]:
    """Say how the cells are read: type, order or format, and which texts stand for nothing."""
    unread = unreadable(facts, role)
    coded = is_code(facts) or is_category(facts) or bool(facts.unsettled)
    kind = None if coded or unread else _TYPES.get(facts.looks_like)
    named = kind is not None or coded or facts.looks_like not in _TYPES
    strays = [stray for stray in facts.strays if not unread and (named or not stray[0].strip())]
    lines = []
    if kind is not None:
        how = "all values look like it" if not strays else "all other values look like it"
        lines.append(f'type = "{kind}"  # CONFIRM: {how}; text if they are codes')
    if kind == "date" and facts.partial:
        lines.append("partial = true  # CONFIRM: some dates are written to the month or the year only")
    if kind == "ordinal":
        lines.append(f"order = {_listed(facts.order)}  # CONFIRM: bands from the lowest up")
    if kind == "date" and facts.format not in (None, "%Y-%m-%d"):
        about = "CONFIRM: it reads all values; day and month may be swapped"
        lines.append(f"format = {_toml(facts.format)}  # {about}")
    if strays:
        cells = ", ".join(f"{_toml(text)} in {count}" for text, count in strays)
        about = f"CONFIRM: {_why_missing([text for text, _ in strays])}: {cells} cells"
        lines.append(f"missing_values = {_listed([text for text, _ in strays])}  # {about}")
    if unread:
        lines.append("# some cells do not fit; rare ones are not shown: look, and list them as missing_values")
    if facts.unsettled:
        lines.append(f"# these are dates, left as text: {facts.unsettled}")
    return lines


def _why_missing(texts: Sequence[str]) -> str:
    """Say why texts are proposed as missing, and which of them may be values that are written in another way."""
    if not any(text.strip() for text in texts):
        return "nothing but blanks, so proposed as missing"
    # 00.00.0000 and -99 stand for nothing; 31.2.1980 or 1980 among dates is somebody's
    unlike = [text for text in texts if len({sign for sign in text if sign.isdigit()}) > 1]
    if not unlike:
        return "they seem to say nothing, so proposed as missing"
    some = f"{_listed(unlike[:3])[1:-1]}{' and others' if len(unlike) > 3 else ''}"
    return f"mend {some} in the table if these are values in another spelling; what says nothing is missing"


def unreadable(facts: ColumnFacts, role: str) -> bool:
    """Whether a column keeps type text because its strays may not be shown: rare words of a sensitive column."""
    rare = (count < _SHOWN and any(letter.isalpha() for letter in text) for text, count in facts.strays)
    return role == "sensitive" and any(rare)


def _hierarchy(facts: ColumnFacts) -> tuple[str, str]:
    """Propose a hierarchy that needs no file: the first that is for such values."""
    date, code, number = facts.looks_like == "date", is_code(facts), facts.looks_like in ("integer", "decimal")
    old = facts.looks_like == "integer" and POOLED <= facts.largest < POOLED + 40 and is_age(facts.name)
    choices = (
        (bool(facts.unsettled), '{ kind = "suppress" }', "the value or *, as long as they cannot be read as dates"),
        (
            facts.looks_like == "time",
            '{ kind = "masking", from = "right" }',
            "times of day lose minutes, then tens of minutes, then the hour",
        ),
        (facts.looks_like == "bands", '{ kind = "range" }', "neighbouring bands join: 20-29 and 30-39, 80-89 and 90+"),
        (date and facts.partial, '{ kind = "dates", levels = ["month", "year"] }', "each date at its calendar place"),
        (
            date,
            '{ kind = "range", bounds = "snapped" }',
            'from ... to, widened to months; levels of the calendar: kind = "dates", levels = ["month", "year"]',
        ),
        (
            code and not facts.says("postcodes") and facts.fitting <= MANY,
            f'{{ kind = "set", most = {MOST} }}',
            f"each class lists up to {MOST} codes that occur in it; masking where the first signs say most",
        ),
        (
            facts.fitting > MANY and facts.looks_like == "text",
            '{ kind = "suppress" }',
            "the value or *; better: a file with levels (indistinct hierarchy build)",
        ),
        (
            code and facts.shortest != facts.longest,
            '{ kind = "masking", from = "right", fill = "longest" }',
            "codes are shortened from the right, shorter ones filled up first",
        ),
        (code, '{ kind = "masking", from = "right" }', "codes are shortened from the right"),
        (
            old,
            f'{{ kind = "intervals", widths = [5, 10, 20, 40], top = {POOLED} }}',
            f"bands of ages; {POOLED} and over are one, as the Safe Harbor list of HIPAA asks",
        ),
        (
            number and not is_category(facts),
            '{ kind = "range" }',
            "each class shows a range that holds its members; intervals give fixed bands",
        ),
        (facts.fitting <= 2, '{ kind = "suppress" }', "the value or *"),
    )
    sets = f'{{ kind = "set", most = {MOST} }}'
    why = f"each class lists up to {MOST} values that occur in it; a file with levels says more where there is one"
    return next(((spec, reason) for fits, spec, reason in choices if fits), (sets, why))


def _for_whom(recipient: str | None, start: Start) -> list[str]:
    """Say for whom the draft is, and that its numbers are custom."""
    if recipient is None:
        return []
    return [
        f"# Starting values for the recipient {recipient}: {start.reason}.",
        f"# Source of k: {start.source}.",
        "# These are custom, not theorems; no published source names l, t or the limit: they are only where to start.",
    ]


def _models(found: Sequence[tuple[ColumnFacts, Suggestion]], start: Start) -> list[str]:
    lines = ["", "[[privacy]]", 'model = "k_anonymity"']
    lines.append(f"k = {start.k}  # CONFIRM: {start.reason}")
    why = "how far from the table's shares; a starting point, of no published source"
    for facts, suggestion in found:
        if suggestion.role != "sensitive":
            continue
        name = _toml(facts.name)
        most = max(1, min(start.l, facts.fitting))
        lines += ["", "[[privacy]]", 'model = "distinct_l"', f"attribute = {name}"]
        lines.append(f"l = {most}  # CONFIRM: at least {most} of the {facts.fitting} values in every class")
        closeness = _CLOSENESS.format(name=name, t=start.t, why=why, mark="" if start.near else "# ")
        closeness = closeness if start.near else closeness.replace("CONFIRM: ", "")
        lines += ["", *closeness.splitlines()]
    lines += ["", "[suppression]"]
    hint = "share of rows that may be left out, 0 to 1; 0.02 often keeps much detail"
    return [*lines, f"limit = {start.limit}  # CONFIRM: {hint}"]


def _listed(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_toml, texts))}]"


def _toml(text: Any) -> str:
    import tomlkit

    return str(tomlkit.item(text).as_string())
