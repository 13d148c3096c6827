"""Near tuples, from sorted orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.algorithms.local.state import places
from indistinct.algorithms.local.threads import in_parallel
from indistinct.kernels.partition import HEAD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem
    from indistinct.algorithms.local.state import State

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

NEAREST = 12
SPAN = 3
CHUNKS = 4
# with attributes of more than MANY values sorted orders miss near tuples: then neighbours of neighbours are asked
MANY = 128
DESCENTS = 2
# random orders from which near units are drawn anew, and what a column does in each (else nothing)
REDRAWN = 12
BY_VALUE, BY_GROUP = 0, 1


def next_units(state: State) -> Int32:
    """int32[n, 2]: for each unit, one of the class before its own along the tree of cuts and one of the class after."""
    partition = state.partition
    classes = np.unique(state.class_of[state.single])
    ordered = classes[np.argsort(places(state)[classes], kind="stable")]
    head = partition.state[ordered, HEAD]
    near = np.full((len(partition.loss), 2), -1, np.int32)
    near[ordered[1:], 0] = head[:-1]
    near[ordered[:-1], 1] = head[1:]
    return near[state.class_of]


def near_units(state: State) -> Int32:
    """int32[n, m]: near units of each single unit, the nearest first (-1: none).

    The first is the next unit of the same tuple.
    """
    among = np.unique(state.tuple_of[state.single]).astype(np.int64)
    tree = np.argsort(state.rank[among], kind="stable").astype(np.int32)
    wide = any(hierarchy.size > MANY and not hierarchy.is_fixed for hierarchy in state.problem.frequencies.quasi)
    return _linked(state, among, (tree, *_orders(state.problem, among)), DESCENTS if wide else 0)


def redrawn_units(state: State, turn: int) -> Int32:
    """Near units as ``near_units`` gives them, from random orders, other ones in each ``turn``.

    Where columns are trees, most near units are a choice among many that are equally near: another choice leads on.
    """
    among = np.unique(state.tuple_of[state.single]).astype(np.int64)
    return _linked(state, among, _random_orders(state.problem, among, turn), 0)


def _linked(state: State, among: Int64, orders: Sequence[Int32], descents: int) -> Int32:
    """Near units by the tuples on either side in some orders, then so often by neighbours of neighbours."""
    from indistinct.kernels.neighbours import link

    problem = state.problem
    reach = problem.tuples.reach[among]
    nearest = np.full((len(among), NEAREST), -1, np.int32)
    distance = np.full((len(among), NEAREST), np.inf, np.float32)
    edges = np.linspace(0, len(among), CHUNKS + 1).astype(np.int64)

    def offer(order: Int32, before: Int32, span: int) -> None:
        def work(chunk: int) -> None:
            first, last = int(edges[chunk]), int(edges[chunk + 1])
            offered = np.empty(NEAREST * (NEAREST + 1) + 2 * SPAN, np.int32)
            link(reach, problem.costs, order, before, span, nearest, distance, first, last, offered)

        in_parallel(work, range(CHUNKS), len(among))

    for order in orders:
        offer(order, nearest, SPAN)
    for _ in range(descents):
        offer(orders[0], nearest.copy(), 0)
    return _for_units(state, among, nearest)


def _orders(problem: Problem, among: Int64) -> list[Int32]:
    """Sort with each attribute last, and with each second last before the one with most values."""
    sizes = [hierarchy.size for hierarchy in problem.frequencies.quasi]
    width = len(sizes)
    widest = int(np.argmax(sizes))
    endings = [(a,) for a in range(width)] + [(a, widest) for a in range(width) if a != widest]
    sequences = [[a for a in range(width) if a not in ending] + list(ending) for ending in endings]
    keys = np.ascontiguousarray(problem.frequencies.tuples[among].T)
    anywhere = np.arange(len(among), dtype=np.int32)
    return in_parallel(lambda sequence: _sorted(keys, sequence, anywhere.copy()), sequences, len(among))


def _random_orders(problem: Problem, among: Int64, turn: int) -> list[Int32]:
    """Sort by the attributes in random order, each by its values, by its groups of values, or not at all."""
    quasi = problem.frequencies.quasi
    tuples = problem.frequencies.tuples[among]
    draw = np.random.default_rng(turn)
    orders = []
    for _ in range(REDRAWN):
        keys: list[NDArray[Any]] = []
        for a in draw.permutation(len(quasi)):
            how = int(draw.integers(0, 3))
            if how == BY_VALUE or not keys:
                keys.append(tuples[:, a])
            elif how == BY_GROUP:
                level = quasi[a].levels[1 if len(quasi[a].levels) > 2 else 0]  # one between both ends
                keys.append(draw.permutation(quasi[a].size)[level.node_of[tuples[:, a]]])
        anywhere = draw.permutation(len(among)).astype(np.int32)
        orders.append(_sorted(np.stack(keys).astype(np.int32), range(len(keys)), anywhere))
    return orders


def _sorted(keys: Int32, sequence: Sequence[int], order: Int32) -> Int32:
    """Sort the columns of ``keys`` by the rows of a sequence; ties stay as they are in ``order``, which is changed."""
    from indistinct.kernels.neighbours import sort_by

    other = np.empty(len(order), np.int32)
    places = np.empty(int(keys.max(initial=0)) + 2, np.int32)
    return other if sort_by(keys, np.array(sequence, np.int64), order, other, places) else order


def _for_units(state: State, among: Int64, nearest: Int32) -> Int32:
    """Translate near tuples to near units: copies of a tuple get different copies of its neighbours."""
    single = np.flatnonzero(state.single)
    order = single[np.lexsort((single, state.tuple_of[single]))]  # copies of a tuple follow each other
    place = np.searchsorted(among, state.tuple_of[order])
    first = np.searchsorted(place, np.arange(len(among)))
    copies = np.bincount(place, minlength=len(among))
    copy = np.arange(len(order)) - first[place]
    result = np.full((len(state.tuple_of), nearest.shape[1] + 1), -1, np.int32)
    result[order, 0] = np.where(copies[place] > 1, order[first[place] + (copy + 1) % copies[place]], -1)
    for column, near in enumerate(nearest.T, start=1):  # one after the other: all at once would not fit into memory
        tuples = near[place]
        result[order, column] = np.where(tuples >= 0, order[first[tuples] + copy % copies[tuples]], -1)
    return result
