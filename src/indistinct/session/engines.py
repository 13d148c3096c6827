"""Which engine counts and publishes a table, and what it cannot do, said before anything is counted."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indistinct.algorithms import form_of
from indistinct.errors import UnsupportedError
from indistinct.formats.frames import kind_of, open_relation
from indistinct.formats.registry import PARQUET, format_of, open_source
from indistinct.formats.source import Source, is_url
from indistinct.notices import Notice, Sentence
from indistinct.policy import resolve
from indistinct.session.prepare import modelled, published_identifying, source_options, uncounted
from indistinct.session.transformed import TransformedTable
from indistinct.tables.in_duckdb import DuckDB
from indistinct.tables.in_postgresql import PostgreSQL
from indistinct.tables.in_spark import Spark
from indistinct.tables.local import LOCAL
from indistinct.tables.remote import Remote
from indistinct.tables.stored import StoredColumn

ENGINES = (LOCAL.name, DuckDB.name, PostgreSQL.name, Spark.name)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from indistinct.policy import Policy
    from indistinct.tables.count import Counted
    from indistinct.tables.engine import Engine
    from indistinct.tables.in_postgresql import Target


@contextmanager
def engine_for(
    table: Any, policy: Policy, name: str | None, output: Path | None, target: Target | None = None
) -> Iterator[Engine]:
    """Open the engine of that name, else that of the policy, else the one in which the table lies; then close it.

    A table that lies in an engine which cannot do what is asked is taken over by the local one, unless it was named. A
    ``target`` in a database is reached by the engine of that database alone.

    Raises UnsupportedError for a name that is none, and for a table or a target that the engine does not reach.
    """
    wanted = name or policy.run.engine or (None if target is None else PostgreSQL.name)
    if wanted not in (None, *ENGINES):
        raise UnsupportedError(f'there is no engine "{wanted}"; choose {", ".join(ENGINES)}')
    if target is not None and wanted != PostgreSQL.name:
        raise UnsupportedError(f'the engine "{wanted}" writes files; a table of a database is written by "postgresql"')
    if wanted == PostgreSQL.name:
        _require_same(table, target)
        with PostgreSQL(table) as database:
            yield database
        return
    if wanted == Spark.name or (wanted is None and _lies_in(table, "spark")):
        _require_frame(table)
        with Spark(table) as cluster:
            able = wanted is not None or not refusals(cluster, policy, source_for(cluster, table, policy), output)
            yield cluster if able else LOCAL
        return
    place = Path() if output is None else output.parent
    place = place if policy.run.temp_dir is None else policy.locate(policy.run.temp_dir)
    engine = DuckDB(place, policy.run.memory_bytes)
    if wanted is None and _lies_in(table, "duckdb"):
        able = not refusals(engine, policy, source_for(engine, table, policy), output)
        wanted = engine.name if able else None
    if wanted == engine.name:
        with engine:
            yield engine
    else:
        yield LOCAL


def _require_same(table: Any, target: Target | None) -> None:
    """Refuse what does not lie in one PostgreSQL database."""
    if not (isinstance(table, str) and table.startswith(("postgresql:", "postgresql+"))):
        raise UnsupportedError('the engine "postgresql" counts a table of a PostgreSQL database: give its URL')
    if target is None:
        return
    import sqlalchemy as sa

    ours, theirs = sa.make_url(table), sa.make_url(target.url)
    if any(getattr(ours, part) != getattr(theirs, part) for part in ("host", "port", "database", "query")):
        raise UnsupportedError("the output is another database than that of the table, which does not leave its own")


def _require_frame(table: Any) -> None:
    """Refuse what Spark does not read itself."""
    is_name = isinstance(table, str | Path) and not is_url(table)
    if not (is_name and format_of(Path(table)) in (None, PARQUET)) and not _lies_in(table, "spark"):
        raise UnsupportedError(
            'the engine "spark" counts a DataFrame, Parquet files by their path, or a table of the catalog by its name'
        )


def _lies_in(table: object, kind: str) -> bool:
    if isinstance(table, Source | TransformedTable):
        return False
    return kind_of(table) == kind


def source_for(engine: Engine, table: Any, policy: Policy, **database: str | None) -> Source:
    """Open a table for an engine: a relation, and a table of a database, stay where they are."""
    options = source_options(policy, query=database.get("query"), table=database.get("sql_table"))
    if isinstance(engine, PostgreSQL | Spark):
        return engine.open(options)
    if engine.name == DuckDB.name and _lies_in(table, "duckdb"):
        return open_relation(table, options)
    return open_source(table, options)


def refusals(
    engine: Engine, policy: Policy, source: Source, output: Path | None, target: Target | None = None
) -> list[str]:
    """Say what of a policy an engine cannot do, each in a few words; nothing for the local one.

    Raises SchemaError as ``resolve`` does.
    """
    if engine.name == LOCAL.name:
        return []
    found = []
    if policy.transforms:
        found.append("[[transforms]]")
    if policy.releases is not None:
        found.append("a ledger of [releases]")
    if policy.output.order == "kept" or (target is not None and policy.output.order != "sorted"):
        found.append(f'order = "{policy.output.order}"')
    if target is not None and policy.output.ranges != "label":
        found.append(f'ranges = "{policy.output.ranges}"')
    if target is not None and form_of(policy) != "one_table":
        found.append(f'"{policy.recoding.algorithm}"')
    roles = resolve(policy, source.columns)
    if masked := published_identifying(roles):
        found.append(f'masks and pseudonyms ("{masked[0]}")')
    carried = uncounted(policy, roles, source.columns)
    if isinstance(engine, Remote):
        counted = [*roles.quasi, *modelled(policy), *([] if roles.person is None else [roles.person])]
        named = [name for name in (*counted, *carried) if name in source.columns]
        kinds = {name: engine.unknown_type(source, name, carried=name in carried) for name in named}
        found += [f'the type {kind} of "{name}"' for name, kind in kinds.items() if kind is not None]
    return [*found, *_beside(engine, policy, carried, output, target)] if carried else found


def _beside(
    engine: Engine,
    policy: Policy,
    carried: Sequence[str],
    output: Path | None,
    target: Target | None,
) -> list[str]:
    """Say what cannot be done beside columns that are published as they are."""
    named, found = f'beside a column that no model looks at ("{carried[0]}")', []
    if policy.output.order == "shuffled":
        found.append(f'order = "shuffled" {named}')
    if policy.output.ranges != "label":
        found.append(f'ranges = "{policy.output.ranges}" {named}')
    if form_of(policy) != "one_table" or policy.item_columns:
        found.append(f'"{policy.recoding.algorithm}" {named}')
    if isinstance(engine, PostgreSQL):
        return [*found, *([] if target is not None else [f"another output than a table of the database {named}"])]
    chosen = None if output is None else format_of(output)
    if chosen is None or chosen.nested is None:
        found.append(f"another output than parquet or arrow {named}")
    return found


@contextmanager
def opened_for(
    table: Any, policy: Policy, name: str | None, refused: Mapping[str, bool], **database: str | None
) -> Iterator[tuple[Engine, Any]]:
    """Open the engine that counts a table for a judgement, and the table in it; then close it.

    The local engine takes the table as it is given; it stands in for the one of the policy where that cannot do what is
    asked. ``refused``: what another one cannot do, and whether it is asked.

    Raises UnsupportedError for these, and what ``engine_for`` raises.
    """
    found = [what for what, holds in refused.items() if holds]
    able = policy.run.engine == DuckDB.name and not found
    with engine_for(table, policy, name or (DuckDB.name if able else LOCAL.name), None) as engine:
        if not isinstance(engine, Remote):
            yield engine, table
            return
        if found:
            raise UnsupportedError(
                f'the engine "{engine.name}" cannot do {"; ".join(found)}: leave it out, or take engine = "local"'
            )
        yield engine, source_for(engine, table, policy, **database)


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


def require_able(
    engine: Engine, policy: Policy, source: Source, output: Path | None, target: Target | None = None
) -> None:
    """Raise UnsupportedError for what an engine cannot do (``refusals``)."""
    if found := refusals(engine, policy, source, output, target):
        raise UnsupportedError(
            f'the engine "{engine.name}" cannot do {"; ".join(found)}: leave it out, or take engine = "local"'
        )
