"""Counting a written file again, by another reader and another group-by than those that made it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from indistinct.errors import VerificationError
from indistinct.formats.arrow import number_array, text_array, whole_numbers
from indistinct.formats.columnar import without_tokens
from indistinct.formats.registry import format_of, open_source
from indistinct.formats.source import TableOptions, ahead
from indistinct.tables.dictionary import Dictionary, texts_of
from indistinct.tables.order import lexicographic_order, run_starts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.formats.source import Source
    from indistinct.tables.published import Published, PublishedColumn

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

IMPOSSIBLE = "\x00"


@dataclass(frozen=True)
class Recount:
    """Distinct rows of a table, as numbers into ``texts`` (one list per column), with how often each occurs."""

    columns: tuple[str, ...]
    texts: tuple[list[str | None], ...]
    codes: Int32
    rows: Int64

    def column(self, name: str) -> tuple[list[str | None], Int32]:
        """Texts and codes of one column."""
        position = self.columns.index(name)
        return self.texts[position], self.codes[:, position]


def recount(
    place: Any,
    columns: Sequence[str],
    options: TableOptions,
    *,
    temp_dir: Path | None = None,
    memory_bytes: int | None = None,
) -> Recount:
    """Read a written table and count its distinct rows. CSV and Parquet files are read and grouped by DuckDB.

    ``place`` is a path or an Arrow table. Missing tokens of ``options`` count as missing in text files. What does not
    fit into ``memory_bytes`` goes to ``temp_dir`` while DuckDB counts; by default beside the file.
    """
    dictionaries = [Dictionary(name) for name in columns]
    chosen = format_of(place) if isinstance(place, Path) else None
    reader = None if chosen is None else chosen.duckdb
    if reader == "csv" or (reader == "parquet" and _is_known_to_duckdb(place)):
        settings: dict[str, str | bool] = {
            "temp_directory": str(temp_dir or place.parent),
            "autoinstall_known_extensions": False,  # nothing is fetched from the network
            "autoload_known_extensions": False,
        }
        if memory_bytes is not None:
            settings["memory_limit"] = f"{memory_bytes}B"
        return _collected(dictionaries, _by_duckdb(place, reader, columns, options, settings))
    return count_source(open_source(place, options), columns)


def count_source(source: Source, columns: Sequence[str]) -> Recount:
    """Count the distinct rows of a source with the house's own reader."""
    dictionaries = [Dictionary(name) for name in columns]
    batches = ((batch, np.ones(batch.num_rows, np.int64)) for batch in source.batches(list(columns)))
    return _collected(dictionaries, batches)


def matches(published: Published, found: Recount, columns: Sequence[str] | None = None) -> bool:
    """Whether the re-read rows are exactly the rows that were to be written, as multisets (of some columns)."""
    names = found.columns if columns is None else columns
    published = published.over(names)
    by_name = {column.name: column for column in published.columns}
    reread, expected, sizes = [], [], []
    for name in names:
        numbers = Dictionary(name)
        column, (texts, codes) = by_name[name], found.column(name)
        reread.append(_numbered(texts, numbers)[codes])
        expected.append(_numbered([*texts_of(column.values, name), None], numbers)[column.codes])
        sizes.append(len(numbers.numbers))
    (codes_left, rows_left), (codes_right, rows_right) = (
        _multiset(np.column_stack(expected), published.repeat, sizes),
        _multiset(np.column_stack(reread), found.rows, sizes),
    )
    return np.array_equal(codes_left, codes_right) and np.array_equal(rows_left, rows_right)


def altered(published: Published, found: Recount) -> list[str]:
    """Names of the columns that do not hold what was to be written, whatever stands beside."""
    return [name for name in found.columns if not matches(published, found, [name])]


