"""Which passes run, in which order: for small classes and for large ones, by quality."""

from __future__ import annotations

from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.local.guards import absorbing
from indistinct.algorithms.local.merging import join_alike, merge_violators, violating_rows
from indistinct.algorithms.local.near import near_units, next_units, redrawn_units
from indistinct.algorithms.local.problem import is_small
from indistinct.algorithms.local.search import anneal_units, move_units, rebuild_pools, split_classes
from indistinct.algorithms.local.start import cut_classes, satisfied_alone, transfers
from indistinct.algorithms.local.state import changed_units, regroup, restore, snapshot, state_of
from indistinct.kernels.criteria import ALPHA, T_HIERARCHICAL, T_ORDERED
from indistinct.kernels.guards import KIND, LEAST_SIZE
from indistinct.kernels.partition import MEMBERS
from indistinct.notices import Sentence
from indistinct.policy.recoding import option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem
    from indistinct.algorithms.local.state import State
    from indistinct.algorithms.rounds import Regions
    from indistinct.kernels.guards import Guards
    from indistinct.policy import Policy
    from indistinct.tables.count import Progress

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

# pools for each class, in so many rounds with other borders between the regions; more where criteria bound shares,
# because many fail
POOLS = 16
BOUNDED_POOLS = 30
LEAST_POOLS = 2000
ROUNDS = 4
# passes of moves and swaps at the end of each search
POLISHED = 3
# in tables of more than DENSE rows the pools for each class fall with this power of the rows: near ones are nearer
DENSE = 50_000
THINNING = 0.5
# classes of more than so many units get fewer tries each: the work for a try grows with its square
WIDE = 20.0
# sweeps of annealing of large classes, in so many stages, and its first and last temperature (loss of rows times
# attributes); the same of small classes between rebuilds, in one stage
SWEEPS = 150
STAGES = 6
HOT = 0.5, 0.1
SHAKES = 60
COOL = 0.3, 0.05
# small tables are searched again, with more and hotter annealing, until so many rounds gain nothing; at most so often,
# and no more rounds than EFFORT rows allow
PATIENCE = 7
MOST_TURNS = 20
EFFORT = 3000
SMALL_SHAKES = 400
SMALL_HEAT = 2.0, 0.02
SMALL_POOLS = 400
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
LOSSY = 4.0


def solve(
    problem: Problem, policy: Policy, progress: Progress, simple: Regions | None = None
) -> tuple[State, tuple[Sentence, ...]]:
    """Find classes of little loss that satisfy the guards where that can be; and sentences about the search.

    ``simple`` is a partition that satisfies all models, to begin with beside others.
    """
    quality = option(policy.recoding, "quality")
    begun = monotonic()
    starts = _starts(problem, progress, searched=quality != "fast")
    if simple is not None and int(simple.count.sum()) == problem.frequencies.total:
        starts.append(_of_regions(problem, simple))
    if quality == "fast" or int(starts[0].single.sum()) < 2:
        state = min(starts, key=lambda start: start.loss())
        if int(state.single.sum()) > 1:
            loss = state.partition.loss[state.class_of]
            move_units(state, next_units(state), 0, state.single & (loss > LOSSY * loss[state.single].mean()))
        return state, ()
    state, nearest = starts[0], near_units(starts[0])
    turns = _search_first(state, nearest, progress)
    for other in starts[1:]:  # worth a search of its own only where it already loses less
        if other.loss() < state.loss():
            near = near_units(other)
            _search_first(other, near, progress)
            if other.loss() < state.loss():
                state, nearest = other, near
    del starts
    if quality == "balanced":
        return state, ()
    budget = option(policy.recoding, "time_budget") or BUDGET
    curve = [(0.0, 1.0), (monotonic() - begun, state.loss())]
    while 2 * curve[-1][0] - curve[-2][0] < budget:  # there is time for one more round like the last
        progress("search", int(1000 * curve[-1][0]), int(1000 * budget))
        _search(state, nearest, progress, turns + len(curve) - 2)
        curve.append((monotonic() - begun, state.loss()))
    points = tuple(
        Sentence("{loss:.4f} after {seconds:.1f} s", loss=loss, seconds=seconds) for seconds, loss in curve[1:]
    )
    return state, (Sentence("the loss fell to {points}", points=points),)


