"""Writing workbooks."""

from __future__ import annotations

import datetime as dt
import io
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any, BinaryIO

from indistinct.errors import DataError, UnsupportedError
from indistinct.formats.row_groups import ROW_GROUP, commonly_typed, row_groups

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow as pa

    from indistinct.formats.contract import Sheet, Writing


EXCEL_ROWS, EXCEL_COLUMNS, EXCEL_TEXT = 1_048_576, 16_384, 32_767

_NO_TIME = dt.datetime(1980, 1, 1)  # noqa: DTZ001  # files keep times without a zone
_EXCEL_START = dt.datetime(1900, 3, 1)  # noqa: DTZ001  # its calendar before has a day that never was


def write_workbook(file: BinaryIO, sheets: Mapping[str, Sheet], _: Writing) -> None:
    """Write tables as the sheets of a workbook."""
    import xlsxwriter

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
    for group in row_groups(batches, schema, ROW_GROUP):
        if row + group.num_rows > EXCEL_ROWS:
            raise UnsupportedError(f"a sheet holds {EXCEL_ROWS - 1} rows below its header; write csv or parquet")
        for position, column in enumerate(map(commonly_typed, group.columns)):
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
