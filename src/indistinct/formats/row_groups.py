"""Batches cut and joined to row groups, as writers take them, and their columns brought to plain types."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import pyarrow as pa

from indistinct.formats.columnar import ENCODED, is_text, plainly_typed
from indistinct.formats.texts import as_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


ROW_GROUP = 1 << 20


def row_groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema, rows: int) -> Iterator[pa.Table]:
    """Batches cut and joined to tables of exactly ``rows`` rows, the last one shorter."""
    waiting: deque[pa.RecordBatch] = deque()
    held = 0
    for batch in batches:
        waiting.append(batch)
        held += batch.num_rows
        while held >= rows:
            yield _taken(waiting, rows, schema)
            held -= rows
    if held:
        yield _taken(waiting, held, schema)


def no_rows(schema: pa.Schema) -> pa.Table:
    """The table without rows that a schema describes."""
    kinds = [ENCODED if is_text(column.type) else column.type for column in schema]
    return pa.schema(list(zip(schema.names, kinds, strict=True))).empty_table()


def _taken(waiting: deque[pa.RecordBatch], rows: int, schema: pa.Schema) -> pa.Table:
    taken = []
    while rows:
        batch = waiting.popleft()
        if batch.num_rows > rows:
            waiting.appendleft(batch.slice(rows))
            batch = batch.slice(0, rows)
        taken.append(batch)
        rows -= batch.num_rows
    columns = []
    for position, column in enumerate(schema):
        arrays = [batch.column(position) for batch in taken]
        if is_text(column.type):
            columns.append(pa.chunked_array([encoded(array) for array in arrays], ENCODED))
        else:
            columns.append(pa.chunked_array([plainly_typed(array).cast(column.type) for array in arrays], column.type))
    return pa.table(columns, names=schema.names)


def encoded(array: pa.Array) -> pa.DictionaryArray:
    """Encode texts by a dictionary, if they are not."""
    array = plainly_typed(array)
    return array if pa.types.is_dictionary(array.type) else array.cast(pa.string()).dictionary_encode()


def commonly_typed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Column whose values a workbook, SPSS and Stata know: moments with a zone as texts, durations as numbers.

    Floats of single precision become the doubles that are written alike.
    """
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.chunked_array([as_text(chunk) for chunk in column.chunks], pa.string())
    if pa.types.is_duration(kind):
        return column.cast(pa.int64())
    return column.cast(pa.string()).cast(pa.float64()) if pa.types.is_float32(kind) else column
