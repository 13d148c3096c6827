"""Candidates as pairs of persons and published tuples, and the distribution of values over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.attacks.matching import matches
from indistinct.attacks.outcome import Contrast
from indistinct.attacks.rerun import standing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.rerun import Run
    from indistinct.attacks.tabulate import Tabulated
    from indistinct.attacks.view import Sensitive, View

    Float64 = NDArray[np.float64]
    Int64 = NDArray[np.int64]
    Bool = NDArray[np.bool_]


class Pairs(NamedTuple):
    """Kinds of persons and tuples that may be theirs, int64[.] each; ``chance`` float64[.] beyond the rows of a tuple.

    By labels a person may be any row of the tuples that cover him; by classes the rows of a tuple share its chance.
    """

    of: NDArray[np.int64]
    tuples: NDArray[np.int64]
    chance: NDArray[np.float64]

    def by_kind(self) -> Pairs:
        """Sort the pairs by kind of persons."""
        order = np.argsort(self.of, kind="stable")
        return Pairs(self.of[order], self.tuples[order], self.chance[order])


def candidates(context: AttackContext, view: View, own: Run | None, people: Tabulated) -> Pairs:
    """List the tuples of a release that may be a person's: by a run that gives it, else by what labels cover."""
    if own is not None:
        return Pairs(*standing(own, view, people))
    blocks = list(matches(context, view, people, unknown=context.identified is not None))
    tuples = np.concatenate([block.tuples for block in blocks])
    return Pairs(np.concatenate([block.of for block in blocks]), tuples, view.rows[tuples].astype(np.float64))


def shares(
    view: View, sensitive: Sensitive, texts: Sequence[str | None], pairs: Pairs, begin: int, stop: int
) -> Float64:
    """float64[stop - begin, m]: the distribution over the candidate rows of each person; ``pairs`` by kind."""
    low, high = np.searchsorted(pairs.of, [begin, stop])
    of, tuples, chance = pairs.of[low:high] - begin, pairs.tuples[low:high], pairs.chance[low:high]
    number = {text: place for place, text in enumerate(texts)}
    translate = np.array([number[text] for text in sensitive.texts])
    own = view.class_of[tuples]
    lengths = np.diff(sensitive.histogram.start)[own]
    entry = np.repeat(sensitive.histogram.start[own] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
    # a tuple of a two-table release has its share of the rows of its group
    share = np.repeat(chance / view.sizes[own], lengths) * sensitive.histogram.count[entry]
    flat = np.repeat(of, lengths) * len(texts) + translate[sensitive.histogram.value[entry]]
    found = np.bincount(flat, weights=share, minlength=(stop - begin) * len(texts)).reshape(stop - begin, len(texts))
    total: Float64 = found / np.maximum(found.sum(axis=1, keepdims=True), 1e-300)
    return total


def contrasted(
    context: AttackContext,
    attribute: str,
    mark: Callable[[Sequence[str | None]], Float64],
    right: Callable[[Float64, NDArray[np.int32]], Bool],
) -> Contrast | None:
    """Compare how often claims about classes are right about the original's persons and about persons held out.

    ``mark(texts)`` gives each value of the attribute a number, ``right(marks, classes)`` says of pairs whether the
    claim about the class is true of the value. Both groups are asked in the same way, by labels: a person's score is
    over the rows that may be his, and who has none is not attacked. None without both tables.
    """
    view, names, found = context.view, (*context.view.quasi, attribute), []
    for table in (context.original, context.control):
        if table is None or any(name not in table.columns for name in names):
            return None
        people = table.select(names)
        texts, codes = people.column(attribute)
        marks = mark(texts)[codes]
        total, true = np.zeros(len(people.rows)), np.zeros(len(people.rows))
        for block in matches(context, view, people, unknown=False):
            weight = view.rows[block.tuples].astype(np.float64)
            np.add.at(total, block.of, weight)
            np.add.at(true, block.of, weight * right(marks[block.of], view.class_of[block.tuples]))
        met = total > 0
        found.append((true[met] / total[met], people.rows[met]))
    (scores, rows), (control_scores, control_rows) = found
    return Contrast(scores, rows, control_scores, control_rows)
