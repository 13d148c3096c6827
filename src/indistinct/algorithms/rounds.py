"""Cutting parts of a table while every part holds all models: what Mondrian and SABRE share.

All open parts are cut at once, in rounds, and the models judge all the new parts of a round together. A cut is kept
when all of its parts satisfy every model, exactly; otherwise the next cut of that part is tried in the next round. So
the partition is the same as that of the recursion, and no compiled form of a model is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels.guards import LEAST_SIZE
from indistinct.models import evaluate
from indistinct.tables.classes import classes_of
from indistinct.tables.records import SUPPRESSED, Assignment

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem
    from indistinct.notices import Sentence
    from indistinct.tables.count import Progress

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Cuts = Callable[["Regions", Int64], tuple["Regions", Int64, Bools]]


@dataclass(frozen=True)
class Regions:
    """Rows in parts: ``count[i]`` >= 1 rows of ``cell[i]`` are in part ``part[i]``.

    All int64[e], sorted by part and, within a part, in an order that ``Cuts`` keep. Regions are 0..``number`` - 1.
    """

    cell: Int64
    count: Int64
    part: Int64
    number: int

    @property
    def rows(self) -> Int64:
        """int64[number]: rows of each part."""
        return np.bincount(self.part, weights=self.count, minlength=self.number).astype(np.int64)

    @property
    def first(self) -> Int64:
        """int64[number]: first entry of each part."""
        return np.searchsorted(self.part, np.arange(self.number))

    def of(self, chosen: Bools) -> Regions:
        """Keep the ``chosen`` parts (bool[number]), renumbered."""
        divided = chosen[self.part]
        number = (np.cumsum(chosen) - 1)[self.part[divided]]
        return Regions(self.cell[divided], self.count[divided], number, int(chosen.sum()))


def blocks_as_regions(problem: Problem, hopeless: Bools) -> Regions:
    """Start from the blocks that may never be mixed; those that fail as a whole are left out."""
    block = problem.block[problem.frequencies.tuple_of]
    order = np.argsort(block, kind="stable")
    whole = Regions(order, problem.frequencies.rows[order], block[order], len(hopeless))
    return whole.of(~hopeless)


def split_while(problem: Problem, regions: Regions, cuts: Cuts, progress: Progress) -> Regions:
    """Cut parts while every new part satisfies every model; the parts that are left.

    ``cuts(regions, turn)`` proposes for each part its cut number ``turn`` (int64[number]): it returns the same parts,
    with entries that a cut divides as two, the new part of each entry (int64[e], any numbers >= 0, those of different
    parts different), and which parts have no such cut any more (bool[number]).

    Raises whatever ``progress`` raises.
    """
    total, done = int(regions.count.sum()), [regions.of(np.zeros(regions.number, np.bool_))]
    least = 2 * int(problem.guards.limits[LEAST_SIZE])
    turn = np.zeros(regions.number, np.int64)
    while regions.number:
        progress("partition", total - int(regions.count.sum()), total)
        small = regions.rows < least
        if small.any():  # two parts of at least k rows do not fit
            done.append(regions.of(small))
            regions, turn = regions.of(~small), turn[~small]
            continue
        regions, child, finished = cuts(regions, turn)
        names, child = np.unique(child, return_inverse=True)
        child = child.reshape(-1)
        owner = np.zeros(len(names), np.int64)
        owner[child] = regions.part
        refused = finished.copy()
        refused[owner[~_satisfied(problem, regions, child, len(names), finished)]] = True
        divided = refused & ~finished
        done.append(regions.of(finished))
        # the children of accepted cuts, and the parts whose next cut is tried
        named = np.where(divided[regions.part], len(names) + regions.part, child)
        order = np.flatnonzero(~finished[regions.part])
        order = order[np.argsort(named[order], kind="stable")]
        labels, number = np.unique(named[order], return_inverse=True)
        old = labels - len(names)
        next_turn = np.where(old >= 0, turn[np.maximum(old, 0)] + 1, 0)
        regions, turn = Regions(regions.cell[order], regions.count[order], number.reshape(-1), len(labels)), next_turn
    offsets = np.cumsum([0, *(piece.number for piece in done)])
    return Regions(
        np.concatenate([piece.cell for piece in done]),
        np.concatenate([piece.count for piece in done]),
        np.concatenate([piece.part + offset for piece, offset in zip(done, offsets, strict=False)]),
        int(offsets[-1]),
    )


def _satisfied(problem: Problem, regions: Regions, child: Int64, number: int, finished: Bools) -> Bools:
    """bool[number]: which new parts satisfy every model, those of finished parts not looked at."""
    rows = np.bincount(child, weights=regions.count, minlength=number)
    verdict = rows >= int(problem.guards.limits[LEAST_SIZE])
    owner = np.zeros(number, np.int64)
    owner[child] = regions.part
    spoiled = finished.copy()
    spoiled[owner[~verdict]] = True
    looked = ~spoiled[regions.part]  # a part that has one child too small needs no more tests
    if not looked.any():
        return verdict
    divisible, name = np.unique(child[looked], return_inverse=True)
    assignment = Assignment(
        regions.cell[looked].astype(np.int32), regions.count[looked], name.reshape(-1).astype(np.int32), len(divisible)
    )
    classes = classes_of(problem.frequencies, assignment)
    for privacy in problem.privacy:
        verdict[divisible] &= evaluate(privacy, classes, problem.context).satisfied
    return verdict


def as_assignment(problem: Problem, regions: Regions, notes: tuple[Sentence, ...] = ()) -> Assignment:
    """Write parts as an assignment: classes numbered by their first cell; what is in no part is suppressed."""
    cells = len(problem.frequencies.rows)
    placed = np.zeros(cells, np.int64)
    np.add.at(placed, regions.cell, regions.count)
    gone = np.flatnonzero(placed < problem.frequencies.rows)
    key = regions.cell * np.int64(max(regions.number, 1)) + regions.part
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    count = np.add.reduceat(regions.count[order], starts) if len(starts) else regions.count
    cell, part = regions.cell[order][starts], regions.part[order][starts]
    _, met = np.unique(part, return_index=True)
    rank = np.empty(regions.number, np.int64)
    rank[part[np.sort(met)]] = np.arange(regions.number)
    return Assignment(
        np.concatenate([cell, gone]).astype(np.int32),
        np.concatenate([count, problem.frequencies.rows[gone] - placed[gone]]),
        np.concatenate([rank[part], np.full(len(gone), SUPPRESSED)]).astype(np.int32),
        regions.number,
        None,
        notes,
    )
