"""Transforms of a policy, applied to a source: a table like the one that was given, and what was done to it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct import transforms
from indistinct.errors import DataError, PolicyError
from indistinct.formats.columnar import is_text
from indistinct.formats.frames import give_back, kind_of
from indistinct.formats.registry import open_source
from indistinct.formats.source import origins_of
from indistinct.formats.texts import from_text
from indistinct.notices import Notice, Sentence
from indistinct.policy import resolve
from indistinct.policy.public import public_transforms
from indistinct.policy.transforms import Km, ShiftDates
from indistinct.session.prepare import published_identifying, reading_of, source_options
from indistinct.tables.apply import load_columns, sorted_units
from indistinct.tables.count import silent
from indistinct.tables.dictionary import texts_of
from indistinct.tables.published import text_column, typed_column
from indistinct.transforms.chance import Chance
from indistinct.transforms.columns import PERSON, Column

if TYPE_CHECKING:
    from indistinct.formats.frames import Kind
    from indistinct.formats.source import Source
    from indistinct.outputs import Origin
    from indistinct.policy import Policy, Roles
    from indistinct.policy.transforms import Transform
    from indistinct.tables.count import Progress
    from indistinct.tables.published import Published, PublishedColumn


@dataclass(frozen=True)
class TransformedTable:
    """A transformed table with what is known about it; ``document`` is the internal JSON document.

    ``origins`` are the files that it was made from; nothing that is made of it overwrites one.
    """

    document: dict[str, Any]
    policy: Policy = field(repr=False)
    published: Published = field(repr=False)
    source: Source = field(repr=False)
    kind: Kind = "pyarrow"
    origins: tuple[Origin, ...] = field(default=(), repr=False)

    @property
    def table(self) -> Any:
        """The transformed table in the kind of the caller's table (an Arrow table for files)."""
        return give_back(self.published.table(), self.kind)

    @property
    def as_source(self) -> Source:
        """The transformed table, to be read as the file or frame that it was made of is read."""
        given, own = self.source, open_source(self.published.table())
        return replace(
            own,
            name=given.name,
            dialect=given.dialect,
            column_labels=given.column_labels,
            warnings=list(given.warnings),
            origins=self.origins,
        )


