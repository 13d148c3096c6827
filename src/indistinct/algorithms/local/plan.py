"""Which passes run, in which order: for small classes and for large ones, by quality."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.local.guards import absorbing
from indistinct.algorithms.local.merging import merge_violators, violating_rows
from indistinct.algorithms.local.near import near_units, next_units
from indistinct.algorithms.local.search import anneal_units, move_units, rebuild_pools, split_classes
from indistinct.algorithms.local.start import cut_classes, loans, satisfied_alone
from indistinct.algorithms.local.state import changed_units, regrouped, state_of
from indistinct.kernels.criteria import ALPHA, T_HIERARCHICAL, T_ORDERED
from indistinct.kernels.guards import KIND, LEAST_SIZE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem
    from indistinct.algorithms.local.state import State
    from indistinct.kernels.guards import Guards
    from indistinct.policy import Policy
    from indistinct.tables.count import Progress

    Int32 = NDArray[np.int32]

# pools for each class, in so many rounds with other borders between the regions
POOLS = 13
LEAST_POOLS = 2000
ROUNDS = 4
# sweeps of annealing, in so many rounds, and the temperatures at its ends (loss of rows times attributes)
SWEEPS = 180
STAGES = 6
HEAT = 0.5, 0.1
# classes are large when they have more than so many times k rows on average
LARGE = 3
# criteria that bound shares on both sides or all of them at once
SHARES = ALPHA, T_ORDERED, T_HIERARCHICAL
# loss (one attribute of one row hidden) that merging pays for the excess of one row that goes; ordered distances are
# smaller numbers
PRICE = 20.0
ORDERED_PRICE = 80.0
# merging starts from classes of at least so many rows, and from at most so many classes
LEAST_START = 8
MOST_START = 4000
BUDGET = 10.0
# fast quality moves only units of classes that lose so many times the mean
LOSSY = 2.5


def solve(problem: Problem, policy: Policy, progress: Progress) -> tuple[State, tuple[str, ...]]:
    """Find classes of little loss that satisfy the guards where that can be; and sentences about the search."""
    quality = policy.recoding.quality
    begun = monotonic()
    state = _start(problem, quality)
    if int(state.single.sum()) < 2:
        return state, ()
    if quality == "fast":
        loss = state.parts.loss[state.class_of]
        move_units(state, next_units(state), 0, state.single & (loss > LOSSY * loss[state.single].mean()))
        return state, ()
    state, nearest = _searched(state, near_units(state), progress, 0)
    if quality == "balanced":
        return state, ()
    budget = policy.recoding.time_budget or BUDGET
    curve = [(monotonic() - begun, state.loss())]
    turn = 1
    while (spent := monotonic() - begun) < budget:
        progress("search", int(1000 * spent), int(1000 * budget))
        state, nearest = _searched(state, nearest, progress, turn)
        curve.append((monotonic() - begun, state.loss()))
        turn += 1
    points = ", ".join(f"{loss:.4f} after {seconds:.1f} s" for seconds, loss in curve)
    return state, (f"the loss fell to {points}",)


def _start(problem: Problem, quality: str) -> State:
    """Partition by cuts that hold all criteria; where these bound shares, no good cut does, and classes are merged.

    Where bounds are loose, cuts may lose less than merging; but merging leaves more and smaller classes, from which a
    search gets further.
    """
    whole = satisfied_alone(problem)
    bounded = np.isin(problem.guards.spec[:, KIND], SHARES)
    merged = _merged(problem, whole) if bounded.any() else None
    if merged is not None and quality != "fast":
        return merged
    cut = _partition(problem, problem.guards, whole)
    merge_violators(cut, PRICE)
    if merged is None:
        return cut
    split_classes(cut, 0)
    return min(cut, merged, key=lambda state: state.loss())


def _merged(problem: Problem, whole: NDArray[np.bool_]) -> State:
    """Cut by what stays satisfied, merge classes by what violates the rest, split them where they have slack."""
    first = absorbing(problem.guards)
    state = _partition(problem, first, whole)
    if violating_rows(state) > problem.frequencies.total / 2:
        limits = first.limits.copy()
        light = int(problem.tuples.mass[~whole, 1].sum())
        limits[LEAST_SIZE] = max(limits[LEAST_SIZE], LEAST_START, light // MOST_START)
        state = _partition(problem, first._replace(limits=limits), whole)
    kinds = problem.guards.spec[:, KIND]
    merge_violators(state, ORDERED_PRICE if (kinds == T_ORDERED).any() else PRICE)
    split_classes(state, 0)
    return state


def _partition(problem: Problem, guards: Guards, whole: NDArray[np.bool_]) -> State:
    class_of, rank = cut_classes(problem, guards, np.flatnonzero(~whole))
    alone = np.flatnonzero(whole)
    class_of[alone] = np.arange(len(alone), dtype=np.int32) + class_of.max(initial=-1) + 1
    return state_of(problem, whole, class_of, rank, *loans(problem, class_of, whole))


def _searched(state: State, nearest: Int32, progress: Progress, turn: int) -> tuple[State, Int32]:
    """One round of the search that suits the classes: small ones are rebuilt, large ones annealed.

    Small ones are annealed too where criteria bound shares: a pool of few classes cannot meet them in many ways.
    """
    guards = state.problem.guards
    sizes = state.parts.mass[np.unique(state.class_of[state.single]), 1]
    if sizes.mean() > LARGE * guards.limits[LEAST_SIZE]:
        return _annealed(state, nearest, progress, turn, SWEEPS)
    state, nearest = _rebuilt(state, nearest, progress, turn)
    if np.isin(guards.spec[:, KIND], SHARES).any():
        return _annealed(state, nearest, progress, turn, SWEEPS)
    return state, nearest


def _rebuilt(state: State, nearest: Int32, progress: Progress, turn: int) -> tuple[State, Int32]:
    """Rebuild a fixed number of pools, then move and swap twice."""
    pools = max(LEAST_POOLS, POOLS * len(np.unique(state.class_of[state.single])))
    state, nearest = regrouped(state, nearest)
    for stage in range(ROUNDS):
        progress("search", stage, ROUNDS + 2)
        rebuild_pools(state, nearest, turn * ROUNDS + stage, pools // ROUNDS)
    _polish(state, nearest, progress, turn)
    return state, nearest


def _annealed(state: State, nearest: Int32, progress: Progress, turn: int, sweeps: int) -> tuple[State, Int32]:
    """Move and swap, anneal while splitting what gets slack, then move and swap twice; undone if it loses more."""
    if turn == 0:
        move_units(state, nearest, turn, state.single)
        split_classes(state, turn)
    near = nearest
    before, (hot, cold) = state, HEAT
    for stage in range(STAGES):
        progress("search", stage, STAGES + 2)
        state, nearest = regrouped(state, nearest)
        ends = (hot * (cold / hot) ** (stage / STAGES), hot * (cold / hot) ** ((stage + 1) / STAGES))
        anneal_units(state, nearest, turn * STAGES + stage, sweeps // STAGES, ends)
        split_classes(state, stage)
    state, nearest = regrouped(state, nearest)
    _polish(state, nearest, progress, turn)
    split_classes(state, turn)
    return (state, nearest) if state.loss() <= before.loss() else (before, near)


def _polish(state: State, nearest: Int32, progress: Progress, turn: int) -> None:
    for last in range(2):
        progress("search", ROUNDS + last, ROUNDS + 2)
        todo = changed_units(state) if last else state.single
        move_units(state, nearest, 2 * turn + last, todo)
