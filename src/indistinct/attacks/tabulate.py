"""Reading what an attacker holds: the distinct rows of a table in a few columns, and where each was first seen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import SchemaError
from indistinct.formats.columnar import is_text
from indistinct.formats.registry import open_source
from indistinct.formats.source import TableOptions
from indistinct.tables.dictionary import Dictionary, texts_of
from indistinct.tables.keys import KeyTable
from indistinct.tables.order import lexicographic_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.formats.source import Source
    from indistinct.policy import Policy

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Tabulated:
    """Distinct rows of a table in some columns, sorted by their texts (missing last).

    ``codes`` int32[c, columns] number ``texts``; ``rows`` int64[c] says how often each row occurs, ``first`` int64[c]
    in which data row (counted from 1) it was first seen. ``typed`` are the columns that hold dates or numbers, not
    texts. ``source`` is the table, for reading a single row again.
    """

    columns: tuple[str, ...]
    texts: tuple[list[str | None], ...] = field(repr=False)
    codes: Int32 = field(repr=False)
    rows: Int64 = field(repr=False)
    first: Int64 = field(repr=False)
    typed: frozenset[str]
    source: Source = field(repr=False)

    @property
    def total(self) -> int:
        """Number of rows of the table."""
        return int(self.rows.sum())

    def column(self, name: str) -> tuple[list[str | None], Int32]:
        """Texts and codes of one column."""
        position = self.columns.index(name)
        return self.texts[position], self.codes[:, position]

    def select(self, names: Sequence[str]) -> Tabulated:
        """Return the distinct rows in fewer columns."""
        at = [self.columns.index(name) for name in names]
        texts = tuple(self.texts[position] for position in at)
        codes, rows, first, _ = grouped(self.codes[:, at], self.rows, self.first, [len(own) for own in texts])
        return Tabulated(tuple(names), texts, codes, rows, first, self.typed, self.source)

    def select_columns(self, names: Sequence[str]) -> Tabulated:
        """Keep some columns of each row, rows that are alike in them too."""
        at = [self.columns.index(name) for name in names]
        texts = tuple(self.texts[position] for position in at)
        return replace(self, columns=tuple(names), texts=texts, codes=np.ascontiguousarray(self.codes[:, at]))

    def at(self, chosen: Int64) -> Tabulated:
        """Return some of the distinct rows."""
        return replace(self, codes=self.codes[chosen], rows=self.rows[chosen], first=self.first[chosen])

    def show(self, row: int) -> str:
        """Read one data row again and write all its cells, for the console only.

        >>> import pyarrow as pa
        >>> tabulate(pa.table({"name": ["Weld"], "zip": ["02138"]}), ["zip"], TableOptions()).show(1)
        'name = Weld, zip = 02138'
        """
        before = 0
        for batch in self.source.batches():
            if row <= before + batch.num_rows:
                one = batch.slice(row - before - 1, 1)
                cells = zip(one.schema.names, (texts_of(column, "")[0] for column in one.columns), strict=True)
                return ", ".join(f"{name} = {'missing' if text is None else text}" for name, text in cells)
            before += batch.num_rows
        return ""


def options_of(policy: Policy, **overrides: Any) -> TableOptions:
    """Say how an attacker reads a text file: as the policy says, but with the separator that the file has."""
    table = policy.table
    chosen = {
        "encoding": table.encoding,
        "missing": tuple(table.missing),
        "decimal": table.decimal,
        "trim": table.trim,
        "max_line_bytes": table.max_line_bytes,
    }
    return TableOptions(**{**chosen, **{key: value for key, value in overrides.items() if value is not None}})


def tabulate(table: Any, names: Sequence[str], options: TableOptions) -> Tabulated:
    """Count the distinct rows of a table in the columns ``names``.

    Raises SchemaError for a column that the table lacks, and what reading raises.
    """
    return tabulated(open_source(table, options), names)[0]


def tabulated(source: Source, names: Sequence[str]) -> tuple[Tabulated, Int64]:
    """Count the distinct rows of an opened table; the second array int64[rows] says which of them each data row is.

    >>> import pyarrow as pa
    >>> tabulated(open_source(pa.table({"zip": ["2", "1", "2"]})), ["zip"])[1].tolist()
    [1, 0, 1]
    """
    for name in names:
        if name not in source.columns:
            raise SchemaError.unknown_column(name, source.columns, file=source.name)
    dictionaries = [Dictionary(name) for name in names]
    keys = KeyTable(len(names))
    numbers, total = [], 0
    for batch in source.batches(list(names)):
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        numbers.append(keys.add([d.encode(columns[d.column]) for d in dictionaries]))
        total += batch.num_rows
    of_row = np.concatenate(numbers)
    first = np.empty(len(keys.counts), np.int64)
    first[of_row[::-1]] = np.arange(total, 0, -1)
    texts, codes = [], keys.codes()
    for position, dictionary in enumerate(dictionaries):
        own = dictionary.texts
        present = {text: number for number, text in enumerate(own) if text is not None}
        order = [present[text] for text in sorted(present)]
        order += [number for number, text in enumerate(own) if text is None]
        rank = np.empty(len(own), np.int32)
        rank[order] = np.arange(len(own), dtype=np.int32)
        codes[:, position] = rank[codes[:, position]]
        texts.append([own[number] for number in order])
    typed = frozenset(name for name in names if not is_text(source.types[name]))
    grouping = grouped(codes, keys.counts, first, [len(own) for own in texts])
    return Tabulated(tuple(names), tuple(texts), *grouping[:3], typed, source), grouping[3][of_row]


def grouped(codes: Int32, rows: Int64, first: Int64, sizes: Sequence[int]) -> tuple[Int32, Int64, Int64, Int64]:
    """Join equal rows of codes: distinct codes (sorted), their rows, where first seen, and the group of each."""
    from indistinct.tables.order import run_starts

    if not len(codes):
        return codes, rows, first, np.zeros(0, np.int64)
    order = lexicographic_order(codes, [max(1, size) for size in sizes])
    ordered = np.ascontiguousarray(codes[order])
    starts = run_starts(ordered) if codes.shape[1] else np.arange(len(codes)) == 0
    begins = np.flatnonzero(starts)
    group = np.empty(len(codes), np.int64)
    group[order] = np.cumsum(starts) - 1
    return (
        ordered[begins],
        np.add.reduceat(rows[order], begins),
        np.minimum.reduceat(first[order], begins),
        group,
    )
