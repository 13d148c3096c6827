"""Writing files of SPSS and Stata."""

from __future__ import annotations

import errno
import importlib.util
import os
import re
import shutil
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from indistinct.errors import DataError, UnsupportedError
from indistinct.formats.columnar import EXACT_DOUBLE, is_text
from indistinct.formats.row_groups import ROW_GROUP, commonly_typed, row_groups

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from indistinct.formats.contract import Sheet, Writing


STATA_END = b"</stata_dta>"
# where the time of writing stands: in a fixed record of 176 bytes (SPSS), in a tag after the data label (Stata)
_HEAD = 2048
_SAV_TIME = re.compile(rb"\$FL[23].{88}(\d\d .{6}\d\d:\d\d:\d\d)", re.DOTALL)
_DTA_TIME = re.compile(rb"<stata_dta><header>.*<timestamp>\x11(\d\d .{9}\d\d:\d\d)</timestamp></header>", re.DOTALL)


def write_statistical(_: BinaryIO, sheets: Mapping[str, Sheet], writing: Writing) -> None:
    """Write one table with its labels; the library opens the file itself, by its suffix."""
    import pyreadstat

    ((batches, schema),) = sheets.values()
    path, name = writing.place, writing.name
    labels, column_labels = writing.labels, writing.column_labels
    is_spss = path.suffix.lower() == ".sav"
    groups = list(row_groups(batches, schema, ROW_GROUP))
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
        write(_foreign_frame(pa.table(columns)), str(path), **settings)
        if not is_spss and not _ends_with(path, STATA_END):
            raise OSError(errno.ENOSPC, "")  # the library does not say so when the last bytes find no room
        erase_time(path, is_spss=is_spss)
    except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError) as error:
        if shutil.disk_usage(path.parent).free < 1 << 20:
            raise OSError(errno.ENOSPC, "") from None
        words = str(error).partition("\n")[0]
        raise DataError(f"{name} cannot be written: {words}; rename the column or write csv", file=name) from None


def _storable(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Column as SPSS and Stata can hold it: texts, doubles, dates and moments without a zone."""
    column = commonly_typed(column)
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


def _foreign_frame(table: pa.Table) -> Any:
    """Frame of a library that pyreadstat can write from; it takes no Arrow tables."""
    for library in ("polars", "pandas"):
        if importlib.util.find_spec(library):
            frames = importlib.import_module(library)
            return frames.DataFrame(table) if library == "polars" else table.to_pandas()
    message = "SPSS and Stata files are written with the help of Polars or pandas; install one of them"
    raise UnsupportedError(message)


def _ends_with(path: Path, end: bytes) -> bool:
    with path.open("rb") as file:
        file.seek(-min(len(end), path.stat().st_size), os.SEEK_END)
        return file.read() == end


def erase_time(path: Path, *, is_spss: bool) -> None:
    """Put a fixed time where the format keeps the time of writing: the same rows give the same bytes.

    pyreadstat has no word for the time, and asks the clock of the system: the bytes are changed where both formats say
    that they stand, if what stands there is a time. Raises UnsupportedError where it is none (another version of the
    library), so that no file goes out with the time in it.
    """
    with path.open("rb+") as file:
        found = (_SAV_TIME if is_spss else _DTA_TIME).match(file.read(_HEAD))
        if found is None:
            message = "the installed pyreadstat keeps the time of writing elsewhere; write csv or parquet"
            raise UnsupportedError(message)
        file.seek(found.start(1))
        file.write(b"01 Jan 8000:00:00" if is_spss else b"01 Jan 1980 00:00")
