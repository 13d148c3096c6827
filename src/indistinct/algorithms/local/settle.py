"""The end: the exact verdict on every class, and what is done about those that fail it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.local.guards import guards_of
from indistinct.algorithms.local.merging import merge_some
from indistinct.kernels.partition import CHANGED
from indistinct.models import evaluate
from indistinct.tables.classes import classes_of
from indistinct.tables.records import Assignment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem
    from indistinct.algorithms.local.state import State

    Bools = NDArray[np.bool_]
    Int64 = NDArray[np.int64]


def satisfied(problem: Problem, assignment: Assignment) -> Bools:
    """bool[g]: classes that satisfy every model, exactly."""
    verdict = np.ones(assignment.classes, np.bool_)
    if assignment.classes:
        classes = classes_of(problem.frequencies, assignment)
        for privacy in problem.privacy:
            verdict &= evaluate(privacy, classes, problem.context).satisfied
    return verdict


def failing(state: State, among: Int64) -> Int64:
    """Of the classes ``among``, those that fail the exact test of some model."""
    number = np.full(len(state.parts.loss), -1, np.int64)
    number[among] = np.arange(len(among))
    entry_class = number[np.repeat(state.class_of, np.diff(state.units.start))]
    kept = entry_class >= 0
    assignment = Assignment(state.cell[kept], state.units.counts[kept], entry_class[kept].astype(np.int32), len(among))
    return among[~satisfied(state.problem, assignment)]


def settle_classes(state: State, hopeless: Bools) -> Bools:
    """Merge classes that fail the exact test until all that can hold do; bool[g]: those that have to go.

    A failing class joins the one near it that adds least loss; in the end that is its whole block, which holds
    because the models are merge-closed. In blocks that are ``hopeless`` (bool[b]: even the whole block fails)
    failing classes join each other only, so that those that hold can be kept.
    """
    size_only = guards_of((), (), ())
    failed = failing(state, state.used)
    gone = np.zeros(len(state.parts.loss), np.bool_)
    while len(failed):
        lost = hopeless[state.problem.block[state.tuple_of[state.parts.state[failed, 0]]]]
        excess = np.zeros(len(gone))
        excess[failed] = 1.0
        state.parts.state[:, CHANGED] = 0
        merged = merge_some(state, size_only, failed[~lost], state.used, excess, 0.0)
        merged += merge_some(state, size_only, failed[lost], failed[lost], excess, 0.0)
        if merged == 0:
            gone[failed] = True
            break
        again = state.parts.state[:, CHANGED] > 0  # what a failing class has joined may fail now
        again[failed] = True
        failed = failing(state, np.flatnonzero(again & (state.parts.mass[:, 0] > 0)))
    return gone
