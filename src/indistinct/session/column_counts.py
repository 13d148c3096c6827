"""Every column of a table, counted: the facts that a draft and a profile rest on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from indistinct.policy import facts_of
from indistinct.tables.count import silent
from indistinct.tables.dictionary import Dictionary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.formats.source import Source
    from indistinct.policy import ColumnFacts
    from indistinct.tables.count import Progress


@dataclass(frozen=True)
class Measured:
    """``facts`` of each column, its distinct ``texts`` and their ``counts`` int64[.], ``codes`` int32[n] if kept."""

    facts: list[ColumnFacts]
    counts: list[NDArray[np.int64]] = field(repr=False)
    codes: list[NDArray[np.int32]] = field(repr=False)
    texts: list[list[str | None]] = field(repr=False)


def measured(source: Source, *, keep: bool = False, progress: Progress = silent) -> Measured:
    """Count the distinct values of every column, in one reading; ``keep`` the code of every row too."""
    numbers = [Dictionary(name) for name in source.columns]
    counts = [np.zeros(0, np.int64) for _ in numbers]
    chunks: list[list[NDArray[np.int32]]] = [[] for _ in numbers]
    rows = 0
    for batch in source.batches():
        for position, column in enumerate(numbers):
            codes = column.encode(batch.column(position))
            found = np.bincount(codes, minlength=len(column.numbers))
            found[: len(counts[position])] += counts[position]
            counts[position] = found
            if keep:
                chunks[position].append(codes)
        rows += batch.num_rows
        progress("count", rows, 0)
    facts = [
        facts_of(column.column, column.texts, count.tolist(), labelled=bool(source.labels.get(column.column)))
        for column, count in zip(numbers, counts, strict=True)
    ]
    chosen = [np.concatenate(part) for part in chunks] if keep else []
    return Measured(facts, counts, chosen, [column.texts for column in numbers])
