"""An original and its published form side by side, every column read as the policy declares it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from indistinct.algorithms import form_of
from indistinct.decision.decide import grouped_attribute
from indistinct.errors import DataError, SchemaError
from indistinct.formats.columnar import is_text
from indistinct.formats.registry import open_source
from indistinct.formats.source import path_of
from indistinct.hierarchies.labels import masks_of
from indistinct.hierarchies.taxonomy import read_taxonomy
from indistinct.notices import Notice, Sentence
from indistinct.proof.files import read_tables, tables_of
from indistinct.proof.groups import Pair, groups_of_entries, split
from indistinct.proof.recount import restored
from indistinct.proof.spelling import guard_of, spellers
from indistinct.session.prepare import options_of, reading_of
from indistinct.tables.recount import count_source
from indistinct.tables.two_tables import COUNT, GROUP
from indistinct.utility import Groups, TablePair, axis_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.formats.source import Source
    from indistinct.policy import Policy, Roles
    from indistinct.tables.count import Progress
    from indistinct.tables.recount import Recount
    from indistinct.utility import Axis
    from indistinct.utility.tables import Codes


def pair_of(
    source: Source, published: Any, policy: Policy, roles: Roles, progress: Progress, *, st: Any = None
) -> tuple[TablePair, list[Notice]]:
    """Count both tables, undo what formats did to the spelling, and read every column.

    ``st`` is the table of sensitive values of a release of two tables (or ``published`` holds both). Such a release,
    and one with permuted values, is read by a lossy join (``utility.tables``).
    """
    hidden = {*roles.identifying, *([] if roles.person is None else [roles.person])}
    tables = tables_of(published, st)
    progress("read", 0, 2)
    in_groups = len(tables) == 2 or form_of(policy) == "permuted"
    opened = read_tables(tables, policy, source, hidden, in_groups=in_groups)
    progress("read", 1, 2)
    joined = _pair(opened[0][1], opened[1][1] if len(opened) == 2 else None, policy) if in_groups else None
    after = opened[0][1] if joined is None else joined.qit
    names = [name for name in after.columns if joined is None or name != GROUP]
    grouped = [] if joined is None else [name for name in joined.st.columns if name not in (GROUP, COUNT)]
    before = count_source(source, [*names, *grouped])
    progress("read", 2, 2)
    typed = [name for name in before.columns if not is_text(source.types[name])]
    spellings = spellers({name: before.column(name)[0] for name in before.columns}, typed, policy)
    guard = guard_of(policy, path_of(tables[0].table))
    before, after = restored(before, spellings), restored(after, spellings, guard)
    values = None if joined is None else restored(joined.st, spellings, guard)
    texts = [after.column(name)[0] for name in names] + ([] if values is None else [values.column(grouped[0])[0]])
    axes = [
        column_axis(name, before.column(name)[0], own, source, policy, generalized=name in roles.quasi)
        for name, own in zip(before.columns, texts, strict=True)
    ]
    if not any(name in roles.quasi for name in names):
        raise SchemaError("the published table has none of the quasi-identifiers of the policy")
    notices = list(opened[0][0].warnings)
    if values is None:
        return TablePair(tuple(axes), before.codes, before.rows, after.codes, after.rows), notices
    message = Sentence(
        "the release is in groups: a row is taken to have each value of its group by the share it has there"
    )
    notices.append(Notice("groups", grouped[0], message))
    groups = _groups(Pair(after, values), names, grouped[0])
    return TablePair(tuple(axes), before.codes, before.rows, *groups.joined(), groups), notices


def held_out(pair: TablePair, source: Source, table: Any, policy: Policy, roles: Roles) -> tuple[TablePair, Codes]:
    """Read rows that a release was not made from: the pair with their values too, and int[rows, c] those values.

    Raises SchemaError when the rows lack a column of both tables.
    """
    names = [axis.name for axis in pair.axes]
    apart = open_source(table, options_of(policy))
    for name in names:
        if name not in apart.columns:
            raise SchemaError.unknown_column(name, apart.columns, file=apart.name)
    found = count_source(apart, names)
    typed = [name for name in names if not (is_text(apart.types[name]) and is_text(source.types[name]))]
    found = restored(found, spellers({axis.name: axis.before for axis in pair.axes}, typed, policy))
    axes, codes = [], []
    for axis in pair.axes:
        numbers = {text: number for number, text in enumerate(axis.before)}
        own, places = found.column(axis.name)
        codes.append(np.array([numbers.setdefault(text, len(numbers)) for text in own], np.int64)[places])
        texts, quasi = list(numbers), axis.name in roles.quasi
        axes.append(column_axis(axis.name, texts, axis.after, source, policy, generalized=quasi))
    return replace(pair, axes=tuple(axes)), np.repeat(np.column_stack(codes), found.rows, axis=0)


def _pair(qit: Recount, st: Recount | None, policy: Policy) -> Pair:
    """Take a release in groups as two tables; raises SchemaError for columns that these need and lack."""
    secret = [] if st is None else [name for name in st.columns if name not in (GROUP, COUNT)]
    needed = [(qit, (GROUP,))] + ([] if st is None else [(st, (GROUP, COUNT))])
    if st is None:
        needed = [(qit, (GROUP, grouped_attribute(policy)))]
    for side, columns in needed:
        for name in columns:
            if name not in side.columns:
                raise SchemaError.unknown_column(name, side.columns)
    if st is None:
        return split(qit, grouped_attribute(policy))
    if len(secret) != 1:
        raise SchemaError(
            f'the second table needs the columns "{GROUP}", "{COUNT}" and one sensitive column; it has '
            f"{', '.join(st.columns)}"
        )
    if secret[0] in qit.columns:
        raise SchemaError(
            f'the table of quasi-identifiers holds "{secret[0]}" too; give it and the table of values in this order',
            column=secret[0],
        )
    return Pair(qit, st)


def _groups(joined: Pair, names: Sequence[str], secret: str) -> Groups:
    _, owner, of_row, counts = groups_of_entries(joined)
    groups = int(max(owner.max(initial=-1), of_row.max(initial=-1))) + 1
    unequal = np.bincount(owner, counts, groups) != np.bincount(of_row, joined.qit.rows, groups)
    if unequal.any() or (counts < 1).any():
        raise DataError(
            f"in {max(1, int(unequal.sum()))} of {groups} groups the two tables have different numbers of rows; do "
            "they belong together?"
        )
    places = [joined.qit.columns.index(name) for name in names]
    return Groups(joined.qit.codes[:, places], joined.qit.rows, of_row, owner, joined.st.column(secret)[1], counts)


def column_axis(
    name: str,
    before: Sequence[str | None],
    after: Sequence[str | None],
    source: Source,
    policy: Policy,
    *,
    generalized: bool,
    domain: Sequence[Any] | None = None,
) -> Axis:
    """Read one column of both tables as the policy declares it; ``domain`` stands before that of the policy."""
    attribute = policy.attributes.get(name)
    if attribute is None:
        kind = source.types[name]
        number = "integer" if pa.types.is_integer(kind) else "decimal" if pa.types.is_floating(kind) else "text"
        return axis_of(name, before, after, number, domain=domain)
    spec = (attribute.spec or {}) if generalized else {}
    reading = reading_of(policy, source, name)
    if attribute.type == "text" and not generalized and pa.types.is_integer(source.types[name]):
        reading["type"] = "integer"
    elif attribute.type == "text" and not generalized and pa.types.is_floating(source.types[name]):
        reading["type"] = "decimal"
    return axis_of(
        name,
        before,
        after,
        rows=read_taxonomy(policy.locate(spec["file"])) if "file" in spec else None,
        token=policy.output.suppressed_token,
        **masks_of(spec),
        domain=attribute.ends if domain is None else domain,
        weight=attribute.weight,
        separator=attribute.separator if name in policy.item_columns else None,
        values=spec.get("values") or attribute.order or () if spec.get("kind") == "set" else None,
        **reading,
    )
