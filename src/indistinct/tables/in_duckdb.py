"""The engine for tables that do not fit into memory: DuckDB, in this process, with a limit of memory and a folder.

It counts by one GROUP BY. Rows that have to stay are kept in the folder until they are written.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from indistinct.errors import UnsupportedError
from indistinct.formats.columnar import is_text
from indistinct.formats.texts import as_text
from indistinct.tables.remote import Remote, explained_as
from indistinct.tables.scratch import scratch

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Self

    from indistinct.formats.source import Source
    from indistinct.tables.count import Counted
    from indistinct.tables.dealing import Dealing
    from indistinct.tables.engine import Request

BATCH_ROWS = 1_000_000


class DuckDB(Remote):
    """The verbs of ``tables.engine``, done by DuckDB; writing and recounting a file are those of the local engine.

    A context manager: temporary files go to a folder below ``place`` that is removed on leaving.
    """

    name = "duckdb"

    def __init__(self, place: Path, memory_bytes: int | None = None) -> None:
        self.place, self.memory_bytes = place, memory_bytes
        self._stack = ExitStack()
        self.connection: Any = None

    def __enter__(self) -> Self:
        import duckdb

        with ExitStack() as stack:
            folder = stack.enter_context(scratch(self.place))
            settings: dict[str, Any] = {
                "temp_directory": str(folder / "spilled"),
                "autoinstall_known_extensions": False,  # nothing is fetched from the network
                "autoload_known_extensions": False,
            }
            if self.memory_bytes is not None:
                settings["memory_limit"] = f"{self.memory_bytes}B"
            with self.explained("the table"):
                self.connection = stack.enter_context(duckdb.connect(str(folder / "rows.duckdb"), config=settings))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.connection = None
        self._stack.close()

    def groups(self, source: Source, wanted: tuple[str, ...], request: Request) -> Iterator[Any]:
        """Count by one GROUP BY; with carried columns the rows are kept in the folder first."""
        keep = bool(request.carried)
        relation = self._keep(source, wanted, request.carried) if keep else self._relation(source, wanted)
        names = [_quoted(name) for name in relation.columns]
        groups = relation.aggregate(
            f"{', '.join(names)}, count(*) AS {_quoted(_unused(relation.columns))}", ", ".join(names)
        )
        if keep:  # in an order that can be asked for again
            groups.create("groups")
            groups = self.connection.sql("SELECT * FROM groups ORDER BY rowid")
        yield from groups.to_arrow_reader(BATCH_ROWS)

    def look(self, source: Source, name: str, place: int) -> tuple[int, int]:  # noqa: ARG002  # kept by their places
        """Group the column."""
        ((rows, once),) = self.connection.execute(
            f"SELECT coalesce(sum(n), 0), count(*) FILTER (n = 1 AND v IS NOT NULL) FROM "  # noqa: S608
            f"(SELECT c{place} AS v, count(*) AS n FROM kept GROUP BY c{place})"
        ).fetchall()
        return int(rows), int(once)

    def deal(self, source: Source, counted: Counted, dealing: Dealing, carried: Sequence[str]) -> None:  # noqa: ARG002
        """Join the rows with their cells and entries, and sort them."""
        width = len(counted.frequencies.quasi) + len(counted.frequencies.sensitive)
        self._enter_cells(width, counted)
        keys = " AND ".join(f"r.k{place} IS NOT DISTINCT FROM c.k{place}" for place in range(width))
        own, of_row = (", ".join(f"{of}c{place}" for place in range(len(carried))) for of in ("", "r."))
        by = ", ".join(f"r.c{place} NULLS FIRST" for place in range(len(carried)))
        runs = ", ".join(f"run{place}" for place in range(dealing.runs.shape[1]))
        sort = ", ".join(
            f"run{place}" if kind == "run" else f"c{carried.index(kind)} NULLS FIRST" for kind, place in dealing.sorting
        )
        table = pa.table(
            {"cell": dealing.cell, "first": dealing.first, "last": dealing.last, "divided": dealing.divided}
            | {f"run{place}": dealing.runs[:, place] for place in range(dealing.runs.shape[1])}
        )
        self.connection.register("dealing", table)
        rows = f"FROM kept r JOIN cells c ON {keys}"
        self.connection.execute(
            f"CREATE TABLE published AS WITH "  # noqa: S608  # names are ours
            f"whole AS (SELECT {runs}, {of_row} {rows} JOIN dealing d ON d.cell = c.cell AND NOT d.divided), "
            f"numbered AS (SELECT c.cell, {of_row}, row_number() OVER (PARTITION BY c.cell ORDER BY "
            f"{by}) - 1 AS place {rows} "
            "WHERE c.cell IN (SELECT cell FROM dealing WHERE divided)), "
            f"parted AS (SELECT {runs}, {own} FROM numbered n JOIN dealing d "
            "ON d.cell = n.cell AND d.divided AND n.place >= d.first AND n.place < d.last) "
            f"SELECT * FROM (SELECT * FROM whole UNION ALL SELECT * FROM parted) ORDER BY {sort}"
        )
        self.connection.unregister("dealing")
        for gone in ("kept", "groups", "cells"):
            self.connection.execute(f"DROP TABLE {gone}")

    def dealt(self, size: int) -> Iterator[Any]:
        """Yield the sorted rows."""
        if self.connection is None:
            raise UnsupportedError("the rows lay in DuckDB, which is closed; name the file when you anonymize (output)")
        yield from self.connection.sql("SELECT * FROM published ORDER BY rowid").to_arrow_reader(size)

    def explained(self, what: str) -> AbstractContextManager[None]:  # noqa: ARG002  # the contract's
        """Say how to give DuckDB more room."""
        return explained_as(
            ("duckdb", "_duckdb"),
            lambda words: (
                f"DuckDB could not do the work: {words}; give more memory_limit, or a temp_dir with more room, under "
                "[run]"
            ),
        )

    def unknown_type(self, source: Source, name: str, *, carried: bool) -> str | None:
        """Name the type of a carried column whose values DuckDB does not give back as they are."""
        kind = source.types[name]
        return str(kind) if carried and not _is_carried(kind) else None

    def _relation(self, source: Source, wanted: Sequence[str]) -> Any:
        """Columns of a source as a relation; texts as ``as_text`` writes them, where DuckDB reads no file itself."""
        native: Any = source.native
        if native is None:
            return self._streamed(source, wanted, wanted)
        if not isinstance(native, Path):
            return native.select(", ".join(map(_quoted, wanted)))
        if not all(_is_plain(source.types[name]) for name in wanted):
            return self._streamed(source, wanted, wanted)
        relation = self.connection.read_parquet(str(native))
        # by their place: DuckDB renames columns that differ only by case
        return relation.select(", ".join(_quoted(relation.columns[source.columns.index(name)]) for name in wanted))

    def _streamed(self, source: Source, wanted: Sequence[str], as_texts: Collection[str]) -> Any:
        """Stream the columns of a source into DuckDB, as k0, k1, ..."""

        def batches() -> Iterator[Any]:
            for batch in source.batches(list(wanted)):
                arrays = [
                    _texts(array) if name in as_texts else _decoded(array)
                    for name, array in zip(wanted, batch.columns, strict=True)
                ]
                yield pa.record_batch(arrays, schema=schema)

        kinds = [pa.string() if name in as_texts else _stored(source.types[name]) for name in wanted]
        schema = pa.schema([(f"k{place}", kind) for place, kind in enumerate(kinds)])
        return self.connection.from_arrow(pa.RecordBatchReader.from_batches(schema, batches()))

    def _keep(self, source: Source, wanted: Sequence[str], carried: Sequence[str]) -> Any:
        """Keep the rows of a source in the folder: columns k0, k1, ... that are counted, and c0, c1, ... carried."""
        rows = self._streamed(source, [*dict.fromkeys([*wanted, *carried])], wanted)
        names = [f"k{place}" for place in range(len(wanted))]
        names += [f"k{len(wanted) + place} AS c{place}" for place in range(len(carried))]
        rows.select(", ".join(names)).create("kept")
        return self.connection.table("kept").select(", ".join(f"k{place}" for place in range(len(wanted))))

    def _enter_cells(self, width: int, counted: Counted) -> None:
        """Say in DuckDB which cell the rows of each combination of texts belong to."""
        assert counted.cell_of_group is not None  # noqa: S101  # groups were read
        numbers = pa.table({"id": np.arange(len(counted.cell_of_group)), "cell": counted.cell_of_group})
        keys = ", ".join(f"g.k{place}" for place in range(width))
        self.connection.register("numbers", numbers)
        self.connection.execute(
            f"CREATE TABLE cells AS SELECT DISTINCT {keys}, n.cell FROM groups g "  # noqa: S608  # names are ours
            "JOIN numbers n ON g.rowid = n.id WHERE n.cell >= 0"
        )
        self.connection.unregister("numbers")


def _is_carried(kind: Any) -> bool:
    """Whether DuckDB gives the values of a column of an Arrow type back as they are."""
    return bool(
        is_text(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_date32(kind)
        or pa.types.is_float32(kind)
        or pa.types.is_float64(kind)
        or pa.types.is_decimal128(kind)
        or (pa.types.is_timestamp(kind) and kind.tz is None)
    )


def _is_plain(kind: Any) -> bool:
    """Whether DuckDB's values of a type are written as those of Arrow are."""
    return is_text(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date32(kind)


def _stored(kind: Any) -> Any:
    return pa.string() if is_text(kind) else kind


def _texts(array: Any) -> Any:
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    return as_text(encoded.dictionary).cast(pa.string()).take(encoded.indices)


def _decoded(array: Any) -> Any:
    return array.dictionary_decode().cast(pa.string()) if pa.types.is_dictionary(array.type) else array


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _unused(columns: Sequence[str]) -> str:
    name = "n"
    while name in {column.casefold() for column in columns}:
        name += "n"
    return name
