"""Counting a written file again, by another reader and another group-by than those that made it."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from indistinct.errors import VerificationError
from indistinct.formats.arrow import text_array, whole_numbers
from indistinct.formats.columnar import table_source, without_tokens
from indistinct.formats.registry import format_of, open_source
from indistinct.formats.source import counted_by
from indistinct.tables.dictionary import Dictionary
from indistinct.tables.order import lexicographic_order, run_starts
from indistinct.tables.scratch import scratch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.formats.source import Source, TableOptions

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
    fit into ``memory_bytes`` goes to a folder in ``temp_dir`` (by default beside the file) while DuckDB counts.
    """
    dictionaries = [Dictionary(name) for name in columns]
    chosen = format_of(place) if isinstance(place, Path) else None
    reader = None if chosen is None else chosen.duckdb
    if reader == "text" or (reader == "columns" and _is_known_to_duckdb(place)):
        place_of = temp_dir or place.parent
        with scratch(place_of) if place_of.is_dir() else nullcontext(place_of) as folder:
            settings: dict[str, str | bool] = {
                "temp_directory": str(folder),
                "autoinstall_known_extensions": False,  # nothing is fetched from the network
                "autoload_known_extensions": False,
            }
            if memory_bytes is not None:
                settings["memory_limit"] = f"{memory_bytes}B"
            return collected(dictionaries, _by_duckdb(place, reader, columns, options, settings))
    return count_source(open_source(place, options), columns)


def count_source(source: Source, columns: Sequence[str]) -> Recount:
    """Count the distinct rows of a source with the house's own reader."""
    dictionaries = [Dictionary(name) for name in columns]
    batches = ((batch, np.ones(batch.num_rows, np.int64)) for batch in source.batches(list(columns)))
    return collected(dictionaries, batches)


def numbered(texts: Sequence[str | None], numbers: Dictionary) -> Int32:
    """Number texts as a dictionary does."""
    return np.array([numbers.number(text) for text in texts], np.int32)


def multiset(codes: Int32, rows: Int64, sizes: Sequence[int]) -> tuple[Int32, Int64]:
    """Sort distinct rows and add up those that are equal; ``sizes`` are the numbers of texts."""
    order = lexicographic_order(codes, sizes)
    codes, rows = codes[order], rows[order]
    first = np.flatnonzero(run_starts(codes))
    return codes[first], np.add.reduceat(rows, first) if len(first) else rows


def as_source(found: Recount, name: str) -> Source:
    """Return the rows that were counted as a source that brings them with their numbers."""
    texts = zip(found.columns, found.texts, range(len(found.columns)), strict=True)
    columns = {column: text_array(own).take(pa.array(found.codes[:, place])) for column, own, place in texts}

    def read(wanted: tuple[str, ...], weight: str) -> Iterator[pa.RecordBatch]:
        arrays = [columns[column] for column in wanted]
        yield pa.record_batch([*arrays, pa.array(found.rows)], names=[*wanted, weight])

    return counted_by(table_source(pa.table(columns), name), read)


def collected(dictionaries: list[Dictionary], batches: Iterable[tuple[Any, Int64]]) -> Recount:
    """Add up distinct rows that come in batches, each with how often its rows occur."""
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
    return Recount(names, texts, *multiset(np.concatenate(codes), np.concatenate(rows), sizes))


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
            if reader == "columns":
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
        if reader == "text":
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
