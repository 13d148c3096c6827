"""Published columns and tables, as they stand in memory before they are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from indistinct.formats.arrow import number_array, text_array, whole_numbers
from indistinct.tables.order import run_starts, sorted_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

BATCH_ROWS = 1_000_000


class Carried(Protocol):
    """A column that is published as it is, wherever its values lie."""

    @property
    def once(self) -> int:
        """Rows of which the value occurs in no other row; missing values do not count."""

    def __len__(self) -> int:
        """Return the number of rows."""


@dataclass(frozen=True)
class PublishedColumn:
    """One published column: ``values`` holds its distinct values in sorted order, ``codes`` points there.

    A code of -1 is a missing value. Only values that are published are in ``values``. The codes are ``own``
    int32[units] or, where many units share few combinations, ``own[of]`` with ``of`` int32[units]: columns of the same
    combinations need one number a unit between them.
    """

    name: str
    values: Any
    own: Int32
    of: Int32 | None = None

    @property
    def type(self) -> Any:
        """Arrow type of the values."""
        return self.values.type

    @property
    def codes(self) -> Int32:
        """int32[units]: which of ``values`` each unit has."""
        return self.part(0, len(self))

    @property
    def occurrences(self) -> Int64:
        """int64[values + 1]: units of each value, at the end of a missing one."""
        found = np.bincount(self.codes + 1, minlength=len(self.values) + 1).astype(np.int64)
        return np.append(found[1:], found[:1])

    @property
    def once(self) -> int:
        """Units of which the value occurs in no other unit."""
        return int((self.occurrences[:-1] == 1).sum())

    def __len__(self) -> int:
        """Return the number of units."""
        return len(self.own if self.of is None else self.of)

    def part(self, first: int, last: int) -> Int32:
        """Codes of the units first..last - 1."""
        return self.own[first:last] if self.of is None else self.own[self.of[first:last]]

    def reduced(self, units: Int64) -> PublishedColumn:
        """Keep the given units and only the values that they use."""
        return PublishedColumn(self.name, self.values, self.codes[units]).compacted()

    def compacted(self) -> PublishedColumn:
        """Keep only the values that units use; with ``of``, that combinations use."""
        present = np.zeros(len(self.values) + 1, np.bool_)
        present[self.own] = True  # the last flag is that of a missing value, code -1
        used = np.flatnonzero(present[:-1])
        translation = np.full(len(self.values) + 1, -1, np.int32)
        translation[used] = np.arange(len(used), dtype=np.int32)
        return PublishedColumn(self.name, self.values.take(number_array(used)), translation[self.own], self.of)


@dataclass(frozen=True)
class Published:
    """A table as it will be written: columns over units, and how often each unit is repeated."""

    columns: tuple[PublishedColumn, ...]
    repeat: Int64

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns, as they are written."""
        return tuple(column.name for column in self.columns)

    @property
    def rows(self) -> int:
        """Number of published rows."""
        return int(self.repeat.sum())

    def over(self, names: Sequence[str]) -> Published:
        """Return the table of some of the columns; units that became equal are one where columns share combinations."""
        columns = [column for column in self.columns if column.name in names]
        if all(column.of is None for column in columns):
            return Published(tuple(columns), self.repeat)
        shared = columns[0].of
        if shared is not None and all(column.of is shared for column in columns):
            rows_of = np.bincount(shared, minlength=len(columns[0].own))
            return Published(tuple(PublishedColumn(c.name, c.values, c.own) for c in columns), rows_of)
        keys = {id(column.of): column.of for column in columns if column.of is not None}
        keys |= {id(column): column.codes + np.int32(1) for column in columns if column.of is None}
        sizes = {id(column.of): len(column.own) for column in columns} | {id(c): len(c.values) + 1 for c in columns}
        rows = np.column_stack(sorted_rows(list(keys.values()), [sizes[key] for key in keys]))
        first = np.flatnonzero(run_starts(rows))
        place = {key: rows[first, position] for position, key in enumerate(keys)}
        return Published(
            tuple(
                PublishedColumn(
                    c.name, c.values, place[id(c)] - np.int32(1) if c.of is None else c.own[place[id(c.of)]]
                )
                for c in columns
            ),
            np.diff(np.append(first, len(rows))),
        )

    @property
    def schema(self) -> Any:
        """Arrow schema: texts as dictionaries, other types as they were."""
        return pa.schema([(column.name, _type(column)) for column in self.columns])

    def batches(self, size: int = BATCH_ROWS) -> Iterator[Any]:
        """Yield the rows in order, ``size`` at a time, as Arrow record batches."""
        total = self.rows
        if total == len(self.repeat):  # every unit is a row
            for begin in range(0, max(total, 1), size):
                arrays = [array_of(column, column.part(begin, begin + size)) for column in self.columns]
                yield pa.record_batch(arrays, schema=self.schema)
            return
        ends = np.cumsum(self.repeat)
        for begin in range(0, max(total, 1), size):
            end = min(begin + size, total)
            first, last = (
                int(np.searchsorted(ends, begin, "right")),
                int(np.searchsorted(ends, end, "left")) + 1,
            )
            repeat = self.repeat[first:last].copy()
            if len(repeat):
                repeat[0] = min(ends[first], end) - begin
                if last - first > 1:
                    repeat[-1] = end - ends[last - 2]
            arrays = [array_of(column, np.repeat(column.part(first, last), repeat)) for column in self.columns]
            yield pa.record_batch(arrays, schema=self.schema)

    def table(self) -> Any:
        """Return the rows as one Arrow table with plain types."""
        table = pa.Table.from_batches(list(self.batches()), self.schema)
        return table.cast(pa.schema([(column.name, column.type) for column in self.columns]))


def _type(column: PublishedColumn) -> Any:
    return pa.dictionary(pa.int32(), pa.string()) if pa.types.is_string(column.type) else column.type


def array_of(column: PublishedColumn, codes: Int32) -> Any:
    """Make an Arrow array of the values of a column with these codes; texts as a dictionary."""
    indices = number_array(codes)
    if pa.types.is_string(column.type):
        return pa.DictionaryArray.from_arrays(indices, column.values)
    return column.values.take(indices)


def text_column(name: str, texts: Sequence[str | None], codes: NDArray[np.integer[Any]]) -> PublishedColumn:
    """Build a column from one text per code (texts may repeat); values are sorted by code point."""
    values = sorted({text for text in texts if text is not None})
    place = {text: position for position, text in enumerate(values)}
    translation = np.array([-1 if text is None else place[text] for text in texts], np.int32)
    return PublishedColumn(name, text_array(values), translation[codes])


def typed_column(name: str, array: Any, codes: Int32 | None = None) -> PublishedColumn:
    """Build a column from Arrow values: one per row, or one per code when ``codes`` says which each unit has."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    distinct = pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
    order = whole_numbers(pc.sort_indices(distinct.dictionary))
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    indices = whole_numbers(distinct.indices)
    own = np.where(indices < 0, np.int32(-1), rank[indices] if len(rank) else np.int32(-1)).astype(np.int32)
    values = distinct.dictionary.take(number_array(order))
    if pa.types.is_large_string(values.type) or pa.types.is_string_view(values.type):
        values = values.cast(pa.string())
    return PublishedColumn(name, values, own if codes is None else own[codes])
