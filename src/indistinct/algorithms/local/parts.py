"""Parts of a table that are decided one after another, so that memory is that of a part.

A table is cut by ranges of one quasi-identifier at a time, near the median of its rows, the widest first; only where
both sides satisfy every model exactly, against the distribution of the whole input. So each part can be recoded by
itself: its classes satisfy the models, which judge each class alone, and the classes of all parts are a partition of
the table. What is lost is lost at the cuts, which no class crosses. Cuts depend on counts alone: equal tables give
equal parts.

Not for persons, who may have rows on both sides; for models that judge a whole release; nor where top labels keep rows
apart, for a cut could leave too few of them on one side.

Source: this project; the cuts are those of LeFevre, DeWitt, Ramakrishnan, ICDE 2006, doi:10.1109/ICDE.2006.101.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.local.problem import blocks_of
from indistinct.errors import UnsupportedError
from indistinct.models import Context, evaluate, is_of_classes
from indistinct.notices import Sentence
from indistinct.tables.classes import classes_of
from indistinct.tables.records import Assignment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from indistinct.policy import Policy
    from indistinct.policy.parameters import Privacy
    from indistinct.tables.records import Frequencies

    Int64 = NDArray[np.int64]

# cells of a part where the policy says "auto": so many are decided at once, whatever the machine, that results agree
CELLS = 8_000_000


def in_parts(frequencies: Frequencies, policy: Policy, decide: Callable[[Frequencies], Assignment]) -> Assignment:
    """Decide each part of a table, or the whole where it is one part, and put the classes together.

    Raises UnsupportedError for a number of parts that the policy asks for and that there cannot be.
    """
    wanted_parts = policy.run.parts
    wanted = -(-len(frequencies.rows) // CELLS) if wanted_parts == "auto" else wanted_parts
    reason = _indivisible(frequencies, policy.privacy) if wanted > 1 else None
    if reason is not None and wanted_parts != "auto":
        raise UnsupportedError(f"[run] parts = {wanted_parts} cannot be: {reason}; say parts = 1, or leave it out")
    pieces = [np.arange(len(frequencies.tuples))] if reason else cut(frequencies, policy.privacy, wanted)
    if len(pieces) == 1:
        return decide(frequencies)
    cells, counts, owners, classes = [], [], [], 0
    for tuples in pieces:
        part, own = subset(frequencies, tuples)
        found = decide(part)
        cells.append(own[found.cell])
        counts.append(found.count)
        owners.append(np.where(found.class_of < 0, found.class_of, found.class_of + classes))
        classes += found.classes
    note = Sentence(
        "the table was cut into {n} parts, each decided by itself against the distribution of the whole table",
        n=len(pieces),
    )
    return Assignment(
        np.concatenate(cells).astype(np.int32),
        np.concatenate(counts),
        np.concatenate(owners).astype(np.int32),
        classes,
        notes=(note,),
    )


def cut(frequencies: Frequencies, models: Sequence[Privacy], wanted: int) -> list[Int64]:
    """Cut the tuples into at most ``wanted`` parts, the one with most cells first; fewer where no cut satisfies."""
    done: list[Int64] = []
    open_pieces = [np.arange(len(frequencies.tuples))]
    while open_pieces and len(done) + len(open_pieces) < wanted:
        sizes = [int((frequencies.start[part + 1] - frequencies.start[part]).sum()) for part in open_pieces]
        part = open_pieces.pop(int(np.argmax(sizes)))
        halves = _halves(frequencies, models, part)
        if halves is None:
            done.append(part)
        else:
            open_pieces += halves
    return sorted([*done, *open_pieces], key=lambda part: int(part[0]))


def subset(frequencies: Frequencies, tuples: Int64) -> tuple[Frequencies, Int64]:
    """Return the counts of some tuples (ascending), with the references of the whole, and int64[.] their cells."""
    chosen = np.zeros(len(frequencies.tuples), np.bool_)
    chosen[tuples] = True
    cells = np.flatnonzero(chosen[frequencies.tuple_of])
    start = np.append(0, np.cumsum(np.diff(frequencies.start)[tuples])).astype(np.int64)
    codes = np.ascontiguousarray(frequencies.codes[cells])
    return replace(frequencies, codes=codes, rows=frequencies.rows[cells], start=start), cells


def _indivisible(frequencies: Frequencies, models: Sequence[Privacy]) -> str | None:
    """Say why a table is not cut; None where it may be."""
    if frequencies.persons is not None:
        return "a person may have rows in several parts"
    if frequencies.signatures is not None or not all(map(is_of_classes, models)):
        return "a model judges the release as a whole"
    if blocks_of(frequencies).max(initial=0) > 0:
        return "columns that are never changed, or that end in several labels, keep rows apart"
    return None


def _halves(frequencies: Frequencies, models: Sequence[Privacy], part: Int64) -> list[Int64] | None:
    """Two sides of a part that satisfy all models, by the widest attribute that gives such; None where none does."""
    tuples, rows = frequencies.tuples[part], frequencies.tuple_rows[part]
    low, high = tuples.min(axis=0), tuples.max(axis=0)
    ends = zip(frequencies.quasi, low.tolist(), high.tolist(), strict=True)
    width = [hierarchy.weight * hierarchy.cost(lo, hi) for hierarchy, lo, hi in ends]
    counts, _ = subset(frequencies, part)
    for position in sorted(range(len(width)), key=lambda position: (-width[position], position)):
        if low[position] == high[position]:
            continue
        codes = tuples[:, position]
        upto = np.cumsum(np.bincount(codes, rows))
        threshold = int(np.argmin(np.abs(upto[low[position] : high[position]] - upto[-1] / 2))) + int(low[position])
        side = (codes > threshold).astype(np.int32)
        classes = classes_of(counts, Assignment.of_tuples(counts, side))
        context = Context(frequencies.references)
        if all(evaluate(model, classes, context).satisfied.all() for model in models):
            return [part[side == 0], part[side == 1]]
    return None
