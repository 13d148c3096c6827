"""Files of SPSS, Stata and SAS: values as stored, with their labels beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from indistinct.errors import DataError
from indistinct.tables.columnar import ENCODED, EXACT_DOUBLE, is_text, table_source, text_types
from indistinct.tables.source import extra

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from indistinct.tables.source import Source, TableOptions

CELLS_PER_READ = 2_000_000


def open_statistical(path: Path, options: TableOptions) -> Source:
    """Open a .sav, .zsav, .dta, .xpt or .sas7bdat file.

    Numbers that are whole in every row become integers; dates, times and moments keep their types. A user-missing
    code (SPSS) is a value like others, with its label; a lettered one (Stata, SAS) makes its column text and is
    written ``.a``. A value whose text is one of ``options.missing`` is missing; by default so is an empty text,
    which these formats cannot tell from a missing one. ``labels`` maps the values as read to their labels.

    Raises UnsupportedError without the package pyreadstat, DataError for a broken file or no rows. Reads all of
    the file into memory, texts dictionary-encoded.
    """
    try:
        import pyreadstat
    except ModuleNotFoundError:
        raise extra("pyreadstat") from None
    suffix = path.suffix.lower().lstrip(".")
    read = {
        "sav": pyreadstat.read_sav,
        "zsav": pyreadstat.read_sav,
        "dta": pyreadstat.read_dta,
        "xpt": pyreadstat.read_xport,
        "sas7bdat": pyreadstat.read_sas7bdat,
    }[suffix]
    settings: dict[str, Any] = {"output_format": "dict"}
    if suffix != "xpt":
        settings["user_missing"] = True
    try:
        parts, meta = _read_all(read, path, settings, options.missing)
    except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError, OverflowError, ValueError, UnicodeError):
        message = f"{path.name} is no readable {suffix} file; save it again"
        raise DataError(message, file=path.name) from None
    names = list(meta.column_names)
    if not parts:
        raise DataError(f"{path.name} has no rows; a table needs at least one", file=path.name)
    columns = [_column([part[name] for part in parts], options.missing) for name in names]
    source = table_source(pa.table(columns, names=names), path.name)
    source.types = text_types(source.types)
    source.labels = {
        name: {
            _key(value, source.types[name], meta.missing_user_values.get(name, ())): str(label)
            for value, label in labels.items()
        }
        for name, labels in meta.variable_value_labels.items()
    }
    source.column_labels = {name: label for name, label in meta.column_names_to_labels.items() if label}
    return source


def _read_all(
    read: Any, path: Path, settings: Mapping[str, Any], missing: Sequence[str]
) -> tuple[list[dict[str, pa.Array]], Any]:
    """Columns of the file in parts of bounded size, and its metadata."""
    parts: list[dict[str, pa.Array]] = []
    _, meta = read(str(path), metadataonly=True, **settings)
    rows = max(1000, CELLS_PER_READ // max(len(meta.column_names), 1))
    count, offset = rows, 0
    while count == rows:
        part, here = read(str(path), row_offset=offset, row_limit=rows, **settings)
        count = len(next(iter(part.values()), ()))
        offset += count
        letters = here.missing_user_values
        if count:
            parts.append({name: _array(part[name], letters.get(name, ()), missing) for name in part})
        meta.missing_user_values.update(letters)
    return parts, meta


def _array(values: Sequence[object], letters: Sequence[str], missing: Sequence[str]) -> pa.Array:
    if letters:
        values = [f".{value.lower()}" if isinstance(value, str) else value for value in values]
        values = [None if value in missing else value for value in values]
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError):
        array = pa.array([None if value is None else _text(value) for value in values], pa.string())
    return array.dictionary_encode().cast(ENCODED) if is_text(array.type) else array


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _column(parts: Sequence[pa.Array], missing: Sequence[str]) -> pa.ChunkedArray:
    """One column of the parts: under one type, tokens made missing, whole numbers made integers."""
    kinds = {part.type for part in parts if not pa.types.is_null(part.type)}
    if len(kinds) > 1:
        parts = [pa.array([None if v is None else _text(v) for v in part.to_pylist()], pa.string()) for part in parts]
        kinds = {pa.string()}
    kind = kinds.pop() if kinds else pa.string()
    parts = [pa.nulls(len(part), kind) if pa.types.is_null(part.type) else part.cast(kind) for part in parts]
    column = pa.chunked_array(parts, kind)
    if pa.types.is_floating(kind):
        whole = pc.and_(pc.equal(pc.floor(column), column), pc.less_equal(pc.abs(column), EXACT_DOUBLE))
        if pc.all(whole).as_py() is not False:
            column = pc.cast(column, pa.int64())
    tokens = pa.array(missing, pa.string())
    if is_text(kind):
        return pa.chunked_array([_without(chunk, tokens) for chunk in column.chunks], ENCODED)
    return pc.if_else(pc.is_in(pc.cast(column, pa.string()), tokens), None, column) if len(missing) else column


def _without(texts: pa.Array, tokens: pa.Array) -> pa.DictionaryArray:
    array = texts if pa.types.is_dictionary(texts.type) else texts.dictionary_encode().cast(ENCODED)
    entries = pc.if_else(pc.is_in(array.dictionary, tokens), None, array.dictionary)
    return pa.DictionaryArray.from_arrays(array.indices, entries)


def _key(value: object, kind: pa.DataType, letters: Sequence[str]) -> object:
    """Key of a value label, as the column's own values are."""
    if value in letters:
        return f".{str(value).lower()}"
    if is_text(kind):
        return _text(value)
    return int(value) if isinstance(value, float) and value.is_integer() and pa.types.is_integer(kind) else value
