"""Delimited text: every cell is read as text, and no line is bent to fit.

pyarrow parses; this module decides the dialect from the first lines, watches the bytes on their way, and when
anything is wrong reads the file again, line by line, to say where.
"""

from __future__ import annotations

import codecs
import io
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import dropwhile
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from indistinct.errors import DataError, PolicyError
from indistinct.formats.arrow import text_array
from indistinct.formats.columnar import ENCODED, plain_batch
from indistinct.formats.contract import DELIMITERS
from indistinct.formats.source import BATCH_ROWS, Source, check_names, look_alikes, nameless, trimmed
from indistinct.notices import Notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from indistinct.formats.source import TableOptions
    from indistinct.notices import Notice

BLOCK_BYTES = 1 << 22
SAMPLE_CHARACTERS = 1 << 16
BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# stands for undecodable bytes while a file is searched for them; no decoder ever makes it from valid bytes
_UNDECODABLE = "\udcff"


def _mark(error: UnicodeError) -> tuple[str, int]:
    if isinstance(error, UnicodeDecodeError):
        return _UNDECODABLE, error.end
    raise error


codecs.register_error("indistinct.mark", _mark)


@dataclass(frozen=True)
class _Dialect:
    """A delimited file, understood: ``fields`` per record; ``start`` UTF-8 bytes of the header record."""

    path: Path
    bom: int
    encoding: str
    delimiter: str
    limit: int
    fields: int = 0
    start: int = 0


