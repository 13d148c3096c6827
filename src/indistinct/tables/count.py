"""Counting a table: from a source to ``Frequencies``. The source is read once."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import DataError, HierarchyError, IndistinctError, together
from indistinct.formats.arrow import whole_numbers
from indistinct.formats.source import ahead
from indistinct.tables.dictionary import Dictionary
from indistinct.tables.holdings import person_references
from indistinct.tables.keys import KeyTable
from indistinct.tables.order import distinct, lexicographic_order, numbered_rows, run_starts
from indistinct.tables.records import Frequencies, Persons, Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from indistinct.formats.source import Source
    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.tables.published import Carried

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    # told how far a phase is: (phase, done, total); total 0 means unknown; may raise Cancelled to stop the run
    Progress = Callable[[str, int, int], object]

BATCHES_WAITING = 2


def silent(phase: str, done: int, total: int) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class Counted:
    """A counted table: the frequencies and, where single rows matter, the cell and the person of each row.

    ``cell_of_row`` int32[n] is kept on request (other columns are published too) and with a person key;
    ``person_of_row`` int32[n] with a person key; neither where somebody else counted. ``left_out`` rows had a missing
    value where none may be: their cell is -1. ``reading`` is the time in seconds that counting waited for the source.
    ``rows_of_persons`` int64[persons]: the rows of each person, in some order; empty without a person key. ``carried``:
    the columns that are published as they are. ``cell_of_group`` int32[.]: the cell of each group of rows that was
    read, where somebody else counted.
    """

    frequencies: Frequencies
    cell_of_row: Int32 | None = field(default=None, repr=False)
    person_of_row: Int32 | None = field(default=None, repr=False)
    left_out: int = 0
    reading: float = 0.0
    rows_of_persons: Int64 = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    carried: Mapping[str, Carried] = field(default_factory=dict, repr=False)
    cell_of_group: Int32 | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Tally:
    """Distinct combinations of the texts of some columns, with their rows: counted before anybody says what they mean.

    ``texts`` by column, in order of arrival; ``raw`` int32[., columns] are numbers of texts, ``counts`` int64[.] their
    rows. ``cell_of_row`` int32[n] is whole on request and with a person key; then ``owner`` int32[n] is the person of
    each row, of ``people`` in all, ``keyless`` rows have none. ``times`` int64[n]: for how many rows each of these
    stands, where somebody counted before. ``reading``: seconds spent on waiting for the source.
    """

    texts: Mapping[str, Sequence[str | None]] = field(repr=False)
    raw: Int32 = field(repr=False)
    counts: Int64 = field(repr=False)
    rows: int
    cell_of_row: Int32 | None = field(default=None, repr=False)
    person: str | None = None
    owner: Int32 | None = field(default=None, repr=False)
    people: int = 0
    keyless: int = 0
    times: Int64 | None = field(default=None, repr=False)
    reading: float = 0.0

    @property
    def rows_of_persons(self) -> Int64:
        """int64[persons]: the rows of each person; empty without a person key."""
        rows = np.zeros(self.people if self.owner is not None else 0, np.int64)
        if self.owner is not None:
            np.add.at(rows, self.owner, 1 if self.times is None else self.times)
        return rows

    def of(self, names: Sequence[str]) -> Tally:
        """Count some of the columns: a group-by over what was counted, in which no row is looked at again."""
        columns = list(self.texts)
        if list(names) == columns:
            return self
        raw = np.ascontiguousarray(self.raw[:, [columns.index(name) for name in names]])
        first, number = numbered_rows(raw, [len(self.texts[name]) for name in names])
        counts = np.zeros(len(first), np.int64)
        np.add.at(counts, number, self.counts)
        return replace(
            self,
            texts={name: self.texts[name] for name in names},
            raw=np.ascontiguousarray(raw[first]),
            counts=counts,
            cell_of_row=None if self.cell_of_row is None else number[self.cell_of_row],
            reading=0.0,
        )


def count(
    source: Source,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    bind: Callable[[str, Sequence[str | None]], Hierarchy],
    *,
    person: str | None = None,
    leave_out: Collection[str] = (),
    keep_rows: bool = False,
    progress: Progress = silent,
) -> Counted:
    """Count the rows of each cell: one cell per distinct combination of quasi-identifiers and sensitive values.

    ``bind(attribute, texts)`` returns the hierarchy over the distinct texts of a column; different spellings of one
    number share a code. Rows with a missing value in a column of ``leave_out`` are not counted. The result depends on
    the multiset of rows only, not on their order; a source with a ``weight`` gives the same as the rows that were
    counted before, but for what is remembered of single ones.

    Raises DataError for a table without rows and for rows without a person key.
    """
    found = tally(source, [*quasi, *sensitive], person=person, keep_rows=keep_rows, progress=progress)
    return counted(found, len(quasi), bind, leave_out=leave_out, name=source.name)


def tally(
    source: Source,
    names: Sequence[str],
    *,
    person: str | None = None,
    keep_rows: bool = False,
    progress: Progress = silent,
) -> Tally:
    """Read a source once and count the distinct combinations of texts in ``names``.

    Where somebody counted before, his numbers are added up. Raises DataError for a table without rows.
    """
    weight = source.weight
    wanted = [*names, *(one for one in (person, weight) if one is not None)]
    dictionaries = [Dictionary(name) for name in names]
    people = Dictionary(person or "")
    keys = KeyTable(len(names))
    keep = keep_rows or person is not None or weight is not None
    cells: list[Int32] = []
    owners: list[Int32] = []
    times: list[Int64] = []
    rows = 0
    # one thread reads the next batch while this one encodes a batch and another counts the last: they release the GIL
    with ThreadPoolExecutor(1) as counter:
        waiting: deque[Future[Int32]] = deque()
        batches = ahead(source.batches(list(dict.fromkeys(wanted))))
        reading = -perf_counter()
        for batch in batches:
            reading += perf_counter()
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            codes = [d.encode(columns[d.column]) for d in dictionaries]
            waiting.append(counter.submit(keys.add, codes, keep=keep))
            if person is not None:
                owners.append(people.encode(columns[person]))
            if weight is not None:
                times.append(whole_numbers(columns[weight]).astype(np.int64))
            if len(waiting) > BATCHES_WAITING:
                cells.append(waiting.popleft().result())
            rows += batch.num_rows if weight is None else int(times[-1].sum())
            progress("count", rows, 0)
            reading -= perf_counter()
        reading += perf_counter()
        cells += [numbers.result() for numbers in waiting]
    counts, of_each = keys.counts, None
    if weight is not None:
        counts, of_each = np.zeros(len(keys.counts), np.int64), np.concatenate(times)
        np.add.at(counts, np.concatenate(cells), of_each)
    owner, nobody = None, people.numbers.get(None)
    if person is not None:
        owner = np.concatenate(owners)
    here = None if owner is None or nobody is None else owner == nobody
    keyless = 0 if here is None else int(here.sum() if of_each is None else of_each[here].sum())
    return Tally(
        {own.column: own.texts for own in dictionaries},
        keys.codes(),
        counts,
        rows,
        np.concatenate(cells) if keep else None,
        person,
        owner if owner is None or keyless else people.ranks()[owner],
        len(people.numbers),
        keyless,
        of_each,
        reading,
    )


def counted(
    found: Tally,
    quasi: int,
    bind: Callable[[str, Sequence[str | None]], Hierarchy],
    *,
    leave_out: Collection[str] = (),
    name: str = "the table",
) -> Counted:
    """Give a tally its meaning: the first ``quasi`` columns are quasi-identifying, the others sensitive.

    ``name`` is that of the table, for messages; the others as in ``count``.

    Raises DataError when every row is left out and for rows without a person key; what ``bind`` raises.
    """
    names, used = list(found.texts), list(found.texts.values())
    raw, counts, place = found.raw, found.counts, np.arange(len(found.counts), dtype=np.int32)
    whole = _complete(raw, found.texts, leave_out)
    left_out = int(counts[~whole].sum())
    if left_out:
        raw, counts, place = raw[whole], counts[whole], np.where(whole, np.cumsum(whole, dtype=np.int32) - 1, -1)
        if not len(raw):
            raise DataError(f"every row of {name} is left out for a missing sensitive value", file=name)
        used = [[texts[n] for n in np.flatnonzero(np.bincount(raw[:, at])).tolist()] for at, texts in enumerate(used)]
    bound = _bound(bind, names, used, _lost(found.person, found.keyless, found.rows))
    canonical = [translation(texts, hierarchy) for texts, hierarchy in zip(found.texts.values(), bound, strict=True)]
    ordered, counts, rank = _canonical(raw, counts, canonical)
    frequencies = frequencies_of(tuple(bound[:quasi]), tuple(bound[quasi:]), ordered, counts)
    answer = Counted(frequencies, left_out=left_out, reading=found.reading)
    if found.cell_of_row is None:
        return answer
    cell_of_row = np.append(rank, np.int32(-1))[place].astype(np.int32)[found.cell_of_row]
    if found.owner is not None:
        frequencies = with_persons(frequencies, cell_of_row, found.owner, found.people, found.times)
        answer = replace(answer, frequencies=frequencies, rows_of_persons=found.rows_of_persons)
    if found.times is not None:  # what was read are no rows
        return replace(answer, cell_of_group=cell_of_row)
    return replace(answer, cell_of_row=cell_of_row, person_of_row=found.owner)


def rebound(counted: Counted, position: int, hierarchy: Hierarchy) -> Counted:
    """Give quasi-identifier number ``position`` another hierarchy of the same texts, whose codes may be in any order.

    Not checked: that the texts are the same. Not for tables with persons.
    """
    frequencies = counted.frequencies
    columns = [*frequencies.quasi, *frequencies.sensitive]
    translations = [np.arange(own.size, dtype=np.int32) for own in columns]
    translations[position] = translation(columns[position].texts, hierarchy)
    codes, rows, rank = _canonical(frequencies.codes, frequencies.rows, translations)
    quasi = (*frequencies.quasi[:position], hierarchy, *frequencies.quasi[position + 1 :])
    again = frequencies_of(quasi, frequencies.sensitive, codes, rows)
    cell_of_row = None if counted.cell_of_row is None else np.append(rank, np.int32(-1))[counted.cell_of_row]
    return replace(
        counted,
        frequencies=replace(frequencies, quasi=quasi, codes=codes, rows=rows, start=again.start),
        cell_of_row=cell_of_row,
    )


def _lost(person: str | None, keyless: int, rows: int) -> list[IndistinctError]:
    if not keyless:
        return []
    message = f'{keyless} of {rows} rows have no value in the person key "{person}"; every row needs one'
    return [DataError(message, column=str(person))]


def _bound(
    bind: Callable[[str, Sequence[str | None]], Hierarchy],
    names: Sequence[str],
    used: Sequence[Sequence[str | None]],
    found: list[IndistinctError],
) -> list[Hierarchy]:
    """Bind every column; all that cannot be read are reported at once, so that one round of mending is enough."""
    bound = []
    for name, texts in zip(names, used, strict=True):
        try:
            bound.append(bind(name, texts))
        except (DataError, HierarchyError) as error:
            found.append(error)
    if found:
        raise together(found, f"{len(found)} columns cannot be read as the policy says:")
    return bound


def _complete(raw: Int32, texts: Mapping[str, Sequence[str | None]], leave_out: Collection[str]) -> NDArray[np.bool_]:
    """Say which cells have a value in every column of ``leave_out``."""
    whole = np.ones(len(raw), np.bool_)
    for position, (name, own) in enumerate(texts.items()):
        if name in leave_out and None in own:
            whole &= raw[:, position] != own.index(None)
    return whole


def frequencies_of(
    quasi: tuple[Hierarchy, ...], sensitive: tuple[Hierarchy, ...], codes: Int32, rows: Int64
) -> Frequencies:
    """Group sorted distinct cells by quasi-identifier tuple and take each sensitive attribute's distribution."""
    start = np.append(np.flatnonzero(run_starts(codes[:, : len(quasi)])), len(codes)).astype(np.int64)
    references = {
        hierarchy.attribute: reference_of(hierarchy, codes[:, len(quasi) + position], rows)
        for position, hierarchy in enumerate(sensitive)
    }
    return Frequencies(quasi, sensitive, codes, rows, start, references)


