"""Writing: beside the target, whole or not at all, and nothing in the container but what the rows say."""

from __future__ import annotations

import datetime as dt
import errno
import importlib.util
import io
import math
import os
import re
import shutil
from collections import deque
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from indistinct.errors import DataError, PolicyError, UnsupportedError
from indistinct.formats.arrow import number_array, text_array, whole_numbers
from indistinct.formats.columnar import ENCODED, EXACT_DOUBLE, is_text, plainly_typed, rebuilt_table
from indistinct.formats.source import extra
from indistinct.formats.texts import as_text
from indistinct.notices import Notice
from indistinct.outputs import Output, staging

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.outputs import Staged
    from indistinct.tables.published import PublishedColumn

    Sheet = tuple[Iterable[pa.RecordBatch], pa.Schema]

DELIMITED_OUTPUTS = (".csv", ".tsv")  # suffixes
OUTPUTS = ("csv", "tsv", "parquet", "arrow", "xlsx", "sav", "dta")
ROW_GROUP = 1 << 20
STATA_END = b"</stata_dta>"
LINES_AT_ONCE = 1 << 17
COMBINED_TEXTS = 1 << 13
EXCEL_ROWS, EXCEL_COLUMNS, EXCEL_TEXT = 1_048_576, 16_384, 32_767

_NO_TIME = dt.datetime(1980, 1, 1)  # noqa: DTZ001  # files keep times without a zone
_EXCEL_START = dt.datetime(1900, 3, 1)  # noqa: DTZ001  # its calendar before has a day that never was

# what a spreadsheet takes for the start of a formula, and the numbers that may start so
_FORMULA = r"^[=+\-@\t\r]"
_GUARDED = r"^'*[=+\-@\t\r]"  # a text that looks guarded is guarded once more, so that no two texts become one
_NUMBER = r"^[+-]?(\d+([.,]\d+)*|[.,]\d+)([eE][+-]?\d+)?%?$"


def table_output(path: str | os.PathLike[str], *, private: bool = False) -> Output:
    """Name the file that a table is to be written to, in the format of its suffix (``OUTPUTS``); see ``check_outputs``.

    Raises PolicyError for an unknown suffix.

    >>> table_output("people.csv").what
    'output'
    """
    path = Path(path)
    name = path.name or str(path)
    if path.suffix.lower().lstrip(".") not in OUTPUTS and not path.is_dir():
        raise PolicyError(f'the output "{name}" has no suffix to write; use one of {", ".join(OUTPUTS)}', file=name)
    return Output(path, private=private)


def stage(
    output: Output | str | os.PathLike[str],
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    *,
    delimiter: str = ",",
    missing: str = "",
    spreadsheet_safe: bool = False,
    labels: Mapping[str, Mapping[Any, str]] | None = None,
    column_labels: Mapping[str, str] | None = None,
) -> Staged:
    """Write batches to a hidden file beside ``output``, in the format of its suffix (``OUTPUTS``).

    ``schema`` names the columns and their types; a column may come as a dictionary of its type. The order of rows
    is kept, and the same rows give the same bytes however they are cut into batches. Dictionaries and value labels
    are made of what occurs; metadata of the schema is dropped.

    Text files: UTF-8, lines end in LF, cells are quoted only where they must be; ``delimiter`` (a tab for .tsv) and
    ``missing``, the token of a missing cell, apply. An empty text is written ``""`` so that it differs from a missing
    cell. With ``spreadsheet_safe``, texts that a spreadsheet would run get a ``'`` in front (``safe_text``).
    Workbooks hold numbers as numbers, texts as texts (never as formulas), and cannot tell empty from missing; nor
    can Stata and SPSS files, which get ``labels`` of values that occur and ``column_labels``.

    Raises DataError when the disk is full or refuses, or a value cannot be held by the format; UnsupportedError
    when a package is not installed or a limit of the format is passed. Whatever is raised, by ``batches`` too, the
    temporary file is gone.
    """
    output = output if isinstance(output, Output) else table_output(output)
    name, suffix = output.path.name, output.path.suffix.lower().lstrip(".")
    schema = pa.schema([pa.field(column.name, column.type) for column in schema])
    batches = (_ordered(batch, schema) for batch in batches)
    with staging(output) as staged, staged.path.open("r+b") as file:
        if suffix in ("csv", "tsv"):
            separator = "\t" if suffix == "tsv" else delimiter
            _write_delimited(file, batches, schema, separator, missing, safe=spreadsheet_safe)
        elif suffix == "parquet":
            _write_parquet(file, batches, schema)
        elif suffix == "arrow":
            _write_arrow(file, batches, schema)
        elif suffix == "xlsx":
            _write_xlsx(file, {"data": (batches, schema)})
        else:
            _write_statistical(staged.path, name, batches, schema, labels or {}, column_labels or {})
    return staged


