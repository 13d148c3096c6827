"""What was read back from a written file, compared with what was to be written."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from indistinct.formats.arrow import number_array
from indistinct.formats.columnar import is_text
from indistinct.formats.source import ahead
from indistinct.tables.dictionary import Dictionary, texts_of
from indistinct.tables.order import numbered_rows
from indistinct.tables.recount import Recount, multiset, numbered
from indistinct.tables.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.formats.source import Source
    from indistinct.tables.published import Published, PublishedColumn

    Int32 = NDArray[np.int32]


def matches(published: Published, found: Recount, columns: Sequence[str] | None = None) -> bool:
    """Whether the re-read rows are exactly the rows that were to be written, as multisets (of some columns)."""
    names = found.columns if columns is None else columns
    published = published.over(names)
    by_name = {column.name: column for column in published.columns}
    reread, expected, sizes = [], [], []
    for name in names:
        numbers = Dictionary(name)
        column, (texts, codes) = by_name[name], found.column(name)
        reread.append(numbered(texts, numbers)[codes])
        expected.append(numbered([*texts_of(column.values, name), None], numbers)[column.codes])
        sizes.append(len(numbers.numbers))
    (codes_left, rows_left), (codes_right, rows_right) = (
        multiset(np.column_stack(expected), published.repeat, sizes),
        multiset(np.column_stack(reread), found.rows, sizes),
    )
    return np.array_equal(codes_left, codes_right) and np.array_equal(rows_left, rows_right)


def altered(published: Published, found: Recount) -> list[str]:
    """Names of the columns that do not hold what was to be written, whatever stands beside."""
    return [name for name in found.columns if not matches(published, found, [name])]


def misplaced(
    published: Published,
    source: Source,
    spelling_of: Callable[[PublishedColumn], Callable[[str], str]],
    guard: Callable[[str], str] = str,
) -> list[str] | None:
    """Names of the columns of a written table that differ from those that were to be written, row by row.

    None when the number of rows differs. Rows are compared in their order, so this proves which values stand side by
    side without counting combinations, of which there may be as many as rows. Texts that were read go through ``guard``
    and the ``spelling_of`` their column, where the rows lie here.
    """
    if isinstance(published, Stored):
        return _misplaced_stored(published, source)
    columns = [_Sequence(column, spelling_of, guard) for column in published.columns]
    rows, total = 0, published.rows
    for batch in ahead(source.batches([column.name for column in published.columns])):
        if rows + batch.num_rows > total:
            return None
        for column, array in zip(columns, batch.columns, strict=True):
            column.compare(array, rows)
        rows += batch.num_rows
    return None if rows < total else [column.name for column in columns if column.differs]


def _misplaced_stored(published: Stored, source: Source) -> list[str] | None:
    """Compare rows that an engine gives with those that were read, both streams cut at the same places."""
    names, rows = list(published.names), 0
    differing: set[str] = set()
    kinds = {
        name: pa.string() if is_text(kind.type) else kind.type
        for name, kind in zip(names, published.schema, strict=True)
    }
    wanted = published.batches()
    rest = pa.record_batch([pa.array([], kinds[name]) for name in names], names=names)
    for batch in ahead(source.batches(names)):
        done = 0
        while done < batch.num_rows:
            while not rest.num_rows:
                if (rest := next(wanted, None)) is None:
                    return None
            number = min(rest.num_rows, batch.num_rows - done)
            for name in set(names) - differing:
                own, read = rest.column(name).slice(0, number), batch.column(name).slice(done, number)
                if not own.cast(kinds[name]).equals(read.cast(kinds[name])):
                    differing.add(name)
            rest, done = rest.slice(number), done + number
        rows += batch.num_rows
    return None if rows < published.rows else [name for name in names if name in differing]


class _Sequence:
    """One column that is compared with what stands in a file, batch by batch."""

    def __init__(
        self,
        column: PublishedColumn,
        spelling_of: Callable[[PublishedColumn], Callable[[str], str]],
        guard: Callable[[str], str],
    ) -> None:
        self.name, self.differs = column.name, False
        self._column, self._spelling_of, self._guard = column, spelling_of, guard
        self._read = Dictionary(column.name)
        self._number_of = np.zeros(0, np.int32)  # of each text that was read; -1: it was never to be written

    @cached_property
    def _wanted(self) -> tuple[dict[str | None, int], Int32]:
        """Number of each text that was to be written, and of each code of the column (the last of code -1)."""
        numbers = Dictionary(self.name)
        number_of_code = numbered([*texts_of(self._column.values, self.name), None], numbers)
        return numbers.numbers, number_of_code

    @cached_property
    def _spelling(self) -> Callable[[str], str]:
        return self._spelling_of(self._column)

    def compare(self, array: Any, first: int) -> None:
        """Compare the next rows, which begin with row number ``first``."""
        codes = self._column.part(first, first + len(array))
        # values of the same type that are equal need no texts
        if array.type == self._column.type and array.equals(self._column.values.take(number_array(codes))):
            return
        numbers, number_of_code = self._wanted
        read = self._read.encode(array)
        known = len(self._number_of)
        if len(self._read.numbers) > known:
            new = respelled(self._read, {self.name: self._spelling}, self._guard, known)
            self._number_of = np.append(self._number_of, np.array([numbers.get(text, -1) for text in new], np.int32))
        self.differs |= not np.array_equal(self._number_of[read], number_of_code[codes])


def restored(
    found: Recount, spellings: Mapping[str, Callable[[str], str]], guard: Callable[[str], str] = str
) -> Recount:
    """Replace the texts of a recount (``respelled``); rows that become equal are one."""
    texts, codes = [], []
    for position, (name, own) in enumerate(zip(found.columns, found.texts, strict=True)):
        numbers, before = Dictionary(name), Dictionary(name)
        numbered(own, before)
        translation = numbered(respelled(before, spellings, guard), numbers)
        texts.append(numbers.texts)
        codes.append(translation[found.codes[:, position]])
    sizes = [max(1, len(own)) for own in texts]
    return Recount(found.columns, tuple(texts), *multiset(np.column_stack(codes), found.rows, sizes))


def projected(found: Recount, names: Sequence[str]) -> Recount:
    """Count the distinct rows of some of the columns."""
    positions = [found.columns.index(name) for name in names]
    texts = tuple(found.texts[position] for position in positions)
    sizes = [max(1, len(own)) for own in texts]
    return Recount(tuple(names), texts, *multiset(found.codes[:, positions], found.rows, sizes))


def respelled(
    column: Dictionary, spellings: Mapping[str, Callable[[str], str]], guard: Callable[[str], str] = str, first: int = 0
) -> list[str | None]:
    """Texts of a column after ``guard`` and the function that ``spellings`` has for it; a missing value stays.

    From text number ``first`` on.
    """
    spelling = spellings.get(column.column, str)
    return [None if text is None else spelling(guard(text)) for text in column.texts[first:]]


def numbered_alike(
    found: Recount, before: Recount, untouched: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the combinations of untouched values, equally on both sides."""
    columns, sizes = [], []
    for name in untouched:
        numbers = Dictionary(name)
        both = []
        for side in (found, before):
            texts, codes = side.column(name)
            translation = np.array([numbers.number(text) for text in texts], np.int32)
            both.append(translation[codes])
        columns.append(np.concatenate(both))
        sizes.append(len(numbers.texts))
    if not columns:
        return np.zeros(len(found.rows), np.int64), np.zeros(len(before.rows), np.int64)
    group = numbered_rows(np.column_stack(columns), sizes)[1].astype(np.int64)
    return group[: len(found.rows)], group[len(found.rows) :]
