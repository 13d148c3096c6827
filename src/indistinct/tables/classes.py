"""From an assignment to the classes that the models judge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels.boxes import words_of
from indistinct.kernels.covered import counted_in_boxes
from indistinct.tables.holdings import holdings_of
from indistinct.tables.order import distinct, lexicographic_order, numbered_rows, run_starts
from indistinct.tables.records import SUPPRESSED, Assignment, Classes, CoveredPopulation, Detail, Histogram, Recoding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.tables.records import Frequencies, Holdings

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
    published = assignment.class_of != SUPPRESSED
    cells, class_of, count = assignment.cell[published], assignment.class_of[published], assignment.count[published]
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
        covered_population(frequencies, assignment),
        detail(frequencies, assignment) if frequencies.detailed else None,
        recoding_of(frequencies, assignment) if frequencies.nested and assignment.levels is not None else None,
        holdings=_holdings(frequencies, cells, class_of),
    )


def _holdings(frequencies: Frequencies, cells: Int32, class_of: Int32) -> Holdings | None:
    if not frequencies.weighs_persons:
        return None
    class_of_tuple = np.full(len(frequencies.start) - 1, SUPPRESSED, np.int64)
    class_of_tuple[frequencies.tuple_of[cells]] = class_of
    return holdings_of(frequencies, class_of_tuple)


def groups_of(frequencies: Frequencies, assignment: Assignment) -> Classes:
    """Derive sizes and histograms of the groups by which sensitive values are published.

    Raises ValueError when the assignment has none.
    """
    if assignment.group_of is None:
        message = "the assignment has no groups"
        raise ValueError(message)
    groups = Assignment(assignment.cell, assignment.count, assignment.group_of, assignment.groups)
    return classes_of(frequencies, groups)


def covered_population(frequencies: Frequencies, assignment: Assignment) -> CoveredPopulation | None:
    """Count the population that the labels of each class cover; None without a population.

    With levels the population is recoded like the table. Boxes may overlap: a row counts for each box that holds it,
    boxes being widened to the nodes that are published. Costs classes times population tuples then.
    """
    population = frequencies.population
    if population is None:
        return None
    recoding, total = recoding_of(frequencies, assignment), int(population.rows.sum())
    if assignment.levels is None or _published_as_root(recoding, assignment.levels):
        lo, hi = widened(recoding)
        rows, covered = counted_in_boxes(population.tuples, population.rows, lo, hi, *_lists(recoding))
        return CoveredPopulation(rows, total - covered, total)
    levels = [h.levels[level].node_of for h, level in zip(frequencies.quasi, assignment.levels, strict=True)]
    ours = np.column_stack([node_of[recoding.lo[:, a]] for a, node_of in enumerate(levels)])
    theirs = np.column_stack([node_of[population.tuples[:, a]] for a, node_of in enumerate(levels)])
    both = np.concatenate([ours, theirs])
    first, group = numbered_rows(both, [int(node_of.max()) + 1 for node_of in levels])
    sums = np.zeros(len(first), np.int64)
    np.add.at(sums, group[len(ours) :], population.rows)
    rows = sums[group[: len(ours)]]
    return CoveredPopulation(rows, total - int(rows.sum()), total)


def _published_as_root(recoding: Recoding, levels: Sequence[int]) -> bool:
    """Whether a class has the label of the root at a lower level: then classes cover one another."""
    return any(
        0 < level < hierarchy.height and hierarchy.is_root(level, node)
        for position, (hierarchy, level) in enumerate(zip(recoding.quasi, levels, strict=True))
        for node in np.unique(hierarchy.levels[level].node_of[recoding.lo[:, position]]).tolist()
    )


def detail(frequencies: Frequencies, assignment: Assignment) -> Detail:
    """Count the values that each cell of the classes covers: those of its node, or of its range."""
    recoding = recoding_of(frequencies, assignment)
    sizes = np.array([hierarchy.size for hierarchy in frequencies.quasi], np.int64)
    if assignment.levels is None:
        lo, hi = widened(recoding)
        within = (hi - lo + 1).astype(np.int64)
        for position in recoding.held:
            listed = recoding.listed(position)[recoding.boxes(position)[2]]
            within[:, position] = np.where(listed > 0, listed, within[:, position])
        return Detail(within, sizes)
    covered = []
    for position, (hierarchy, level) in enumerate(zip(frequencies.quasi, assignment.levels, strict=True)):
        node_of = hierarchy.levels[level].node_of
        covered.append(np.bincount(node_of)[node_of[recoding.lo[:, position]]])
    return Detail(np.column_stack(covered).astype(np.int64), sizes)


def widened(recoding: Recoding) -> tuple[Int32, Int32]:
    """Widen boxes to the codes that their published nodes cover; ranges stay, a mix with missing covers all.

    Sets are widened too: what is in them says ``_lists``.
    """
    lo, hi = recoding.lo.copy(), recoding.hi.copy()
    for position, hierarchy in enumerate(recoding.quasi):
        last = hierarchy.size - 1
        fixed = 0 if recoding.levels is None else recoding.levels[position]
        if hierarchy.is_range:
            if hierarchy.missing >= 0:
                mixed = (hi[:, position] == last) & (lo[:, position] < last)
                lo[mixed, position] = 0
            continue
        if position in recoding.held and hierarchy.missing >= 0:
            lo[(hi[:, position] == last) & (lo[:, position] < last), position] = 0
        pairs, inverse = np.unique(np.stack([lo[:, position], hi[:, position]], axis=1), axis=0, return_inverse=True)
        ends = np.empty_like(pairs)
        for number, (low, high) in enumerate(pairs.tolist()):
            level, node = hierarchy.smallest(low, high, fixed)
            codes = np.flatnonzero(hierarchy.levels[level].node_of == node)
            ends[number] = codes[0], codes[-1]
        lo[:, position], hi[:, position] = ends[inverse.reshape(-1)].T
    return lo, hi


def _lists(recoding: Recoding) -> tuple[Int64, Int32]:
    """Find the quasi-identifiers with sets, and their words side by side: all bits where a class publishes a node."""
    none = np.zeros((len(recoding.lo), 0), np.int32)
    words, places = [none], [np.zeros((0, 2), np.int64)]
    for position, held in recoding.held.items():
        listed = recoding.listed(position)[recoding.boxes(position)[2]]
        places.append(np.array([[position, sum(part.shape[1] for part in words)]], np.int64))
        words.append(np.where(listed[:, None] > 0, held, np.int32(-1)))
    return np.concatenate(places), np.ascontiguousarray(np.concatenate(words, axis=1))


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
    width, many = max(classes, 1), len(frequencies.start) - 1
    pairs = distinct(frequencies.tuple_of[cells].astype(np.int64) * width + class_of, many * width)
    tuples, owners = pairs // width, pairs % width
    if (tuples[1:] == tuples[:-1]).any():
        message = "a tuple is split between classes although rows belong to persons"
        raise ValueError(message)
    found = np.zeros(classes, np.int64)
    np.add.at(found, owners, persons.single[tuples])
    lengths = np.diff(persons.start)[tuples]
    at = np.repeat(persons.start[tuples] - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
    those = max(persons.spanning, 1)
    spread = distinct(np.repeat(owners, lengths) * those + persons.ids[at], width * those)
    found += np.bincount(spread // those, minlength=classes)
    return found


def merged(assignment: Assignment, recoding: Recoding) -> Assignment:
    """Join the classes that publish the same labels, as a reader of the release does."""
    columns = [recoding.labels(position) for position in range(len(recoding.quasi))]
    labels = np.column_stack([label_of.astype(np.int32) for _, label_of in columns])
    first, number = numbered_rows(labels, [len(texts) for texts, _ in columns])
    if len(first) == assignment.classes:
        return assignment
    boxes = None if assignment.boxes is None else assignment.boxes[first]
    class_of = np.append(number, np.int32(SUPPRESSED))[assignment.class_of]
    return replace(assignment, class_of=class_of, classes=len(first), boxes=boxes)


def alone(frequencies: Frequencies, without: int | None = None) -> int:
    """Count the rows that nobody else shares its quasi-identifiers with: those of classes of one row, or one person.

    ``without``: as if the quasi-identifier of this number were not there.
    """
    class_of = np.arange(len(frequencies.tuples), dtype=np.int32)
    if without is not None:
        others = np.delete(frequencies.tuples, without, axis=1)
        sizes = [hierarchy.size for hierarchy in frequencies.quasi]
        class_of = numbered_rows(others, [*sizes[:without], *sizes[without + 1 :]])[1]
    cells = np.arange(len(frequencies.rows), dtype=np.int32)
    together = Assignment(cells, frequencies.rows, class_of[frequencies.tuple_of], int(class_of.max(initial=-1)) + 1)
    codes = frequencies.codes[:, : len(frequencies.quasi)]
    bare = replace(frequencies, sensitive=(), codes=codes, population=None, detailed=False, nested=False)
    classes = classes_of(bare, together)
    return int(classes.rows[classes.sizes == 1].sum())


def recoding_of(frequencies: Frequencies, assignment: Assignment) -> Recoding:
    """Smallest and largest code of each class in each quasi-identifier, or the boxes that the assignment asks for."""
    if assignment.boxes is not None:
        lo, hi = (np.ascontiguousarray(assignment.boxes[:, :, end]) for end in (0, 1))
        return Recoding(frequencies.quasi, lo, hi, assignment.levels)
    published = assignment.class_of != SUPPRESSED
    cells, class_of = assignment.cell[published], assignment.class_of[published]
    order = np.argsort(class_of, kind="stable")
    first = np.searchsorted(class_of[order], np.arange(assignment.classes))
    codes = frequencies.codes[cells[order], : len(frequencies.quasi)]
    if len(order) == 0:
        empty = np.zeros((0, len(frequencies.quasi)), np.int32)
        return Recoding(frequencies.quasi, empty, empty, assignment.levels)
    lo = np.minimum.reduceat(codes, first, axis=0)
    hi = np.maximum.reduceat(codes, first, axis=0)
    held = {
        position: np.bitwise_or.reduceat(words_of(codes[:, position], hierarchy.size), first, axis=0)
        for position, hierarchy in enumerate(frequencies.quasi)
        if hierarchy.sets is not None and assignment.levels is None
    }
    return Recoding(frequencies.quasi, lo, hi, assignment.levels, held=held)