def misplaced(
    published: Published,
    source: Source,
    spelling_of: Callable[[PublishedColumn], Callable[[str], str]],
    guard: Callable[[str], str] = str,
) -> list[str] | None:
    """Names of the columns of a written table that differ from those that were to be written, row by row.

    None when the number of rows differs. Rows are compared in their order, so this proves which values stand side by
    side without counting combinations, of which there may be as many as rows. Texts that were read go through ``guard``
    and the ``spelling_of`` their column.
    """
    columns = [_Sequence(column, spelling_of, guard) for column in published.columns]
    rows, total = 0, published.rows
    for batch in ahead(source.batches([column.name for column in published.columns])):
        if rows + batch.num_rows > total:
            return None
        for column, array in zip(columns, batch.columns, strict=True):
            column.compare(array, rows)
        rows += batch.num_rows
    return None if rows < total else [column.name for column in columns if column.differs]


class _Sequence:
    """One column that is compared with what stands in a file, batch by batch."""

    def __init__(
        self,
        column: PublishedColumn,
        spelling_of: Callable[[PublishedColumn], Callable[[str], str]],
        guard: Callable[[str], str],
    ) -> None:
        self.name, self.differs = column.name, False
        self._column, self._spelling_of, self._guard = column, spelling_of, guard
        self._read = Dictionary(column.name)
        self._number_of = np.zeros(0, np.int32)  # of each text that was read; -1: it was never to be written

    @cached_property
    def _wanted(self) -> tuple[dict[str | None, int], Int32]:
        """Number of each text that was to be written, and of each code of the column (the last of code -1)."""
        numbers = Dictionary(self.name)
        number_of_code = _numbered([*texts_of(self._column.values, self.name), None], numbers)
        return numbers.numbers, number_of_code

    @cached_property
    def _spelling(self) -> Callable[[str], str]:
        return self._spelling_of(self._column)

    def compare(self, array: Any, first: int) -> None:
        """Compare the next rows, which begin with row number ``first``."""
        codes = self._column.part(first, first + len(array))
        # values of the same type that are equal need no texts
        if array.type == self._column.type and array.equals(self._column.values.take(number_array(codes))):
            return
        numbers, number_of_code = self._wanted
        read = self._read.encode(array)
        known = len(self._number_of)
        if len(self._read.numbers) > known:
            new = respelled(self._read, {self.name: self._spelling}, self._guard, known)
            self._number_of = np.append(self._number_of, np.array([numbers.get(text, -1) for text in new], np.int32))
        self.differs |= not np.array_equal(self._number_of[read], number_of_code[codes])


def restored(
    found: Recount, spellings: Mapping[str, Callable[[str], str]], guard: Callable[[str], str] = str
) -> Recount:
    """Replace the texts of a recount (``respelled``); rows that become equal are one."""
    texts, codes = [], []
    for position, (name, own) in enumerate(zip(found.columns, found.texts, strict=True)):
        numbers, before = Dictionary(name), Dictionary(name)
        _numbered(own, before)
        translation = _numbered(respelled(before, spellings, guard), numbers)
        texts.append(numbers.texts)
        codes.append(translation[found.codes[:, position]])
    sizes = [max(1, len(own)) for own in texts]
    return Recount(found.columns, tuple(texts), *_multiset(np.column_stack(codes), found.rows, sizes))


def projected(found: Recount, names: Sequence[str]) -> Recount:
    """Count the distinct rows of some of the columns."""
    positions = [found.columns.index(name) for name in names]
    texts = tuple(found.texts[position] for position in positions)
    sizes = [max(1, len(own)) for own in texts]
    return Recount(tuple(names), texts, *_multiset(found.codes[:, positions], found.rows, sizes))


def respelled(
    column: Dictionary, spellings: Mapping[str, Callable[[str], str]], guard: Callable[[str], str] = str, first: int = 0
) -> list[str | None]:
    """Texts of a column after ``guard`` and the function that ``spellings`` has for it; a missing value stays.

    From text number ``first`` on.
    """
    spelling = spellings.get(column.column, str)
    return [None if text is None else spelling(guard(text)) for text in column.texts[first:]]