def stage_workbook(path: str | os.PathLike[str], sheets: Mapping[str, Sheet]) -> Staged:
    """Write several tables as the sheets of one workbook, as ``stage`` writes one; raises the same."""
    with staging(table_output(path)) as staged, staged.path.open("r+b") as file:
        _write_xlsx(file, sheets)
    return staged


def _ordered(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    return batch if batch.schema.names == schema.names else batch.select(schema.names)


def _groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema, rows: int) -> Iterator[pa.Table]:
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


def _no_rows(schema: pa.Schema) -> pa.Table:
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
            columns.append(pa.chunked_array([_encoded(array) for array in arrays], ENCODED))
        else:
            columns.append(pa.chunked_array([plainly_typed(array).cast(column.type) for array in arrays], column.type))
    return pa.table(columns, names=schema.names)


def _encoded(array: pa.Array) -> pa.DictionaryArray:
    array = plainly_typed(array)
    return array if pa.types.is_dictionary(array.type) else array.cast(pa.string()).dictionary_encode()


# ---- delimited text --------------------------------------------------------------------------------------------


def safe_text(text: str) -> str:
    """Text that a spreadsheet shows and does not run: ``'`` before what starts a formula and is no number.

    Different texts stay different: ``unsafe_text`` gives each back.

    >>> [safe_text(text) for text in ("=1+1", "@x", "-5", "+3", "a-b")]
    ["'=1+1", "'@x", '-5', '+3', 'a-b']
    """
    return f"'{text}" if re.match(_GUARDED, text) and not re.match(_NUMBER, text) else text


def unsafe_text(text: str) -> str:
    """Text from which ``safe_text`` made this one.

    >>> [unsafe_text(safe_text(text)) for text in ("=1+1", "'=1+1", "'a", "-5")]
    ['=1+1', "'=1+1", "'a", '-5']
    """
    return text[1:] if text.startswith("'") and safe_text(text[1:]) == text else text


def formula_notices(
    columns: Iterable[PublishedColumn], repeat: NDArray[np.int64], secret: Collection[str] = ()
) -> list[Notice]:
    """Name the text columns with cells (or a name) that a spreadsheet would run as a formula.

    ``repeat`` int64[units] says how often each unit of the columns is written. An example (the first in code-point
    order) is given of columns that are not ``secret``: warnings are kept, and what they hold is no longer protected.
    Concerns delimited files only.
    """
    notices = []
    for column in columns:
        name = column.name
        if safe_text(name) != name:
            message = f'a spreadsheet would run the column name "{name}" as a formula; rename the column'
            notices.append(Notice("formula", name, message))
        if not is_text(column.type):
            continue
        risky = whole_numbers(_risky(column.values, _FORMULA).cast(pa.uint8())) == 1
        if not risky.any():
            continue
        # the last flag is that of a missing value, code -1
        cells = int(repeat[np.append(risky, np.False_)[column.codes]].sum())
        example = "" if name in secret else f', such as "{column.values[int(risky.argmax())].as_py()}"'
        message = f'the column "{name}" has cells that a spreadsheet would run as a formula ({cells}{example})'
        notices.append(Notice("formula", name, f"{message}; spreadsheet_safe = true writes them as text"))
    return notices


def _risky(texts: pa.Array, pattern: str) -> pa.Array:
    formula = pc.match_substring_regex(texts, pattern)
    return pc.and_not(formula, pc.match_substring_regex(texts, _NUMBER))


def _write_delimited(
    file: BinaryIO,
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    delimiter: str,
    missing: str,
    *,
    safe: bool,
) -> None:
    names = schema.names
    if safe and (risky := [name for name in names if safe_text(name) != name]):
        raise DataError(f'a spreadsheet would run the column name "{risky[0]}"; rename it', column=risky[0])
    header = _quoted(text_array(names), delimiter, None).to_pylist()
    file.write((delimiter.join(header) + "\n").encode())
    ends = [delimiter] * (len(names) - 1) + ["\n"]
    # a lone missing cell would be a blank line, which is no row to many readers
    token = '""' if len(names) == 1 and not missing else _quoted(text_array([missing]), delimiter, None)[0].as_py()
    for batch in batches:
        cells = [
            _cells(column, delimiter, missing, token, end, safe=safe)
            for column, end in zip(batch.columns, ends, strict=True)
        ]
        for start in range(0, batch.num_rows, LINES_AT_ONCE):
            rows = slice(start, min(start + LINES_AT_ONCE, batch.num_rows))
            file.writelines(map(_bytes, _lines([(texts, indices[rows]) for texts, indices in cells])))


