"""Which passes run, in which order: plans for small classes and for large ones, by quality."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.algorithms.local.search import move_units, rebuild_pools
from indistinct.algorithms.local.state import changed_units, regrouped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from indistinct.algorithms.local.state import State
    from indistinct.tables.count import Progress

    Int32 = NDArray[np.int32]

# pools for each class, in so many rounds with other borders between the regions
POOLS = 10
ROUNDS = 4


def small_classes(state: State, nearest: Int32, progress: Progress) -> State:
    """Rebuild a fixed number of pools, then move and swap twice."""
    pools = POOLS * int((state.parts.mass[:, 2] > 0).sum())
    for turn in range(ROUNDS):
        progress("search", turn, ROUNDS + 2)
        state, nearest = regrouped(state, nearest)
        rebuild_pools(state, nearest, turn, pools // ROUNDS)
    for turn in range(2):
        progress("search", ROUNDS + turn, ROUNDS + 2)
        todo = changed_units(state) if turn else state.single
        move_units(state, nearest, ROUNDS + turn, todo)
    return state
