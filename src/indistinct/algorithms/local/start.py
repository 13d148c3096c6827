"""The start: tuples that satisfy the models alone, and a partition of the others by cuts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.local.problem import is_small
from indistinct.algorithms.local.threads import in_parallel
from indistinct.algorithms.medians import Medians
from indistinct.algorithms.rounds import blocks_as_regions, split_while
from indistinct.kernels.guards import LEAST_SIZE, scratch_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem
    from indistinct.algorithms.rounds import Regions
    from indistinct.kernels.guards import Guards
    from indistinct.tables.count import Progress

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

# parts below this share of the tuples are cut in parallel
SHARE = 4


def satisfied_alone(problem: Problem, *, searched: bool = True) -> NDArray[np.bool_]:
    """bool[u]: tuples that are a class of their own for ever: they satisfy the models and lose nothing.

    A light row may gain by joining them, so small tables have none where they are ``searched``. Else some rows that
    they can spare go to classes that are too small (``transfers``).
    """
    from indistinct.kernels.guards import shortfalls

    if searched and is_small(problem):
        return np.zeros(len(problem.block), np.bool_)
    large: NDArray[np.bool_] = problem.tuples.mass[:, 1] >= problem.guards.limits[LEAST_SIZE]
    if len(problem.guards.spec) == 0 or not large.any():
        return large
    candidates = np.flatnonzero(large)
    slices = np.stack([candidates, candidates + 1], axis=1)
    everyone = np.arange(len(large), dtype=np.int32)
    short = np.empty(len(candidates))
    shortfalls(problem.tuples, problem.guards, everyone, slices, short, scratch_of(problem.guards, 1))
    large[candidates] = short == 0.0
    return large


def cut_classes(problem: Problem, guards: Guards, among: Int64) -> tuple[Int32, Int32]:
    """Partition the tuples of ``among`` by the cuts that ``guards`` allow.

    Returns int32[u], the class of each tuple (-1: not of ``among``), numbered so that classes of one branch of the
    tree of cuts follow each other; and int32[u], the place of each tuple in that order. What cannot be cut stays
    together even where it violates ``guards``.
    """
    order = among[np.argsort(problem.block[among], kind="stable")].astype(np.int32)
    edges = np.flatnonzero(np.diff(problem.block[order], prepend=-1, append=-1))
    blocks = np.stack([edges[:-1], edges[1:]], axis=1)
    threshold = max(64, len(order) // SHARE)
    none = np.zeros((0, 2), np.int64)
    pieces = np.concatenate([none, *(_cut(problem, guards, order, block, threshold) for block in blocks)])

    def finish(piece: Int64) -> Int64:
        return _cut(problem, guards, order, piece, 2)

    regions = np.concatenate([none, *in_parallel(finish, list(pieces), len(order))])
    class_of = np.full(len(problem.block), -1, np.int32)
    class_of[order] = np.repeat(np.arange(len(regions), dtype=np.int32), regions[:, 1] - regions[:, 0])
    rank = np.zeros(len(problem.block), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return class_of, rank


def cut_at_medians(problem: Problem, hopeless: NDArray[np.bool_], progress: Progress) -> Regions | None:
    """Cut a table of persons as Mondrian does; None where rows are nobody's.

    Raises whatever ``progress`` raises.
    """
    if problem.frequencies.persons is None:
        return None
    cuts = Medians(problem.frequencies, relaxed=False)
    return split_while(problem, blocks_as_regions(problem, hopeless), cuts, progress)


def _cut(problem: Problem, guards: Guards, order: Int32, piece: Int64, smallest: int) -> Int64:
    """Cut one slice of ``order`` in place; the slices that are left, in order."""
    from indistinct.kernels.cuts import cut, groups_of

    within = order[piece[0] : piece[1]]
    if problem.tuples.mass[within, 1].sum() < 2 * guards.limits[LEAST_SIZE]:
        return piece[None, :]
    regions = np.empty((len(within), 2), np.int64)
    regions[0] = 0, len(within)
    groups = groups_of(len(problem.costs.spec), problem.tuples.reach.shape[1])
    scratch = scratch_of(guards, len(within))
    found = cut(problem.tuples, problem.costs, guards, within, regions, smallest, groups, scratch)
    left: Int64 = regions[:found] + piece[0]
    return left


def transfers(problem: Problem, class_of: Int32, whole: NDArray[np.bool_]) -> tuple[Int64, Int32]:
    """Rows that whole tuples lend to classes that are too small, and have none of their own kind to join.

    Returns int64[u], the rows lent by each tuple, and int32[u], the class that gets them (-1: none). Only where size
    is the one criterion, and rows are nobody's.
    """
    lent, borrower = np.zeros(len(whole), np.int64), np.full(len(whole), -1, np.int32)
    frequencies, k = problem.frequencies, int(problem.guards.limits[LEAST_SIZE])
    if frequencies.sensitive or frequencies.persons is not None or not whole.any():
        return lent, borrower
    light = np.flatnonzero(~whole)
    rows = problem.tuples.mass[:, 0]
    sizes = np.bincount(class_of[light], weights=rows[light])
    small = light[sizes[class_of[light]] < k]
    order = np.lexsort((small, class_of[small]))
    for members in np.split(small[order], np.flatnonzero(np.diff(class_of[small[order]])) + 1):
        if len(members):
            lender, need = _lender(problem, members, whole & (lent == 0), k - int(rows[members].sum()))
            lent[lender], borrower[lender] = need, class_of[members[0]] if need else -1
    return lent, borrower


def _lender(problem: Problem, members: Int64, whole: NDArray[np.bool_], need: int) -> tuple[int, int]:
    """Tuple that best lends ``need`` rows to some tuples; 0 rows where joining a whole tuple loses less."""
    from indistinct.kernels.boxes import hull, union_losses

    near = np.flatnonzero(whole & (problem.block == problem.block[members[0]]))
    if len(near) == 0:
        return int(members[0]), 0
    reach, rows = problem.tuples.reach, problem.tuples.mass[:, 0]
    loss = np.empty(len(near))
    union_losses(problem.costs, hull(reach[members], problem.costs.ends), reach, near, loss)
    k = int(problem.guards.limits[LEAST_SIZE])
    lends = rows[near] >= k + need
    best = int(np.argmin(loss * np.where(lends, k, rows[near] + k - need)))
    return int(near[best]), need if lends[best] else 0