def _cells(
    column: pa.Array, delimiter: str, missing: str, token: str, end: str, *, safe: bool
) -> tuple[pa.Array, NDArray[np.int32]]:
    """Distinct cells of a column as they are written, with what ends them, and int32[rows] which one a row has."""
    if is_text(column.type):
        encoded = _encoded(column)
        texts = encoded.dictionary
        if safe:
            texts = pc.if_else(_risky(texts, _GUARDED), _put_together(text_array(["'"])[0], texts), texts)
    else:
        encoded = plainly_typed(column).dictionary_encode()
        texts = as_text(encoded.dictionary)
    texts = pc.coalesce(_quoted(texts, delimiter, missing), text_array([token])[0])
    texts = pa.concat_arrays([texts, text_array([token])])
    indices = whole_numbers(encoded.indices)
    if encoded.indices.null_count:
        indices = np.where(indices < 0, np.int32(len(texts) - 1), indices)
    return _put_together(texts, text_array([end])[0]), indices


def _put_together(*parts: Any) -> pa.Array:
    return pc.binary_join_element_wise(*parts, text_array([""])[0])


def _quoted(texts: pa.Array, delimiter: str, missing: str | None) -> pa.Array:
    """Texts with quotes where they must have them: around edges of cells, and around what would read as missing."""
    must = pc.match_substring_regex(texts, f'["\r\n{re.escape(delimiter)}]')
    if missing is not None:
        must = pc.or_(must, pc.is_in(texts, text_array(["", missing])))
    if not pc.any(must).as_py():
        return texts
    quote = text_array(['"'])[0]
    return pc.if_else(must, _put_together(quote, pc.replace_substring(texts, '"', '""'), quote), texts)


def _lines(cells: Sequence[tuple[pa.Array, NDArray[np.int32]]]) -> Iterator[pa.Array]:
    """Lines of text of the rows; in halves where they would be too long for one array."""
    parts = _combined(cells)
    # neighbouring rows that are equal, as in a sorted table, are built once
    changes = np.ones(len(parts[0][1]), bool)
    changes[1:] = np.logical_or.reduce([indices[1:] != indices[:-1] for _, indices in parts])
    heads = np.flatnonzero(changes)
    repeated = len(heads) * 4 < len(changes)
    try:
        columns = [texts.take(number_array(indices[heads] if repeated else indices)) for texts, indices in parts]
        lines = columns[0] if len(columns) == 1 else _put_together(*columns)
        if repeated:
            lines = lines.take(number_array(np.cumsum(changes) - 1))
    except (pa.ArrowInvalid, pa.ArrowCapacityError):
        half = len(changes) // 2
        if half == 0:
            raise
        yield from _lines([(texts, indices[:half]) for texts, indices in cells])
        yield from _lines([(texts, indices[half:]) for texts, indices in cells])
    else:
        yield lines


