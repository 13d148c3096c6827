"""Near tuples, from sorted orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.local.state import places
from indistinct.algorithms.local.threads import in_parallel
from indistinct.kernels.partition import HEAD

if TYPE_CHECKING:
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
    from indistinct.kernels.neighbours import link

    problem = state.problem
    among = np.unique(state.tuple_of[state.single]).astype(np.int64)
    reach = problem.tuples.reach[among]
    nearest = np.full((len(among), NEAREST), -1, np.int32)
    distance = np.full((len(among), NEAREST), np.inf, np.float32)
    edges = np.linspace(0, len(among), CHUNKS + 1).astype(np.int64)
    tree = np.argsort(state.rank[among], kind="stable").astype(np.int32)

    def offer(order: Int32, before: Int32, span: int) -> None:
        def work(chunk: int) -> None:
            first, last = int(edges[chunk]), int(edges[chunk + 1])
            offered = np.empty(NEAREST * (NEAREST + 1) + 2 * SPAN, np.int32)
            link(reach, problem.costs, order, before, span, nearest, distance, first, last, offered)

        in_parallel(work, range(CHUNKS), len(among))

    for order in (tree, *_orders(problem, among)):
        offer(order, nearest, SPAN)
    if any(hierarchy.size > MANY and not hierarchy.is_fixed for hierarchy in problem.frequencies.quasi):
        for _ in range(DESCENTS):
            offer(tree, nearest.copy(), 0)
    return _for_units(state, among, nearest)


def _orders(problem: Problem, among: Int64) -> list[Int32]:
    """Sort with each attribute last, and with each second last before the one with most values."""
    from indistinct.kernels.neighbours import sort_by

    tuples = problem.frequencies.tuples[among]
    keys = np.ascontiguousarray(tuples.T)
    sizes = np.array([hierarchy.size for hierarchy in problem.frequencies.quasi], np.int64)
    width = len(sizes)
    widest = int(np.argmax(sizes))
    endings = [(a,) for a in range(width)] + [(a, widest) for a in range(width) if a != widest]
    sequences = [np.array([a for a in range(width) if a not in ending] + list(ending), np.int64) for ending in endings]

    def sort(sequence: Int64) -> Int32:
        order, other = np.arange(len(among), dtype=np.int32), np.empty(len(among), np.int32)
        return other if sort_by(keys, sequence, order, other, np.empty(int(sizes.max()) + 1, np.int32)) else order

    return in_parallel(sort, sequences, len(among))


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
