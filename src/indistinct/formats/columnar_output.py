"""Writing Parquet and Arrow files."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import pyarrow as pa

from indistinct.formats.arrow import number_array, whole_numbers
from indistinct.formats.columnar import ENCODED, is_text, rebuilt_table
from indistinct.formats.row_groups import ROW_GROUP, no_rows, row_groups

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indistinct.formats.contract import Sheet, Writing


def write_parquet(file: BinaryIO, sheets: Mapping[str, Sheet], _: Writing) -> None:
    """Write one table as Parquet, without the schema of Arrow and without statistics."""
    import pyarrow.parquet as pq

    ((batches, schema),) = sheets.values()
    groups = row_groups(batches, schema, ROW_GROUP)
    first = rebuilt_table(next(groups, None) or no_rows(schema))
    # texts that hardly repeat go without a dictionary of ours; the first row group decides for all
    kinds = [
        pa.string() if is_text(column.type) and not _repeats(column.chunk(0)) else column.type
        for column in first.columns
    ]
    stored = pa.schema(list(zip(schema.names, kinds, strict=True)))
    settings = {"compression": "zstd", "store_schema": False, "use_dictionary": True, "write_statistics": False}
    with pq.ParquetWriter(file, stored, **settings) as writer:
        writer.write_table(first.cast(stored), row_group_size=ROW_GROUP)
        for group in groups:
            writer.write_table(rebuilt_table(group).cast(stored), row_group_size=ROW_GROUP)


def _repeats(texts: pa.DictionaryArray) -> bool:
    return len(texts.dictionary) * 2 <= len(texts)


def write_arrow(file: BinaryIO, sheets: Mapping[str, Sheet], _: Writing) -> None:
    """Write one table as an Arrow file."""
    ((batches, schema),) = sheets.values()
    kinds = [ENCODED if pa.types.is_dictionary(column.type) else column.type for column in schema]
    stored = pa.schema(list(zip(schema.names, kinds, strict=True)))
    # a file has one dictionary for each column, so all rows are needed before the first is written
    groups = list(row_groups(batches, schema, ROW_GROUP))
    table = rebuilt_table(pa.concat_tables(groups)) if groups else stored.empty_table()
    with pa.ipc.new_file(file, stored) as writer:
        for batch in table.to_batches(max_chunksize=ROW_GROUP):
            columns = [_cleared(column).cast(kind) for column, kind in zip(batch.columns, kinds, strict=True)]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=stored))


def _cleared(array: pa.Array) -> pa.Array:
    """Array with nothing stored where a value is missing; Arrow files hold what lies under a null."""
    if not array.null_count:
        return array
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(_cleared(array.indices), array.dictionary)
    rows = np.arange(len(array))
    rows[whole_numbers(array.is_null().cast(pa.uint8())) == 1] = -1
    return array.take(number_array(rows))
