"""The search: rebuild random neighbourhoods, then move and swap single units until little changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.local.state import changed_units, in_regions
from indistinct.kernels.guards import LEAST_SIZE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.algorithms.local.state import State
    from indistinct.policy import Policy
    from indistinct.tables.count import Progress

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

# pools for each class, in so many rounds with other borders between the regions
POOLS = 9
ROUNDS = 3
SEED = 0x9E3779B97F4A7C15


def move_units(state: State, nearest: Int32, turn: int, todo: NDArray[np.bool_]) -> int:
    """One pass of moves and swaps."""
    from indistinct.kernels.moves import improve

    problem = state.problem

    def work(region: int, units: Int32, _: Int32) -> int:
        return improve(
            state.units, problem.costs, problem.guards, state.parts, nearest, units, region, state.scratch()
        )

    return in_regions(state, turn, work, todo)


def rebuild_pools(state: State, nearest: Int32, pools: int, turn: int) -> int:
    """Destroy and repair ``pools`` neighbourhoods, shared out over the regions."""
    from indistinct.kernels.rebuild import pool_of, rebuild

    problem = state.problem
    k = int(problem.guards.limits[LEAST_SIZE])
    total = max(1, int(state.single.sum()))

    def work(region: int, units: Int32, unused: Int32) -> int:
        seed = (SEED * (2 * turn + 1) + 0xD1B54A32D192ED03 * (region + 1)) % 2**64 or 1
        pool = pool_of(
            max(64, 8 * k), state.units.reach.shape[1], unused, len(state.parts.loss), np.uint64(seed)
        )
        share = -(-pools * len(units) // total)
        return rebuild(
            state.units,
            problem.costs,
            problem.guards,
            state.parts,
            nearest,
            units,
            region,
            share if len(units) else 0,
            pool,
            state.scratch(),
        )

    return in_regions(state, turn, work, state.single)


def search_classes(state: State, nearest: Int32, policy: Policy, progress: Progress) -> None:
    """A fixed number of rebuilds and a few passes: the same result on every machine."""
    classes = len(state.used)
    pools = POOLS * classes // ROUNDS
    for turn in range(ROUNDS):
        progress("search", turn, ROUNDS + 2)
        rebuild_pools(state, nearest, pools, turn)
    for turn in range(2):
        progress("search", ROUNDS + turn, ROUNDS + 2)
        todo = changed_units(state) if turn else state.single
        move_units(state, nearest, ROUNDS + turn, todo)
