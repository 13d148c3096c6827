"""Merging classes until all hold: the start for distances, and the repair of any state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels.guards import LEAST_SIZE
from indistinct.kernels.partition import HEAD
from indistinct.tables.count import silent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.algorithms.local.state import State
    from indistinct.kernels.guards import Guards
    from indistinct.tables.count import Progress

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

# classes that are looked at on either side
WINDOW = 2000


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
