"""Classes that are published alike are one class to the reader: they are judged as one.

Under merge-closed models two classes that hold do so together. By persons that is not so where the two share persons
(``models.shares``): then classes of equal labels are made one, judged, and repaired where they fail, until all hold.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.local.settle import satisfied, settle_classes
from indistinct.algorithms.local.trim import hopeless_blocks, without
from indistinct.models import record_of
from indistinct.tables.classes import recoding_of, whole_tuples
from indistinct.tables.order import numbered_rows
from indistinct.tables.records import SUPPRESSED, Assignment

if TYPE_CHECKING:
    from collections.abc import Callable

    from indistinct.algorithms.local.problem import Problem
    from indistinct.tables.records import Frequencies


def repaired(problem: Problem, found: Assignment, problem_of: Callable[[Frequencies], Problem]) -> Assignment:
    """Judge the classes as they are published, and repair those that fail.

    Where too much would have to go, repairing begins once more with the single tuples: merging may have gone too far.
    """
    if not problem.frequencies.is_spread or all(record_of(own).merges_persons(own) for own in problem.privacy):
        return found
    found = _repaired(problem, found, problem_of)
    if _suppressed(found) <= problem.allowed:
        return found
    again = _repaired(problem, replace(whole_tuples(problem.frequencies), notes=found.notes), problem_of)
    return min(found, again, key=_suppressed)


def _repaired(problem: Problem, found: Assignment, problem_of: Callable[[Frequencies], Problem]) -> Assignment:
    """Repair until all classes hold as they are published; each round leaves fewer of them, so it ends."""
    while True:
        found = joined(problem.frequencies, found)
        if satisfied(problem, found).all():
            return found
        found = _settled(problem, found, problem_of)


def _suppressed(found: Assignment) -> int:
    return int(found.count[found.class_of == SUPPRESSED].sum())


def joined(frequencies: Frequencies, found: Assignment) -> Assignment:
    """Make one class of all that have the same label in every quasi-identifier."""
    recoding = recoding_of(frequencies, found)
    columns = [recoding.labels(position) for position in range(len(frequencies.quasi))]
    labels = np.column_stack([label_of for _, label_of in columns]).astype(np.int32)
    first, number = numbered_rows(labels, [len(texts) for texts, _ in columns])
    if len(first) == found.classes:
        return found
    order = np.argsort(np.argsort(first))  # as before, by the first class of each
    published = found.class_of != SUPPRESSED
    class_of = np.where(published, order[number[np.where(published, found.class_of, 0)]], SUPPRESSED).astype(np.int32)
    # a cell may now stand twice in one class
    key = found.cell.astype(np.int64) * (len(first) + 1) + class_of + 1
    _, at, which = np.unique(key, return_index=True, return_inverse=True)
    count = np.bincount(which.reshape(-1), weights=found.count).astype(np.int64)
    return replace(found, cell=found.cell[at], count=count, class_of=class_of[at], classes=len(first))


def _settled(problem: Problem, found: Assignment, problem_of: Callable[[Frequencies], Problem]) -> Assignment:
    """Merge failing classes with near ones, or suppress them, beside what is suppressed already."""
    from indistinct.algorithms.local.state import assignment_of
    from indistinct.algorithms.local.whole_cells import state_of_classes
    from indistinct.algorithms.rounds import Regions

    gone = found.class_of == SUPPRESSED
    drop = np.zeros(len(problem.frequencies.rows), np.int64)
    np.add.at(drop, found.cell[gone], found.count[gone])
    left, cells = without(problem.frequencies, drop)
    number = np.full(len(drop), -1, np.int64)
    number[cells] = np.arange(len(cells))
    rest = replace(problem_of(left), allowed=max(0, problem.allowed - int(drop.sum())))
    order = np.argsort(found.class_of[~gone], kind="stable")
    cell, count = number[found.cell[~gone]][order], found.count[~gone][order]
    state = state_of_classes(rest, Regions(cell, count, found.class_of[~gone][order].astype(np.int64), found.classes))
    again = assignment_of(state, settle_classes(state, hopeless_blocks(rest)), found.notes)
    lost = np.flatnonzero(drop)
    return replace(
        again,
        cell=np.concatenate([cells[again.cell], lost]).astype(np.int32),
        count=np.concatenate([again.count, drop[lost]]),
        class_of=np.concatenate([again.class_of, np.full(len(lost), SUPPRESSED, np.int32)]),
    )
