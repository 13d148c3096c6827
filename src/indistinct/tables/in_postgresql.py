"""The engine for tables that stay in their database: PostgreSQL counts, deals, sorts, counts again and renames.

Everything happens in one transaction, which sees one state of the table: the groups are counted there, what was
decided is loaded in bulk, the new table is filled and counted again, and gets its name with the commit. Whoever is
killed before leaves nothing.
"""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from indistinct.errors import PolicyError, UnsupportedError
from indistinct.formats.columnar import is_text
from indistinct.formats.database import quoted_table, sql_array
from indistinct.formats.source import extra_required
from indistinct.tables.dictionary import Dictionary
from indistinct.tables.recount import collected
from indistinct.tables.remote import Remote, explained_as
from indistinct.tables.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from indistinct.formats.source import Source, TableOptions
    from indistinct.tables.count import Counted
    from indistinct.tables.dealing import Dealing
    from indistinct.tables.engine import Request
    from indistinct.tables.published import Published, PublishedColumn
    from indistinct.tables.recount import Recount

FETCH_ROWS = 50_000
BYTES = ' COLLATE "C"'  # texts are compared byte by byte, whatever the collation of their column
TEXTS = ("text", "varchar")
# types whose values arrive as those of the local engine do
TYPES = {
    "text": pa.string(), "varchar": pa.string(), "int2": pa.int64(), "int4": pa.int64(), "int8": pa.int64(),
    "bool": pa.bool_(), "date": pa.date32(), "float8": pa.float64(), "timestamp": pa.timestamp("us"),
}  # fmt: skip
# types whose values never leave the database, but are sorted and compared there
CARRIED = ("numeric", "float4", "timestamptz", "time", "uuid", "bpchar", "interval")


@dataclass(frozen=True)
class Target:
    """Where a release goes in a database: its URL, the name of the table (``schema.name``), a file for its manifest."""

    url: str
    table: str
    manifest: Path

    @property
    def shown(self) -> str:
        """The place, without user and password."""
        import sqlalchemy as sa

        address = sa.make_url(self.url)
        return f"{address.get_backend_name()}:{address.database}:{self.table}"


@dataclass(frozen=True)
class Written:
    """A new table that has no name that tells of it yet, and which of its columns are texts."""

    name: str
    texts: frozenset[str]


