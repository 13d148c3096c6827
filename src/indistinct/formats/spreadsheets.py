"""Workbooks: every cell as the text that a person reads in it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from indistinct.errors import DataError, UnsupportedError
from indistinct.formats.columnar import EXACT_DOUBLE, table_source
from indistinct.formats.source import check_names, nameless, trimmed
from indistinct.formats.workbook_cells import UNSTORED, Cells, cells_of, column_name
from indistinct.notices import Notice, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from indistinct.formats.source import Source, TableOptions

_MOMENT = r"^\d{4,}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$"
_MIDNIGHT = r" 00:00:00(\.0+)?$"
# a cell that holds a time of day only comes dated with day 0 of the workbook's calendar
_TIME_ONLY = r"^(1899-12-3[01]|1904-01-01) (\d\d:\d\d:\d\d(\.\d+)?)$"


def open_spreadsheet(path: Path, options: TableOptions) -> Source:
    """Open the first sheet of a workbook, or the one named ``options.sheet``; row ``options.header_row`` has the names.

    All columns are text. Date cells are written ``2024-03-01``, or ``2024-03-01 10:30:00`` when they have a time,
    times ``10:30:00``, whole numbers without a fraction, truth values ``true`` and ``false``; text cells stay as they
    are. Empty cells are missing, and so are texts in ``options.missing``. Formulas give the value that was stored with
    them; reading a column of an .xlsx with formulas that have none, or with errors (``#N/A``) that are not among the
    missing tokens, raises DataError with their count. In .xls and .ods files they cannot be told from empty cells: a
    notice says so of the columns that have some. Rows without any value are left out, with a notice, unless there is
    but one column.

    Raises UnsupportedError without the package fastexcel, DataError for a broken workbook, an unknown sheet or no
    rows, SchemaError for columns without or with the same name. Reads all of the sheet into memory.
    """
    import fastexcel

    cells = None
    try:
        book = fastexcel.read_excel(str(path))
        sheet = _sheet(book.sheet_names, path.name, options.sheet)
        cells = cells_of(path, sheet, options.header_row - 1) if path.suffix.lower() == ".xlsx" else None
        at = _header(path, cells, options.header_row)
        header = _names(book, sheet, cells, at)
        data = _load(book, sheet, header_row=at)
        texts = _texts(book, sheet, data, at)
    except fastexcel.FastExcelError:
        raise _unreadable(path.name, cells) from None
    names = ["" if text is None else text for text in header]
    notices: list[Notice] = []
    texts, blank = _without_blank_rows(texts)
    if blank:
        message = Sentence("{n} rows of the sheet have no cell with a value; left out", n=blank)
        notices.append(Notice("blank-rows", None, message))
    if not any(names) or not len(texts[0]):
        raise DataError(f'the sheet "{sheet}" of {path.name} has no rows below a header', file=path.name)
    if options.trim != "none":
        names, renamed = trimmed(names)
        notices += renamed
    odd = {} if cells is None else cells.odd
    filtered, columns, holes = [], [], {}
    unread: dict[str, dict[str, int]] = {}
    for position, (name, column) in enumerate(zip(names, texts, strict=False)):
        if not name.strip() and column.null_count == len(column):
            notices.append(nameless(position + 1))
            continue
        filtered.append(name)
        holes[name] = pc.sum(pc.fill_null(pc.equal(column, ""), fill_value=True)).as_py()
        columns.append(_finished(column, options))
        tokens = {*options.missing, *options.missing_values.get(name, ())}
        unread[name] = {what: count for what, count in odd.get(position, {}).items() if what not in tokens}
    check_names(filtered, path.name)
    notices += _holes(path, holes) if cells is None else []
    source = table_source(pa.table(columns, names=filtered), path.name)
    source.is_text = True
    read = source.read

    def read_valued(wanted: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        for name in wanted:
            _refuse_unread(name, unread[name])
        return read(wanted)

    source.read = read_valued
    source.types = dict.fromkeys(filtered, pa.string())
    source.warnings = notices + source.warnings
    if options.sheet is None and len(book.sheet_names) > 1:
        message = Sentence(
            'the sheet "{sheet}" is read; the workbook also has {others}, to be named if meant',
            sheet=sheet,
            others=tuple(f'"{other}"' for other in book.sheet_names[1:]),
        )
        source.warnings.append(Notice("other-sheets", None, message))
    return source


def _header(path: Path, cells: Cells | None, header_row: int) -> int:
    """Row of the names, from 0, as the reader counts it: 0 is the first used row, others are those of the sheet."""
    if header_row == 1:
        return 0
    if cells is None:
        message = f"the header row of {path.name} cannot be chosen; save the workbook as .xlsx"
        raise UnsupportedError(message, file=path.name)
    if not cells.first_row <= header_row - 1 < cells.last_row:
        message = (
            f"{path.name} has cells in the rows {cells.first_row + 1} to {cells.last_row + 1}, so that row "
            f"{header_row} cannot hold the names of a table; set header_row to theirs"
        )
        raise DataError(message, file=path.name)
    return header_row - 1


def _names(book: Any, sheet: str, cells: Cells | None, at: int) -> list[str | None]:
    """Cells of the row of the names, as they stand; columns that only rows above use are no columns of the table."""
    unused = cells.first_column - cells.left if cells is not None and at else 0
    skipped: dict[str, int] = {"skip_rows": at} if at else {}  # 0 would be the first row of the sheet, used or not
    row = _load(book, sheet, dtypes="string", header_row=None, n_rows=1, **skipped).columns[unused:]
    return [column[0].as_py() for column in row]


def _unreadable(name: str, cells: Cells | None) -> DataError:
    """Say what the reader stumbled over: errors that it does not know (``#NAME?``) are named with their columns."""
    found = [] if cells is None else sorted(cells.found.items())
    errors = [
        f"{what} in column {column_name(column)} ({count})"
        for column, odd in found
        for what, count in odd.items()
        if what != UNSTORED
    ]
    if errors:
        message = (
            f"{name} cannot be read: cells hold the errors {', '.join(errors)}; mend the formulas and save it again"
        )
        return DataError(message, file=name)
    return DataError(f"{name} cannot be read as a workbook; save it again", file=name)


def _holes(path: Path, holes: Mapping[str, int]) -> list[Notice]:
    """Say which columns have empty cells that may be something else."""
    some = tuple(Sentence('"{name}" has {n}', name=name, n=count) for name, count in holes.items() if count)
    if not some:
        return []
    message = Sentence(
        "in {suffix} files a cell with an error (#N/A), or with a formula whose value is not stored, is not told from "
        "an empty one: {which}; save the workbook as .xlsx, where such cells are named",
        suffix=path.suffix.lower(),
        which=some,
    )
    return [Notice("empty-cells", None, message)]


def _refuse_unread(name: str, cells: Mapping[str, int]) -> None:
    """Raise DataError for cells that hold an error, or a formula without a stored result: they are not blank."""
    for what, count in cells.items():
        one, are = ("cell", "is") if count == 1 else ("cells", "are")
        if what == UNSTORED:
            formulas = "a formula" if count == 1 else "formulas"
            message = (
                f'{count} {one} of "{name}" {are} {formulas} without a stored value; open and save the workbook in a '
                "spreadsheet program"
            )
        else:
            holds = "holds" if count == 1 else "hold"
            message = (
                f'{count} {one} of "{name}" {holds} the error {what}; mend the formulas, or list "{what}" among the '
                f'missing tokens ([attributes.{name}] missing_values = ["{what}"])'
            )
        raise DataError(message, column=name)


def sheet_names(path: Path) -> tuple[str, ...]:
    """Return the names of the sheets of a workbook; raises as ``open_spreadsheet`` does."""
    import fastexcel

    try:
        return tuple(fastexcel.read_excel(str(path)).sheet_names)
    except fastexcel.FastExcelError:
        raise DataError(f"{path.name} cannot be read as a workbook; save it again", file=path.name) from None


def _sheet(names: Sequence[str], file: str, wanted: str | None) -> str:
    if wanted is None:
        return names[0]
    if wanted not in names:
        known = ", ".join(f'"{name}"' for name in names)
        raise DataError(f'{file} has no sheet "{wanted}"; it has {known}', file=file)
    return wanted


def _load(book: Any, sheet: str, dtypes: str | None = "string", **settings: Any) -> pa.RecordBatch:
    return book.load_sheet(sheet, dtypes=dtypes, schema_sample_rows=None, **settings).to_arrow()


def _without_blank_rows(texts: list[pa.Array]) -> tuple[list[pa.Array], int]:
    """Drop the rows without any value, unless there is but one column, where they are missing values."""
    if len(texts) < 2:
        return texts, 0
    used = functools.reduce(pc.or_, (column.is_valid() for column in texts))
    filtered = [column.filter(used) for column in texts]
    return filtered, len(used) - len(filtered[0])


def _texts(book: Any, sheet: str, data: pa.RecordBatch, at: int) -> list[pa.Array]:
    """Cells of each column as text; dates and numbers by their value, not by the reader's 15 digits."""
    import fastexcel

    texts = list(data.columns)
    used = [i for i, column in enumerate(data.columns) if column.null_count < len(column)]
    # a table need not begin in the first column of its sheet
    places = [
        one.absolute_index
        for one in book.load_sheet(sheet, dtypes="string", header_row=at, n_rows=1).available_columns()
    ]
    wanted = [places[position] for position in used]
    typed = _load(book, sheet, dtypes=None, header_row=at, use_columns=wanted).columns if used else []
    for position, column in zip(used, typed, strict=True):
        if pa.types.is_floating(column.type):
            texts[position] = _numbers(column)
        elif pa.types.is_temporal(column.type):
            texts[position] = _dates(texts[position])
        elif pc.any(pc.match_substring_regex(texts[position], _MOMENT)).as_py():
            # texts that look like moments: cells of one type are texts and stay, else some are perhaps dates
            try:
                _load(book, sheet, dtypes=None, header_row=at, dtype_coercion="strict", use_columns=[places[position]])
            except fastexcel.FastExcelError:
                texts[position] = _dates(texts[position])
    return texts


def _numbers(column: pa.Array) -> pa.Array:
    whole = pc.and_(pc.equal(pc.floor(column), column), pc.less(pc.abs(column), EXACT_DOUBLE))
    integers = pc.if_else(whole, column, None).cast(pa.int64())
    return pc.coalesce(integers.cast(pa.string()), column.cast(pa.string()))


def _dates(column: pa.Array) -> pa.Array:
    column = pc.replace_substring_regex(column, _TIME_ONLY, r"\2")
    moment = pc.match_substring_regex(column, _MOMENT)
    return pc.if_else(moment, pc.replace_substring_regex(column, _MIDNIGHT, ""), column)


def _finished(column: pa.Array, options: TableOptions) -> pa.Array:
    if options.trim == "cells":
        column = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.is_in(column, pa.array(options.missing, pa.string())), None, column)
