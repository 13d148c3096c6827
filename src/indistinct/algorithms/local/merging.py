"""Merging classes: until all hold, as a start and as the repair of any state; and those that are published alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.local.state import refill
from indistinct.kernels.boxes import FIRST, WORDS
from indistinct.kernels.guards import LEAST_SIZE
from indistinct.kernels.partition import CHANGED, HEAD, MEMBERS
from indistinct.tables.count import silent
from indistinct.tables.order import numbered_rows
from indistinct.tables.records import Recoding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.algorithms.local.state import State
    from indistinct.kernels.guards import Guards
    from indistinct.tables.count import Progress

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

# classes that are looked at on either side
WINDOW = 2000
# classes published alike are merged up to so many times k units: a pass over larger ones takes longer and gains nothing
JOINED = 4


def merge_violators(state: State, price: float, progress: Progress = silent) -> None:
    """Merge classes that violate the criteria with near ones, the smallest first, until none is left that can be.

    A violator joins the class that adds least loss minus ``price`` times the excess that goes.
    """
    from indistinct.kernels.merging import excesses

    guards = state.problem.guards
    excess = np.empty(len(state.partition.loss))
    if len(guards.spec) == 0 and (state.partition.mass[state.used, 1] >= guards.limits[LEAST_SIZE]).all():
        return
    excesses(state.units, guards, state.partition, excess, state.scratch())
    while True:
        progress("search", 0, 0)
        violators = np.flatnonzero((state.partition.state[:, HEAD] >= 0) & (excess > 0.0))
        if len(violators) == 0 or merge_some(state, guards, violators, state.used, excess, price) == 0:
            return


def violating_rows(state: State) -> int:
    """Rows in classes that violate the criteria."""
    from indistinct.kernels.merging import excesses

    excess = np.empty(len(state.partition.loss))
    excesses(state.units, state.problem.guards, state.partition, excess, state.scratch())
    return int(state.partition.mass[excess > 0.0, 0].sum())


def merge_some(state: State, guards: Guards, violators: Int64, partners: Int64, excess: Float64, price: float) -> int:
    """One round: each violator that still is one joins the best of the partners near it; how many did."""
    from indistinct.kernels.merging import merge_round

    partition = state.partition
    near = state.rank[state.tuple_of[partition.state[:, HEAD]]]  # unused classes read nonsense, and nobody reads it
    ordered = partners[np.lexsort((partners, near[partners]))]
    place = np.searchsorted(near[ordered], near).astype(np.int64)
    queue = violators[np.lexsort((violators, partition.mass[violators, 0]))]
    window = len(partners) if len(queue) < 8 else WINDOW
    return merge_round(
        state.units,
        state.problem.costs,
        guards,
        partition,
        queue,
        ordered,
        place,
        window,
        price,
        excess,
        state.scratch(guards),
    )


def join_alike(state: State) -> None:
    """Merge classes that are published alike, which loses nothing: together they can spare rows that none of them can.

    Only classes that hold single units alone, and not where persons have rows in several: shares of persons may fail in
    both together.
    """
    if state.problem.frequencies.is_spread:
        return
    partition = state.partition
    closed = np.zeros(len(partition.loss), np.bool_)
    closed[state.class_of[~state.single]] = True
    classes = state.used[~closed[state.used]]
    _, alike = numbered_rows(*_labels(state, classes))
    order = np.argsort(alike, kind="stable")
    members = partition.mass[classes[order], MEMBERS]
    upto = np.cumsum(members) - members
    first = np.searchsorted(alike[order], alike[order])
    part = (upto - upto[first]) // (JOINED * state.problem.guards.limits[LEAST_SIZE])
    opens = (np.diff(alike[order], prepend=-1) != 0) | (np.diff(part, prepend=-1) != 0)
    into = np.arange(len(partition.loss), dtype=np.int32)
    into[classes[order]] = classes[order][np.flatnonzero(opens)[np.cumsum(opens) - 1]]
    refill(state, into[state.class_of])
    partition.state[:, CHANGED] = 1


def _labels(state: State, classes: Int64) -> tuple[NDArray[np.int32], list[int]]:
    """int32[., d]: the number of the label of each class in each quasi-identifier; and how many labels there are."""
    quasi, spec, box = state.problem.frequencies.quasi, state.problem.costs.spec, state.partition.box[classes]
    d = len(quasi)
    held = {a: box[:, spec[a, FIRST] : spec[a, FIRST] + spec[a, WORDS]] for a in range(d) if quasi[a].sets is not None}
    recoding = Recoding(quasi, -box[:, d : 2 * d], box[:, :d], held=held)
    labels = [recoding.labels(a) for a in range(d)]
    return np.column_stack([number for _, number in labels]).astype(np.int32), [len(texts) for texts, _ in labels]
