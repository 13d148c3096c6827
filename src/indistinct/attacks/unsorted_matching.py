"""Unsorted matching: rows at the same place of two releases belong to the same person.

*Attacker.* Has two releases of the same people that were not put into an order of their own, and lays them side by
side. *Claim*: row i of one and row i of the other are one person's. Two rows *agree* when their labels of every common
quasi-identifier overlap and they are equal in every other common column. *Posterior* 1 where they agree, else 0;
*prior* chance: the share of the rows that might as well stand there with which the other row agrees. The *gain* is
therefore the agreement above chance. *Learnt*: the rows that agree where chance is below 0.9, once the agreement is
real.

*Chance.* Rows change places at random, but only where the order is not told by what the rows show: a release sorted by
its first columns (by text or number) keeps that order, and only rows equal in these change places. Of the two the one
that is sorted further is taken. So two sorted releases are no finding. The number of agreeing pairs under random
changes of places has, for each part of n rows with agreement a_ij in {0, 1}, the mean ``sum a_ij / n`` and the variance
``(sum a_ij - sum_i a_i.^2/n - sum_j a_.j^2/n + a_..^2/n^2) / (n - 1)`` (Hoeffding). The agreement counts as real when
it is more than 5 standard deviations above the mean; else the attacker claims nothing, and prior and posterior are 0.

Two releases of four rows, ages [20, 29], [30, 39], [20, 29], [30, 39] and 2*, 3*, 2*, 3*: all four agree, by chance 2
would; variance (8 - 4 - 4 + 4)/3 = 4/3, which is far too little for a verdict: four rows prove nothing.

*Bounds.* No model; ``[output] order = "sorted"`` (the default) or ``"shuffled"`` stops it. *Source.* L. Sweeney,
k-anonymity: a model for protecting privacy, IJUFKS 10(5):557-570, 2002, section 4.1; W. Hoeffding, A combinatorial
central limit theorem, Ann. Math. Statist. 22(4):558-566, 1951.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.matching import Column, join
from indistinct.attacks.outcome import NOTABLE, Idle, Outcome
from indistinct.attacks.overlap import overlapping
from indistinct.attacks.tabulate import tabulated
from indistinct.attacks.view import GROUP
from indistinct.hierarchies.values import parse_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.view import View
    from indistinct.formats.source import Source

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]
    Bool = NDArray[np.bool_]

DEVIATIONS = 5


class Chance(NamedTuple):
    """Agreement by chance: ``share`` float64[rows] for each row, ``mean`` and ``variance`` of their number."""

    share: Float64
    mean: float
    variance: float


def unsorted_matching(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Compare two releases row by row."""
    mine, other = context.view, context.other
    assert other is not None  # noqa: S101  # the record says that it is needed
    if mine.total != other.total:
        yield Idle(None, f"the releases have {mine.total} and {other.total} rows: rows at the same place "
            "are not the same person's",
        )  # fmt: skip
        return
    names = [name for name in mine.source.columns if name in other.source.columns and name != GROUP]
    if not names:
        yield Idle(None, "the two releases have no column in common")
        return
    agree, chance = _compared(context, mine, other, names)
    agreeing = int(agree.sum())
    real = agreeing - chance.mean > DEVIATIONS * sqrt(max(0.0, chance.variance)) and agreeing - chance.mean > 1e-9
    rows = np.arange(1, mine.total + 1)
    none = np.zeros(mine.total)
    verdict = "the order of the rows tells who is who" if real else "that is within chance, the order tells nothing"
    yield Outcome(
        None, np.ones(mine.total, np.int64), chance.share if real else none,
        agree.astype(np.float64) if real else none, agree & (chance.share < 1 - NOTABLE) & real, rows, "published",
        f"{agreeing} of {mine.total} rows agree with the row at the same place of the other release; by chance "
        f"{chance.mean:.4g} would: {verdict}",
        {"agreeing_rows": agreeing, "by_chance": round(chance.mean, 6),
         "deviation": round(sqrt(max(0.0, chance.variance)), 6), "columns": names},
        lambda kind: f"row {rows[kind]} of both releases is one person's",
    )  # fmt: skip


