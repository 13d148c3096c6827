"""The end: the exact verdict on every class, and what is done about those that fail it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.local.guards import guards_of
from indistinct.algorithms.local.merging import merge_some
from indistinct.algorithms.local.state import restore, snapshot
from indistinct.kernels.partition import CHANGED
from indistinct.models import evaluate, record_of
from indistinct.tables.classes import classes_of
from indistinct.tables.records import Assignment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem
    from indistinct.algorithms.local.state import State

    Bools = NDArray[np.bool_]
    Int64 = NDArray[np.int64]


def satisfied(problem: Problem, assignment: Assignment, *, proving: bool = False) -> Bools:
    """bool[g]: classes that satisfy every model, exactly.

    ``proving``: without the readings by persons of which a failing class says nothing about its parts.
    """
    verdict = np.ones(assignment.classes, np.bool_)
    if assignment.classes:
        classes = classes_of(problem.frequencies, assignment)
        by_rows = replace(classes, holdings=None)
        spread = proving and problem.frequencies.is_spread
        for privacy in problem.privacy:
            silent = spread and not record_of(privacy).merges_persons(privacy)
            verdict &= evaluate(privacy, by_rows if silent else classes, problem.context).satisfied
    return verdict


def failing(state: State, among: Int64) -> Int64:
    """Of the classes ``among``, those that fail the exact test of some model."""
    number = np.full(len(state.partition.loss), -1, np.int64)
    number[among] = np.arange(len(among))
    entry_class = number[np.repeat(state.class_of, np.diff(state.units.start))]
    published = entry_class >= 0
    assignment = Assignment(
        state.cell[published], state.units.counts[published], entry_class[published].astype(np.int32), len(among)
    )
    return among[~satisfied(state.problem, assignment)]


def settle_classes(state: State, hopeless: Bools) -> Bools:
    """Merge classes that fail the exact test until all that can hold do; bool[g]: those that have to go.

    A failing class joins the one near it that adds least loss; in the end that is its whole block, which holds
    because the models are merge-closed. In blocks that are ``hopeless`` (bool[b]: even the whole block fails)
    failing classes join each other only, so that those that hold can be kept. Shares of persons who have rows in
    several classes may hold in classes and fail in the block: then the last state goes whose failing classes may be
    suppressed.
    """
    size_only = guards_of((), (), ())
    failed = failing(state, state.used)
    gone = np.zeros(len(state.partition.loss), np.bool_)
    bearable = None
    while len(failed):
        if state.problem.frequencies.is_spread and state.partition.mass[failed, 0].sum() <= state.problem.allowed:
            bearable = snapshot(state)
        lost = hopeless[state.problem.block[state.tuple_of[state.partition.state[failed, 0]]]]
        excess = np.zeros(len(gone))
        excess[failed] = 1.0
        state.partition.state[:, CHANGED] = 0
        merged = merge_some(state, size_only, failed[~lost], state.used, excess, 0.0)
        merged += merge_some(state, size_only, failed[lost], failed[lost], excess, 0.0)
        if merged == 0:
            if bearable is not None and state.partition.mass[failed, 0].sum() > state.problem.allowed:
                restore(state, bearable)
                failed = failing(state, state.used)
            gone[failed] = True
            break
        again = state.partition.state[:, CHANGED] > 0  # what a failing class has joined may fail now
        again[failed] = True
        failed = failing(state, np.flatnonzero(again & (state.partition.mass[:, 0] > 0)))
    return gone