def reference_of(hierarchy: Hierarchy, codes: Int32, rows: Int64) -> Reference:
    """Count the rows of each code of one attribute."""
    counts = np.zeros(hierarchy.size, np.int64)
    np.add.at(counts, codes, rows)
    return Reference(hierarchy, counts, int(rows.sum()))


def translation(texts: Sequence[str | None], hierarchy: Hierarchy) -> Int32:
    """int32[len(texts)]: the code of each text, -1 for those that the hierarchy does not hold."""
    code_of = hierarchy.codes()
    return np.array([code_of.get(text, -1) for text in texts], np.int32)


def _canonical(raw: Int32, counts: Int64, translations: Sequence[Int32]) -> tuple[Int32, Int64, Int32]:
    """Renumber every column canonically, sort the cells and merge those that became equal.

    Returns the codes, the rows and the new cell of each raw cell.
    """
    codes = np.empty_like(raw)
    for position, codes_of in enumerate(translations):
        codes[:, position] = codes_of[raw[:, position]]
    order = lexicographic_order(codes, [int(t.max(initial=0)) + 1 for t in translations])
    ordered = codes[order]
    new = run_starts(ordered)
    first = np.flatnonzero(new)
    rank = np.empty(len(raw), np.int32)
    rank[order] = np.cumsum(new, dtype=np.int32) - 1
    return np.ascontiguousarray(ordered[first]), np.add.reduceat(counts[order], first), rank


