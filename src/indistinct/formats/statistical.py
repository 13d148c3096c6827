"""Files of SPSS, Stata and SAS: values as stored, with their labels beside them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from indistinct.errors import DataError
from indistinct.formats.columnar import ENCODED, EXACT_DOUBLE, is_text, table_source, text_types
from indistinct.notices import Notice, Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from indistinct.formats.source import Source, TableOptions

CELLS_PER_READ = 2_000_000


def open_statistical(path: Path, options: TableOptions) -> Source:
    """Open a .sav, .zsav, .dta, .xpt or .sas7bdat file.

    Numbers that are whole in every row become integers; dates, times and moments keep their types. A code that the
    file itself declares to be missing is missing: user-missing values and ranges of SPSS, the lettered ones (``.a``)
    of Stata and SAS; a notice counts them. A value whose text is one of ``options.missing`` is missing; by default so
    is an empty text, which these formats cannot tell from a missing one. ``labels`` maps the values as read to their
    labels.

    Raises UnsupportedError without the package pyreadstat, DataError for a broken file or no rows. Reads all of
    the file into memory, texts dictionary-encoded.
    """
    import pyreadstat

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
        chunks, letters, meta = _read_all(read, path, settings)
    except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError, OverflowError, ValueError, UnicodeError):
        message = f"{path.name} is no readable {suffix} file; save it again"
        raise DataError(message, file=path.name) from None
    names = list(meta.column_names)
    if not chunks:
        raise DataError(f"{path.name} has no rows; a table needs at least one", file=path.name)
    columns, notices = [], []
    for name in names:
        column = _column([part[name] for part in chunks])
        column, declared = _without_declared(column, _ranges_of(meta, name))
        declared.update(letters.get(name, {}))
        columns.append(_without_tokens(column, options.missing))
        if declared:
            notices.append(_declared_notice(name, declared))
    source = table_source(pa.table(columns, names=names), path.name)
    source.types = text_types(source.types)
    source.warnings = notices + source.warnings
    source.labels = {
        name: {
            _key(value, source.types[name]): str(label)
            for value, label in labels.items()
            if value not in meta.missing_user_values.get(name, ())
        }
        for name, labels in meta.variable_value_labels.items()
    }
    source.column_labels = {name: label for name, label in meta.column_names_to_labels.items() if label}
    return source


def _read_all(
    read: Any, path: Path, settings: Mapping[str, Any]
) -> tuple[list[dict[str, pa.Array]], dict[str, Counter[str]], Any]:
    """Columns of the file in parts of bounded size, cells with lettered missing values, and its metadata."""
    chunks: list[dict[str, pa.Array]] = []
    letters: dict[str, Counter[str]] = {}
    _, meta = read(str(path), metadataonly=True, **settings)
    rows = max(1000, CELLS_PER_READ // max(len(meta.column_names), 1))
    count, offset = rows, 0
    while count == rows:
        part, here = read(str(path), row_offset=offset, row_limit=rows, **settings)
        count = len(next(iter(part.values()), ()))
        offset += count
        for name, codes in here.missing_user_values.items():
            letters.setdefault(name, Counter()).update(f".{v.lower()}" for v in part[name] if v in codes)
        if count:
            chunks.append({name: _array(part[name], here.missing_user_values.get(name, ())) for name in part})
        meta.missing_user_values.update(here.missing_user_values)
    return chunks, {name: cells for name, cells in letters.items() if cells}, meta


def _array(values: Sequence[object], letters: Sequence[str]) -> pa.Array:
    if letters:
        values = [None if isinstance(value, str) and value in letters else value for value in values]
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError):
        array = pa.array([None if value is None else _text(value) for value in values], pa.string())
    return array.dictionary_encode().cast(ENCODED) if is_text(array.type) else array


def _ranges_of(meta: Any, name: str) -> list[tuple[Any, Any]]:
    """Ranges of values that the file declares to be missing in a column."""
    return [(one["lo"], one["hi"]) for one in (meta.missing_ranges or {}).get(name, ())]


def _without_declared(
    column: pa.ChunkedArray, ranges: Sequence[tuple[Any, Any]]
) -> tuple[pa.ChunkedArray, Counter[str]]:
    """Make the values of declared ranges missing, and count the cells by value."""
    found: Counter[str] = Counter()
    for low, high in ranges:
        inside = _inside(column, low, high)
        codes = column.filter(inside)
        if len(codes):
            found.update({str(_text(one["values"])): one["counts"] for one in pc.value_counts(codes).to_pylist()})
            labelled = [
                pc.if_else(here, pa.scalar(None, part.type), part)
                for part, here in zip(column.chunks, inside.chunks, strict=True)
            ]
            column = pa.chunked_array(labelled, column.type)
    return column, found


def _inside(column: pa.ChunkedArray, low: Any, high: Any) -> pa.ChunkedArray:
    values = column.cast(pa.string()) if is_text(column.type) else column
    if is_text(values.type):
        low, high = str(low).rstrip(), str(high).rstrip()
    elif pa.types.is_temporal(values.type):
        return pa.chunked_array([pa.array([False] * len(part), pa.bool_()) for part in values.chunks], pa.bool_())
    else:
        values = values.cast(pa.float64())
        low, high = float(low), float(high)
    within = pc.and_(pc.greater_equal(values, low), pc.less_equal(values, high))
    return pc.fill_null(within, pa.scalar(False))  # noqa: FBT003  # Arrow's own way to name a value


def _declared_notice(name: str, cells: Mapping[str, int]) -> Notice:
    message = Sentence(
        'the file declares {codes} of "{name}" to be missing: {n} cells read as missing, and published without the '
        "code",
        'the file declares {codes} of "{name}" to be missing: {n} cell read as missing, and published without the code',
        n=sum(cells.values()),
        codes=tuple(sorted(cells, key=lambda code: (len(code), code))),
        name=name,
    )
    return Notice("declared-missing", name, message)


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _column(chunks: Sequence[pa.Array]) -> pa.ChunkedArray:
    """One column of the parts: under one type, whole numbers made integers."""
    kinds = {part.type for part in chunks if not pa.types.is_null(part.type)}
    if len(kinds) > 1:
        chunks = [pa.array([None if v is None else _text(v) for v in part.to_pylist()], pa.string()) for part in chunks]
        kinds = {pa.string()}
    kind = kinds.pop() if kinds else pa.string()
    chunks = [pa.nulls(len(part), kind) if pa.types.is_null(part.type) else part.cast(kind) for part in chunks]
    column = pa.chunked_array(chunks, kind)
    if pa.types.is_floating(kind):
        whole = pc.and_(pc.equal(pc.floor(column), column), pc.less_equal(pc.abs(column), EXACT_DOUBLE))
        if pc.all(whole).as_py() is not False:
            column = pc.cast(column, pa.int64())
    return column


def _without_tokens(column: pa.ChunkedArray, missing: Sequence[str]) -> pa.ChunkedArray:
    tokens = pa.array(missing, pa.string())
    if is_text(column.type):
        return pa.chunked_array([_without(chunk, tokens) for chunk in column.chunks], ENCODED)
    return pc.if_else(pc.is_in(pc.cast(column, pa.string()), tokens), None, column) if len(missing) else column


def _without(texts: pa.Array, tokens: pa.Array) -> pa.DictionaryArray:
    array = texts if pa.types.is_dictionary(texts.type) else texts.dictionary_encode().cast(ENCODED)
    entries = pc.if_else(pc.is_in(array.dictionary, tokens), None, array.dictionary)
    return pa.DictionaryArray.from_arrays(array.indices, entries)


def _key(value: object, kind: pa.DataType) -> object:
    """Key of a value label, as the column's own values are."""
    if is_text(kind):
        return _text(value)
    return int(value) if isinstance(value, float) and value.is_integer() and pa.types.is_integer(kind) else value
