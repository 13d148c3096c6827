"""Which engine counts and publishes a table, and what it cannot do, said before anything is counted."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indistinct.algorithms import form_of
from indistinct.errors import UnsupportedError
from indistinct.formats.frames import kind_of, open_relation
from indistinct.formats.registry import format_of, open_source
from indistinct.formats.source import Source
from indistinct.notices import Notice, Sentence
from indistinct.policy import resolve
from indistinct.session.prepare import kept_identifying, options_of, uncounted
from indistinct.session.transformed import TransformedTable
from indistinct.tables.in_duckdb import DuckDB, is_carried
from indistinct.tables.local import LOCAL
from indistinct.tables.stored import StoredColumn

ENGINES = (LOCAL.name, DuckDB.name)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indistinct.policy import Policy
    from indistinct.tables.count import Counted
    from indistinct.tables.engine import Engine


@contextmanager
def engine_for(table: Any, policy: Policy, name: str | None, output: Path | None) -> Iterator[Engine]:
    """Open the engine of that name, else that of the policy, else the one in which the table lies; then close it.

    A table that lies in an engine which cannot do what is asked is taken over by the local one, unless it was named.

    Raises UnsupportedError for a name that is none.
    """
    asked = name or policy.run.engine
    if asked not in (None, *ENGINES):
        raise UnsupportedError(f'there is no engine "{asked}"; choose {", ".join(ENGINES)}')
    place = (
        (Path() if output is None else output.parent)
        if policy.run.temp_dir is None
        else policy.locate(policy.run.temp_dir)
    )
    engine = DuckDB(place, policy.run.memory_bytes)
    if (
        asked is None
        and _lies_in_duckdb(table)
        and not refusals(engine, policy, source_for(engine, table, policy), output)
    ):
        asked = engine.name
    if asked == engine.name:
        with engine:
            yield engine
    else:
        yield LOCAL


def _lies_in_duckdb(table: object) -> bool:
    if isinstance(table, Source | TransformedTable):
        return False
    return kind_of(table) == "duckdb"


def source_for(engine: Engine, table: Any, policy: Policy, **database: str | None) -> Source:
    """Open a table for an engine: a relation stays where it is, where DuckDB counts it."""
    if engine.name == DuckDB.name and _lies_in_duckdb(table):
        return open_relation(table, options_of(policy))
    return open_source(table, options_of(policy, query=database.get("query"), table=database.get("sql_table")))


def refusals(engine: Engine, policy: Policy, source: Source, output: Path | None) -> list[str]:
    """Say what of a policy an engine cannot do, each in a few words; nothing for the local one.

    Raises SchemaError as ``resolve`` does.
    """
    if engine is LOCAL:
        return []
    found = []
    if policy.transforms:
        found.append("[[transforms]]")
    if policy.releases is not None:
        found.append("a ledger of [releases]")
    if policy.output.order == "kept":
        found.append('order = "kept"')
    roles = resolve(policy, source.columns)
    if kept := kept_identifying(roles):
        found.append(f'masks and pseudonyms ("{kept[0]}")')
    carried = uncounted(policy, roles, source.columns)
    return [*found, *_carrying(policy, source, carried, output)] if carried else found


def _carrying(policy: Policy, source: Source, carried: Sequence[str], output: Path | None) -> list[str]:
    """Say what cannot be done beside columns that are published as they are."""
    named, found = f'beside a column that no model looks at ("{carried[0]}")', []
    if policy.output.order != "sorted":
        found.append(f'order = "{policy.output.order}" {named}')
    if policy.output.ranges != "label":
        found.append(f'ranges = "{policy.output.ranges}" {named}')
    if form_of(policy) != "one_table" or policy.item_columns:
        found.append(f'"{policy.recoding.algorithm}" {named}')
    chosen = None if output is None else format_of(output)
    if chosen is None or chosen.nested is None:
        found.append(f"another output than parquet or arrow {named}")
    found += [f'the type {kind} of "{name}"' for name in carried if not is_carried(kind := source.types[name])]
    return found


def unseen(counted: Counted, engine: Engine) -> list[Notice]:
    """Say which columns stayed in an engine, and what nobody looked for in them."""
    names = [name for name, own in counted.carried.items() if isinstance(own, StoredColumn)]
    if not names:
        return []
    message = Sentence(
        "the values of {names} stay in the engine {engine}: whether they tell a generalized column, or hold ages over "
        "89, was not looked at",
        names=tuple(names),
        engine=engine.name,
    )
    return [Notice("not-looked-at", names[0], message)]


def require_able(engine: Engine, policy: Policy, source: Source, output: Path | None) -> None:
    """Raise UnsupportedError for what an engine cannot do (``refusals``)."""
    if found := refusals(engine, policy, source, output):
        raise UnsupportedError(
            f'the engine "{engine.name}" cannot do {"; ".join(found)}: leave it out, or take engine = "local"'
        )
