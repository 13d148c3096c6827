"""Blocks that fail even as one class: which rows have to go so that the rest can hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.local.settle import satisfied
from indistinct.kernels.criteria import BAND, K
from indistinct.models import criteria, record_of
from indistinct.tables.records import Assignment, Frequencies

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem
    from indistinct.models import Criterion

    Bools = NDArray[np.bool_]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

# removals are tried in so many steps of the rows of a block
STEPS = 500
# combinations of sensitive values that are tried in each step
CHOICES = 64


def hopeless_blocks(problem: Problem) -> Bools:
    """bool[b]: blocks whose rows fail the exact test even as one class, so that no partition of them can hold.

    Where persons have rows of different quasi-identifiers, shares of persons prove nothing here: finer classes may
    hold.
    """
    frequencies = problem.frequencies
    cells = np.arange(len(frequencies.rows), dtype=np.int32)
    block = problem.block[frequencies.tuple_of].astype(np.int32)
    whole = Assignment(cells, frequencies.rows, block, int(block.max(initial=-1)) + 1)
    return ~satisfied(problem, whole, proving=True)


def rows_to_drop(problem: Problem, hopeless: Bools) -> Int64:
    """int64[c]: rows of each cell that go, so that what is left of each hopeless block holds as one class.

    From the value combinations that spoil the block most, in small steps, rows of rare tuples first; a block
    that cannot be mended goes whole. Heuristic: fewer might do. Models without a compiled form are not looked
    at (``settle`` drops the classes that fail them); with persons blocks are only dropped whole. Once more rows go than
    may be suppressed, the other blocks go whole, unexamined: that would do, and it is not done.
    """
    compiled = tuple(
        criterion for privacy in problem.privacy for criterion in criteria([privacy], problem.context) or ()
    )
    drop = np.zeros(len(problem.frequencies.rows), np.int64)
    block = problem.block[problem.frequencies.tuple_of]
    order = np.argsort(block, kind="stable")
    edges = np.searchsorted(block[order], np.arange(len(hopeless) + 1))
    joint = any(record_of(privacy).criteria(privacy, problem.context) is None for privacy in problem.privacy)
    total = 0
    for b in np.flatnonzero(hopeless).tolist():
        cells = order[edges[b] : edges[b + 1]]
        if total > problem.allowed:
            drop[cells] = problem.frequencies.rows[cells]
            continue
        drop[cells] = _drop(problem, compiled, cells, joint=joint)
        total += int(drop[cells].sum())
    return drop


def _drop(problem: Problem, compiled: tuple[Criterion, ...], cells: Int64, *, joint: bool) -> Int64:
    """Rows to drop of the cells of one block."""
    frequencies = problem.frequencies
    rows = frequencies.rows[cells]
    codes, group = np.unique(frequencies.codes[cells, len(frequencies.quasi) :], axis=0, return_inverse=True)
    group = group.reshape(-1)
    counts = np.bincount(group, weights=rows, minlength=len(codes)).astype(np.int64)
    names = [hierarchy.attribute for hierarchy in frequencies.sensitive]
    step = max(1, int(counts.sum()) // STEPS)

    def violation(trial: Int64) -> float:
        return _violation(compiled, names, codes, trial)

    now = violation(counts)
    if frequencies.persons is not None:
        # what rows do not show, joint values and shares of persons, ``settle`` decides class by class
        return rows if now > 0.0 or not (joint or frequencies.weighs_persons) else np.zeros_like(rows)
    while True:
        if now <= 0.0:
            published = _spread(problem, cells, group, counts)
            if joint or bool(satisfied(problem, _one_class(cells, published))[0]):
                return rows - published
            step = 1
        choices = np.argsort(-counts, kind="stable")[: min(CHOICES, int((counts > 0).sum()))]
        tried = []
        for choice in choices.tolist():
            trial = counts.copy()
            trial[choice] -= min(step, int(trial[choice]))
            tried.append((violation(trial) if trial.any() else np.inf, choice))
        if not tried or min(tried)[0] == np.inf:
            return rows
        now, best = min(tried)
        counts[best] -= min(step, int(counts[best]))


def _violation(compiled: tuple[Criterion, ...], names: list[str], codes: Int32, counts: Int64) -> float:
    """Sum of the violations of one class; infinite when it is too small; undecided counts as satisfied."""
    from indistinct.kernels.criteria import violation

    rows = int(counts.sum())
    total = 0.0
    for criterion in compiled:
        dense = np.zeros(1, np.int64)
        if criterion.attribute is not None:
            column = codes[:, names.index(criterion.attribute)]
            length = max(len(criterion.shares), int(column.max()) + 1)
            dense = np.bincount(column, weights=counts, minlength=length).astype(np.int64)
        found = violation(criterion.kind, criterion.parameters, dense, rows, rows, criterion.shares, criterion.tree)
        if criterion.kind == K and found > 0:
            return float(np.inf)
        total += found if found > BAND else 0.0
    return total


def _spread(problem: Problem, cells: Int64, group: Int64, counts: Int64) -> Int64:
    """Rows that stay of each cell, when ``counts`` stay of each value combination: frequent tuples first."""
    frequencies = problem.frequencies
    rows = frequencies.rows[cells]
    weight = frequencies.tuple_rows[frequencies.tuple_of[cells]]
    order = np.lexsort((cells, -weight, group))
    before = np.cumsum(rows[order]) - rows[order]
    first = np.searchsorted(group[order], np.arange(len(counts)))
    before -= before[first][group[order]]
    published = np.empty_like(rows)
    published[order] = np.clip(counts[group[order]] - before, 0, rows[order])
    return published


def _one_class(cells: Int64, published: Int64) -> Assignment:
    stay = published > 0
    return Assignment(cells[stay].astype(np.int32), published[stay], np.zeros(int(stay.sum()), np.int32), 1)


def without(frequencies: Frequencies, drop: Int64) -> tuple[Frequencies, Int64]:
    """Frequencies without some rows of each cell; and the cells that are left. References stay as they are."""
    rows = frequencies.rows - drop
    cells = np.flatnonzero(rows)
    tuples, start = np.unique(frequencies.tuple_of[cells], return_index=True)
    persons = frequencies.persons
    if persons is not None:
        lengths = np.diff(persons.start)
        stay = np.isin(np.repeat(np.arange(len(lengths)), lengths), tuples)
        edges = np.concatenate([[0], np.cumsum(lengths[tuples])]).astype(np.int64)
        number = np.full(len(rows), -1, np.int32)
        number[cells] = np.arange(len(cells), dtype=np.int32)
        held = number[persons.cell] >= 0
        persons = replace(
            persons,
            single=persons.single[tuples],
            start=edges,
            ids=persons.ids[stay],
            cell=number[persons.cell[held]],
            person=persons.person[held],
            rows=persons.rows[held],
        )
    left = Frequencies(
        frequencies.quasi,
        frequencies.sensitive,
        np.ascontiguousarray(frequencies.codes[cells]),
        rows[cells],
        np.append(start, len(cells)).astype(np.int64),
        frequencies.references,
        persons,
        frequencies.population,
        frequencies.detailed,
        frequencies.nested,
    )
    return left, cells
