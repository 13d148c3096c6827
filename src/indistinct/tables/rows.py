"""Published rows where every row counts: columns that no model looks at are published beside the others.

A row is known by the entry of the assignment that it belongs to and by the codes of its other columns. In a sorted
release nothing else of it matters, so rows are packed into numbers, sorted, and taken apart again: no row is looked up.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from indistinct.tables.order import numbered_rows, secret_words, sorted_rows
from indistinct.tables.published import Published, PublishedColumn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.tables.records import Assignment

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]


def ordered_rows(
    modelled: Mapping[str, PublishedColumn],
    part: Int64,
    assignment: Assignment,
    others: Mapping[str, PublishedColumn],
    cell_of_row: Int32,
    names: Sequence[str],
    order: str,
) -> Published:
    """Publish rows sorted by their columns ``names``, or shuffled.

    ``modelled``: columns over the entries ``part`` of the assignment, the only ones whose rows are published.
    ``others``: columns over all rows of the source. Where one cell is divided between entries, its rows are dealt out
    in the order of their ``others``. Peak memory is about 8 bytes a row and 8 more for each of the ``others``.
    """
    entry, codes = _dealt(assignment, cell_of_row, others)
    place = np.full(len(assignment.cell), -1, np.int32)
    place[part] = np.arange(len(part), dtype=np.int32)
    entry = place[entry]
    published = entry >= 0
    if not published.all():
        entry, codes = entry[published], [column[published] for column in codes]
    by_name = dict(zip(others, codes, strict=True))
    keys: list[Int32] = []
    sizes: list[int] = []
    found: list[tuple[PublishedColumn, int]] = []  # a column, over the values of the key of that number
    for together, run in groupby(names, key=modelled.__contains__):
        if together:  # columns side by side that entries decide: one key for their combinations
            side_by_side = [modelled[name] for name in run]
            combination, number = combinations(side_by_side)
            found += [(column.reduced(combination), len(keys)) for column in side_by_side]
            keys.append(number[entry])
            sizes.append(len(combination))
        else:
            for name in run:
                found.append((others[name], len(keys)))
                keys.append(by_name.pop(name))
                sizes.append(len(others[name].values) + 1)
    del entry, codes
    ordered = sorted_rows(keys, sizes)
    keys.clear()
    if order == "shuffled":
        shuffle = np.argsort(secret_words(len(ordered[0])), kind="stable")
        ordered = [key[shuffle] for key in ordered]
    columns = [
        PublishedColumn(column.name, column.values, column.own, ordered[key])
        if column.name in modelled
        else PublishedColumn(column.name, column.values, ordered[key] - np.int32(1)).compacted()
        for column, key in found
    ]
    return Published(tuple(columns), np.broadcast_to(np.int64(1), (len(ordered[0]),)))


def _dealt(
    assignment: Assignment, cell_of_row: Int32, others: Mapping[str, PublishedColumn]
) -> tuple[Int32, list[Int32]]:
    """Entry of the assignment, and codes + 1 of the other columns, of every counted row, in some order."""
    entries = np.bincount(assignment.cell, minlength=int(cell_of_row.max(initial=-1)) + 1)
    by_cell = np.argsort(assignment.cell, kind="stable").astype(np.int32)
    entry_of = np.zeros(len(entries), np.int32)
    entry_of[assignment.cell] = np.arange(len(assignment.cell), dtype=np.int32)
    # rows of a cell that is not divided have but one entry to go to; those of a cell without any go nowhere
    divided = entries > 1
    whole = np.flatnonzero((cell_of_row >= 0) & (entries == 1)[cell_of_row])
    parted = np.flatnonzero((cell_of_row >= 0) & divided[cell_of_row])
    sizes = [len(entries), *(len(column.values) + 1 for column in others.values())]
    codes = [column.codes + np.int32(1) for column in others.values()]
    _, *dealt = sorted_rows([cell_of_row[parted], *(column[parted] for column in codes)], sizes)
    taking = by_cell[divided[assignment.cell[by_cell]]]
    entry = np.concatenate([entry_of[cell_of_row[whole]], np.repeat(taking, assignment.count[taking])])
    return entry, [np.concatenate([column[whole], own]) for column, own in zip(codes, dealt, strict=True)]


def combinations(columns: Sequence[PublishedColumn]) -> tuple[Int64, Int32]:
    """Give equal rows of some columns one number, ascending: a row that has it, and int32[rows] the number of each."""
    codes = np.column_stack([column.codes + 1 for column in columns])
    return numbered_rows(codes, [len(column.values) + 1 for column in columns])
