"""From classes to published rows: once, on the source, in an order that carries nothing.

A *unit* is a group of identical published rows. Without carried columns the units are the (class, sensitive values)
groups and the source is not read again; with carried columns every row is a unit.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from indistinct.tables.arrow import number_array, text_array, whole_numbers
from indistinct.tables.columnar import is_text
from indistinct.tables.dictionary import from_text
from indistinct.tables.order import lexicographic_order, run_starts
from indistinct.tables.records import SUPPRESSED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.tables.count import Counted
    from indistinct.tables.records import Assignment, Frequencies, Recoding
    from indistinct.tables.source import Source

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

BATCH_ROWS = 1_000_000


@dataclass(frozen=True)
class PublishedColumn:
    """One published column: ``values`` holds its distinct values in sorted order, ``codes`` int32[units] points there.

    A code of -1 is a missing value. Only values that are published are in ``values``.
    """

    name: str
    values: Any
    codes: Int32

    @property
    def type(self) -> Any:
        """Arrow type of the values."""
        return self.values.type

    def reduced(self, units: Int64) -> PublishedColumn:
        """Keep the given units and only the values that they use."""
        codes = self.codes[units]
        used = np.unique(codes[codes >= 0])
        translation = np.full(len(self.values) + 1, -1, np.int32)
        translation[used] = np.arange(len(used), dtype=np.int32)
        return PublishedColumn(self.name, self.values.take(number_array(used)), translation[codes])


@dataclass(frozen=True)
class Published:
    """A table as it will be written: columns over units, and how often each unit is repeated."""

    columns: tuple[PublishedColumn, ...]
    repeat: Int64

    @property
    def rows(self) -> int:
        """Number of published rows."""
        return int(self.repeat.sum())

    @property
    def schema(self) -> Any:
        """Arrow schema: texts as dictionaries, other types as they were."""
        return pa.schema([(column.name, _type(column)) for column in self.columns])

    def batches(self, size: int = BATCH_ROWS) -> Iterator[Any]:
        """Yield the rows in order, ``size`` at a time, as Arrow record batches."""
        ends = np.cumsum(self.repeat)
        for begin in range(0, max(self.rows, 1), size):
            end = min(begin + size, self.rows)
            first, last = (
                int(np.searchsorted(ends, begin, "right")),
                int(np.searchsorted(ends, end, "left")) + 1,
            )
            repeat = self.repeat[first:last].copy()
            if len(repeat):
                repeat[0] = min(ends[first], end) - begin
                if last - first > 1:
                    repeat[-1] = end - ends[last - 2]
            arrays = [_array(column, np.repeat(column.codes[first:last], repeat)) for column in self.columns]
            yield pa.record_batch(arrays, schema=self.schema)

    def table(self) -> Any:
        """Return the rows as one Arrow table with plain types."""
        table = pa.Table.from_batches(list(self.batches()), self.schema)
        return table.cast(pa.schema([(column.name, column.type) for column in self.columns]))


def _type(column: PublishedColumn) -> Any:
    return pa.dictionary(pa.int32(), pa.string()) if pa.types.is_string(column.type) else column.type


def _array(column: PublishedColumn, codes: Int32) -> Any:
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


@dataclass(frozen=True)
class Layout:
    """Which columns are published, in which order, and how.

    ``columns``: output order. ``carried``: published as they are. ``transformed``: identifying columns whose values are
    replaced by ``transform(texts)``. ``token`` stands in every quasi-identifier of a starred row.
    """

    columns: tuple[str, ...]
    carried: Mapping[str, PublishedColumn] = field(default_factory=dict)
    transformed: Mapping[str, Callable[[Sequence[str | None]], list[str | None]]] = field(default_factory=dict)
    token: str = "*"  # noqa: S105  # a mark for suppressed cells, no secret
    order: str = "sorted"

    @property
    def needs_rows(self) -> bool:
        """Whether single rows matter: some column is neither quasi-identifying nor modelled, or the order is kept."""
        return bool(self.carried) or bool(self.transformed) or self.order == "kept"


@dataclass(frozen=True)
class Units:
    """Published rows before they are put in order.

    ``columns`` by name; ``repeat`` int64[units]; ``part`` int64[units]: the entry of the assignment that a unit comes
    from. ``distinct`` is False when every row is a unit.
    """

    columns: Mapping[str, PublishedColumn]
    repeat: Int64
    part: Int64
    distinct: bool


def publish(
    source: Source,
    counted: Counted,
    assignment: Assignment,
    recoding: Recoding,
    layout: Layout,
    *,
    starred: bool = False,
) -> Published:
    """Apply a recoding to the source.

    Suppressed rows are left out, or (``starred``) published with the token in every quasi-identifier. Rows are sorted
    by their published columns, so that the result depends on the multiset of rows only. Where one cell is divided
    between classes, its rows are dealt out in the order of their carried values.
    """
    units = units_of(source, counted, assignment, recoding, layout, starred=starred)
    columns = [units.columns[name] for name in layout.columns]
    return sorted_units(columns, units.repeat, merge=units.distinct, order=layout.order)


def units_of(
    source: Source,
    counted: Counted,
    assignment: Assignment,
    recoding: Recoding,
    layout: Layout,
    *,
    starred: bool = False,
) -> Units:
    """Give every published row its columns, but no place yet.

    The rows of a cell that is divided between groups are dealt out at random: which of them is in which group must not
    follow from their other values.
    """
    if layout.needs_rows:
        return _units_of_rows(source, counted, assignment, recoding, layout, starred=starred)
    part = np.arange(len(assignment.cell)) if starred else np.flatnonzero(assignment.class_of != SUPPRESSED)
    columns = _modelled_columns(source, counted, recoding, layout, assignment.cell[part], assignment.class_of[part])
    return Units(columns, assignment.count[part], part, distinct=True)


def _units_of_rows(
    source: Source,
    counted: Counted,
    assignment: Assignment,
    recoding: Recoding,
    layout: Layout,
    *,
    starred: bool,
) -> Units:
    cell_of_row = counted.cell_of_row
    if cell_of_row is None:
        message = "the rows of the cells were not kept when the table was counted"
        raise ValueError(message)
    extra = {**layout.carried, **_transformed_columns(source, layout)}
    keys: list[NDArray[Any]] = [column.codes for column in extra.values()]
    if assignment.group_of is not None:
        keys = [random_keys(len(cell_of_row))]
    part_of = part_of_rows(assignment, cell_of_row, keys)
    class_of = np.append(assignment.class_of, np.int32(SUPPRESSED))[part_of]
    rows = np.flatnonzero((cell_of_row >= 0) if starred else class_of != SUPPRESSED)
    columns = _modelled_columns(source, counted, recoding, layout, cell_of_row[rows], class_of[rows])
    columns.update({name: column.reduced(rows) for name, column in extra.items()})
    return Units(columns, np.ones(len(rows), np.int64), part_of[rows], distinct=False)


def random_keys(number: int) -> NDArray[np.uint64]:
    """uint64[number] from the operating system: an order by them protects, because nobody can predict it."""
    return np.frombuffer(os.urandom(8 * number), np.uint64)


def load_columns(source: Source, names: Sequence[str]) -> dict[str, PublishedColumn]:
    """Read columns as they are: one code per row of the source, in its order."""
    parts: dict[str, list[Any]] = {name: [] for name in names}
    for batch in source.batches(list(names)):
        for name in names:
            parts[name].append(batch.column(batch.schema.get_field_index(name)))
    return {name: typed_column(name, _unified(pa.chunked_array(parts[name]))) for name in names}


def _transformed_columns(source: Source, layout: Layout) -> dict[str, PublishedColumn]:
    columns = {}
    for name, column in load_columns(source, list(layout.transformed)).items() if layout.transformed else ():
        texts = [None if text is None else str(text) for text in column.values.to_pylist()]
        columns[name] = text_column(name, [*layout.transformed[name](texts), None], column.codes)
    return columns


def _unified(array: Any) -> Any:
    array = array.unify_dictionaries() if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    indices = pa.concat_arrays([chunk.indices for chunk in array.chunks])
    return pa.DictionaryArray.from_arrays(indices, array.chunk(0).dictionary)


def part_of_rows(assignment: Assignment, cell_of_row: Int32, keys: Sequence[NDArray[Any]]) -> Int64:
    """int64[n]: the entry of the assignment of each row (-1 for rows outside the frequencies).

    Rows of a cell that is divided are dealt out in the order of ``keys``.
    """
    order = np.argsort(assignment.cell, kind="stable")
    cells, counts = assignment.cell[order], assignment.count[order]
    part_of = np.full(len(cell_of_row), -1, np.int64)
    counted = np.flatnonzero(cell_of_row >= 0)
    if not (np.diff(cells) == 0).any():
        of_cell = np.full(int(cells.max(initial=-1)) + 1, -1, np.int64)
        of_cell[cells] = order
        part_of[counted] = of_cell[cell_of_row[counted]]
        return part_of
    rows = counted[np.lexsort([*(key[counted] for key in reversed(keys)), cell_of_row[counted]])]
    part_of[rows] = np.repeat(order, counts)
    return part_of


def _modelled_columns(
    source: Source, counted: Counted, recoding: Recoding, layout: Layout, cell: Int32, class_of: Int32
) -> dict[str, PublishedColumn]:
    frequencies = counted.frequencies
    columns = quasi_columns(source, frequencies, recoding, layout, class_of)
    for hierarchy in frequencies.sensitive:
        codes = frequencies.sensitive_codes(hierarchy.attribute)[cell]
        columns[hierarchy.attribute] = sensitive_column(source, counted, hierarchy.attribute, codes)
    return columns


def quasi_columns(
    source: Source, frequencies: Frequencies, recoding: Recoding, layout: Layout, class_of: NDArray[np.integer[Any]]
) -> dict[str, PublishedColumn]:
    """Build the columns of the quasi-identifiers of rows of these classes (-1: suppressed)."""
    columns = {}
    for position, hierarchy in enumerate(frequencies.quasi):
        name = hierarchy.attribute
        if hierarchy.is_fixed and not (class_of == SUPPRESSED).any():
            codes = recoding.lo[class_of, position]
            columns[name] = _restored(source, name, hierarchy.texts, codes)
        else:  # the last text stands for suppressed rows: class -1 points there
            texts, label_of = recoding.labels(position)
            labels = np.append(label_of, len(texts))[class_of]
            columns[name] = text_column(name, [*texts, layout.token], labels)
    return columns


def sensitive_column(
    source: Source, counted: Counted, attribute: str, codes: Int32, name: str | None = None
) -> PublishedColumn:
    """Build a column (under another name, if wanted) of the values of a sensitive attribute with these codes."""
    column = _restored(source, attribute, counted.frequencies.references[attribute].hierarchy.texts, codes)
    return column if name is None else PublishedColumn(name, column.values, column.codes)


def _restored(source: Source, name: str, texts: Sequence[str | None], codes: Int32) -> PublishedColumn:
    """Give the values of an unchanged column their type in the source back."""
    kind = source.types[name]
    if is_text(kind):
        return text_column(name, texts, codes)
    return typed_column(name, from_text(texts, kind), codes)


def sorted_units(columns: Sequence[PublishedColumn], repeat: Int64, *, merge: bool, order: str) -> Published:
    """Put units in order (``Layout.order``); with ``merge`` equal ones become one."""
    everything = np.arange(len(repeat))
    if order != "kept":
        ranks = np.column_stack([column.codes + 1 for column in columns])
        everything = lexicographic_order(ranks, [len(column.values) + 1 for column in columns])
    if merge and order == "sorted" and len(everything):
        ranks = ranks[everything]
        first = np.flatnonzero(run_starts(ranks))
        repeat, everything = np.add.reduceat(repeat[everything], first), everything[first]
    else:
        repeat = repeat[everything]
    if order == "shuffled":
        everything = np.repeat(everything, repeat)
        shuffle = np.argsort(random_keys(len(everything)), kind="stable")
        everything, repeat = everything[shuffle], np.ones(len(everything), np.int64)
    return Published(tuple(column.reduced(everything) for column in columns), repeat)
