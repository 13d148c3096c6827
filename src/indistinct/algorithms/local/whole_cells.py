"""Classes of whole cells as a state that can be searched."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.curve import curve_order
from indistinct.algorithms.local.state import domains_of, state_of
from indistinct.kernels.partition import empty_partition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem
    from indistinct.algorithms.local.state import State
    from indistinct.algorithms.rounds import Regions

    Int64 = NDArray[np.int64]


def state_of_classes(problem: Problem, partition: Regions) -> State:
    """Classes of whole cells as a state that can be searched, numbered by their first cell."""
    class_of_cell = np.empty(len(problem.frequencies.rows), np.int64)
    class_of_cell[partition.cell] = partition.part
    _, first, number = np.unique(class_of_cell, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first, kind="stable"), kind="stable")
    state = units_of(problem)
    return with_classes(state, rank[number.reshape(-1)][state.cell[state.units.start[:-1]]], partition.number)


def units_of(problem: Problem) -> State:
    """The rows of a problem along a curve, in no class yet."""
    tuples = len(problem.block)
    rank = np.empty(tuples, np.int32)
    sizes = [hierarchy.size for hierarchy in problem.frequencies.quasi]
    rank[curve_order(problem.frequencies.tuples, sizes)] = np.arange(tuples, dtype=np.int32)
    nobody = np.zeros(tuples, np.bool_), problem.block.astype(np.int32), rank
    return state_of(problem, *nobody, np.zeros(tuples, np.int64), np.full(tuples, -1, np.int32))


def with_classes(state: State, class_of: Int64, number: int) -> State:
    """Put the units of a state into classes 0..``number`` - 1."""
    from indistinct.kernels.partition import fill

    partition = empty_partition(len(class_of), number, state.units.reach.shape[1], domains_of(state.problem))
    fill(state.units, state.problem.costs, partition, class_of.astype(np.int32))
    return replace(state, partition=partition)