def _starts(problem: Problem, progress: Progress, *, searched: bool = True) -> list[State]:
    """Partition by cuts that hold all criteria; where these bound shares, merge classes as well, and that first.

    Where bounds are tight no good cut holds them, and merging leaves more and smaller classes, from which a search gets
    further; where they are loose, cuts may lose less.
    """
    whole = satisfied_alone(problem, searched=searched)
    progress("search", 0, 0)
    cut = _partition(problem, problem.guards, whole)
    merge_violators(cut, PRICE, progress)
    if not np.isin(problem.guards.spec[:, KIND], SHARES).any():
        return [cut]
    split_classes(cut, 0)
    return [_merged(problem, whole, progress), cut]


def _merged(problem: Problem, whole: NDArray[np.bool_], progress: Progress) -> State:
    """Cut by what stays satisfied, merge classes by what violates the rest, split them where they have slack."""
    first = absorbing(problem.guards)
    progress("search", 0, 0)
    state = _partition(problem, first, whole)
    if violating_rows(state) > problem.frequencies.total / 2:
        limits = first.limits.copy()
        light = int(problem.tuples.mass[~whole, 1].sum())
        limits[LEAST_SIZE] = max(limits[LEAST_SIZE], LEAST_START, light // MOST_START)
        progress("search", 0, 0)
        state = _partition(problem, first._replace(limits=limits), whole)
    kinds = problem.guards.spec[:, KIND]
    merge_violators(state, ORDERED_PRICE if (kinds == T_ORDERED).any() else PRICE, progress)
    progress("search", 0, 0)
    split_classes(state, 0)
    return state


def _of_regions(problem: Problem, regions: Regions) -> State:
    """Start from parts of whole tuples, in the order of their first cells."""
    owner = problem.frequencies.tuple_of
    class_of = np.empty(len(problem.block), np.int32)
    class_of[owner[regions.cell]] = regions.part
    rank = np.empty(len(class_of), np.int32)
    rank[np.argsort(class_of, kind="stable")] = np.arange(len(class_of), dtype=np.int32)
    nobody = np.zeros(len(class_of), np.bool_)
    return state_of(problem, nobody, class_of, rank, *transfers(problem, class_of, nobody))


def _partition(problem: Problem, guards: Guards, whole: NDArray[np.bool_]) -> State:
    class_of, rank = cut_classes(problem, guards, np.flatnonzero(~whole))
    alone = np.flatnonzero(whole)
    class_of[alone] = np.arange(len(alone), dtype=np.int32) + class_of.max(initial=-1) + 1
    return state_of(problem, whole, class_of, rank, *transfers(problem, class_of, whole))


def _search_first(state: State, nearest: Int32, progress: Progress) -> int:
    """Search once, and a small table again until nothing is gained for a while; the number of rounds."""
    _search(state, nearest, progress, 0)
    turn, gained = 1, 0
    most = min(MOST_TURNS, 1 + EFFORT // state.problem.frequencies.total)
    while turn < most and turn - gained <= PATIENCE:
        before = state.loss()
        _search(state, nearest, progress, turn)
        turn += 1
        if state.loss() < before:
            gained = turn
    return turn


def _search(state: State, nearest: Int32, progress: Progress, turn: int) -> None:
    """One round of the search that suits the classes; never loses more than before.

    Small classes are rebuilt, large ones annealed. Small ones are annealed as well in later rounds, and where
    criteria bound shares: a pool of a few classes can meet them in few ways.
    """
    guards = state.problem.guards
    bounded = bool(np.isin(guards.spec[:, KIND], SHARES).any())
    if turn and is_small(state.problem):
        with _restored(state):
            _shake(state, nearest, turn, SMALL_SHAKES, SMALL_HEAT)
            if bounded:
                split_classes(state, turn)
            _rebuild(state, nearest, progress, turn, POOLS)
    elif _members(state).mean() > LARGE * guards.limits[LEAST_SIZE]:
        with _restored(state):
            _anneal(state, nearest, progress, turn)
    elif bounded:
        _rebuild(state, nearest, progress, turn, BOUNDED_POOLS)
        with _restored(state):
            _anneal(state, nearest, progress, turn)
    elif turn == 0:
        _rebuild(state, nearest, progress, turn, POOLS)
    else:
        with _restored(state):
            _shake(state, nearest, turn, SHAKES, COOL)
            _rebuild(state, nearest, progress, turn, POOLS)


@contextmanager
def _restored(state: State) -> Iterator[None]:
    """Go back to the state before the block if it loses more after it."""
    loss, classes = state.loss(), snapshot(state)
    yield
    if state.loss() > loss:
        restore(state, classes)


def _rebuild(state: State, nearest: Int32, progress: Progress, turn: int, tries: float) -> None:
    """Rebuild ``tries`` pools for each class between moves and swaps, near units drawn anew on the way."""
    mean, units = _members(state).mean(), int(state.single.sum())
    classes = units / mean * min(1.0, (DENSE / units) ** THINNING)
    least = SMALL_POOLS if is_small(state.problem) else LEAST_POOLS * min(1.0, (5.0 / mean) ** 2)
    pools = int(max(tries * classes * min(1.0, WIDE / mean), least))
    regroup(state, nearest)
    for stage in range(ROUNDS):
        progress("search", stage, ROUNDS + POLISHED)
        if units <= DENSE:  # in larger tables this costs a fourth of the time, and gains 0.1 to 1 % of the loss
            if 2 * stage == ROUNDS:
                np.copyto(nearest, redrawn_units(state, turn))
            move_units(state, nearest, turn * ROUNDS + stage, changed_units(state) if stage else state.single)
        rebuild_pools(state, nearest, turn * ROUNDS + stage, pools // ROUNDS)
    _polish(state, nearest, progress, turn)


def _anneal(state: State, nearest: Int32, progress: Progress, turn: int) -> None:
    """Move and swap, anneal while merging what is published alike and splitting what gets slack, move and swap."""
    regroup(state, nearest)
    if turn == 0:
        move_units(state, nearest, turn, state.single)
        split_classes(state, turn)
    sweeps = SWEEPS
    if state.partition.counts.shape[1] == 0 and len(state.problem.guards.spec):  # every test counts all members
        sweeps = max(STAGES, int(SWEEPS * min(1.0, WIDE / _members(state).mean())))
    for stage in range(STAGES):
        progress("search", stage, STAGES + POLISHED)
        _join(state, turn)
        _shake(state, nearest, turn * STAGES + stage, sweeps // STAGES, _cooled(HOT, stage))
        split_classes(state, stage)
    regroup(state, nearest)
    _polish(state, nearest, progress, turn)


def _join(state: State, turn: int) -> None:
    """Merge classes published alike; in small tables every other round, as what is merged seldom divides again."""
    if turn % 2 or not is_small(state.problem):
        join_alike(state)


def _shake(state: State, nearest: Int32, turn: int, sweeps: int, heat: tuple[float, float]) -> None:
    """Anneal once, from temperature to temperature."""
    regroup(state, nearest)
    anneal_units(state, nearest, turn, sweeps, heat)


def _polish(state: State, nearest: Int32, progress: Progress, turn: int) -> None:
    """Move and swap all units, again when classes published alike are one, then those of classes that changed.

    What has slack is split on the way, where other criteria than size make classes large.
    """
    for last in range(POLISHED):
        progress("search", ROUNDS + last, ROUNDS + POLISHED)
        if last == 1:
            _join(state, turn)
        move_units(state, nearest, POLISHED * turn + last, changed_units(state) if last > 1 else state.single)
        if len(state.problem.guards.spec):
            split_classes(state, turn)


def _members(state: State) -> Int64:
    """int64[.]: number of units of each class that may change."""
    members: Int64 = state.partition.mass[np.unique(state.class_of[state.single]), MEMBERS]
    return members


def _cooled(heat: tuple[float, float], stage: int) -> tuple[float, float]:
    """Temperatures at the ends of one of ``STAGES`` stages of a geometric cooling."""
    hot, cold = heat
    return hot * (cold / hot) ** (stage / STAGES), hot * (cold / hot) ** ((stage + 1) / STAGES)
