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
    Cuts = Callable[["Parts", Int64], tuple["Parts", Int64, Bools]]


@dataclass(frozen=True)
class Parts:
    """Rows in parts: ``count[i]`` >= 1 rows of ``cell[i]`` are in part ``part[i]``.

    All int64[e], sorted by part and, within a part, in an order that ``Cuts`` keep. Parts are 0..``number`` - 1.
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

    def of(self, chosen: Bools) -> Parts:
        """Keep the ``chosen`` parts (bool[number]), renumbered."""
        kept = chosen[self.part]
        number = (np.cumsum(chosen) - 1)[self.part[kept]]
        return Parts(self.cell[kept], self.count[kept], number, int(chosen.sum()))


def blocks_as_parts(problem: Problem, hopeless: Bools) -> Parts:
    """Start from the blocks that may never be mixed; those that fail as a whole are left out."""
    block = problem.block[problem.frequencies.tuple_of]
    order = np.argsort(block, kind="stable")
    whole = Parts(order, problem.frequencies.rows[order], block[order], len(hopeless))
    return whole.of(~hopeless)


def split_while(problem: Problem, parts: Parts, cuts: Cuts, progress: Progress) -> Parts:
    """Cut parts while every new part satisfies every model; the parts that are left.

    ``cuts(parts, turn)`` proposes for each part its cut number ``turn`` (int64[number]): it returns the same parts,
    with entries that a cut divides as two, the new part of each entry (int64[e], any numbers >= 0, those of different
    parts different), and which parts have no such cut any more (bool[number]).

    Raises whatever ``progress`` raises.
    """
    total, done = int(parts.count.sum()), [parts.of(np.zeros(parts.number, np.bool_))]
    least = 2 * int(problem.guards.limits[LEAST_SIZE])
    turn = np.zeros(parts.number, np.int64)
    while parts.number:
        progress("partition", total - int(parts.count.sum()), total)
        small = parts.rows < least
        if small.any():  # two parts of at least k rows do not fit
            done.append(parts.of(small))
            parts, turn = parts.of(~small), turn[~small]
            continue
        parts, child, finished = cuts(parts, turn)
        names, child = np.unique(child, return_inverse=True)
        child = child.reshape(-1)
        owner = np.zeros(len(names), np.int64)
        owner[child] = parts.part
        refused = finished.copy()
        refused[owner[~_satisfied(problem, parts, child, len(names), finished)]] = True
        kept = refused & ~finished
        done.append(parts.of(finished))
        # the children of accepted cuts, and the parts whose next cut is tried
        named = np.where(kept[parts.part], len(names) + parts.part, child)
        order = np.flatnonzero(~finished[parts.part])
        order = order[np.argsort(named[order], kind="stable")]
        labels, number = np.unique(named[order], return_inverse=True)
        old = labels - len(names)
        next_turn = np.where(old >= 0, turn[np.maximum(old, 0)] + 1, 0)
        parts, turn = Parts(parts.cell[order], parts.count[order], number.reshape(-1), len(labels)), next_turn
    offsets = np.cumsum([0, *(piece.number for piece in done)])
    return Parts(
        np.concatenate([piece.cell for piece in done]),
        np.concatenate([piece.count for piece in done]),
        np.concatenate([piece.part + offset for piece, offset in zip(done, offsets, strict=False)]),
        int(offsets[-1]),
    )


def _satisfied(problem: Problem, parts: Parts, child: Int64, number: int, finished: Bools) -> Bools:
    """bool[number]: which new parts satisfy every model, those of finished parts not looked at."""
    rows = np.bincount(child, weights=parts.count, minlength=number)
    verdict = rows >= int(problem.guards.limits[LEAST_SIZE])
    owner = np.zeros(number, np.int64)
    owner[child] = parts.part
    spoiled = finished.copy()
    spoiled[owner[~verdict]] = True
    looked = ~spoiled[parts.part]  # a part that has one child too small needs no more tests
    if not looked.any():
        return verdict
    asked, name = np.unique(child[looked], return_inverse=True)
    assignment = Assignment(
        parts.cell[looked].astype(np.int32), parts.count[looked], name.reshape(-1).astype(np.int32), len(asked)
    )
    classes = classes_of(problem.frequencies, assignment)
    for privacy in problem.privacy:
        verdict[asked] &= evaluate(privacy, classes, problem.context).satisfied
    return verdict


def as_assignment(problem: Problem, parts: Parts, notes: tuple[Sentence, ...] = ()) -> Assignment:
    """Write parts as an assignment: classes numbered by their first cell; what is in no part is suppressed."""
    cells = len(problem.frequencies.rows)
    placed = np.zeros(cells, np.int64)
    np.add.at(placed, parts.cell, parts.count)
    gone = np.flatnonzero(placed < problem.frequencies.rows)
    key = parts.cell * np.int64(max(parts.number, 1)) + parts.part
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    count = np.add.reduceat(parts.count[order], starts) if len(starts) else parts.count
    cell, part = parts.cell[order][starts], parts.part[order][starts]
    _, met = np.unique(part, return_index=True)
    rank = np.empty(parts.number, np.int64)
    rank[part[np.sort(met)]] = np.arange(parts.number)
    return Assignment(
        np.concatenate([cell, gone]).astype(np.int32),
        np.concatenate([count, problem.frequencies.rows[gone] - placed[gone]]),
        np.concatenate([rank[part], np.full(len(gone), SUPPRESSED)]).astype(np.int32),
        parts.number,
        None,
        notes,
    )
