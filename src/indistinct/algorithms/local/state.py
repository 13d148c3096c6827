"""The state of the search: units, their classes, their near units; and how a state becomes an assignment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.algorithms.local.threads import in_parallel
from indistinct.kernels.guards import LEAST_SIZE, Guards, Scratch, scratch_of
from indistinct.kernels.partition import CHANGED, CLASS, HEAD, REGION, Partition, empty_partition
from indistinct.kernels.units import Units, units_of
from indistinct.tables.records import SUPPRESSED, Assignment

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem
    from indistinct.notices import Sentence

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

# a class that no search may change
NOBODY = -1
# units for one region: enough that few neighbours lie across a border; more of them where classes are large
PER_REGION = 5000
PER_LARGE = 12000
MOST_REGIONS = 16
# more single rows than these are moved about in bundles
MOST_UNITS = 4_000_000
GOLDEN = 0.6180339887498949


@dataclass(frozen=True)
class State:
    """Units in classes.

    ``cell`` int32[e]: the cell of each entry of ``units.values``; ``tuple_of`` int32[n]: the tuple of each unit.
    ``single`` bool[n]: units that are single rows (or, with persons, tuples) and may be moved.
    ``rank`` int32[u]: tuples in the order of the tree of cuts, near ones near each other. ``number`` int32[n]: what
    each unit was called at first (``regroup`` renumbers them).
    """

    problem: Problem
    units: Units
    cell: Int32
    tuple_of: Int32
    single: NDArray[np.bool_]
    rank: Int32
    number: Int32
    partition: Partition

    @property
    def class_of(self) -> Int32:
        """int32[n]: class of each unit."""
        return self.partition.link[:, CLASS]

    @property
    def used(self) -> Int64:
        """Numbers of the classes that have members."""
        return np.flatnonzero(self.partition.state[:, HEAD] >= 0)

    def loss(self) -> float:
        """LM of the state."""
        total = float((self.partition.mass[:, 0] * self.partition.loss).sum())
        return total / (self.problem.frequencies.total * len(self.problem.costs.spec))

    def scratch(self, guards: Guards | None = None) -> Scratch:
        """Work memory for one thread."""
        return scratch_of(guards or self.problem.guards, len(self.cell) + 1)


def state_of(
    problem: Problem, whole: NDArray[np.bool_], class_of_tuple: Int32, rank: Int32, lent: Int64, borrower: Int32
) -> State:
    """Put the tuples into classes; those that are not ``whole`` as single rows.

    ``lent`` int64[u]: rows of a whole tuple (of one cell) that go, as single rows, to the class ``borrower`` int32[u].
    With persons every tuple stays whole. A table of more rows than ``MOST_UNITS`` is put in as units of several rows.
    """
    from indistinct.kernels.partition import fill

    frequencies = problem.frequencies
    owner_of_cell, persons = frequencies.tuple_of, frequencies.persons is not None
    split = np.zeros(len(whole), np.bool_) if persons else ~whole
    grain = max(1, -(-int(problem.tuples.mass[split, 0].sum()) // MOST_UNITS))
    copies = np.where(split[owner_of_cell], -(-frequencies.rows // grain), 1 + lent[owner_of_cell])
    cell = np.repeat(np.arange(len(copies), dtype=np.int32), copies)
    owner = owner_of_cell[cell]
    copy = np.arange(len(cell)) - np.repeat(np.cumsum(copies) - copies, copies)
    given = (lent[owner] > 0) & (copy > 0)
    counts = np.where(
        split[owner],
        frequencies.rows[cell] // copies[cell] + (copy < frequencies.rows[cell] % copies[cell]),
        np.where(given, 1, frequencies.rows[cell] - lent[owner]),
    )
    begins = split[owner] | given
    begins[1:] |= owner[1:] != owner[:-1]
    begins[:1] = True
    first = np.flatnonzero(begins)
    tuple_of, given = owner[first], given[first]
    parted = split[tuple_of] | (lent[tuple_of] > 0)
    mass = np.where(parted[:, None], counts[first][:, None], problem.tuples.mass[tuple_of])
    units = units_of(
        problem.tuples.reach[tuple_of],
        np.ascontiguousarray(mass),
        np.append(first, len(cell)),
        problem.tuples.values[cell],
        counts,
        # with persons units are tuples
        *((problem.tuples.begin.copy(), problem.tuples.person.copy()) if persons else ()),
    )
    classes = int(class_of_tuple.max(initial=-1)) + 1
    room = max(classes, int(mass[:, 1].sum()) // int(problem.guards.limits[LEAST_SIZE])) + 2 * MOST_REGIONS
    partition = empty_partition(len(tuple_of), min(room, len(tuple_of) + 1), units.reach.shape[1], domains_of(problem))
    single = np.ones(len(tuple_of), np.bool_) if persons else split[tuple_of] | given
    fill(units, problem.costs, partition, np.where(given, borrower[tuple_of], class_of_tuple[tuple_of]))
    return State(problem, units, cell, tuple_of, single, rank, np.arange(len(single), dtype=np.int32), partition)


def domains_of(problem: Problem) -> list[int] | None:
    """Sizes of the sensitive domains by which classes are counted; None where persons must be counted as well."""
    if len(problem.tuples.person):
        return None
    return [hierarchy.size for hierarchy in problem.frequencies.sensitive]


def assignment_of(state: State, suppressed: NDArray[np.bool_], notes: tuple[Sentence, ...] = ()) -> Assignment:
    """Write a state as an assignment: classes numbered by their first cell; ``suppressed`` bool[g] classes dropped."""
    classes = len(state.partition.loss)
    entry_class = np.repeat(state.class_of, np.diff(state.units.start))
    key = state.cell * np.int64(classes) + entry_class
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    count = np.add.reduceat(state.units.counts[order], first)
    cell, class_of = state.cell[order[first]], entry_class[order[first]]
    gone = suppressed[class_of]
    met, place, inverse = np.unique(class_of[~gone], return_index=True, return_inverse=True)
    rank = np.empty(len(met), np.int32)
    rank[np.argsort(place, kind="stable")] = np.arange(len(met), dtype=np.int32)
    numbers = np.full(len(cell), SUPPRESSED, np.int32)
    numbers[~gone] = rank[inverse.reshape(-1)]
    return Assignment(cell, count, numbers, len(met), None, notes)


def in_regions(state: State, turn: int, work: Callable[[int, Int32, Int32], int], todo: NDArray[np.bool_]) -> int:
    """Let ``work(region, units, unused classes)`` loose on parts of the table at once; the sum of its results.

    Classes are split into regions along the tree of cuts, by the mean place of their members, with other borders
    in each ``turn``; ``todo`` bool[n] are the units to look at. The number of regions depends on the table alone.
    """
    partition = state.partition
    used = partition.state[:, HEAD] >= 0
    movable = used.copy()
    movable[state.class_of[~state.single]] = False
    k, units = int(state.problem.guards.limits[LEAST_SIZE]), int(state.single.sum())
    large = units > 3 * k * max(int(movable.sum()), 1)
    fitting = max(1, units // (PER_LARGE if large else PER_REGION))
    regions = min(MOST_REGIONS, 1 << (fitting.bit_length() - 1))  # a power of two: even work for two cores
    classes = np.flatnonzero(movable)
    ordered = classes[np.argsort(places(state)[classes], kind="stable")]
    upto = np.cumsum(partition.mass[ordered, 2])
    partition.state[:, REGION] = NOBODY
    total = int(upto[-1]) if len(upto) else 1
    shift = int(total / regions * (turn * GOLDEN % 1.0))
    partition.state[ordered, REGION] = (upto - 1 + shift) * regions // total % regions
    unused = np.flatnonzero(~used).astype(np.int32)
    shares = np.array_split(unused, regions)
    for region, share in enumerate(shares):
        partition.state[share, REGION] = region
    wanted = np.where(todo, partition.state[state.class_of, REGION], NOBODY)
    order = np.argsort(wanted, kind="stable").astype(np.int32)
    edges = np.searchsorted(wanted[order], np.arange(regions + 1))
    pieces = [(r, order[edges[r] : edges[r + 1]], shares[r]) for r in range(regions)]
    return sum(in_parallel(lambda piece: work(*piece), pieces, int(edges[-1] - edges[0])))


def places(state: State) -> Int64:
    """int64[g]: mean place of the members of each class along the tree of cuts."""
    total = np.bincount(state.class_of, weights=state.rank[state.tuple_of], minlength=len(state.partition.loss))
    return total.astype(np.int64) // np.maximum(state.partition.mass[:, 2], 1)


def changed_units(state: State) -> NDArray[np.bool_]:
    """bool[n]: units in classes that changed since this was last asked."""
    changed = state.partition.state[state.class_of, CHANGED] > 0
    state.partition.state[:, CHANGED] = 0
    both: NDArray[np.bool_] = changed & state.single
    return both


def regroup(state: State, nearest: Int32) -> None:
    """Renumber the units, in place, so that members of a class, and near classes, lie next to each other in memory.

    Passes over all members are bound by memory: this makes them up to twice as fast.
    """
    class_of = np.ascontiguousarray(state.class_of)
    order = np.lexsort((class_of, places(state)[class_of]))
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    units = state.units
    lists: tuple[tuple[Int64, tuple[NDArray[Any], ...]], ...] = (
        (units.start, (units.values, units.counts, state.cell)),
        (units.begin, (units.person,)),
    )
    of_units: tuple[NDArray[Any], ...] = (
        units.reach,
        units.mass,
        units.kin,
        state.tuple_of,
        state.single,
        state.number,
        nearest,
    )
    for edges, arrays in lists:
        lengths = np.diff(edges)[order]
        start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entries = np.repeat(edges[order] - start[:-1], lengths) + np.arange(start[-1])
        for array in arrays:
            array[:] = array[entries]
        edges[:] = start
    for array in of_units:
        array[:] = array[order]
    np.copyto(nearest, place[nearest], where=nearest >= 0)
    refill(state, class_of[order])


def refill(state: State, class_of: Int32) -> None:
    """Put every unit into another class."""
    from indistinct.kernels.partition import fill

    partition = state.partition
    partition.link[:] = -1
    partition.state[:, HEAD] = -1
    partition.mass[:] = 0
    partition.counts[:] = 0
    fill(state.units, state.problem.costs, partition, class_of)


def snapshot(state: State) -> Int32:
    """int32[n]: class of each unit, by its first number, so that ``restore`` finds it after renumbering."""
    classes = np.empty(len(state.number), np.int32)
    classes[state.number] = state.class_of
    return classes


def restore(state: State, classes: Int32) -> None:
    """Go back to a snapshot."""
    refill(state, classes[state.number])
