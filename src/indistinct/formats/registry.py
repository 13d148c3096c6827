"""All file formats by suffix, and the way into a table of any kind.

A record names the functions that read and write; what they need is imported when they are called.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from indistinct.errors import DataError, PolicyError, UnsupportedError
from indistinct.formats.contract import Format
from indistinct.formats.many import Part, files_of, open_many
from indistinct.formats.packed import PACKED, packing_of, standard_input, unpack
from indistinct.formats.patterns import is_pattern, matching
from indistinct.formats.source import Source, TableOptions, extra_required, is_standard_stream, origins_of, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pyarrow as pa

    from indistinct.formats.contract import Sheet, Writing
    from indistinct.formats.packed import Unpacked

# schemes of files elsewhere; any other URL is that of a database
REMOTE = frozenset(
    {"http", "https", "ftp", "ftps", "sftp", "s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "hdfs", "webdav"}
)


def _open_delimited(path: Path, options: TableOptions) -> Source:
    from indistinct.formats.delimited import open_delimited

    return open_delimited(path, options)


def _open_tabbed(path: Path, options: TableOptions) -> Source:
    return _open_delimited(path, replace(options, delimiter=options.delimiter or "\t"))


def _write_delimited(file: BinaryIO, sheets: Mapping[str, Sheet], writing: Writing) -> None:
    from indistinct.formats.delimited_output import write_delimited

    write_delimited(file, sheets, writing)


def _open_parquet(path: Path, _: TableOptions) -> Source:
    from indistinct.formats.columnar import open_parquet

    return open_parquet(path)


def _write_parquet(file: BinaryIO, sheets: Mapping[str, Sheet], writing: Writing) -> None:
    from indistinct.formats.columnar_output import write_parquet

    write_parquet(file, sheets, writing)


def _nested_parquet(path: Path) -> pa.Table:
    import pyarrow.parquet as pq

    return pq.ParquetFile(path).read()


def _open_arrow(path: Path, _: TableOptions) -> Source:
    from indistinct.formats.columnar import open_arrow

    return open_arrow(path)


def _write_arrow(file: BinaryIO, sheets: Mapping[str, Sheet], writing: Writing) -> None:
    from indistinct.formats.columnar_output import write_arrow

    write_arrow(file, sheets, writing)


def _nested_arrow(path: Path) -> pa.Table:
    import pyarrow as pa

    with pa.ipc.open_file(path) as reader:
        return reader.read_all()


def _open_spreadsheet(path: Path, options: TableOptions) -> Source:
    from indistinct.formats.spreadsheets import open_spreadsheet

    return open_spreadsheet(path, options)


def _write_workbook(file: BinaryIO, sheets: Mapping[str, Sheet], writing: Writing) -> None:
    from indistinct.formats.spreadsheet_output import write_workbook

    write_workbook(file, sheets, writing)


def _open_statistical(path: Path, options: TableOptions) -> Source:
    from indistinct.formats.statistical import open_statistical

    return open_statistical(path, options)


def _write_statistical(file: BinaryIO, sheets: Mapping[str, Sheet], writing: Writing) -> None:
    from indistinct.formats.statistical_output import write_statistical

    write_statistical(file, sheets, writing)


CSV = Format(
    name="csv", suffixes=("csv",), open=_open_delimited, write=_write_delimited, is_text=True, delimiter=None,
    sheets=False, nested=None, keeps_empty=True, duckdb="text", extra=None, media="text/csv",
)  # fmt: skip
TSV = replace(CSV, name="tsv", suffixes=("tsv",), open=_open_tabbed, delimiter="\t", media="text/tab-separated-values")
TXT = replace(CSV, name="text", suffixes=("txt",), write=None, duckdb=None, media="text/plain")
PARQUET = Format(
    name="parquet", suffixes=("parquet",), open=_open_parquet, write=_write_parquet, is_text=False, delimiter=None,
    sheets=False, nested=_nested_parquet, keeps_empty=True, duckdb="columns", extra=None,
    media="application/vnd.apache.parquet",
)  # fmt: skip
ARROW = Format(
    name="arrow", suffixes=("arrow", "feather", "ipc"), open=_open_arrow, write=_write_arrow, is_text=False,
    delimiter=None, sheets=False, nested=_nested_arrow, keeps_empty=True, duckdb=None, extra=None,
    media="application/vnd.apache.arrow.file",
)  # fmt: skip
WORKBOOK = Format(
    name="workbook", suffixes=("xlsx",), open=_open_spreadsheet, write=_write_workbook, is_text=False, delimiter=None,
    sheets=True, nested=None, keeps_empty=False, duckdb=None, extra="io",
    media="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
)  # fmt: skip
OTHER_WORKBOOKS = replace(WORKBOOK, name="other workbooks", suffixes=("xls", "ods"), write=None)
SPSS = Format(
    name="SPSS", suffixes=("sav", "zsav"), open=_open_statistical, write=_write_statistical, is_text=False,
    delimiter=None, sheets=False, nested=None, keeps_empty=False, duckdb=None, extra="io",
    media="application/x-spss-sav",
)  # fmt: skip
STATA = replace(SPSS, name="Stata", suffixes=("dta",), media="application/x-stata-dta")
SAS = replace(SPSS, name="SAS", suffixes=("xpt", "sas7bdat"), write=None)

FORMATS = (CSV, TSV, TXT, PARQUET, ARROW, WORKBOOK, OTHER_WORKBOOKS, SPSS, STATA, SAS)
BY_SUFFIX: Mapping[str, Format] = {suffix: one for one in FORMATS for suffix in one.suffixes}
SUFFIXES = tuple(BY_SUFFIX)
OUTPUTS = tuple(one.suffixes[0] for one in FORMATS if one.write is not None)


def format_of(path: Path | None) -> Format | None:
    """Return the format of the suffix of a path; None for a table in memory and for a suffix that says none.

    >>> from pathlib import Path
    >>> format_of(Path("people.FEATHER")).name, format_of(Path("people.doc"))
    ('arrow', None)
    """
    return None if path is None else BY_SUFFIX.get(path.suffix.lower().removeprefix("."))


def is_delimited(path: Path | None) -> bool:
    """Whether a table of this name is written as delimited text, which a spreadsheet may run."""
    chosen = format_of(path)
    return chosen is not None and chosen.is_text and chosen.write is not None


@contextmanager
def needing(chosen: Format) -> Iterator[None]:
    """Say with which extra a package comes that a format needs and that is not installed: UnsupportedError."""
    try:
        yield
    except ModuleNotFoundError as error:
        if chosen.extra is None or error.name is None or error.name.startswith("indistinct"):
            raise
        raise extra_required(error.name, chosen.extra) from None


def open_source(table: object, options: TableOptions | None = None) -> Source:
    """Open a path, an SQLAlchemy URL or a frame (pandas, Polars, pyarrow, DuckDB) for reading; a source stays itself.

    A path is read by its suffix (``SUFFIXES``), packed ones (``PACKED``) from a private copy. A pattern such as
    ``data/*.csv`` is one table of the files that it names, a directory that of its files, with a column for each
    folder called ``column=value``. The text ``-`` is standard input. A text with ``://`` is the URL of a database and
    needs ``options.query`` or ``options.table``; no file is fetched from the network.

    Raises DataError for what is missing, empty or broken, SchemaError for columns without a name or with the same
    name, UnsupportedError for a kind of table that is not known, PolicyError for impossible options. Does not read
    more than it must: lines far down a text file are checked by ``Source.batches``.

    >>> import pyarrow as pa
    >>> open_source(pa.table({"age": [30, 41]})).columns
    ('age',)
    """
    if isinstance(table, Source):
        return table
    options = options or TableOptions()
    source = _opened(table, options)
    source = with_missing(source, options.missing_values)
    source.origins = origins_of(table)
    return source


def with_missing(source: Source, tokens: Mapping[str, tuple[str, ...]]) -> Source:
    """Read the tokens of single columns as missing values."""
    if not tokens:
        return source
    from indistinct.formats.columnar import without_tokens

    def read(wanted: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        return (without_tokens(batch, tokens) for batch in source.read(wanted))

    return replace(source, read=read, native=None)  # only the reader here knows these tokens


def _opened(table: object, options: TableOptions) -> Source:
    path = path_of(table)
    if isinstance(table, str) and path is None and not is_standard_stream(table):
        _refuse_remote(table)
        from indistinct.formats.database import open_database

        return open_database(table, options)
    if options.query is not None or options.table is not None:
        raise PolicyError("query and table belong to a database; give its URL, such as sqlite:///file.db")
    if is_standard_stream(table):
        return _of_copy(standard_input(SUFFIXES), options, "standard input")
    if path is None:
        from indistinct.formats.frames import open_frame

        return open_frame(table)
    if is_pattern(path):
        return open_many([Part(file, {}) for file in matching(path)], path.name, options, _open_file)
    return _open_file(path, options)


def _open_file(path: Path, options: TableOptions) -> Source:
    """Open a file, packed or not, or a folder of files."""
    try:
        is_directory, size = path.is_dir(), path.stat().st_size
    except OSError:
        raise DataError(f"there is no file {path.name}; check the path", file=path.name) from None
    if not is_directory:
        if size == 0:
            raise DataError(f"{path.name} is empty; a table needs a header and rows", file=path.name)
        if not os.access(path, os.R_OK):
            raise DataError(f"{path.name} may not be read; check its permissions", file=path.name)
        if packing_of(path) is not None:
            return _of_copy(unpack(path, SUFFIXES), options)
    else:
        pieces = files_of(path, SUFFIXES)
        if pieces and (pieces[0].named or format_of(pieces[0].path) is not PARQUET):
            return open_many(pieces, path.resolve().name, options, _open_file)
    found = PARQUET if is_directory else format_of(path)
    if found is None:
        what = f'the suffix "{path.suffix}"' if path.suffix else "a name without a suffix"
        message = (
            f"{path.name} has {what}, which says no kind of table; known are {', '.join(SUFFIXES)}, and packed as "
            f"{', '.join(PACKED)}"
        )
        raise UnsupportedError(message, file=path.name)
    if not found.sheets and (options.sheet is not None or options.header_row != 1):
        word = "sheet" if options.sheet is not None else "header_row"
        raise PolicyError(f"{word} is for workbooks, and {path.name} is none; leave it out", key=f"table.{word}")
    with needing(found):
        return found.open(path, options)


def _of_copy(copy: Unpacked, options: TableOptions, name: str | None = None) -> Source:
    """Open an unpacked copy, which lives as long as the source."""
    source = _open_file(copy.path, options)
    read = source.read

    def read_copy(wanted: tuple[str, ...], _keep: Unpacked = copy) -> Iterator[pa.RecordBatch]:
        return read(wanted)

    source.read = read_copy
    source.name = name or source.name
    return source


def _refuse_remote(url: str) -> None:
    scheme = url.partition("://")[0].lower()
    if scheme == "file":
        raise UnsupportedError("the table is given as a file:// URL; give the path of the file instead")
    if scheme in REMOTE:
        message = "the table is given as a web address, but nothing is fetched from the network"
        raise UnsupportedError(f"{message}; download the file and give its path")
