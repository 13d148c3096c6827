"""The floor of a table: algorithms see no finer values than those that a policy lets out.

Where level 0 of a hierarchy joins values (``min_level``, levels of dates, ``top`` and ``bottom``), cells that are alike
on it are one. An algorithm decides on the joined cells; its decision is then spread over the cells that were counted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.tables.order import distinct, run_starts
from indistinct.tables.records import Assignment, Frequencies, Persons, Population, Signatures

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy

    Int32 = NDArray[np.int32]


def floored(frequencies: Frequencies) -> tuple[Frequencies, Int32] | None:
    """Join the cells that are alike on level 0; int32[c] says which joined cell each went to. None: nothing to join.

    A joined value has the first code of its node, so that hierarchies and boxes of codes stay what they are.
    """
    first = [_first_codes(hierarchy) for hierarchy in frequencies.quasi]
    if all((codes == np.arange(len(codes))).all() for codes in first):
        return None
    codes = frequencies.codes.copy()
    for position, of_code in enumerate(first):
        codes[:, position] = of_code[codes[:, position]]
    signatures = frequencies.signatures
    keys = codes if signatures is None else np.column_stack([codes, signatures.of_cell])
    order = np.lexsort(keys.T[::-1])
    new = run_starts(keys[order])
    at = np.flatnonzero(new)
    place = np.empty(len(codes), np.int32)
    place[order] = np.cumsum(new, dtype=np.int32) - 1
    joined = np.ascontiguousarray(codes[order][at])
    width = len(frequencies.quasi)
    start = np.append(np.flatnonzero(run_starts(joined[:, :width])), len(joined)).astype(np.int64)
    found = replace(
        frequencies,
        codes=joined,
        rows=np.add.reduceat(frequencies.rows[order], at),
        start=start,
        population=_population(frequencies.population, first),
        signatures=None if signatures is None else _signatures(signatures, order[at]),
    )
    if frequencies.persons is not None:
        tuple_of = np.empty(len(frequencies.start) - 1, np.int64)
        tuple_of[frequencies.tuple_of] = found.tuple_of[place]
        found = replace(found, persons=_persons(frequencies.persons, tuple_of, len(start) - 1, place))
    return found, place


def spread(assignment: Assignment, frequencies: Frequencies, place: Int32) -> Assignment:
    """Say of the counted cells what was decided on the joined ones: both lie on one line of rows, joined cell by cell.

    >>> frequencies = Frequencies((), (), np.zeros((2, 0), np.int32), np.array([2, 3]), np.array([0, 2]), {})
    >>> halves = Assignment(np.zeros(2, np.int32), np.array([4, 1]), np.array([0, 1], np.int32), 2)
    >>> found = spread(halves, frequencies, np.zeros(2, np.int32))
    >>> found.cell.tolist(), found.count.tolist(), found.class_of.tolist()
    ([0, 1, 1], [2, 2, 1], [0, 0, 1])
    """
    cells, entries = np.argsort(place, kind="stable"), np.argsort(assignment.cell, kind="stable")
    cell_ends, entry_ends = np.cumsum(frequencies.rows[cells]), np.cumsum(assignment.count[entries])
    ends = np.union1d(cell_ends, entry_ends)
    ends = ends[ends > 0]
    entry = entries[np.searchsorted(entry_ends, ends)]
    return replace(
        assignment,
        cell=cells[np.searchsorted(cell_ends, ends)].astype(np.int32),
        count=np.diff(ends, prepend=0).astype(np.int64),
        class_of=assignment.class_of[entry],
        group_of=None if assignment.group_of is None else assignment.group_of[entry],
    )


def _first_codes(hierarchy: Hierarchy) -> NDArray[np.int32]:
    node_of = hierarchy.levels[0].node_of
    return np.searchsorted(node_of, node_of).astype(np.int32)


def _population(population: Population | None, first: list[Int32]) -> Population | None:
    if population is None:
        return None
    tuples = np.column_stack([codes[population.tuples[:, a]] for a, codes in enumerate(first)])
    distinct, place = np.unique(tuples, axis=0, return_inverse=True)
    rows = np.zeros(len(distinct), np.int64)
    np.add.at(rows, place.reshape(-1), population.rows)
    return Population(np.ascontiguousarray(distinct, dtype=np.int32), rows)


def _signatures(signatures: Signatures, cells: NDArray[Any]) -> Signatures:
    return replace(signatures, of_cell=signatures.of_cell[cells])


def _persons(persons: Persons, tuple_of: NDArray[np.int64], tuples: int, cell_of: Int32) -> Persons:
    """Persons all of whose tuples became one are single in it; who has rows of joined cells has their sum."""
    single = np.zeros(tuples, np.int64)
    np.add.at(single, tuple_of, persons.single)
    width = max(persons.spanning, 1)
    owned = np.repeat(tuple_of, np.diff(persons.start))
    where, who = np.divmod(distinct(owned * width + persons.ids, tuples * width), width)
    times = np.bincount(who, minlength=width)
    alone = times[who] == 1
    np.add.at(single, where[alone], 1)
    numbers = np.cumsum(times > 1, dtype=np.int32) - 1
    start = np.zeros(tuples + 1, np.int64)
    np.cumsum(np.bincount(where[~alone], minlength=tuples), out=start[1:])
    ids, spanning = numbers[who[~alone]].astype(np.int32), int((times > 1).sum())
    people = int(persons.person.max(initial=-1)) + 1
    pairs, at = np.unique(cell_of[persons.cell].astype(np.int64) * people + persons.person, return_inverse=True)
    rows = np.zeros(len(pairs), np.int64)
    np.add.at(rows, at.reshape(-1), persons.rows)
    cell, person = (part.astype(np.int32) for part in np.divmod(pairs, max(people, 1)))
    return Persons(single, start, ids, spanning, persons.total, cell, person, rows, persons.several)
