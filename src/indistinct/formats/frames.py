"""Frames of other libraries: taken in once through Arrow, given back in the caller's kind."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, Literal

from indistinct.errors import DataError, SchemaError, UnsupportedError
from indistinct.formats.moments import several_offsets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from indistinct.formats.source import Source, TableOptions

Kind = Literal["path", "pandas", "polars", "polars-lazy", "pyarrow", "duckdb", "spark"]
NAME = "the table"


def kind_of(table: object) -> Kind:
    """Say what a caller's table is, without importing a library to find out.

    Anything that exports an Arrow C stream and is not known better counts as ``pyarrow``.

    Raises UnsupportedError for anything else.

    >>> kind_of("people.csv")
    'path'
    """
    if isinstance(table, str | os.PathLike):
        return "path"
    from narwhals.stable.v2 import dependencies as known  # takes a twentieth of a second

    tests: dict[Kind, Callable[[object], bool]] = {
        "pandas": known.is_pandas_dataframe,
        "polars": known.is_polars_dataframe,
        "polars-lazy": known.is_polars_lazyframe,
        "duckdb": known.is_duckdb_relation,
        "spark": known.is_pyspark_dataframe,
        "pyarrow": lambda table: known.is_pyarrow_table(table) or hasattr(table, "__arrow_c_stream__"),
    }
    for kind, is_so in tests.items():
        if is_so(table):
            return kind
    message = (
        f"a table of type {type(table).__name__} is not known; "
        "give a path, a database URL, or a frame of pandas, Polars, pyarrow, DuckDB or Spark"
    )
    raise UnsupportedError(message)


def open_frame(table: object) -> Source:
    """Open a frame for reading. A lazy frame or a relation is run once, here, so that every reading is the same.

    The index of a pandas frame is not data; its NaN, None and NA are missing, and so are nulls of the others. A
    NaN of Polars, pyarrow or DuckDB is a value. Categories that do not occur are not there.

    Raises UnsupportedError for what is no frame, SchemaError for columns without or with the same name, DataError
    for a frame without rows or a pandas column that mixes types.

    >>> import pyarrow as pa
    >>> open_frame(pa.table({"age": [30]})).types
    {'age': DataType(int64)}
    """
    from indistinct.formats.columnar import table_source

    return table_source(to_arrow(table), NAME)


def open_relation(relation: Any, options: TableOptions) -> Source:
    """Open a DuckDB relation without taking it over: every reading runs it again, and DuckDB may read it itself.

    Raises what ``open_frame`` raises, but for rows, of which there may be none. A relation of which the policy names
    missing values is no longer DuckDB's to read.

    >>> import duckdb
    >>> from indistinct.formats.source import TableOptions
    >>> open_relation(duckdb.sql("SELECT 30::BIGINT AS age"), TableOptions()).types
    {'age': DataType(int64)}
    """
    from indistinct.formats.columnar import plain_batch, plain_type, without_tokens
    from indistinct.formats.source import BATCH_ROWS, Source, check_names, look_alikes

    schema = relation.limit(0).to_arrow_table().schema
    columns = check_names(schema.names, NAME)
    tokens = options.missing_values

    def read(wanted: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        names = ", ".join(f'"{name.replace(chr(34), chr(34) * 2)}"' for name in wanted)
        for batch in relation.select(names).to_arrow_reader(BATCH_ROWS):
            yield without_tokens(plain_batch(batch), tokens) if tokens else plain_batch(batch)

    types = {column.name: plain_type(column.type) for column in schema}
    native = None if tokens else relation
    return Source(NAME, columns, types, is_text=False, read=read, warnings=look_alikes(columns), native=native)


def to_arrow(table: Any) -> pa.Table:
    """Take a frame over as an Arrow table, without copying where its library allows."""
    import pyarrow as pa

    kind = kind_of(table)
    if kind == "pandas":
        return _from_pandas(table)
    if kind == "polars-lazy":
        table = table.collect()
    if kind == "spark":
        table = table.toArrow()
    if isinstance(table, pa.Table):
        return table
    try:
        return pa.RecordBatchReader.from_stream(table).read_all()
    except pa.ArrowException:
        if kind in ("polars", "polars-lazy"):
            _name_untakable(table)
        message = f"{NAME} is a {type(table).__name__} without columns; give a frame"
        raise UnsupportedError(message) from None


def _name_untakable(frame: Any) -> None:
    """Raise UnsupportedError for the first column of a Polars frame whose type Arrow does not have."""
    import pyarrow as pa

    for name, kind in frame.schema.items():
        try:
            pa.RecordBatchReader.from_stream(frame.select(name)).schema  # noqa: B018  # reading it is the question
        except pa.ArrowException:
            message = (
                f'the column "{name}" has the type {kind}, which cannot be taken over; cast it to Int64 or to text'
            )
            raise UnsupportedError(message, column=name) from None


def give_back(table: pa.Table, kind: Kind) -> Any:
    """Turn a table into the caller's kind; for ``path``, ``pyarrow`` and ``spark`` it stays as it is.

    Columns of a dictionary type become categoricals of pandas and Polars, with the values that occur, in sorted
    order, as their categories. In pandas, integers and truth values with nulls get its nullable types.

    >>> import pyarrow as pa
    >>> give_back(pa.table({"age": [30]}), "polars").rows()
    [(30,)]
    """
    from indistinct.formats.columnar import rebuilt_table

    table = rebuilt_table(table.replace_schema_metadata())
    if kind == "pandas":
        return _to_pandas(table)
    if kind in ("polars", "polars-lazy"):
        import polars as pl

        frame = pl.DataFrame(table)
        return frame.lazy() if kind == "polars-lazy" else frame
    if kind == "duckdb":
        import duckdb

        return duckdb.from_arrow(table)
    return table


def _from_pandas(frame: Any) -> pa.Table:
    import pyarrow as pa

    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        double = next(name for name in names if names.count(name) > 1)
        raise SchemaError(f'{NAME} names the column "{double}" more than once; rename all but one', column=double)
    columns = []
    for position, name in enumerate(names):
        series = _without_spans(frame.iloc[:, position])
        if series.dtype == object and several_offsets(series):
            series = series.map(str, na_action="ignore")
        try:
            columns.append(pa.chunked_array(pa.Array.from_pandas(series)))
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            message = f'the column "{name}" mixes values of different types; make them all text or all numbers'
            raise DataError(message, column=name) from None
    return pa.table(columns, names=names)


def _without_spans(series: Any) -> Any:
    """Intervals (of ``pandas.cut``, say) and periods as their text, such as ``(0, 20]`` and ``2024-03``."""
    categories = series.cat.categories if series.dtype == "category" else None
    if categories is not None and str(categories.dtype).startswith(("interval", "period")):
        return series.cat.rename_categories([str(span) for span in categories])
    if str(series.dtype).startswith(("interval", "period")):
        return series.astype(object).map(str, na_action="ignore")
    return series


def _to_pandas(table: pa.Table) -> Any:
    import pyarrow as pa

    pd = importlib.import_module("pandas")
    nullable = {
        pa.bool_(): pd.BooleanDtype(),
        pa.int8(): pd.Int8Dtype(),
        pa.int16(): pd.Int16Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.uint8(): pd.UInt8Dtype(),
        pa.uint16(): pd.UInt16Dtype(),
        pa.uint32(): pd.UInt32Dtype(),
        pa.uint64(): pd.UInt64Dtype(),
    }
    columns = {
        name: column.to_pandas(types_mapper=nullable.get) if column.null_count else column.to_pandas()
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    return pd.DataFrame(columns, columns=list(table.column_names))
