"""The engine for tables in a lake or on a cluster: PySpark counts, and deals and sorts the rows that are published too.

DataFrame calls only. The groups come to the driver, whose memory bounds their number; rows that stay stream to a file.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from indistinct.formats.source import BATCH_ROWS, Source, extra_required
from indistinct.tables.remote import Remote, explained_as

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Self

    from indistinct.formats.source import TableOptions
    from indistinct.tables.count import Counted
    from indistinct.tables.dealing import Dealing
    from indistinct.tables.engine import Request

# types whose values arrive as those of the local engine do
TYPES = {
    "string": pa.string(), "bigint": pa.int64(), "int": pa.int32(), "smallint": pa.int16(), "tinyint": pa.int8(),
    "boolean": pa.bool_(), "date": pa.date32(), "double": pa.float64(), "float": pa.float32(),
    "timestamp_ntz": pa.timestamp("us"),
}  # fmt: skip


class Spark(Remote):
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
        self._dealt: Any = None

    def __enter__(self) -> Self:
        try:
            from pyspark.sql import SparkSession
        except ModuleNotFoundError:
            raise extra_required("pyspark", "spark") from None
        if not isinstance(self.table, str | Path):
            self.frame, self.session = self.table, self.table.sparkSession
            return self
        with ExitStack() as stack, self.explained("the table"):
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
        name = "the table" if not isinstance(self.table, str | Path) else Path(self.table).name
        self._named = dict(self.frame.dtypes)
        kinds = {column: TYPES.get(named, pa.binary()) for column, named in self._named.items()}
        return self.described(name, kinds, self.frame.columns, options, self.frame)

    def unknown_type(self, source: Source, name: str, *, carried: bool) -> str | None:  # noqa: ARG002  # the contract's
        """Name a type whose values do not arrive as those of the local engine."""
        return None if self._named[name] in TYPES else self._named[name]

    def groups(self, source: Source, wanted: tuple[str, ...], request: Request) -> Iterator[Any]:
        """Count by one groupBy, whose groups come to the driver."""
        from pyspark.sql import functions

        rows = self._rows(source, wanted, "k")
        groups = rows.groupBy(*rows.columns).agg(functions.count(functions.lit(1)).alias("n")).toArrow()
        self._groups = groups if request.carried else None
        yield from groups.to_batches(BATCH_ROWS)

    def look(self, source: Source, name: str, place: int) -> tuple[int, int]:  # noqa: ARG002  # read by its name
        """Group the column."""
        from pyspark.sql import functions

        times = self._rows(source, [name], "v").groupBy("v0").agg(functions.count(functions.lit(1)).alias("n"))
        lone = functions.when((times["n"] == 1) & times["v0"].isNotNull(), 1).otherwise(0)
        rows, once = times.agg(functions.sum("n"), functions.sum(lone)).collect()[0]
        return int(rows), int(once)

    def deal(self, source: Source, counted: Counted, dealing: Dealing, carried: Sequence[str]) -> None:
        """Join the rows with their cells and entries, and sort them."""
        from pyspark.sql import Window, functions

        assert counted.cell_of_group is not None  # noqa: S101  # groups were read
        names = [hierarchy.attribute for hierarchy in (*counted.frequencies.quasi, *counted.frequencies.sensitive)]
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
        self._dealt = dealt.orderBy(*sort).select(*wanted).persist()
        self._stack.callback(self._dealt.unpersist)

    def dealt(self, size: int) -> Iterator[Any]:  # noqa: ARG002  # Spark chooses
        """Stream the sorted rows."""
        yield from pa.RecordBatchReader.from_stream(self._dealt)

    def explained(self, what: str) -> AbstractContextManager[None]:
        """Name the work that Spark could not do."""
        return explained_as(("pyspark", "py4j"), lambda words: f"Spark could not do the work on {what}: {words}")

    def _rows(self, source: Source, wanted: Sequence[str], mark: str) -> Any:
        """Columns of the table by their place, for Spark takes names that differ by case for one: k0, k1, ..."""
        places = [source.columns.index(name) for name in wanted]
        by_place = self.frame.toDF(*(f"x{place}" for place in range(len(source.columns))))
        return by_place.select(*(by_place[f"x{place}"].alias(f"{mark}{at}") for at, place in enumerate(places)))
