"""Parquet and Arrow files, and the one form that columns of any origin are brought to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from indistinct.errors import DataError, SchemaError
from indistinct.formats.arrow import number_array, text_array, whole_numbers
from indistinct.formats.source import BATCH_BYTES, BATCH_ROWS, Source, check_names, look_alikes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow.parquet as pq
    from numpy.typing import NDArray

ENCODED = pa.dictionary(pa.int32(), pa.string())
EXACT_DOUBLE = 1 << 53  # whole numbers up to here are themselves as doubles
# decoded in pieces that stay in the cache: twice as fast as a million rows at once, on Adult-like tables
PARQUET_ROWS = 1 << 18
_LOOK = 1 << 16
_SMALL = 1 << 16


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds text, encoded by a dictionary or not.

    >>> is_text(ENCODED), is_text(pa.int64())
    (True, False)
    """
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Type that a column of type ``kind`` has inside: one text type, no extension, no view, no run-length form.

    >>> plain_type(pa.large_string()), plain_type(pa.dictionary(pa.int8(), pa.int64()))
    (DataType(string), DataType(int64))
    """
    if pa.types.is_dictionary(kind):
        return ENCODED if is_text(kind) else plain_type(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if pa.types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if is_text(kind) or pa.types.is_null(kind):
        return pa.string()
    # many functions of Arrow have no half-precision form
    return pa.float32() if pa.types.is_float16(kind) else kind


def plain(array: pa.Array) -> pa.Array:
    """Bring an array to its plain type; a dictionary keeps only the entries that occur, and no null among them.

    >>> plain(pa.DictionaryArray.from_arrays([1, None, 1], ["f", "m", "x"])).dictionary.to_pylist()
    ['m']
    """
    array = plainly_typed(array)
    return compact(array) if pa.types.is_dictionary(array.type) else array


def plainly_typed(array: pa.Array) -> pa.Array:
    """Bring an array to its plain type; a dictionary may keep entries that do not occur."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return plainly_typed(array.storage)
    if pa.types.is_run_end_encoded(kind):
        return plainly_typed(pc.run_end_decode(array))
    if pa.types.is_dictionary(kind) and not is_text(kind):
        return plainly_typed(array.dictionary_decode())
    if not pa.types.is_dictionary(kind):
        return array if kind == plain_type(kind) else array.cast(plain_type(kind))
    if array.dictionary.null_count:
        return array.dictionary_decode().cast(pa.string()).dictionary_encode()
    return array if kind == ENCODED else _encoding(array.indices.cast(pa.int32()), array.dictionary.cast(pa.string()))


def _encoding(indices: pa.Array, texts: pa.Array) -> pa.DictionaryArray:
    # indices that come from an array, or were counted here, need no second check
    return pa.DictionaryArray.from_arrays(indices, texts, safe=False)


