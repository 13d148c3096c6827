"""From classes to published rows: once, on the source, in an order that carries nothing.

A *unit* is a group of identical published rows. Without carried columns the units are the (class, sensitive values)
groups and the source is not read again; with carried columns every row is a unit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from indistinct.formats.columnar import is_text
from indistinct.formats.texts import from_text
from indistinct.tables.order import lexicographic_order, run_starts, secret_words
from indistinct.tables.published import Published, PublishedColumn, text_column, typed_column
from indistinct.tables.records import SUPPRESSED
from indistinct.tables.rows import ordered_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.formats.source import Source
    from indistinct.tables.count import Counted
    from indistinct.tables.records import Assignment, Frequencies, Recoding

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]


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
    if layout.needs_rows and layout.order != "kept":
        part = released(assignment, starred=starred)
        modelled = modelled_columns(source, counted, recoding, layout, assignment.cell[part], assignment.class_of[part])
        extra = {**layout.carried, **_transformed_columns(source, layout)}
        return ordered_rows(modelled, part, assignment, extra, cells_of_rows(counted), layout.columns, layout.order)
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
    part = released(assignment, starred=starred)
    columns = modelled_columns(source, counted, recoding, layout, assignment.cell[part], assignment.class_of[part])
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
    cell_of_row = cells_of_rows(counted)
    extra = {**layout.carried, **_transformed_columns(source, layout)}
    keys: list[NDArray[Any]] = [column.codes for column in extra.values()]
    if assignment.group_of is not None:
        keys = [secret_words(len(cell_of_row))]
    part_of = part_of_rows(assignment, cell_of_row, keys)
    class_of = np.append(assignment.class_of, np.int32(SUPPRESSED))[part_of]
    rows = np.flatnonzero((cell_of_row >= 0) if starred else class_of != SUPPRESSED)
    columns = modelled_columns(source, counted, recoding, layout, cell_of_row[rows], class_of[rows])
    columns.update({name: column.reduced(rows) for name, column in extra.items()})
    return Units(columns, np.ones(len(rows), np.int64), part_of[rows], distinct=False)


def released(assignment: Assignment, *, starred: bool) -> Int64:
    """Return the entries of an assignment whose rows are published."""
    return np.arange(len(assignment.cell)) if starred else np.flatnonzero(assignment.class_of != SUPPRESSED)


def cells_of_rows(counted: Counted) -> Int32:
    """int32[n]: the cell of each row; raises ValueError where they were not kept."""
    if counted.cell_of_row is None:
        message = "the rows of the cells were not kept when the table was counted"
        raise ValueError(message)
    return counted.cell_of_row


def load_columns(source: Source, names: Sequence[str]) -> dict[str, PublishedColumn]:
    """Read columns as they are: one code per row of the source, in its order."""
    chunks: dict[str, list[Any]] = {name: [] for name in names}
    for batch in source.batches(list(names)):
        for name in names:
            chunks[name].append(batch.column(batch.schema.get_field_index(name)))
    return {name: typed_column(name, _unified(pa.chunked_array(chunks[name]))) for name in names}


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


def modelled_columns(
    source: Source, counted: Counted, recoding: Recoding, layout: Layout, cell: Int32, class_of: Int32
) -> dict[str, PublishedColumn]:
    """Build the columns that were counted, of rows of these cells and classes (-1: suppressed)."""
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
        shuffle = np.argsort(secret_words(len(everything)), kind="stable")
        everything, repeat = everything[shuffle], np.ones(len(everything), np.int64)
    return Published(tuple(column.reduced(everything) for column in columns), repeat)
