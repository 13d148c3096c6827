"""A policy draft from a table: every column is measured, nothing is decided."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.policy import draft as draft_text
from indistinct.policy import facts_of
from indistinct.tables.count import silent
from indistinct.tables.dictionary import Dictionary
from indistinct.tables.source import TableOptions, open_source, path_of

if TYPE_CHECKING:
    from indistinct.tables.count import Progress


def draft(
    table: Any,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    query: str | None = None,
    sql_table: str | None = None,
    beside: Path | None = None,
    progress: Progress = silent,
) -> str:
    """Measure the columns of a table and write a policy draft as TOML for a person to complete.

    ``beside`` is where the draft will stand: the path of the table is written relative to it.
    """
    options = TableOptions(delimiter=delimiter, encoding=encoding or "utf-8", query=query, table=sql_table)
    source = open_source(table, options)
    numbers = [Dictionary(name) for name in source.columns]
    counts = [np.zeros(0, np.int64) for _ in numbers]
    rows = 0
    for batch in source.batches():
        for position, column in enumerate(numbers):
            found = np.bincount(column.encode(batch.column(position)), minlength=len(column.numbers))
            found[: len(counts[position])] += counts[position]
            counts[position] = found
        rows += batch.num_rows
        progress("count", rows, 0)
    facts = [
        facts_of(column.column, column.texts, count.tolist()) for column, count in zip(numbers, counts, strict=True)
    ]
    place = None
    if (path := path_of(table)) is not None:
        folder = Path() if beside is None else beside.parent
        place = Path(os.path.relpath(path, folder)).as_posix()
    return draft_text(facts, source=place, delimiter=source.dialect, encoding=encoding)
