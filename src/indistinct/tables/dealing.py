"""How the rows of cells are dealt to the entries of an assignment, for engines that keep the rows.

The rows of a cell that has one entry need no order. Those of a cell that is divided are numbered by a total order on
what is published of them, their carried columns: equal rows are alike, so it does not matter which of them comes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from indistinct.tables.apply import modelled_columns, released
from indistinct.tables.published import array_of
from indistinct.tables.rows import combinations

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from indistinct.formats.source import Source
    from indistinct.tables.apply import Layout
    from indistinct.tables.count import Counted
    from indistinct.tables.published import PublishedColumn
    from indistinct.tables.records import Assignment, Recoding

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Dealing:
    """The entries of an assignment whose rows are published: int[entries] each.

    Of the rows of ``cell``, those with the numbers ``first`` to ``last`` - 1 go to the entry; all of them unless the
    cell is ``divided``. ``columns``: what is published of an entry, by name; ``rows``: how many. ``runs`` int32[., r]:
    one number, ascending, for the combination of each run of such columns that stand side by side; ``own``: run and
    values of each by name. ``sorting``: what the published rows are sorted by, ("run", number) or (name of a carried
    column, 0). ``order``: all columns.
    """

    cell: Int32
    first: Int64
    last: Int64
    divided: NDArray[np.bool_]
    columns: Mapping[str, PublishedColumn]
    rows: Int64
    runs: Int32
    sorting: tuple[tuple[str, int], ...]
    order: tuple[str, ...]
    own: Mapping[str, tuple[int, PublishedColumn]]

    def batch(self, runs: Mapping[str, Int32], carried: Mapping[str, Any]) -> Any:
        """Make a batch of published rows from the numbers of their runs and their carried columns."""
        arrays = []
        for name in self.order:
            if name in carried:
                arrays.append(carried[name])
            else:
                run, column = self.own[name]
                arrays.append(array_of(column, column.codes[runs[f"run{run}"]]))
        return pa.record_batch(arrays, names=list(self.order))


def dealing_of(
    source: Source,
    counted: Counted,
    assignment: Assignment,
    recoding: Recoding,
    layout: Layout,
    *,
    carried: tuple[str, ...],
    starred: bool,
) -> Dealing:
    """Say where the rows of each cell go, under an assignment, and what is published of them."""
    by_cell = np.argsort(assignment.cell, kind="stable")
    counts = assignment.count[by_cell]
    before = np.cumsum(counts) - counts
    cells = assignment.cell[by_cell]
    begin = np.searchsorted(cells, cells)  # first entry of the cell
    first = np.empty(len(by_cell), np.int64)
    first[by_cell] = before - before[begin]
    part = released(assignment, starred=starred)
    columns = modelled_columns(source, counted, recoding, layout, assignment.cell[part], assignment.class_of[part])
    entries = np.bincount(assignment.cell)
    runs: list[Int32] = []
    sorting: list[tuple[str, int]] = []
    own: dict[str, tuple[int, PublishedColumn]] = {}
    for lies_there, run in groupby(layout.columns, key=carried.__contains__):
        if lies_there:
            sorting += [(name, 0) for name in run]
            continue
        side_by_side = [columns[name] for name in run]
        combination, number = combinations(side_by_side)
        own |= {column.name: (len(runs), column.reduced(combination)) for column in side_by_side}
        sorting.append(("run", len(runs)))
        runs.append(number)
    return Dealing(
        assignment.cell[part],
        first[part],
        first[part] + assignment.count[part],
        (entries > 1)[assignment.cell[part]],
        columns,
        assignment.count[part],
        np.column_stack(runs).astype(np.int32),
        tuple(sorting),
        layout.columns,
        own,
    )
