"""Base classes and their pairs, from quasi-identifiers alone: nothing here is given a sensitive value.

So whoever knows everybody's quasi-identifiers works them out, and learns nothing by it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.blind import blind_policy
from indistinct.algorithms.curve import curve_order
from indistinct.algorithms.local.pairs import pairs_of
from indistinct.algorithms.local.problem import problem_of
from indistinct.algorithms.local.state import State, refill
from indistinct.errors import InfeasibleError
from indistinct.kernels.partition import empty_partition
from indistinct.kernels.units import reach_of, units_of
from indistinct.tables.classes import classes_of
from indistinct.tables.records import SUPPRESSED, Assignment, Frequencies

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem
    from indistinct.policy import Policy

    Int64 = NDArray[np.int64]
    Solve = Callable[[Frequencies, Policy], Assignment]


@dataclass(frozen=True)
class Bases:
    """``classes`` puts the rows of tuples into base classes; ``pair`` int64[g] calls each pair by its first class."""

    classes: Assignment
    pair: Int64 = field(repr=False)


def bases_of(blind: Frequencies, policy: Policy, size: int, solve: Solve) -> Bases:
    """Form base classes of at least ``size`` rows of a table without sensitive columns, and pair them.

    Raises InfeasibleError where even quasi-identifiers alone allow no such classes.
    """
    alone = blind_policy(policy, size)
    classes = solve(blind, alone)
    state = state_of_bases(problem_of(blind, alone), classes)
    return Bases(classes, pairs_of(state.problem.costs, state.partition, state.rank[state.tuple_of].astype(np.int64)))


def bases_or_smaller(blind: Frequencies, policy: Policy, size: int, least: int, solve: Solve) -> Bases:
    """Form base classes of ``size`` rows, or of ``least`` where some block has not so many."""
    if size > least:
        try:
            return bases_of(blind, policy, size, solve)
        except InfeasibleError:  # quasi-identifiers alone decide it
            pass
    return bases_of(blind, policy, least, solve)


def state_of_bases(problem: Problem, base: Assignment) -> State:
    """Make units of the base classes, each in a class of its own.

    ``base`` has cells of ``problem``; of their values the search is told nothing, only the exact verdict reads them.
    """
    frequencies = problem.frequencies
    published = np.flatnonzero(base.class_of != SUPPRESSED)
    published = published[np.lexsort((base.cell[published], base.class_of[published]))]
    cell, count, class_of = base.cell[published], base.count[published], base.class_of[published]
    start = np.searchsorted(class_of, np.arange(base.classes + 1)).astype(np.int64)
    reach = reach_of(frequencies.tuples[frequencies.tuple_of[cell]], problem.costs)
    ends = problem.costs.ends
    boxes = np.concatenate(
        [
            np.maximum.reduceat(reach[:, :ends], start[:-1], axis=0),
            np.bitwise_or.reduceat(reach[:, ends:], start[:-1], axis=0),
        ],
        axis=1,
    )
    classes = classes_of(frequencies, Assignment(cell, count, class_of, base.classes))
    mass = np.stack([classes.rows, classes.sizes], axis=1)
    nothing = np.zeros((len(cell), 0), np.int32)
    units = units_of(np.ascontiguousarray(boxes), np.ascontiguousarray(mass), start, nothing, count)
    rank = np.empty(len(frequencies.tuples), np.int32)
    sizes = [hierarchy.size for hierarchy in frequencies.quasi]
    rank[curve_order(frequencies.tuples, sizes)] = np.arange(len(rank), dtype=np.int32)
    number = np.arange(base.classes, dtype=np.int32)
    partition = empty_partition(base.classes, base.classes, boxes.shape[1], [])
    first = frequencies.tuple_of[cell[start[:-1]]]
    state = State(problem, units, cell, first, np.ones(base.classes, np.bool_), rank, number, partition)
    refill(state, number)
    return state