def apply_transforms(
    table: Any,
    policy: Policy,
    *,
    query: str | None = None,
    sql_table: str | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> TransformedTable:
    """Apply the ``[[transforms]]`` of a policy to a table, in their order; nothing is verified.

    Raises PolicyError, SchemaError and DataError for a table that does not fit, InfeasibleError where a transform
    cannot be done.
    """
    origins = (*origins_of(table), *policy.origins)
    source = open_source(table, source_options(policy, query=query, table=sql_table))
    roles = resolve(policy, source.columns)
    names = _columns(policy, roles, source)
    progress("count", 0, 1)
    given = load_columns(source, names)
    progress("count", 1, 1)
    before = {name: _column(policy, roles, source, given[name]) for name in names}
    whose = _person(policy, roles, source)
    chance = Chance(seed)
    progress("transform", 0, len(policy.transforms))
    after, remaining, entries = dict(before), np.arange(len(next(iter(before.values())).codes)), []
    for position, one in enumerate(policy.transforms, 1):
        seen = after if whose is None else {**after, PERSON: whose.selected(remaining)}
        outcome = transforms.transform(one.method)(_located(policy, one), seen, chance)
        after |= outcome.columns
        if outcome.rows is not None:
            remaining = remaining[outcome.rows]
            after = {name: column.selected(outcome.rows) for name, column in after.items()}
        touched = list(outcome.columns) or list(one.names)
        entries.append({"method": one.method, "columns": touched, "loss": dict(outcome.loss), "says": outcome.sentence})
        progress("transform", position, len(policy.transforms))
    ones = np.ones(len(remaining), np.int64)
    columns = [_published(source, given[name], before[name], after[name]) for name in names]
    published = sorted_units(columns, ones, merge=False, order=policy.output.order)
    notices = [*source.warnings, *roles.notices, *_notices(policy, chance)]
    document = {
        "rows": len(next(iter(before.values())).codes),
        "published_rows": len(remaining),
        "declares": transforms.declared(one.method for one in policy.transforms),
        "k": None,
        "for_publication": not policy.privacy and not chance.is_seeded,
        "seeded": chance.is_seeded,
        "transforms": entries,
        "asked": public_transforms(policy),
        "verification": {"rows_match": False, "coverage": _coverage(policy, before, after, remaining)},
        "seconds": 0.0,
        "outputs": [],
        "manifest": None,
        "warnings": [notice.document() for notice in notices],
    }
    return TransformedTable(document, policy, published, source, kind_of(table), origins)


def _located(policy: Policy, one: Transform) -> Transform:
    """Say where the file of a transform is, seen from here."""
    return one.model_copy(update={"hierarchy": str(policy.locate(one.hierarchy))}) if isinstance(one, Km) else one


def _columns(policy: Policy, roles: Roles, source: Source) -> list[str]:
    """Columns of the result: all of a table that is still to be anonymized, else those that may be published."""
    if policy.privacy:
        return list(source.columns)
    refuse_floors(policy)
    if remaining := published_identifying(roles):
        raise PolicyError(
            f'"{remaining[0]}" has action = "{roles.attributes[remaining[0]].action}", which anonymize does: add a '
            "model under [[privacy]], or drop the column",
            column=remaining[0],
        )
    names = [name for name in source.columns if name not in roles.identifying]
    if not names:
        raise PolicyError("every column is identifying: nothing is left to publish")
    return names


def _person(policy: Policy, roles: Roles, source: Source) -> Column | None:
    """The column that says whose a row is, where a transform asks; it is published no more than it was."""
    if roles.person is None or not any(isinstance(one, ShiftDates) for one in policy.transforms):
        return None
    return _column(policy, roles, source, load_columns(source, [roles.person])[roles.person])


def _column(policy: Policy, roles: Roles, source: Source, given: PublishedColumn) -> Column:
    """Take a column over, with how the policy reads it; values that are written alike are one."""
    name = given.name
    texts = texts_of(given.values, name)
    distinct = list(dict.fromkeys(text for text in texts if text is not None))
    place = {text: position for position, text in enumerate(distinct)}
    code_of = np.array([-1 if text is None else place[text] for text in [*texts, None]], np.int32)
    attribute, quasi = roles.attributes[name], name in roles.quasi
    reading = reading_of(policy, source, name) if name in policy.attributes else {"type": "text"}
    separator = attribute.separator or ";"
    return Column(name, tuple(distinct), code_of[given.codes], reading, attribute.weight, quasi, separator)


def _published(source: Source, given: PublishedColumn, before: Column, after: Column) -> PublishedColumn:
    """Give a column its type in the source back."""
    kind = source.types[after.name]
    texts: list[str | None] = [*after.texts, None]
    if is_text(kind):
        return text_column(after.name, texts, after.codes)
    if after.texts is before.texts and len(after.codes) == len(given.codes):
        return given if np.array_equal(after.codes, before.codes) else _typed(after, texts, kind)
    return _typed(after, texts, kind)


def _typed(column: Column, texts: list[str | None], kind: Any) -> PublishedColumn:
    import pyarrow as pa

    try:
        return typed_column(column.name, from_text(texts, kind), column.codes)
    except pa.ArrowInvalid:
        message = f'"{column.name}" holds values now that do not fit its type {kind}; make it a wider type first'
        raise DataError(message, column=column.name) from None


def _coverage(policy: Policy, before: dict[str, Column], after: dict[str, Column], remaining: Any) -> dict[str, str]:
    """Say of each column whether every cell is its original or blank; of others nothing is claimed."""
    perturbed = {
        name
        for one in policy.transforms
        for name in one.names
        if transforms.DECLARES[one.method] == "perturbing" or isinstance(one, Km)
    }  # fmt: skip
    found = {}
    for name, column in after.items():
        if column is before[name]:  # nothing touched it
            found[name] = "proven"
            continue
        old, new = before[name].spelled[remaining], column.spelled
        true = bool(((new == old) | (column.codes < 0)).all())
        found[name] = "not proven" if name in perturbed else "proven" if true else "refuted"
    return found


def _notices(policy: Policy, chance: Chance) -> list[Notice]:
    found = []
    methods = [one.method for one in policy.transforms]
    if policy.privacy:
        message = Sentence("this table is not a release: anonymize it with the same policy, which names privacy models")
    else:
        message = Sentence(
            "the policy names no privacy model: the transforms give no k and no other guarantee; audit the result, or "
            "add [[privacy]] and anonymize it"
        )
    found.append(Notice("no-guarantee", None, message))
    if (word := transforms.declared(methods)) == "perturbing":
        message = Sentence(
            "published cells of the transformed columns need not be true of their rows; no coverage is claimed"
        )
        found.append(Notice(word, None, message))
    if "sampling" in methods:
        message = Sentence(
            "the rows are a random sample: an attacker does not know who is in it, but who is in it is published"
        )
        found.append(Notice("sampling", None, message))
    if "shift_dates" in methods:
        message = Sentence(
            "the time between two dates of a person is true: who knows some of them, or the date of one, may find the "
            "others; keep dates that others know out of the table, or make them coarser"
        )
        found.append(Notice("shifted", policy.person.key if policy.person is not None else None, message))
    if policy.person is not None and "local_suppression" in methods:
        message = Sentence("local_suppression counts rows, not persons")
        found.append(Notice("persons", policy.person.key, message))
    if chance.is_seeded:
        message = Sentence(
            "the randomness came from a seed, so that anybody can repeat it: a test, not for publication"
        )
        found.append(Notice("seeded", None, message))
    return found


def refuse_floors(policy: Policy) -> None:
    """Raise PolicyError where a policy without models says how fine a column may be published."""
    for name in policy.quasi_identifiers if policy.transforms and not policy.privacy else ():
        floor = policy.attributes[name].floor
        if floor is not None:
            raise PolicyError(
                f'{floor} of "{name}" says how fine its values may be published, and transforms alone do not '
                "generalize: add a model under [[privacy]] and anonymize, or leave it out here (the transforms "
                "top_coding and bottom_coding change numbers)",
                column=name,
                key=f"attributes.{name}.{floor if floor == 'min_level' else f'hierarchy.{floor}'}",
            )