def compact(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """Drop the dictionary entries that no row uses; the order of the others stays.

    >>> compact(pa.DictionaryArray.from_arrays([2, 0], ["a", "b", "c"])).dictionary.to_pylist()
    ['a', 'c']
    """
    used = used_entries(array)
    if used.all():
        return array
    position = np.cumsum(used, dtype=np.int32) - 1
    used_codes = number_array(np.flatnonzero(used).astype(np.int32))
    return _encoding(number_array(position).take(array.indices), array.dictionary.take(used_codes))


def used_entries(array: pa.DictionaryArray) -> NDArray[np.bool_]:
    """bool[entries]: which entries of the dictionary occur in a row."""
    used = np.zeros(len(array.dictionary), bool)
    for start in range(0, len(array), _LOOK):
        indices = array.indices.slice(start, _LOOK)
        used[whole_numbers(indices.drop_null() if indices.null_count else indices)] = True
        # most often all entries have been met long before the last row
        if used.all():
            break
    return used


def batches_of(table: pa.Table, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Cut the columns of a table into plain batches of bounded rows and bytes.

    >>> [batch.num_rows for batch in batches_of(pa.table({"age": [30, 41]}), ["age"])]
    [2]
    """
    selected = table.select(list(columns))
    rows = bounded_rows(selected.num_rows, selected.nbytes)
    if selected.num_rows and selected.column(0).num_chunks > 1 + selected.num_rows // 10_000:
        selected = selected.combine_chunks()
    for batch in selected.to_batches(max_chunksize=rows):
        yield plain_batch(batch)


def plain_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Bring every column of a batch to its plain form."""
    return pa.RecordBatch.from_arrays([plain(column) for column in batch.columns], batch.schema.names)


def without_tokens(batch: pa.RecordBatch, tokens: Mapping[str, Sequence[str]]) -> pa.RecordBatch:
    """Make the cells missing whose text is one of the tokens of their column; a number is known by its value.

    >>> batch = pa.record_batch({"age": [-9, 30]})
    >>> without_tokens(batch, {"age": ["-9"]}).column(0).to_pylist()
    [None, 30]
    """
    from indistinct.formats.texts import as_text

    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        own = text_array(list(tokens.get(name, ())))
        if len(own) == 0:
            columns.append(column)
        elif pa.types.is_dictionary(column.type):
            entries = column.dictionary
            used_codes = pc.if_else(pc.is_in(entries, own), pa.scalar(None, entries.type), entries)
            columns.append(plain(_encoding(column.indices, used_codes)))
        else:
            values = plainly_typed(column)
            columns.append(pc.if_else(pc.is_in(as_text(values), own), pa.scalar(None, values.type), values))
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def bounded_rows(rows: int, size: int) -> int:
    """Rows per batch so that neither the row limit nor, at ``size`` bytes in all, the byte limit is passed.

    >>> bounded_rows(10, 10), bounded_rows(1000, 1000 * (1 << 28))
    (1000000, 1)
    """
    return max(1, min(BATCH_ROWS, BATCH_BYTES * rows // max(size, 1))) if size > BATCH_BYTES else BATCH_ROWS


def table_source(table: pa.Table, name: str) -> Source:
    """Make a source of a table in memory.

    Raises DataError when it has no rows, SchemaError for columns without or with the same name.
    """
    columns = check_names(table.column_names, name)
    if table.num_rows == 0:
        raise DataError(f"{name} has no rows; a table needs at least one", file=name)
    types = {column.name: plain_type(column.type) for column in table.schema}

    def read(wanted: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        return batches_of(table, wanted)

    return Source(name, columns, types, is_text=False, read=read, rows=table.num_rows, warnings=look_alikes(columns))


def text_types(types: Mapping[str, pa.DataType]) -> dict[str, pa.DataType]:
    """Types of columns whose dictionaries are a matter of storage and not the user's categories."""
    return {column: pa.string() if is_text(kind) else kind for column, kind in types.items()}


def open_parquet(path: Path) -> Source:
    """Open a Parquet file, or a directory of Parquet files of one schema (read in the order of their names).

    Text columns come dictionary-encoded where the file has them so and the dictionary pays.

    Raises DataError for a broken file or one without rows, and for a directory that keeps Parquet files in directories
    of its own, SchemaError for columns without or with the same name.
    """
    files = _pieces(path) if path.is_dir() else [path]
    opened = [_parquet(file) for file in files]
    schema = opened[0].schema_arrow.remove_metadata()
    for file, other in zip(files, opened, strict=True):
        if not other.schema_arrow.remove_metadata().equals(schema):
            raise SchemaError(f"{file.name} and {files[0].name} have other columns; make them alike", file=file.name)
    columns = check_names(schema.names, path.name)
    rows = sum(file.metadata.num_rows for file in opened)
    if rows == 0:
        raise DataError(f"{path.name} has no rows; a table needs at least one", file=path.name)
    types = text_types({column.name: plain_type(column.type) for column in schema})

    texts = [name for name, kind in types.items() if is_text(kind)]
    chunks = [_column_chunks(file, texts) for file in opened]
    encoded = [name for name in texts if _dictionary_pays([chunk for part in chunks for chunk in part[name]])]

    def read(wanted: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        for file in files:
            yield from _read_parquet(file, wanted, [name for name in encoded if name in wanted])

    native = None if path.is_dir() else path
    warnings = look_alikes(columns)
    return Source(path.name, columns, types, is_text=False, read=read, rows=rows, warnings=warnings, native=native)


def _pieces(folder: Path) -> list[Path]:
    """List the Parquet files of a directory by name, but hidden ones.

    Raises DataError where there are none, or more further down.
    """
    files = (file for file in folder.rglob("*") if file.suffix.lower() == ".parquet" and file.is_file())
    found = sorted(file for file in files if not any(part.startswith(".") for part in file.relative_to(folder).parts))
    name = folder.resolve().name
    below = next((file for file in found if file.parent != folder), None)
    if below is not None:
        raise DataError(
            f"{name} has Parquet files in directories of its own ({below.parent.relative_to(folder)}), and these would "
            "be left out: give one directory of files, or a frame that holds all of them",
            file=folder.name,
        )
    if not found:
        raise DataError(f"{name} is a directory without Parquet files; give a file", file=folder.name)
    return found


def _parquet(path: Path, encoded: Sequence[str] = ()) -> pq.ParquetFile:
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path, read_dictionary=list(encoded), memory_map=True, pre_buffer=False)
    except (pa.ArrowException, OSError):
        raise DataError(f"{path.name} is no readable Parquet file; write it again", file=path.name) from None


def _read_parquet(path: Path, wanted: Sequence[str], encoded: Sequence[str]) -> Iterator[pa.RecordBatch]:
    file = _parquet(path, encoded)
    chunks = _column_chunks(file, wanted).values()
    size = sum(chunk.total_uncompressed_size for column in chunks for chunk in column)
    rows = min(PARQUET_ROWS, bounded_rows(file.metadata.num_rows, size))
    try:
        for batch in file.iter_batches(rows, columns=list(wanted), use_threads=True):
            yield plain_batch(batch.select(list(wanted)))
    except (pa.ArrowException, OSError):
        raise DataError(f"{path.name} is damaged; write it again", file=path.name) from None


def _column_chunks(file: pq.ParquetFile, names: Sequence[str]) -> dict[str, list[pq.ColumnChunkMetaData]]:
    meta = file.metadata
    position = {meta.schema.column(number).path: number for number in range(meta.num_columns)}
    groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
    return {name: [group.column(position[name]) for group in groups] for name in names}


def _dictionary_pays(chunks: Sequence[pq.ColumnChunkMetaData]) -> bool:
    """Whether a column takes no more bytes a row than a number would: its texts repeat, and the file says so."""
    if not all(chunk.has_dictionary_page for chunk in chunks):
        return False
    size = sum(chunk.total_uncompressed_size for chunk in chunks)
    return bool(size < _SMALL or size <= 4 * sum(chunk.num_values for chunk in chunks))


def open_arrow(path: Path) -> Source:
    """Open an Arrow IPC file or stream (Feather version 2).

    Raises DataError for a broken file or one without rows, SchemaError for columns without or with the same name.
    """
    with _ipc(path) as reader:
        schema = reader.schema
    columns = check_names(schema.names, path.name)

    def read(wanted: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        with _ipc(path) as reader:
            try:
                for batch in _ipc_batches(reader):
                    yield from batches_of(pa.Table.from_batches([batch]), wanted)
            except (pa.ArrowException, OSError):
                raise DataError(f"{path.name} is damaged; write it again", file=path.name) from None

    types = {column.name: plain_type(column.type) for column in schema}
    return Source(path.name, columns, types, is_text=False, read=read, warnings=look_alikes(columns))


def _ipc(path: Path) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    file = pa.memory_map(str(path))
    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    try:
        return pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
    except (pa.ArrowException, OSError):
        raise DataError(f"{path.name} is no readable Arrow file; write it again", file=path.name) from None


def _ipc_batches(reader: pa.RecordBatchFileReader | pa.RecordBatchStreamReader) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.RecordBatchFileReader):
        yield from (reader.get_batch(number) for number in range(reader.num_record_batches))
    else:
        yield from reader


def rebuilt(column: pa.ChunkedArray) -> pa.Array:
    """One array of a column; a dictionary is made anew of the texts that occur, sorted by code point.

    >>> rebuilt(pa.chunked_array([pa.DictionaryArray.from_arrays([2, 0], ["b", "x", "a"])])).dictionary.to_pylist()
    ['a', 'b']
    """
    if not pa.types.is_dictionary(column.type):
        return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if column.num_chunks != 1:
        column = column.unify_dictionaries()
    array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    array = plain(array)
    if not pa.types.is_dictionary(array.type):
        return array
    order = whole_numbers(pc.sort_indices(array.dictionary))
    if (order[:-1] < order[1:]).all():
        return array
    position = np.empty(len(order), np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    texts = array.dictionary.take(number_array(order.astype(np.int32)))
    return _encoding(number_array(position).take(array.indices), texts)


def rebuilt_table(table: pa.Table) -> pa.Table:
    """Table without metadata whose dictionaries hold what occurs and nothing else."""
    return pa.table([rebuilt(column) for column in table.columns], names=table.column_names)