def _numbered(texts: Sequence[str | None], numbers: Dictionary) -> Int32:
    return np.array([numbers.number(text) for text in texts], np.int32)


def _multiset(codes: Int32, rows: Int64, sizes: Sequence[int]) -> tuple[Int32, Int64]:
    order = lexicographic_order(codes, sizes)
    codes, rows = codes[order], rows[order]
    first = np.flatnonzero(run_starts(codes))
    return codes[first], np.add.reduceat(rows, first) if len(first) else rows


def _collected(dictionaries: list[Dictionary], batches: Iterable[tuple[Any, Int64]]) -> Recount:
    codes, rows = [], []
    for batch, counts in batches:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        encoded = [d.encode(columns[d.column]) for d in dictionaries]
        codes.append(np.column_stack(encoded) if encoded else np.zeros((batch.num_rows, 0), np.int32))
        rows.append(counts)
    texts = tuple(dictionary.texts for dictionary in dictionaries)
    names = tuple(dictionary.column for dictionary in dictionaries)
    if not codes:
        return Recount(names, texts, np.zeros((0, len(names)), np.int32), np.zeros(0, np.int64))
    sizes = [max(1, len(text)) for text in texts]
    return Recount(names, texts, *_multiset(np.concatenate(codes), np.concatenate(rows), sizes))


def _is_known_to_duckdb(place: Path) -> bool:
    """DuckDB reads decimals of more than 38 digits as doubles."""
    import pyarrow.parquet as pq

    return not any(pa.types.is_decimal256(column.type) for column in pq.read_schema(place))


def _by_duckdb(
    place: Path, reader: str, columns: Sequence[str], options: TableOptions, settings: Mapping[str, str | bool]
) -> Iterable[tuple[Any, Int64]]:
    import duckdb

    header = list(open_source(place, options).columns)
    chosen = format_of(place)
    delimiter = (chosen and chosen.delimiter) or ","
    with duckdb.connect(config=dict(settings)) as connection:
        try:
            if reader == "parquet":
                relation = connection.read_parquet(str(place))
            else:
                relation = connection.read_csv(
                    str(place),
                    delimiter=options.delimiter or delimiter,
                    header=True,
                    auto_detect=False,  # nothing is guessed, and guessing takes time
                    columns={f"c{position}": "VARCHAR" for position in range(len(header))},
                    quotechar='"',
                    escapechar='"',
                    na_values=IMPOSSIBLE,
                    max_line_size=options.max_line_bytes,
                )
            # by their place: DuckDB renames columns that differ only by case
            names = [_quoted(relation.columns[header.index(name)]) for name in columns]
            count = _quoted(_unused(relation.columns))
            relation = relation.aggregate(f"{', '.join(names)}, count(*) AS {count}", ", ".join(names))
            table = relation.to_arrow_table()
        except duckdb.Error as error:
            raise VerificationError(f'"{place.name}" cannot be read back: {str(error).splitlines()[0]}') from error
    counts = np.concatenate([whole_numbers(chunk) for chunk in table.column(len(columns)).chunks])
    begin = 0
    for batch in table.select(list(range(len(columns)))).combine_chunks().to_batches():
        arrays = batch.columns
        if reader == "csv":
            arrays = [_missing(array, options.missing) for array in arrays]
        read = pa.record_batch(arrays, names=list(columns))
        yield without_tokens(read, options.missing_values), counts[begin : begin + batch.num_rows]
        begin += batch.num_rows


def _missing(array: Any, tokens: Sequence[str]) -> Any:
    empty, missing = text_array(["", None])
    text = array.fill_null(empty)  # an unquoted empty field; the writer knows no other empty cell
    return pc.if_else(pc.is_in(text, text_array(list(tokens))), missing, text) if tokens else text


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _unused(columns: Sequence[str]) -> str:
    name, taken = "n", {column.casefold() for column in columns}
    while name in taken:
        name += "n"
    return name
