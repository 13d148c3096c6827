"""Questions that single rows answer; what comes out are counts, or one value for each person."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from indistinct.errors import SchemaError
from indistinct.tables.apply import cells_of_rows, part_of_rows
from indistinct.tables.dictionary import Dictionary
from indistinct.tables.keys import KeyTable
from indistinct.tables.order import distinct
from indistinct.tables.published import PublishedColumn
from indistinct.tables.records import SUPPRESSED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from indistinct.formats.source import Source
    from indistinct.tables.count import Counted
    from indistinct.tables.records import Assignment, Frequencies

    Int64 = NDArray[np.int64]

OUTSIDE = -2
"""In place of a class, for a row that is in no cell."""


def column_codes(source: Source, name: str) -> tuple[list[str | None], NDArray[np.int32]]:
    """Read one column: its distinct texts (None is missing), and which of them each row has.

    Raises SchemaError for a column that the source lacks.
    """
    if name not in source.columns:
        raise SchemaError.unknown_column(name, source.columns, file=source.name)
    numbers = Dictionary(name)
    codes = [numbers.encode(batch.column(0)) for batch in source.batches([name])]
    return numbers.texts, np.concatenate(codes)


def sizes_if_known(counted: Counted, others: Mapping[str, PublishedColumn], hidden: NDArray[np.bool_]) -> Int64:
    """Sizes of the classes that form if the columns ``others`` are known too; rows of ``hidden`` cells are in none.

    Persons with a person key, else rows.
    """
    frequencies, cell_of_row, person_of_row = counted.frequencies, counted.cell_of_row, counted.person_of_row
    if cell_of_row is None:
        return frequencies.rows[~hidden]
    rows = np.flatnonzero((cell_of_row >= 0) & ~hidden[cell_of_row])
    keys = KeyTable(1 + len(others))
    known = keys.add([cell_of_row[rows], *(column.codes[rows] + 1 for column in others.values())])
    if frequencies.persons is None or person_of_row is None:
        return keys.counts
    total = frequencies.persons.total
    pairs = distinct(known.astype(np.int64) * total + person_of_row[rows], len(keys.counts) * total)
    return np.bincount(pairs // total)


def class_of_persons(
    source: Source,
    counted: Counted,
    assignment: Assignment,
    class_of_part: Int64,
    person: str,
    secret_of: Callable[[str], int],
) -> dict[str, int]:
    """Class of the only row of each person, -1 for those who have several or are in none.

    ``class_of_part`` int64[entries + 1]: the class of each entry of the assignment, the last for rows outside. Rows of
    one cell are alike; where they go to several entries, ``secret_of`` their persons (below 2^64) says which to which.
    """
    names, who = column_codes(source, person)
    secret = np.array([secret_of(name or "") for name in names], np.uint64)[who]
    class_of_row = class_of_part[part_of_rows(assignment, cells_of_rows(counted), [secret])]
    who, class_of_row = who[class_of_row >= 0], class_of_row[class_of_row >= 0]
    rows = np.bincount(who, minlength=len(names))
    place = np.full(len(names), SUPPRESSED, np.int64)
    place[who] = class_of_row
    return {
        name: place_of if count == 1 else SUPPRESSED
        for name, count, place_of in zip(names, rows.tolist(), place.tolist(), strict=True)
        if count and name is not None
    }


def rows_of_named(source: Source, counted: Counted, person: str) -> tuple[list[str | None], Int64]:
    """Names of the persons in order of arrival, and int64[names]: the counted rows of each."""
    names, who = column_codes(source, person)
    return names, np.bincount(who[cells_of_rows(counted) >= 0], minlength=len(names)).astype(np.int64)


@dataclass(frozen=True)
class DividedCells:
    """Cells whose rows were parted by a mark of their persons: ``cell``, ``mark`` (-1: none) and ``rows``, int64[.]."""

    cell: Int64
    mark: Int64
    rows: Int64
    counted: Counted = field(repr=False)
    part_of_row: Int64 = field(repr=False)

    def counted_as(self, frequencies: Frequencies, order: Int64) -> Counted:
        """Return the table counted by these cells, put in ``order``; ``frequencies`` are theirs."""
        place = np.append(np.argsort(order), -1).astype(np.int32)
        return replace(self.counted, frequencies=frequencies, cell_of_row=place[self.part_of_row])


def divided_by_person(source: Source, counted: Counted, person: str, mark_of: Int64) -> DividedCells:
    """Part the rows of each cell by the mark of their persons: ``mark_of`` int64[names], names as ``rows_of_named``."""
    who, cell_of_row = column_codes(source, person)[1], cells_of_rows(counted)
    here, marks = np.flatnonzero(cell_of_row >= 0), int(mark_of.max(initial=-1)) + 2
    pairs = cell_of_row[here].astype(np.int64) * marks + mark_of[who[here]] + 1
    keys, place, rows = np.unique(pairs, return_inverse=True, return_counts=True)
    part_of_row = np.full(len(cell_of_row), -1, np.int64)
    part_of_row[here] = place.reshape(-1)
    cell, own = np.divmod(keys, marks)
    return DividedCells(cell, own - 1, rows.astype(np.int64), counted, part_of_row)


def rows_of(source: Source, wanted: NDArray[np.bool_]) -> Source:
    """Return the source with some of its rows: ``wanted`` bool[n], in the order in which they are read."""

    def read(columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        begin = 0
        for batch in source.read(columns):
            yield batch.filter(pa.array(wanted[begin : begin + batch.num_rows]))
            begin += batch.num_rows

    return replace(source, read=read, rows=int(wanted.sum()), native=None)


def class_of_rows(counted: Counted, assignment: Assignment) -> Int64:
    """int64[n]: the class of each row under an assignment, -1 for suppressed rows, -2 for those that were left out.

    The rows of a cell that is divided are dealt out in the order of their carried values.
    """
    keys = [column.codes for column in counted.carried.values() if isinstance(column, PublishedColumn)]
    entry = part_of_rows(assignment, cells_of_rows(counted), keys)
    return np.append(assignment.class_of.astype(np.int64), OUTSIDE)[entry]
