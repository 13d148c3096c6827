"""The search: rebuild random neighbourhoods, anneal, move and swap single units, split what has slack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.local.problem import is_small
from indistinct.algorithms.local.state import in_regions
from indistinct.kernels.guards import LEAST_SIZE
from indistinct.kernels.partition import HEAD, REGION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.algorithms.local.state import State

    Int32 = NDArray[np.int32]

SEED = 0x9E3779B97F4A7C15
STRIDE = 0xD1B54A32D192ED03
# in small tables a rebuilt pool gets fewer groups than it could, once in so many times
ENDS, NEVER = 6, 0


def seed_of(turn: int, region: int) -> int:
    """Seed of the random numbers of one region in one turn."""
    return (SEED * (2 * turn + 1) + STRIDE * (region + 1)) % 2**64 or 1


def move_units(state: State, nearest: Int32, turn: int, todo: NDArray[np.bool_]) -> int:
    """One pass of moves and swaps over the units ``todo``; how many changed their class."""
    from indistinct.kernels.moves import improve

    problem = state.problem

    def work(region: int, units: Int32, _: Int32) -> int:
        return improve(
            state.units, problem.costs, problem.guards, state.partition, nearest, units, region, state.scratch()
        )

    return in_regions(state, turn, work, todo)


def rebuild_pools(state: State, nearest: Int32, turn: int, pools: int) -> int:
    """Destroy and repair ``pools`` neighbourhoods, shared out over the regions; how many improved."""
    from indistinct.kernels.rebuild import pool_of, rebuild

    problem = state.problem
    k = int(problem.guards.limits[LEAST_SIZE])
    total = max(1, int(state.single.sum()))

    def work(region: int, units: Int32, unused: Int32) -> int:
        if len(units) == 0:
            return 0
        width, room = state.units.reach.shape[1], len(state.partition.loss)
        pool = pool_of(max(64, 8 * k), width, unused, room, seed_of(turn, region))
        share = -(-pools * len(units) // total)
        return rebuild(
            state.units,
            problem.costs,
            problem.guards,
            state.partition,
            nearest,
            units,
            region,
            share,
            ENDS if is_small(problem) else NEVER,
            pool,
            state.scratch(),
        )

    return in_regions(state, turn, work, state.single)


def anneal_units(state: State, nearest: Int32, turn: int, sweeps: int, heat: tuple[float, float]) -> int:
    """Anneal all units ``sweeps`` times; how many moves and swaps were made."""
    from indistinct.kernels.annealing import anneal

    problem = state.problem

    def work(region: int, units: Int32, _: Int32) -> int:
        if len(units) == 0:
            return 0
        return anneal(
            state.units,
            problem.costs,
            problem.guards,
            state.partition,
            nearest,
            units,
            region,
            sweeps * len(units),
            np.array(heat),
            np.array([seed_of(turn, region)], np.uint64),
            state.scratch(),
        )

    return in_regions(state, turn, work, state.single)


def split_classes(state: State, turn: int) -> int:
    """Split every class that has slack; how many splits."""
    from indistinct.kernels.splitting import line_of, split

    problem, partition = state.problem, state.partition

    def work(region: int, _: Int32, unused: Int32) -> int:
        classes = np.flatnonzero((partition.state[:, REGION] == region) & (partition.state[:, HEAD] >= 0))
        most = int(partition.mass[classes, 2].max(initial=0))
        spare = np.concatenate([[len(unused)], unused]).astype(np.int32)
        line = line_of(most, partition.box.shape[1], len(partition.loss))
        return split(
            state.units,
            problem.costs,
            problem.guards,
            partition,
            classes.astype(np.int32),
            spare,
            line,
            state.scratch(),
        )

    return in_regions(state, turn, work, state.single)
