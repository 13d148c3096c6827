"""The engine for tables in a lake or on a cluster: PySpark counts, and deals and sorts the rows that are published too.

DataFrame calls only. The groups come to the driver, whose memory bounds their number; what only the counts decide is
published from them, as the local engine does. Other columns stay: every row joins its cell, those of a cell that goes
to several places are numbered by these columns and dealt by count, and the sorted rows stream to the file.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from indistinct.errors import DataError, UnsupportedError
from indistinct.formats.arrow import whole_numbers
from indistinct.formats.columnar import is_text, plain_batch
from indistinct.formats.source import BATCH_ROWS, Source, check_names, counted_by, extra_required, look_alikes
from indistinct.tables import count
from indistinct.tables.dealing import Dealing, dealing_of
from indistinct.tables.local import Local
from indistinct.tables.stored import Stored, StoredColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from indistinct.formats.source import TableOptions
    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.tables.apply import Layout
    from indistinct.tables.count import Counted, Progress
    from indistinct.tables.published import Published
    from indistinct.tables.records import Assignment, Recoding

# types whose values arrive as those of the local engine do
TYPES = {
    "string": pa.string(), "bigint": pa.int64(), "int": pa.int32(), "smallint": pa.int16(), "tinyint": pa.int8(),
    "boolean": pa.bool_(), "date": pa.date32(), "double": pa.float64(), "float": pa.float32(),
    "timestamp_ntz": pa.timestamp("us"),
}  # fmt: skip


class Spark(Local):
    """The verbs of ``tables.engine``, done by Spark; writing and recounting a file are those of the local engine.

    ``table``: a DataFrame, the path of Parquet files, or the name of a table of the catalog. A context manager: rows
    that were kept on the cluster are let go on leaving, and so is a session that was begun here.
    """

    name = "spark"

    def __init__(self, table: Any) -> None:
        self.table = table
        self._stack = ExitStack()
        self._named: dict[str, str] = {}
        self._groups: Any = None

    def __enter__(self) -> Self:
        try:
            from pyspark.sql import SparkSession
        except ModuleNotFoundError:
            raise extra_required("pyspark", "spark") from None
        if not isinstance(self.table, str | Path):
            self.frame, self.session = self.table, self.table.sparkSession
            return self
        with ExitStack() as stack, explained("the table"):
            running = SparkSession.getActiveSession()
            self.session = running or SparkSession.builder.getOrCreate()
            if running is None:
                stack.callback(self.session.stop)
            there = Path(self.table).exists()
            self.frame = self.session.read.parquet(str(self.table)) if there else self.session.table(str(self.table))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def open(self, options: TableOptions) -> Source:
        """Open the table, whose rows stay where they are; raises UnsupportedError for tokens of missing values."""
        if options.missing_values:
            raise UnsupportedError('the engine "spark" knows no missing_values: make them null in the DataFrame')
        name = "the table" if not isinstance(self.table, str | Path) else Path(self.table).name
        columns = check_names(self.frame.columns, name)
        self._named = dict(self.frame.dtypes)
        kinds = {column: TYPES.get(named, pa.binary()) for column, named in self._named.items()}

        def read(_: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
            raise UnsupportedError("the rows of this table stay in Spark")

        return Source(name, columns, kinds, is_text=False, read=read, warnings=look_alikes(columns), native=self.frame)

    def unknown_type(self, name: str, *, carried: bool) -> str | None:  # noqa: ARG002  # as PostgreSQL is asked
        """Name the type of a column that cannot be counted or carried; None for one that can."""
        return None if self._named[name] in TYPES else self._named[name]

    def count(
        self,
        source: Source,
        quasi: Sequence[str],
        sensitive: Sequence[str],
        bind: Callable[[str, Sequence[str | None]], Hierarchy],
        *,
        person: str | None = None,
        leave_out: Collection[str] = (),
        keep_rows: bool = False,  # noqa: ARG002  # rows stay where they are
        carried: Sequence[str] = (),
        progress: Progress = count.silent,
    ) -> Counted:
        """Let Spark count the groups, and count these."""

        def read(wanted: tuple[str, ...], weight: str) -> Iterator[pa.RecordBatch]:
            from pyspark.sql import functions

            rows = self._rows(source, wanted, "k")
            groups = rows.groupBy(*rows.columns).agg(functions.count(functions.lit(1)).alias("n")).toArrow()
            self._groups = groups if carried else None
            for batch in groups.to_batches(BATCH_ROWS):
                yield plain_batch(pa.record_batch(batch.columns, names=[*wanted, weight]))

        with explained(source.name):
            groups = counted_by(source, read)
            found = count.count(groups, quasi, sensitive, bind, person=person, leave_out=leave_out, progress=progress)
            return replace(found, carried={name: self._look(source, name) for name in carried})

    def apply(
        self,
        source: Source,
        counted: Counted,
        assignment: Assignment,
        recoding: Recoding,
        layout: Layout,
        *,
        grouped: str | None = None,
        permuted: bool = False,
        summed: bool = False,
        starred: bool = False,
    ) -> tuple[Published, Published | None]:
        """Publish from groups; with other columns, let Spark deal the rows."""
        carried = {name: own for name, own in counted.carried.items() if isinstance(own, StoredColumn)}
        if not carried:
            return super().apply(
                source, counted, assignment, recoding, layout,
                grouped=grouped, permuted=permuted, summed=summed, starred=starred,
            )  # fmt: skip
        dealing = dealing_of(source, counted, assignment, recoding, layout, carried=tuple(carried), starred=starred)
        names = [hierarchy.attribute for hierarchy in (*counted.frequencies.quasi, *counted.frequencies.sensitive)]
        types = {name: own.type for name, own in carried.items()}
        with explained(source.name):
            rows = self._dealt(source, counted, dealing, names, list(carried)).persist()
            self._stack.callback(rows.unpersist)
        columns = tuple(dealing.columns[name].compacted() for name in layout.columns if name in dealing.columns)

        def read(_: int) -> Iterator[Any]:
            with explained(source.name):
                for batch in pa.RecordBatchReader.from_stream(rows):
                    own = dict(zip(batch.schema.names, batch.columns, strict=True))
                    typed = {name: _typed(own[f"c{place}"], types[name]) for place, name in enumerate(carried)}
                    runs = {name: whole_numbers(array) for name, array in own.items() if name.startswith("run")}
                    yield dealing.batch(runs, typed)

        return Stored(columns, dealing.rows, layout.columns, types, read), None

    def _rows(self, source: Source, wanted: Sequence[str], mark: str) -> Any:
        """Columns of the table by their place, for Spark takes names that differ by case for one: k0, k1, ..."""
        places = [source.columns.index(name) for name in wanted]
        by_place = self.frame.toDF(*(f"x{place}" for place in range(len(source.columns))))
        return by_place.select(*(by_place[f"x{place}"].alias(f"{mark}{at}") for at, place in enumerate(places)))

    def _look(self, source: Source, name: str) -> StoredColumn:
        """Count the rows of a carried column, and those whose value occurs in no other row."""
        from pyspark.sql import functions

        times = self._rows(source, [name], "v").groupBy("v0").agg(functions.count(functions.lit(1)).alias("n"))
        lone = functions.when((times["n"] == 1) & times["v0"].isNotNull(), 1).otherwise(0)
        rows, once = times.agg(functions.sum("n"), functions.sum(lone)).collect()[0]
        return StoredColumn(name, source.types[name], int(rows), int(once))

    def _dealt(
        self, source: Source, counted: Counted, dealing: Dealing, names: Sequence[str], carried: Sequence[str]
    ) -> Any:
        """Give every row its entry, and sort the rows by what is published."""
        from pyspark.sql import Window, functions

        assert counted.cell_of_group is not None  # noqa: S101  # groups were read
        keys = [f"g{at}" for at in range(len(names))]
        groups = (
            self._groups.select(range(len(names)))
            .rename_columns(keys)
            .append_column("cell", pa.array(counted.cell_of_group))
        )
        cells = self.session.createDataFrame(groups).where("cell >= 0").dropDuplicates()
        rows = self._rows(source, [*names, *carried], "k")
        same = [rows[f"k{at}"].eqNullSafe(cells[key]) for at, key in enumerate(keys)]
        own = [rows[f"k{len(names) + at}"].alias(f"c{at}") for at in range(len(carried))]
        rows = rows.join(cells, same).select("cell", *own)
        order = [functions.col(f"c{at}").asc_nulls_first() for at in range(len(carried))]
        place = functions.row_number().over(Window.partitionBy("cell").orderBy(*order)) - 1
        rows = rows.withColumn("place", place)
        entries = self.session.createDataFrame(
            pa.table(
                {"entry": dealing.cell.astype(np.int64), "first": dealing.first, "last": dealing.last}
                | {f"run{at}": dealing.runs[:, at] for at in range(dealing.runs.shape[1])}
            )
        )
        taken = (rows["cell"] == entries["entry"]) & (rows["place"] >= entries["first"])
        dealt = rows.join(entries, taken & (rows["place"] < entries["last"]))
        sort = [
            functions.col(f"run{at}") if kind == "run" else functions.col(f"c{carried.index(kind)}").asc_nulls_first()
            for kind, at in dealing.sorting
        ]
        wanted = [f"run{at}" for at in range(dealing.runs.shape[1])] + [f"c{at}" for at in range(len(carried))]
        return dealt.orderBy(*sort).select(*wanted)


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Say in a sentence what Spark could not do: DataError, without values of the table."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("pyspark", "py4j"):
            raise
        words = str(error).strip().splitlines() or [type(error).__name__]
        raise DataError(f"Spark could not do the work on {what}: {words[0]}") from None


def _typed(array: Any, kind: Any) -> Any:
    return array.cast(pa.string()).dictionary_encode() if is_text(kind) else array.cast(kind)
