"""Writing delimited text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from indistinct.errors import DataError
from indistinct.formats.arrow import number_array, text_array, text_scalar, whole_numbers
from indistinct.formats.columnar import is_text, plainly_typed
from indistinct.formats.contract import DELIMITERS
from indistinct.formats.formulas import GUARDED, risky, safe_text
from indistinct.formats.row_groups import encoded
from indistinct.formats.texts import as_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.formats.contract import Sheet, Writing


LINES_AT_ONCE = 1 << 17
COMBINED_TEXTS = 1 << 13


def write_delimited(file: BinaryIO, sheets: Mapping[str, Sheet], writing: Writing) -> None:
    """Write one table as lines of text."""
    ((batches, schema),) = sheets.values()
    delimiter, missing, safe = writing.delimiter, writing.missing, writing.spreadsheet_safe
    names = schema.names
    if safe and (run := [name for name in names if safe_text(name) != name]):
        raise DataError(f'a spreadsheet would run the column name "{run[0]}"; rename it', column=run[0])
    # who opens the file finds its delimiter by the header, where others must not stand bare
    header = _quoted(text_array(names), delimiter + "".join(DELIMITERS), None).to_pylist()
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
        coded = encoded(column)
        texts = coded.dictionary
        if safe:
            texts = pc.if_else(risky(texts, GUARDED), _put_together(text_scalar("'"), texts), texts)
    else:
        coded = plainly_typed(column).dictionary_encode()
        texts = as_text(coded.dictionary)
    texts = pc.coalesce(_quoted(texts, delimiter, missing), text_scalar(token))
    texts = pa.concat_arrays([texts, text_array([token])])
    indices = whole_numbers(coded.indices)
    if coded.indices.null_count:
        indices = np.where(indices < 0, np.int32(len(texts) - 1), indices)
    return _put_together(texts, text_scalar(end)), indices


def _put_together(*pieces: Any) -> pa.Array:
    return pc.binary_join_element_wise(*pieces, text_scalar(""))


def _quoted(texts: pa.Array, delimiter: str, missing: str | None) -> pa.Array:
    """Texts with quotes where they must have them: around edges of cells, and around what would read as missing."""
    must = pc.match_substring_regex(texts, f'["\r\n{re.escape(delimiter)}]')
    if missing is not None:
        must = pc.or_(must, pc.is_in(texts, text_array(["", missing])))
    if not pc.any(must).as_py():
        return texts
    quote = text_scalar('"')
    return pc.if_else(must, _put_together(quote, pc.replace_substring(texts, '"', '""'), quote), texts)


def _lines(cells: Sequence[tuple[pa.Array, NDArray[np.int32]]]) -> Iterator[pa.Array]:
    """Lines of text of the rows; in halves where they would be too long for one array."""
    pieces = _combined(cells)
    # neighbouring rows that are equal, as in a sorted table, are built once
    changes = np.ones(len(pieces[0][1]), bool)
    changes[1:] = np.logical_or.reduce([indices[1:] != indices[:-1] for _, indices in pieces])
    heads = np.flatnonzero(changes)
    repeated = len(heads) * 4 < len(changes)
    try:
        columns = [texts.take(number_array(indices[heads] if repeated else indices)) for texts, indices in pieces]
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
    pieces = [cells[0]]
    limit = min(COMBINED_TEXTS, len(cells[0][1]) // 4)
    for texts, indices in cells[1:]:
        before, codes = pieces[-1]
        if len(before) * len(texts) > limit:
            pieces.append((texts, indices))
            continue
        first = np.repeat(np.arange(len(before), dtype=np.int32), len(texts))
        second = np.tile(np.arange(len(texts), dtype=np.int32), len(before))
        pairs = _put_together(before.take(number_array(first)), texts.take(number_array(second)))
        pieces[-1] = (pairs, codes * np.int32(len(texts)) + indices)
    return pieces


def _bytes(lines: pa.Array) -> memoryview:
    """Bytes of all texts of an array, one after the other."""
    _, offsets, data = lines.buffers()
    ends = np.frombuffer(offsets, np.int32)
    return memoryview(data)[ends[lines.offset] : ends[lines.offset + len(lines)]] if data else memoryview(b"")