def _compared(context: AttackContext, mine: View, other: View, names: Sequence[str]) -> tuple[Bool, Chance]:
    """Say of each row whether it agrees with the other release's row at its place, and how often chance does it."""
    strata = [strata_of(view.source, context.policy.table.decimal) for view in (mine, other)]
    moved, fixed = (mine, other) if strata[0].max() >= strata[1].max() else (other, mine)
    stratum = strata[0] if moved is mine else strata[1]
    own, others = (tabulated(view.source, names) for view in (moved, fixed))
    agree = np.ones(mine.total, np.bool_)
    columns = []
    for position, name in enumerate(names):
        texts, partners = own[0].texts[position], others[0].texts[position]
        if name in moved.quasi and name in fixed.quasi:
            sets = overlapping(context, name, texts, partners)
        else:
            number = {text: place for place, text in enumerate(partners)}
            sets = [np.array([number[text]] if text in number else [], np.int64) for text in texts]
        columns.append(Column.of_sets(sets, len(partners)))
        allowed = [label * len(partners) + found for label, found in enumerate(sets)]
        pairs = own[0].codes[own[1], position].astype(np.int64) * len(partners) + others[0].codes[others[1], position]
        agree &= np.isin(pairs, np.concatenate(allowed))
    # that two rows are in one stratum is one more column
    every = np.arange(int(stratum.max()) + 1)
    columns.append(Column(every, every, len(every)))
    tuples, kind, rows = _with(own[0].codes[own[1]], stratum)
    persons, who, people = _with(others[0].codes[others[1]], stratum)
    met, met_by = np.zeros(len(persons), np.int64), np.zeros(len(tuples), np.int64)
    for block in join(persons, tuples, columns):
        np.add.at(met, block.of, rows[block.tuples])
        np.add.at(met_by, block.tuples, people[block.of])
    return agree, _chance(stratum, met[who], met_by[kind])


def _with(codes: NDArray[np.int32], stratum: Int64) -> tuple[NDArray[np.int32], Int64, Int64]:
    """Distinct rows of codes with their stratum, the one of each row, and how often each occurs."""
    everything = np.column_stack([codes, stratum.astype(np.int32)])
    found, of, count = np.unique(everything, axis=0, return_inverse=True, return_counts=True)
    return np.ascontiguousarray(found), of.reshape(-1), count.astype(np.int64)


def _chance(stratum: Int64, met: Int64, met_by: Int64) -> Chance:
    """Mean and variance of the number of agreements when rows change places within their strata.

    ``met`` int64[rows]: how many rows of the stratum agree with the fixed row at this place; ``met_by`` the same for
    the moved one.
    """
    size = np.bincount(stratum).astype(np.float64)
    total = np.bincount(stratum, weights=met)
    squares = [np.bincount(stratum, weights=own.astype(np.float64) ** 2) for own in (met, met_by)]
    spread = total - squares[0] / size - squares[1] / size + total**2 / size**2
    variance = float((spread / np.maximum(1, size - 1))[size > 1].sum())
    return Chance(met / size[stratum], float((total / size).sum()), variance)


def strata_of(source: Source, decimal: str = ".") -> Int64:
    """Number the runs of rows between which a table is sorted, int64[rows]; 0 for all rows where it is not.

    Columns are taken in their order as long as each is ascending (as text or as number, missing first or last) within
    the runs of those before it.

    >>> import pyarrow as pa
    >>> from indistinct.formats.registry import open_source
    >>> strata_of(open_source(pa.table({"zip": ["1", "1", "2"], "ill": ["b", "a", "a"]}))).tolist()
    [0, 0, 1]
    """
    found, of_row = tabulated(source, source.columns)
    stratum = np.zeros(len(of_row), np.int64)
    for position, texts in enumerate(found.texts):
        codes = found.codes[of_row, position]
        same = np.diff(stratum) == 0
        if not any((np.diff(rank[codes])[same] >= 0).all() for rank in _ranks(texts, decimal)):
            break
        stratum = np.concatenate([[0], np.cumsum((np.diff(stratum) > 0) | (np.diff(codes) != 0))])[: len(of_row)]
    return stratum


def _ranks(texts: Sequence[str | None], decimal: str) -> Iterator[Int64]:
    """Yield the orders of sorted texts (missing last) in which a file may be: as texts and as numbers."""
    present = [text for text in texts if text is not None]
    rank = np.arange(len(texts))
    orders = [rank]
    numbers = [parse_number(text, decimal) for text in present]
    known = [number for number in numbers if number is not None]
    if len(known) == len(present):
        place = np.empty(len(texts), np.int64)
        place[sorted(range(len(present)), key=lambda i: known[i])] = np.arange(len(present))
        place[len(present) :] = len(present)
        orders.append(place)
    for order in orders:
        yield order
        if len(present) < len(texts):
            yield np.where(rank == len(texts) - 1, -1, order)


ATTACK = Attack(
    unsorted_matching,
    supposes="has two releases of the same rows",
    bounded_by=(),
    of_the_file=False,
    needs={"other": "needs a second release of the same people: --with OTHER"},
)