def open_delimited(path: Path, options: TableOptions) -> Source:
    """Open a delimited text file; the first lines are read, to learn the delimiter and the header.

    A cell equal to one of ``options.missing`` is missing, quoted or not; nothing else is. Cells are quoted with
    ``"``, doubled inside; a quote inside an unquoted cell is a character like others. Lines end in LF, CRLF or CR;
    blank lines count as rows in a table of one column only. A nameless column without any value is dropped with
    a notice.

    Raises DataError (here or while reading) with the line of the file for: undecodable or zero bytes, another
    number of fields than the header has, a quote never closed or followed by text, a record longer than
    ``options.max_line_bytes``; SchemaError for columns without a name or with the same name; PolicyError for an
    impossible delimiter or encoding.
    """
    dialect, sample, records, whole = _beginning(path, options)
    if not records:
        _diagnose(dialect)
        raise DataError(f"{path.name} has no header; a table needs one and rows", file=path.name)
    header_end, names = records[0]
    body = [fields for _, fields in records[1:] if len(names) == 1 or fields != [""]]
    if whole and not body:
        _diagnose(replace(dialect, fields=len(names)))
        raise DataError(f"{path.name} has a header but no rows; a table needs at least one", file=path.name)

    notices: list[Notice] = []
    if options.trim != "none":
        names, notices = trimmed(names)
    if body and len(body[0]) < len(names) and not any(names[len(body[0]) :]):
        # the header ends in delimiters that the rows lack: the names belong to the first columns
        notices.append(nameless(len(body[0]) + 1))
        names = names[: len(body[0])]
    head = "".join(sample[:header_end])
    dialect = replace(dialect, fields=len(names), start=len(head.encode()))
    empty = _drop_nameless(dialect, names)
    notices += [nameless(position + 1) for position in empty]
    positions = {name: i for i, name in enumerate(names) if i not in empty}
    columns = check_names([name for i, name in enumerate(names) if i not in empty], path.name)
    notices += look_alikes(columns)
    repeats = [_repeats([row[i] for row in body if len(row) > i]) for i in range(len(names))]
    checked = [False]

    def read(wanted: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        chosen = [positions[column] for column in wanted]
        types = [ENCODED if repeats[i] else pa.string() for i in chosen]
        for batch in _read(dialect, chosen, types, options, checked):
            yield pa.RecordBatch.from_arrays(batch.columns, list(wanted))

    types = dict.fromkeys(columns, pa.string())
    return Source(path.name, columns, types, is_text=True, read=read, dialect=dialect.delimiter, warnings=notices)


def _start(path: Path, options: TableOptions) -> _Dialect:
    try:
        codecs.lookup(options.encoding)
        "".encode(options.encoding)
    except (LookupError, ValueError):
        message = f'the encoding "{options.encoding}" is not known; use a name such as utf-8, utf-16 or cp1252'
        raise PolicyError(message) from None
    if options.max_line_bytes < 1:
        raise PolicyError(f"max_line_bytes is {options.max_line_bytes}; it must be at least 1")
    with path.open("rb") as file:
        first = file.read(4)
    for bom, encoding in BOMS:
        if first.startswith(bom):
            return _Dialect(path, len(bom), encoding, ",", options.max_line_bytes)
    return _Dialect(path, 0, options.encoding, ",", options.max_line_bytes)


def _delimiter(delimiter: str) -> str:
    delimiter = "\t" if delimiter == "\\t" else delimiter
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        message = f"the delimiter {delimiter!r} cannot part cells; use one ASCII character that is no quote"
        raise PolicyError(message)
    return delimiter


def _repeats(values: Sequence[str]) -> bool:
    """Whether values repeat enough in the sample for a dictionary to pay."""
    return len(values) < 50 or len(set(values)) * 2 <= len(values)


# ---- the first lines -------------------------------------------------------------------------------------------


def _lines(dialect: _Dialect) -> Iterator[str]:
    """Lines of the file with their ends; a line beyond the limit is cut there, for the caller to notice."""
    with dialect.path.open("rb") as raw:
        raw.seek(dialect.bom)
        with io.TextIOWrapper(raw, dialect.encoding, errors="indistinct.mark", newline="") as text:
            while line := text.readline(dialect.limit + 2):
                yield line


def _beginning(path: Path, options: TableOptions) -> tuple[_Dialect, list[str], list[tuple[int, list[str]]], bool]:
    """Dialect, first lines, their records from the header on, and whether the lines are the whole file."""
    dialect, size, whole = _start(path, options), SAMPLE_CHARACTERS, False
    while not whole:
        sample, whole = _sample(dialect, size)
        delimiter = options.delimiter or _sniff(sample, dialect)
        dialect = replace(dialect, delimiter=_delimiter(delimiter))
        records = list(dropwhile(lambda record: record[1] == [""], _leading_records(sample, dialect)))
        if records:
            break
        size *= 16  # blank lines, or a header that fills the sample
    return dialect, sample, records, whole


def _sample(dialect: _Dialect, size: int) -> tuple[list[str], bool]:
    """First lines of the file, of at least ``size`` characters, and whether they are all of it."""
    lines: list[str] = []
    for line in _lines(dialect):
        lines.append(line)
        size -= len(line)
        if size <= 0:
            return lines, False
    return lines, True


def _leading_records(lines: Sequence[str], dialect: _Dialect) -> list[tuple[int, list[str]]]:
    """Parse the first lines to records as (last line, fields), up to the first that is broken or cut off."""
    records = []
    with suppress(DataError):
        for last, _, fields in _records(iter(lines), dialect):
            records.append((last, fields))
    return records


def _sniff(sample: Sequence[str], dialect: _Dialect) -> str:
    """Delimiter that parts the rows as it parts the header; for one column, one that parts no row."""
    several, one = (-1.0, 0, ","), (-1.0, ",")
    for candidate in DELIMITERS:
        records = _leading_records(sample, replace(dialect, delimiter=candidate))
        header, *rows = [fields for _, fields in records if fields != [""]] or [[""]]
        expected = {len(header)} | ({len(header) - 1} if len(header) > 2 and not header[-1].strip() else set())
        share = sum(len(fields) in expected for fields in rows) / max(len(rows), 1)
        if len(header) > 1 and (share, len(header)) > several[:2]:
            several = (share, len(header), candidate)
        if len(header) == 1 and share >= one[0]:
            one = (share, candidate)
    return several[2] if several[1] else one[1]


def _drop_nameless(dialect: _Dialect, names: Sequence[str]) -> list[int]:
    """Positions of nameless columns; all of them must be empty in every row."""
    nameless = [i for i, name in enumerate(names) if not name.strip()]
    if not nameless or len(nameless) == len(names):
        return []
    used: set[int] = set()
    for batch in _parse(dialect, nameless, [ENCODED] * len(nameless), (), [False]):
        for position, column in zip(nameless, batch.columns, strict=True):
            if any(text.strip() for text in column.dictionary.to_pylist()):
                used.add(position)
    return [position for position in nameless if position not in used]


# ---- reading ---------------------------------------------------------------------------------------------------


class _BrokenError(Exception):
    """The bytes are not those of a delimited text file; ``_diagnose`` will say where."""


class _Watched(io.RawIOBase):
    """The records of a file as UTF-8, refused as soon as a byte cannot be right.

    ``doubtful`` is set when a quote stands where none should: the file may be broken, only a full parse can tell.
    """

    def __init__(self, dialect: _Dialect, *, check_quotes: bool) -> None:
        super().__init__()
        self.file = dialect.path.open("rb")
        self.file.seek(dialect.bom)
        self.utf8 = codecs.lookup(dialect.encoding).name in ("utf-8", "ascii")
        self.decoder = codecs.getincrementaldecoder(dialect.encoding)()
        self.limit = dialect.limit
        self.skip = dialect.start
        self.run = 0  # bytes since the last line end
        self.check_quotes = check_quotes
        self.doubtful = False
        self.empty = True
        self.inside = False  # a quote is open
        self.previous = 10  # byte before this block: as after a line end
        self.edge = np.zeros(256, bool)
        self.edge[[ord(dialect.delimiter), 10, 13, 34]] = True

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.file.close()
        super().close()

    def read(self, size: int = -1) -> bytes:
        while raw := self.file.read(size if self.utf8 or size < 0 else max(size // 4, 1)):
            data = self._decoded(raw)
            if self.skip:
                self.skip, data = self.skip - min(self.skip, len(data)), data[self.skip :]
                if data.startswith(codecs.BOM_UTF8):  # of a cell: the parser would drop one
                    data = codecs.BOM_UTF8 + data
            if data:
                self.empty = False
                self._check(data)
                return data
        try:
            self.decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            raise _BrokenError from None
        self.doubtful |= self.inside
        return b""

    def _decoded(self, raw: bytes) -> bytes:
        try:
            if not self.utf8:
                return self.decoder.decode(raw).encode()
            # plain ASCII needs no decoding, unless a character was cut at the end of the last block
            if not raw.isascii() or self.decoder.getstate()[0]:
                self.decoder.decode(raw)
        except UnicodeError:
            raise _BrokenError from None
        return raw

    def _check(self, data: bytes) -> None:
        if b"\0" in data:
            raise _BrokenError
        end = b"\n" if b"\n" in data else b"\r"
        first = data.find(end)
        longest = self.run + (len(data) if first < 0 else first)
        if len(data) > self.limit and first >= 0:
            ends = np.flatnonzero(np.frombuffer(data, np.uint8) == end[0])
            longest = max(longest, int(np.diff(ends, append=ends[-1]).max(initial=0)) - 1)
        if longest > self.limit + 1:
            raise _BrokenError
        self.doubtful |= longest > self.limit  # unless the last byte is the CR of a line end
        self.run = self.run + len(data) if first < 0 else len(data) - 1 - data.rfind(end)
        if self.check_quotes and not self.doubtful:
            self._check_quotes(data)

    def _check_quotes(self, data: bytes) -> None:
        """Every quote that opens must follow an edge, every quote that closes must precede one.

        A quote next to a quote is a doubled one, so with no stray quotes opening and closing ones alternate.
        """
        if self.previous == 34 and not self.inside and not self.edge[data[0]]:
            self.doubtful = True
        if b'"' in data:
            block = np.frombuffer(data, np.uint8)
            at = np.flatnonzero(block == 34)
            opening = at[int(self.inside) :: 2]
            closing = at[1 - int(self.inside) :: 2]
            before = block[opening - 1]
            if len(opening) and opening[0] == 0:
                before[0] = self.previous
            after = block[closing[: -1 if len(closing) and closing[-1] == len(data) - 1 else None] + 1]
            self.doubtful |= not (self.edge[before].all() and self.edge[after].all())
            self.inside ^= bool(len(at) & 1)
        self.previous = data[-1]


def _read(
    dialect: _Dialect,
    chosen: Sequence[int],
    types: Sequence[pa.DataType],
    options: TableOptions,
    checked: list[bool],
) -> Iterator[pa.RecordBatch]:
    missing = options.missing if options.trim != "cells" else ()
    for batch in _parse(dialect, chosen, types, missing, checked):
        if options.trim == "cells":
            columns = [_trimmed(column, options.missing) for column in batch.columns]
            yield pa.RecordBatch.from_arrays(columns, batch.schema.names)
        else:
            yield batch


def _trimmed(column: pa.Array, missing: Sequence[str]) -> pa.Array:
    encoded = pa.types.is_dictionary(column.type)
    texts = pc.utf8_trim_whitespace(column.dictionary if encoded else column)
    texts = pc.if_else(pc.is_in(texts, text_array(missing)), pa.nulls(1, pa.string())[0], texts)
    if not encoded:
        return texts
    # trimming may have made entries equal: encode the entries again and send the indices through
    entries = texts.dictionary_encode()
    return pa.DictionaryArray.from_arrays(entries.indices.take(column.indices), entries.dictionary)


def _parse(
    dialect: _Dialect,
    chosen: Sequence[int],
    types: Sequence[pa.DataType],
    missing: Sequence[str],
    checked: list[bool],
) -> Iterator[pa.RecordBatch]:
    """Parse the records; ``checked[0]`` remembers that the quotes of the whole file are in order."""
    name, rows, block = dialect.path.name, 0, BLOCK_BYTES
    while True:
        done = 0
        try:
            with _Watched(dialect, check_quotes=not checked[0]) as watched:
                for batch in _blocks(watched, dialect, chosen, types, missing, block):
                    if watched.doubtful and not checked[0]:
                        _diagnose(dialect)
                        checked[0] = True
                    done += batch.num_rows
                    yield from _pieces(batch, min(max(done - rows, 0), batch.num_rows))
                    rows = max(rows, done)
                if watched.doubtful and not checked[0]:
                    _diagnose(dialect)
                checked[0] = True
        except (pa.ArrowException, _BrokenError) as error:
            # a record may be longer than a block, which is no fault of the file: begin anew with larger blocks
            if isinstance(error, pa.ArrowException) and block < dialect.limit and not watched.empty:
                block = dialect.limit + 2
                continue
            _diagnose(dialect)
            if not watched.empty:  # where nothing follows the header, the parser wants a row
                message = f"{name} cannot be read as delimited text; check the file"
                raise DataError(message, file=name) from None
        return


def _blocks(
    watched: _Watched,
    dialect: _Dialect,
    chosen: Sequence[int],
    types: Sequence[pa.DataType],
    missing: Sequence[str],
    block: int,
) -> Iterator[pa.RecordBatch]:
    names = [str(i) for i in range(dialect.fields)]
    wanted = [names[i] for i in chosen]
    with pacsv.open_csv(
        watched,
        read_options=pacsv.ReadOptions(column_names=names, block_size=block),
        parse_options=pacsv.ParseOptions(
            delimiter=dialect.delimiter, newlines_in_values=True, ignore_empty_lines=dialect.fields > 1
        ),
        convert_options=pacsv.ConvertOptions(
            column_types=dict(zip(wanted, types, strict=True)),
            include_columns=wanted,
            null_values=list(missing),
            strings_can_be_null=bool(missing),
            quoted_strings_can_be_null=True,
            check_utf8=False,  # the watched bytes are UTF-8
        ),
    ) as reader:
        yield from reader


def _pieces(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    """Last ``rows`` rows of a batch, in pieces of bounded length."""
    if rows == batch.num_rows <= BATCH_ROWS:
        yield batch
        return
    for start in range(batch.num_rows - rows, batch.num_rows, BATCH_ROWS):
        yield plain_batch(batch.slice(start, BATCH_ROWS))


# ---- saying where ----------------------------------------------------------------------------------------------


def _diagnose(dialect: _Dialect) -> None:
    """Parse the whole file line by line and raise DataError at the first line that is wrong, if there is one."""
    header = True
    name = dialect.path.name
    for _last, first, fields in _records(_lines(dialect), dialect):
        if fields == [""] and (dialect.fields != 1 or header):
            continue
        if header:
            header = False
        elif dialect.fields and len(fields) != dialect.fields:
            found = f"{len(fields)} field{'s' if len(fields) > 1 else ''}"
            message = (
                f"line {first}: {found}, but the header has {dialect.fields}; mend the line, quote cells that "
                f"hold the delimiter {dialect.delimiter!r}, or name another delimiter"
            )
            raise DataError(f"{name}, {message}", file=name, line=first)


def _records(lines: Iterable[str], dialect: _Dialect) -> Iterator[tuple[int, int, list[str]]]:
    """Parse lines to records: (last line, first line, fields).

    Raises DataError at the first line with undecodable or zero bytes, that is too long, or whose quotes are wrong.
    """
    numbered = _checked_lines(lines, dialect)
    delimiter = dialect.delimiter
    for first, line in numbered:
        if '"' not in line:
            yield first, first, line.rstrip("\r\n").split(delimiter)
            continue
        last, fields, rest = first, [], line
        while True:
            if not rest.startswith('"'):
                field, more, rest = rest.partition(delimiter)
                fields.append(field if more else field.rstrip("\r\n"))
            else:
                field, rest, last = _quoted_field(numbered, rest[1:], last, dialect)
                fields.append(field)
                more, rest = rest[:1].strip("\r\n"), rest[1:]
            if not more:
                break
        yield last, first, fields


def _quoted_field(
    numbered: Iterator[tuple[int, str]], rest: str, opened: int, dialect: _Dialect
) -> tuple[str, str, int]:
    """Text of a field whose opening quote is gone, what follows its closing quote, and the line that is on."""
    name, line, size = dialect.path.name, opened, 0
    pieces: list[str] = []
    while True:
        text, quote, after = rest.partition('"')
        pieces.append(text)
        if not quote:
            size += len(rest)
            line, rest = next(numbered, (0, ""))
            if not line or size > dialect.limit:
                message = f"{name}, line {opened}: the quote that opens here is never closed; close or remove it"
                raise DataError(message, file=name, line=opened)
        elif after.startswith('"'):
            pieces.append('"')
            rest = after[1:]
        elif after[:1] in ("", dialect.delimiter, "\r", "\n"):
            return "".join(pieces), after, line
        else:
            message = f"{name}, line {line}: text follows a closing quote; double the quotes inside quoted cells"
            raise DataError(message, file=name, line=line)


def _checked_lines(lines: Iterable[str], dialect: _Dialect) -> Iterator[tuple[int, str]]:
    name, limit = dialect.path.name, dialect.limit
    for number, line in enumerate(lines, 1):
        if _UNDECODABLE in line:
            problem = f"bytes that are not {dialect.encoding}; name the encoding of the file"
        elif "\0" in line:
            problem = "a zero byte; this is no text file, or its encoding is another (such as utf-16)"
        elif len(line) * 4 > limit and len(line.rstrip("\r\n").encode("utf-8", "surrogatepass")) > limit:
            problem = f"more than {limit} bytes; raise max_line_bytes if that is right"
        else:
            yield number, line
            continue
        raise DataError(f"{name}, line {number}: {problem}", file=name, line=number)