def with_persons(
    frequencies: Frequencies, cell_of_row: Int32, owner: Int32, total: int, times: Int64 | None = None
) -> Frequencies:
    """Add who is behind the rows, and the distributions by persons where they are not those of the rows.

    ``times``: for how many rows each entry stands (None: one).
    """
    persons = _persons(frequencies, cell_of_row, owner, total, times)
    found = replace(frequencies, persons=persons)
    return replace(found, references=person_references(found)) if persons.several else found


def _persons(frequencies: Frequencies, cell_of_row: Int32, owner: Int32, total: int, times: Int64 | None) -> Persons:
    here = cell_of_row >= 0
    keys = cell_of_row[here].astype(np.int64) * total + owner[here]
    order = np.argsort(keys, kind="stable")
    first = np.flatnonzero(run_starts(keys[order].reshape(-1, 1)))
    held = keys[order[first]]
    rows = np.diff(first, append=len(keys)) if times is None else np.add.reduceat(times[here][order], first)
    cell, person = (held // total).astype(np.int32), (held % total).astype(np.int32)
    pairs = distinct(frequencies.tuple_of[cell].astype(np.int64) * total + person, len(frequencies.rows) * total)
    tuples, who = pairs // total, (pairs % total).astype(np.int32)
    spread = np.bincount(who, minlength=total)
    alone = spread[who] == 1
    tuples_in_all = len(frequencies.start) - 1
    single = np.bincount(tuples[alone], minlength=tuples_in_all).astype(np.int64)
    numbers = np.cumsum(spread > 1, dtype=np.int32) - 1
    start = np.zeros(tuples_in_all + 1, np.int64)
    np.cumsum(np.bincount(tuples[~alone], minlength=tuples_in_all), out=start[1:])
    everybody = int((spread > 0).sum())
    return Persons(
        single,
        start,
        numbers[who[~alone]],
        int((spread > 1).sum()),
        everybody,
        cell,
        person,
        rows.astype(np.int64),
        several=int(rows.sum()) > everybody,
    )