def _combined(
    cells: Sequence[tuple[pa.Array, NDArray[np.int32]]],
) -> list[tuple[pa.Array, NDArray[np.int32]]]:
    """Neighbouring columns of few texts as one column of all pairs: one lookup a row instead of two."""
    parts = [cells[0]]
    limit = min(COMBINED_TEXTS, len(cells[0][1]) // 4)
    for texts, indices in cells[1:]:
        before, codes = parts[-1]
        if len(before) * len(texts) > limit:
            parts.append((texts, indices))
            continue
        first = np.repeat(np.arange(len(before), dtype=np.int32), len(texts))
        second = np.tile(np.arange(len(texts), dtype=np.int32), len(before))
        pairs = _put_together(before.take(number_array(first)), texts.take(number_array(second)))
        parts[-1] = (pairs, codes * np.int32(len(texts)) + indices)
    return parts


def _bytes(lines: pa.Array) -> memoryview:
    """Bytes of all texts of an array, one after the other."""
    _, offsets, data = lines.buffers()
    ends = np.frombuffer(offsets, np.int32)
    return memoryview(data)[ends[lines.offset] : ends[lines.offset + len(lines)]] if data else memoryview(b"")


# ---- Arrow -----------------------------------------------------------------------------------------------------


def _write_parquet(file: BinaryIO, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
    import pyarrow.parquet as pq

    groups = _groups(batches, schema, ROW_GROUP)
    first = rebuilt_table(next(groups, None) or _no_rows(schema))
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


def _write_arrow(file: BinaryIO, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> None:
    kinds = [ENCODED if pa.types.is_dictionary(column.type) else column.type for column in schema]
    stored = pa.schema(list(zip(schema.names, kinds, strict=True)))
    # a file has one dictionary for each column, so all rows are needed before the first is written
    groups = list(_groups(batches, schema, ROW_GROUP))
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


# ---- workbooks -------------------------------------------------------------------------------------------------


def _write_xlsx(file: BinaryIO, sheets: Mapping[str, Sheet]) -> None:
    try:
        import xlsxwriter
    except ModuleNotFoundError:
        raise extra("xlsxwriter") from None
    memory = io.BytesIO()
    book = xlsxwriter.Workbook(memory, {"in_memory": True})
    book.set_properties({"created": _NO_TIME})
    formats = {
        kind: book.add_format({"num_format": pattern})
        for kind, pattern in (("date", "yyyy-mm-dd"), ("moment", "yyyy-mm-dd hh:mm:ss"), ("time", "hh:mm:ss"))
    }
    for name, (batches, schema) in sheets.items():
        _write_sheet(book.add_worksheet(name), batches, schema, formats)
    book.close()
    file.write(memory.getbuffer())


def _write_sheet(sheet: Any, batches: Iterable[pa.RecordBatch], schema: pa.Schema, formats: Mapping[str, Any]) -> None:
    if len(schema) > EXCEL_COLUMNS:
        raise UnsupportedError(f"a sheet holds {EXCEL_COLUMNS} columns, not {len(schema)}; write csv or parquet")
    for position, name in enumerate(schema.names):
        sheet.write_string(0, position, name)
    row = 1
    for group in _groups(batches, schema, ROW_GROUP):
        if row + group.num_rows > EXCEL_ROWS:
            raise UnsupportedError(f"a sheet holds {EXCEL_ROWS - 1} rows below its header; write csv or parquet")
        for position, column in enumerate(map(_commonly_typed, group.columns)):
            for offset, value in enumerate(column.to_pylist()):
                if value is not None and value == value:  # noqa: PLR0124  # NaN is missing
                    _write_cell(sheet, row + offset, position, value, formats, schema.names[position])
        row += group.num_rows


def _write_cell(sheet: Any, row: int, position: int, value: Any, formats: Mapping[str, Any], name: str) -> None:
    if isinstance(value, bool):
        sheet.write_boolean(row, position, value)
    elif isinstance(value, int | float | Decimal) and _is_exact(value):
        sheet.write_number(row, position, _Number(value))
    elif isinstance(value, dt.datetime) and value.tzinfo is None and value >= _EXCEL_START:
        sheet.write_datetime(row, position, value, formats["moment"])
    elif type(value) is dt.date and value >= _EXCEL_START.date():
        sheet.write_datetime(row, position, value, formats["date"])
    elif isinstance(value, dt.time):
        sheet.write_datetime(row, position, value, formats["time"])
    else:
        text = str(value)
        if len(text) > EXCEL_TEXT:
            message = f'a text in the column "{name}" is longer than the {EXCEL_TEXT} characters of a cell; write csv'
            raise DataError(message, column=name)
        sheet.write_string(row, position, text)


def _commonly_typed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Column whose values a workbook, SPSS and Stata know: moments with a zone as texts, durations as numbers.

    Floats of single precision become the doubles that are written alike.
    """
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.chunked_array([as_text(chunk) for chunk in column.chunks], pa.string())
    if pa.types.is_duration(kind):
        return column.cast(pa.int64())
    return column.cast(pa.string()).cast(pa.float64()) if pa.types.is_float32(kind) else column


class _Number(float):
    """Double that is written with all its digits; the writer would round to 16."""

    def __format__(self, _: str) -> str:
        return repr(float(self))


def _is_exact(value: float | Decimal) -> bool:
    """Whether a spreadsheet, with its 15 digits, gives the number back as it is."""
    if not math.isfinite(value):
        return False
    if isinstance(value, float):
        return True
    return len(Decimal(value).normalize().as_tuple().digits) <= 15


# ---- SPSS and Stata --------------------------------------------------------------------------------------------


def _write_statistical(
    path: Path,
    name: str,
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    labels: Mapping[str, Mapping[Any, str]],
    column_labels: Mapping[str, str],
) -> None:
    try:
        import pyreadstat
    except ModuleNotFoundError:
        raise extra("pyreadstat") from None
    is_spss = path.suffix.lower() == ".sav"
    groups = list(_groups(batches, schema, ROW_GROUP))
    table = pa.concat_tables(groups) if groups else schema.empty_table()
    columns = {column: _storable(table[column], column) for column in schema.names}
    settings: dict[str, Any] = {
        "column_labels": {column: label for column, label in column_labels.items() if column in columns},
        "variable_value_labels": {
            column: used
            for column, values in columns.items()
            if (used := _used_labels(values, labels.get(column, {}), texts=is_spss))
        },
    }
    if is_spss:
        settings["variable_format"] = {
            column: f"F{max(8, max((len(str(v)) for v in pc.min_max(values).as_py().values()), default=8))}.0"
            for column, values in columns.items()
            if pa.types.is_integer(values.type)
        }
    write = pyreadstat.write_sav if is_spss else pyreadstat.write_dta
    try:
        write(_guest_frame(pa.table(columns)), str(path), **settings)
        if not is_spss and not _ends_with(path, STATA_END):
            raise OSError(errno.ENOSPC, "")  # the library does not say so when the last bytes find no room
        _erase_time(path, is_spss=is_spss)
    except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError) as error:
        if shutil.disk_usage(path.parent).free < 1 << 20:
            raise OSError(errno.ENOSPC, "") from None
        words = str(error).partition("\n")[0]
        raise DataError(f"{name} cannot be written: {words}; rename the column or write csv", file=name) from None


def _storable(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Column as SPSS and Stata can hold it: texts, doubles, dates and moments without a zone."""
    column = _commonly_typed(column)
    kind = column.type
    if is_text(kind):
        return column.cast(pa.string())
    if pa.types.is_boolean(kind):
        return column.cast(pa.int8())
    if pa.types.is_integer(kind):
        ends = [end for end in pc.min_max(column).as_py().values() if end is not None]
        if any(abs(end) > EXACT_DOUBLE for end in ends):
            message = f'the column "{name}" has integers beyond 2^53, which this format rounds; write csv or parquet'
            raise UnsupportedError(message, column=name)
        return column.cast(pa.int64())
    if pa.types.is_decimal(kind) or pa.types.is_floating(kind):
        return column.cast(pa.float64())
    if pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("us"), safe=False)
    return column.cast(pa.date32()) if pa.types.is_date(kind) else column


def _used_labels(column: pa.ChunkedArray, labels: Mapping[Any, str], *, texts: bool) -> dict[Any, str]:
    """Labels of the values that occur; of texts only where the format can (8 bytes in SPSS, none in Stata)."""
    if not labels:
        return {}
    values = set(pc.unique(column).to_pylist())
    if not is_text(column.type):
        return {value: label for value, label in labels.items() if value in values}
    return {str(v): label for v, label in labels.items() if texts and str(v) in values and len(str(v).encode()) <= 8}


def _guest_frame(table: pa.Table) -> Any:
    """Frame of a library that pyreadstat can write from; it takes no Arrow tables."""
    for library in ("polars", "pandas"):
        if importlib.util.find_spec(library):
            guest = importlib.import_module(library)
            return guest.DataFrame(table) if library == "polars" else table.to_pandas()
    message = "SPSS and Stata files are written with the help of Polars or pandas; install one of them"
    raise UnsupportedError(message)


def _ends_with(path: Path, end: bytes) -> bool:
    with path.open("rb") as file:
        file.seek(-min(len(end), path.stat().st_size), os.SEEK_END)
        return file.read() == end


def _erase_time(path: Path, *, is_spss: bool) -> None:
    """Put a fixed time where the format keeps the time of writing: the same rows give the same bytes."""
    with path.open("rb+") as file:
        head = file.read(512)
        if is_spss:
            file.seek(92)
            file.write(b"01 Jan 8000:00:00")
        elif found := re.search(rb"<timestamp>\x11(.{17})</timestamp>", head, re.DOTALL):
            file.seek(found.start(1))
            file.write(b"01 Jan 1980 00:00")
