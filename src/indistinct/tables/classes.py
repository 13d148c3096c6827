"""From an assignment to the classes that the models judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.tables.order import lexicographic_order, run_starts
from indistinct.tables.records import SUPPRESSED, Assignment, Classes, Histogram, Recoding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.tables.records import Frequencies

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]


def whole_tuples(frequencies: Frequencies, suppressed: NDArray[np.bool_] | None = None) -> Assignment:
    """Take every distinct quasi-identifier tuple as a class, but for those ``suppressed``: the table as it stands."""
    class_of = np.arange(len(frequencies.start) - 1, dtype=np.int32)
    if suppressed is not None:
        class_of[suppressed] = SUPPRESSED
    return Assignment.of_tuples(frequencies, class_of)


def classes_of(frequencies: Frequencies, assignment: Assignment) -> Classes:
    """Derive sizes and sparse histograms of the classes from the joint counts of the cells.

    Suppressed parts are left out. With persons, a class counts the distinct persons of its tuples: those with all rows
    in one tuple add up, the others are counted as a set.

    Raises ValueError when there are persons and a tuple is split between classes: rows of one person could then be
    on both sides, and nobody would know.
    """
    kept = assignment.class_of != SUPPRESSED
    cells, class_of, count = assignment.cell[kept], assignment.class_of[kept], assignment.count[kept]
    sensitive = frequencies.codes[cells, len(frequencies.quasi) :]
    sizes = [hierarchy.size for hierarchy in frequencies.sensitive]
    cell_class, cell_codes, cell_rows = joint_counts(class_of, sensitive, count, assignment.classes, sizes)
    rows = np.zeros(assignment.classes, np.int64)
    np.add.at(rows, cell_class, cell_rows)
    names = tuple(hierarchy.attribute for hierarchy in frequencies.sensitive)
    return Classes(
        rows,
        _persons(frequencies, cells, class_of, assignment.classes),
        names,
        histograms_of(names, cell_class, cell_codes, cell_rows, assignment.classes, sizes),
        cell_class,
        cell_codes,
        cell_rows,
    )


def groups_of(frequencies: Frequencies, assignment: Assignment) -> Classes:
    """Derive sizes and histograms of the groups by which sensitive values are published.

    Raises ValueError when the assignment has none.
    """
    if assignment.group_of is None:
        message = "the assignment has no groups"
        raise ValueError(message)
    groups = Assignment(assignment.cell, assignment.count, assignment.group_of, assignment.groups)
    return classes_of(frequencies, groups)


def joint_counts(
    class_of: Int32, codes: Int32, count: Int64, classes: int, sizes: list[int]
) -> tuple[Int32, Int32, Int64]:
    """Add up the rows of each (class, sensitive codes) combination, sorted."""
    together = np.column_stack([class_of, codes]) if codes.shape[1] else class_of.reshape(-1, 1)
    order = lexicographic_order(together, [classes, *sizes])
    together = together[order]
    first = np.flatnonzero(run_starts(together))
    total = np.add.reduceat(count[order], first) if len(first) else np.zeros(0, np.int64)
    return (
        np.ascontiguousarray(together[first, 0], dtype=np.int32),
        np.ascontiguousarray(together[first, 1:], dtype=np.int32),
        total,
    )


def histograms_of(
    names: tuple[str, ...],
    cell_class: Int32,
    cell_codes: Int32,
    cell_rows: Int64,
    classes: int,
    sizes: list[int],
) -> dict[str, Histogram]:
    """Sparse counts of each sensitive attribute in each class."""
    histograms = {}
    for position, name in enumerate(names):
        owner, value, number = joint_counts(
            cell_class, cell_codes[:, position : position + 1], cell_rows, classes, [sizes[position]]
        )
        start = np.searchsorted(owner, np.arange(classes + 1)).astype(np.int64)
        histograms[name] = Histogram(start, np.ascontiguousarray(value[:, 0]), number)
    return histograms


def _persons(frequencies: Frequencies, cells: Int32, class_of: Int32, classes: int) -> Int64 | None:
    persons = frequencies.persons
    if persons is None:
        return None
    pairs = np.unique(frequencies.tuple_of[cells].astype(np.int64) * max(classes, 1) + class_of)
    tuples, owners = pairs // max(classes, 1), pairs % max(classes, 1)
    if len(np.unique(tuples)) != len(tuples):
        message = "a tuple is split between classes although rows belong to persons"
        raise ValueError(message)
    found = np.zeros(classes, np.int64)
    np.add.at(found, owners, persons.single[tuples])
    lengths = np.diff(persons.start)[tuples]
    at = np.repeat(persons.start[tuples] - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
    spread = np.unique(np.repeat(owners, lengths) * max(persons.spanning, 1) + persons.ids[at])
    found += np.bincount(spread // max(persons.spanning, 1), minlength=classes)
    return found


def recoding_of(frequencies: Frequencies, assignment: Assignment) -> Recoding:
    """Smallest and largest code of each class in each quasi-identifier."""
    kept = assignment.class_of != SUPPRESSED
    cells, class_of = assignment.cell[kept], assignment.class_of[kept]
    order = np.argsort(class_of, kind="stable")
    first = np.searchsorted(class_of[order], np.arange(assignment.classes))
    codes = frequencies.codes[cells[order], : len(frequencies.quasi)]
    if len(order) == 0:
        empty = np.zeros((0, len(frequencies.quasi)), np.int32)
        return Recoding(frequencies.quasi, empty, empty, assignment.levels)
    lo = np.minimum.reduceat(codes, first, axis=0)
    hi = np.maximum.reduceat(codes, first, axis=0)
    return Recoding(frequencies.quasi, lo, hi, assignment.levels)