class PostgreSQL(Remote):
    """The verbs of ``tables.engine``, done by PostgreSQL in the transaction of one connection.

    A context manager: what was not named is gone on leaving.
    """

    name = "postgresql"

    def __init__(self, url: str) -> None:
        self.url = url
        self.connection: Any = None
        self._stack = ExitStack()
        self._keys: dict[str, str] = {}
        self._named: dict[str, str] = {}
        self._texts: set[str] = set()
        self._source: str | None = None
        self._dealt = self._sorting = self._new = ""
        # tables of the transaction come before those of the user: no name of theirs may be that of one
        self._own = f"indistinct_{secrets.token_hex(8)}"

    def __enter__(self) -> Self:
        try:
            import sqlalchemy as sa
        except ModuleNotFoundError:
            raise extra_required("sqlalchemy") from None
        try:
            engine = sa.create_engine(self.url, isolation_level="REPEATABLE READ")
        except sa.exc.ArgumentError:
            raise PolicyError("the database URL cannot be read; write it like postgresql:///people") from None
        except ModuleNotFoundError as error:
            raise UnsupportedError(
                f"PostgreSQL needs {error.name}; install it with: pip install 'indistinct[postgresql]'"
            ) from None
        with ExitStack() as stack:
            stack.callback(engine.dispose)
            with explained("the connection"):
                # without parameters a percent sign is no placeholder
                self.connection = stack.enter_context(engine.connect().execution_options(no_parameters=True))
                self.connection.begin()
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()  # what was not committed is rolled back

    def open(self, options: TableOptions) -> Source:
        """Open the table or query of ``options``, whose rows stay where they are.

        Raises PolicyError unless exactly one is given, DataError where the database refuses, UnsupportedError for
        tokens of missing values.
        """
        if (options.query is None) == (options.table is None):
            raise PolicyError("a database needs either a query or the name of a table; give one of them")
        name = options.table or "the query"
        with explained(name):
            place = f"({options.query}) AS q" if options.query else quoted_table(self.connection, str(options.table))
            found = self.connection.exec_driver_sql(f"SELECT * FROM {place} LIMIT 0")  # noqa: S608  # the user's own query
            described = [(column.name, column.type_code) for column in found.cursor.description]
            types = dict(self._fetch("SELECT oid, typname FROM pg_type"))
        self._named = {column: str(types[code]) for column, code in described}
        self._texts = {column for column, named in self._named.items() if named in TEXTS}
        kinds = {column: TYPES.get(named, pa.binary()) for column, named in self._named.items()}
        self._source = None if options.table is None else place
        source = self.described(name, kinds, [column for column, _ in described], options, f"{self._own}_source")
        with explained(name):  # as long as there is a view of it, nothing that the table is read from can be dropped
            self._run(f"CREATE TEMP VIEW {source.native} AS SELECT * FROM {place}")  # noqa: S608  # as above
        return source

    def unknown_type(self, source: Source, name: str, *, carried: bool) -> str | None:  # noqa: ARG002  # the contract's
        """Name a type whose values do not arrive as those of the local engine; what is carried does not leave."""
        named = self._named[name]
        return None if named in TYPES or (carried and named in CARRIED) else named

    def groups(self, source: Source, wanted: tuple[str, ...], request: Request) -> Iterator[Any]:
        """Count by one GROUP BY; the groups are numbered, to be joined later."""
        self._keys = {name: f"k{place}" for place, name in enumerate([*request.quasi, *request.sensitive])}
        keys = {name: self._keys.get(name, "person") for name in wanted}
        columns = ", ".join(f"{self._exact(name)} AS {key}" for name, key in keys.items())
        listed = ", ".join(keys.values())
        counted = f"SELECT {columns}, count(*) AS n FROM {source.native} GROUP BY {listed}"  # noqa: S608
        numbered = f"SELECT g.*, row_number() OVER () - 1 AS id FROM ({counted}) g"  # noqa: S608
        self._run(f"DROP TABLE IF EXISTS {self._own}_groups")  # of another set of columns, counted before
        self._run(f"CREATE TEMP TABLE {self._own}_groups ON COMMIT DROP AS {numbered}")
        groups = self.connection.exec_driver_sql(f"SELECT {listed}, n FROM {self._own}_groups ORDER BY id")  # noqa: S608
        kinds = [*(source.types[name] for name in wanted), pa.int64()]
        for rows in groups.partitions(FETCH_ROWS):
            arrays = [pa.array(own, kind) for own, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
            yield pa.record_batch(arrays, names=[*listed.split(", "), "n"])

    def look(self, source: Source, name: str, place: int) -> tuple[int, int]:  # noqa: ARG002  # read by its name
        """Group the column."""
        ((rows, once),) = self._fetch(
            "SELECT coalesce(sum(n), 0), count(*) FILTER (WHERE n = 1 AND v IS NOT NULL) FROM "  # noqa: S608
            f"(SELECT {self._exact(name)} AS v, count(*) AS n FROM {source.native} GROUP BY 1) g"
        )
        return int(rows), int(once)

    def deal(self, source: Source, counted: Counted, dealing: Dealing, carried: Sequence[str]) -> None:
        """Load what was decided, and say in SQL how the rows are dealt."""
        labels = [name for name in dealing.order if name in dealing.columns]
        self._enter(counted, dealing, labels)
        places = {name: f"d.l{at}" for at, name in enumerate(labels)}
        places |= {name: f"r.c{at}" for at, name in enumerate(carried)}
        texts = self._texts.intersection(carried) | {name for name in labels if is_text(dealing.columns[name].type)}
        self._dealt = self._dealing(source, carried, {name: places[name] for name in dealing.order})
        self._sorting = ", ".join(
            f"{places[name]}{BYTES if name in texts else ''} NULLS FIRST" for name in dealing.order
        )

    def dealt(self, size: int) -> Iterator[Any]:  # noqa: ARG002  # the contract's
        """Refuse: the rows do not leave the database."""
        raise UnsupportedError("the rows of this release are in the database")

    def explained(self, what: str) -> AbstractContextManager[None]:
        """Name what the database refused."""
        return explained(what)

    @property
    def comparison(self) -> Callable[[], list[str] | None]:
        """What compares the new table with the rows that were decided."""
        return self._differing

    def put(self, published: Published, table: str) -> Written:
        """Fill a new table in the schema of ``table`` with the rows, in order, under a name that tells nothing."""
        with explained(table):
            self._new = f'{self._schema(table)}."indistinct_{secrets.token_hex(8)}"'
            if isinstance(published, Stored):
                self._run(f"CREATE TABLE {self._new} AS {self._dealt} ORDER BY {self._sorting}")
            else:
                self._put_groups(published)
        return Written(self._new, frozenset(own.name for own in published.columns if is_text(own.type)))

    def rename(self, table: str, *, force: bool) -> None:
        """Give the new table its name, in place of an older one with ``force``, and commit.

        Raises PolicyError where one exists.
        """
        with explained(table):
            if self.exists(table):
                if not force:
                    raise existing(table)
                self._run(f"DROP TABLE {self._qualified(table)}")
            self._run(f"DROP VIEW {self._own}_source")
            self._run(f"ALTER TABLE {self._new} RENAME TO {_quoted(table.rpartition('.')[2])}")
            self.connection.commit()

    def exists(self, table: str) -> bool:
        """Whether there is a table or view of that name."""
        ((found,),) = self._fetch("SELECT to_regclass(%s) IS NOT NULL", (self._qualified(table),))
        return bool(found)

    def check(self, table: str, *, force: bool) -> None:
        """Refuse a name that is taken, with ``force`` that of the source alone, before anything is counted."""
        with explained(table):
            place = self._qualified(table)
            if self._source is not None:
                ((same,),) = self._fetch("SELECT to_regclass(%s) = to_regclass(%s)", (place, self._source))
                if same:
                    raise PolicyError(
                        f"the output {table} is the source; a source is never overwritten, name another table",
                        file=table,
                    )
            if not force and self.exists(table):
                raise existing(table)

    def recount(
        self,
        place: Any,
        columns: Sequence[str],
        options: TableOptions,
        *,
        temp_dir: Path | None = None,
        memory_bytes: int | None = None,
    ) -> Recount:
        """Let the database group the new table; a file is counted as the local engine does."""
        if not isinstance(place, Written):
            return super().recount(place, columns, options, temp_dir=temp_dir, memory_bytes=memory_bytes)
        keys = ", ".join(f"{_quoted(name)}{BYTES if name in place.texts else ''}" for name in columns)
        by = ", ".join(str(at + 1) for at in range(len(columns)))
        with explained("the output"):
            rows = self._fetch(f"SELECT {keys}, count(*) FROM {place.name} GROUP BY {by}")  # noqa: S608  # quoted
        arrays = [sql_array([row[at] for row in rows]) for at in range(len(columns))]
        numbers = np.array([row[-1] for row in rows], np.int64)
        batch = pa.record_batch(arrays, names=list(columns))
        return collected([Dictionary(name) for name in columns], [(batch, numbers)])

    # --- what is asked of the database: names are quoted, or ours ---------------------------------------------------

    def _exact(self, name: str) -> str:
        """Write a column as it is grouped and joined: texts byte by byte."""
        return f"{_quoted(name)}::text{BYTES}" if name in self._texts else _quoted(name)

    def _enter(self, counted: Counted, dealing: Dealing, labels: Sequence[str]) -> None:
        """Load which cell the rows of each group belong to, and what is published of each entry."""
        assert counted.cell_of_group is not None  # noqa: S101  # groups were read
        cells = counted.cell_of_group.tolist()
        self._load(f"{self._own}_numbers", {"id": "bigint", "cell": "bigint"}, [range(len(cells)), cells])
        kinds = {"cell": "bigint", "first": "bigint", "last": "bigint"}
        kinds |= {f"l{at}": self._sql_type(dealing.columns[name]) for at, name in enumerate(labels)}
        numbers = [dealing.cell.tolist(), dealing.first.tolist(), dealing.last.tolist()]
        self._load(f"{self._own}_dealing", kinds, [*numbers, *(_values(dealing.columns[name]) for name in labels)])
        keys = ", ".join(self._keys.values())
        self._run(
            f"CREATE TEMP TABLE {self._own}_cells ON COMMIT DROP AS SELECT DISTINCT {keys}, cell "  # noqa: S608
            f"FROM {self._own}_groups JOIN {self._own}_numbers USING (id) WHERE cell >= 0"
        )
        for table in ("cells", "dealing"):
            self._run(f"ANALYZE {self._own}_{table}")

    def _dealing(self, source: Source, carried: Sequence[str], places: dict[str, str]) -> str:
        """SQL of the published rows: every row joins its cell, is numbered in it and dealt by count."""
        rows = [f"{self._exact(name)} AS {key}" for name, key in self._keys.items()]
        rows += [f"{_quoted(name)} AS c{at}" for at, name in enumerate(carried)]
        same = " AND ".join(f"t.{key} IS NOT DISTINCT FROM c.{key}" for key in self._keys.values())
        texts = {at for at, name in enumerate(carried) if name in self._texts}
        by = ", ".join(f"t.c{at}{BYTES if at in texts else ''} NULLS FIRST" for at in range(len(carried)))
        own = ", ".join(f"t.c{at}" for at in range(len(carried)))
        wanted = ", ".join(f"{place} AS {_quoted(name)}" for name, place in places.items())
        return (
            f"SELECT {wanted} FROM "  # noqa: S608
            f"(SELECT c.cell, {own}, row_number() OVER (PARTITION BY c.cell ORDER BY {by}) - 1 AS place "
            f"FROM (SELECT {', '.join(rows)} FROM {source.native}) t JOIN {self._own}_cells c ON {same}) r "
            f"JOIN {self._own}_dealing d ON d.cell = r.cell AND r.place >= d.first AND r.place < d.last"
        )

    def _put_groups(self, published: Published) -> None:
        """Load the groups in bulk and repeat each its count, in the order in which they stand."""
        kinds = {"id": "bigint", "n": "bigint"}
        kinds |= {f"l{at}": self._sql_type(column) for at, column in enumerate(published.columns)}
        groups = [range(len(published.repeat)), published.repeat.tolist(), *map(_values, published.columns)]
        self._load(f"{self._own}_released", kinds, groups)
        wanted = ", ".join(f"l{at} AS {_quoted(column.name)}" for at, column in enumerate(published.columns))
        self._run(
            f"CREATE TABLE {self._new} AS SELECT {wanted} FROM {self._own}_released "  # noqa: S608
            "CROSS JOIN LATERAL generate_series(1, n) ORDER BY id"
        )

    def _sql_type(self, column: PublishedColumn) -> str:
        """Type of a published column: text of labels, that of its source where its values are unchanged."""
        return "text" if is_text(column.type) else self._named[column.name]

    def _differing(self) -> list[str] | None:
        """Compare the new table with the rows that were decided, as multisets: None where they are not the same."""
        ((differ,),) = self._fetch(
            f"SELECT EXISTS (SELECT * FROM {self._new} EXCEPT ALL ({self._dealt})) "  # noqa: S608
            f"OR EXISTS (({self._dealt}) EXCEPT ALL SELECT * FROM {self._new})"
        )
        return None if differ else []

    def _load(self, name: str, kinds: dict[str, str], columns: Sequence[Sequence[Any]]) -> None:
        """Load columns in bulk into a table that is gone with the transaction."""
        self._run(f"CREATE TEMP TABLE {name} ({', '.join(map(' '.join, kinds.items()))}) ON COMMIT DROP")
        with self.connection.connection.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in zip(*columns, strict=True):
                copy.write_row(row)

    def _schema(self, table: str) -> str:
        """Quote the schema of a table, by default that in which new ones are made."""
        schema = table.rpartition(".")[0]
        if not schema:
            ((schema,),) = self._fetch("SELECT current_schema()")
        return _quoted(schema)

    def _qualified(self, table: str) -> str:
        return f"{self._schema(table)}.{_quoted(table.rpartition('.')[2])}"

    def _fetch(self, sql: str, parameters: tuple[Any, ...] | None = None) -> list[Any]:
        return list(self.connection.exec_driver_sql(sql, parameters).fetchall())

    def _run(self, sql: str) -> None:
        self.connection.exec_driver_sql(sql)


def explained(what: str) -> AbstractContextManager[None]:
    """Say in a sentence what the database refused: DataError, without statement and values."""
    packages = ("sqlalchemy", "psycopg")
    return explained_as(packages, lambda words: f"the database refuses {what}: {words}", file=what)


def existing(table: str) -> PolicyError:
    """Return the error for a table that is there already."""
    return PolicyError(f"the output {table} exists; name another table, or use --force (force=True)", file=table)


def _values(column: PublishedColumn) -> list[Any]:
    """Values of the units of a column, as the driver takes them."""
    values = [*column.values.to_pylist(), None]
    return [values[code] for code in column.codes.tolist()]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
