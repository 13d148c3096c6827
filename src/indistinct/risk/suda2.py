"""SUDA2: special uniques, the rows that few columns suffice to single out."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import UnsupportedError
from indistinct.risk.column_keys import Space, combined
from indistinct.risk.figure import Figure, things

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.tables.records import Frequencies

    Int64 = NDArray[np.int64]
    UInt8 = NDArray[np.uint8]

MOST_CHECKS = 10**10
VALUES_SHOWN = 10


@dataclass(frozen=True)
class Suda:
    """Minimal sample uniques of a table, by its distinct tuples (u of them) and quasi-identifiers (d).

    ``score`` int64[u] and ``smallest`` int32[u] (columns in the smallest minimal sample unique, 0 if none), ``found``
    int64[size + 1]: minimal sample uniques by number of columns. ``by_attribute`` int64[d] and ``by_value`` (one int64
    array of value codes for each attribute): sums of the scores of the uniques that contain them.
    """

    size: int
    score: Int64
    smallest: NDArray[np.int32]
    found: Int64
    by_attribute: Int64
    by_value: tuple[Int64, ...]


def weight(columns: int, attributes: int, size: int) -> int:
    """Score of one minimal sample unique of some ``columns``: ``product over i = columns .. size of (attributes - i)``.

    The product ends before its factor 0 (i = attributes). It counts the ways to reach larger uniques from this one.

    >>> [weight(columns, 4, 3) for columns in (1, 2, 3)]
    [6, 2, 1]
    """
    return prod(attributes - i for i in range(columns, min(size, attributes - 1) + 1))


def suda2(frequencies: Frequencies, size: int = 3, kept: NDArray[np.bool_] | None = None) -> Suda:
    """Find all minimal sample uniques (MSU) of up to ``size`` columns, and score the rows.

    A row is *unique* on a set of quasi-identifiers when no other row has the same values in all of them; the set is an
    MSU of the row when it is unique on none of its proper subsets. The score of a row is the sum of ``weight`` over its
    MSUs. Uniqueness is inherited by larger sets, so a set is minimal when none of those with one column less is unique:
    the search goes level by level and meets every MSU that the recursion of SUDA2 meets. Cost: C(d,1) + .. + C(d,size)
    passes over the distinct tuples; ``kept`` bool[.] chooses among these (u of them are left).

    Raises UnsupportedError when that is more than 10^10 steps.

    Source: A. Manning, D. Haglin, J. Keane, Data Mining and Knowledge Discovery 16(2):165-196, 2008,
    doi:10.1007/s10618-007-0078-6; score: M. Elliot, A. Manning, K. Mayes, J. Gurd, M. Bane, SUDA: a program for
    detecting special uniques, UNECE work session on statistical data confidentiality, 2005. Worked example:
    docs/risk.md.
    """
    tuples, single = frequencies.tuples, frequencies.tuple_rows == 1
    if kept is not None:
        tuples, single = tuples[kept], single[kept]
    attributes = tuples.shape[1]
    size = min(size, attributes)
    checks = sum(comb(attributes, level) for level in range(1, size + 1)) * max(len(tuples), 1)
    if checks > MOST_CHECKS:
        raise UnsupportedError(
            f"special uniques of up to {size} of {attributes} columns in {len(tuples)} different rows take {checks} "
            "steps, too many; ask for smaller sets or fewer columns"
        )
    columns = [np.ascontiguousarray(column) for column in tuples.T]
    sizes = [hierarchy.size for hierarchy in frequencies.quasi]
    space = Space(len(tuples))
    score = np.zeros(len(tuples), np.int64)
    smallest = np.zeros(len(tuples), np.int32)
    found = np.zeros(size + 1, np.int64)
    by_attribute = np.zeros(attributes, np.int64)
    by_value = tuple(np.zeros(count, np.int64) for count in sizes)
    smaller: dict[tuple[int, ...], UInt8] = {}
    for level in range(1, size + 1):
        worth = weight(level, attributes, size)
        here: dict[tuple[int, ...], UInt8] = {}
        for chosen in combinations(range(attributes), level):
            alone = space.alone(combined([columns[a] for a in chosen], [sizes[a] for a in chosen])) & single
            packed = np.packbits(alone)
            if level < size:
                here[chosen] = packed
            minimal = packed.copy()
            for left_out in combinations(chosen, level - 1) if level > 1 else ():
                minimal &= ~smaller[left_out]
            which = np.flatnonzero(np.unpackbits(minimal, count=len(tuples)))
            if not len(which):
                continue
            score[which] += worth
            found[level] += len(which)
            fresh = which[smallest[which] == 0]
            smallest[fresh] = level
            for a in chosen:
                by_attribute[a] += worth * len(which)
                by_value[a][:] += worth * np.bincount(columns[a][which], minlength=sizes[a])
        smaller = here
    return Suda(size, score, smallest, found, by_attribute, by_value)


def special_uniques(frequencies: Frequencies, size: int = 3, kept: NDArray[np.bool_] | None = None) -> Figure:
    """Summarise the minimal sample uniques: how many rows, how few columns, and which columns and values to blame.

    ``contribution`` of a column (of a value) is the share of the total score that stems from uniques containing it; the
    shares of the columns add up to more than 1, since a unique has several columns.
    """
    suda = suda2(frequencies, size, kept)
    total = int(suda.score.sum())
    rows = int((suda.score > 0).sum())
    names = [hierarchy.attribute for hierarchy in frequencies.quasi]
    by_size = [int((suda.smallest == level).sum()) for level in range(1, suda.size + 1)]
    order = sorted(range(len(names)), key=lambda a: (-int(suda.by_attribute[a]), a))
    values: dict[str, Any] = {
        "size": suda.size,
        "rows": rows,
        "rows_by_smallest": {str(level): by_size[level - 1] for level in range(1, suda.size + 1)},
        "minimal_sample_uniques": {str(level): int(suda.found[level]) for level in range(1, suda.size + 1)},
        "highest_score": int(suda.score.max(initial=0)),
        "total_score": total,
        "contributions": [
            {
                "column": names[a],
                "contribution": float(Fraction(int(suda.by_attribute[a]), total)) if total else 0.0,
                "values": _values(frequencies, suda, a, total),
            }
            for a in order
        ],
    }
    parts = [f"{count} by {things(level, 'columns')}" for level, count in enumerate(by_size, 1) if count]
    verb = "is" if rows == 1 else "are"
    sentence = f"{things(rows, 'rows')} {verb} singled out by at most {things(suda.size, 'columns')}"
    if parts:
        worst = names[order[0]]
        sentence += f" ({', '.join(parts)}); making {worst} coarser would help most: it is in the uniques behind "
        sentence += f"{100 * values['contributions'][0]['contribution']:.0f} % of the score"
    return Figure("suda2", values, sentence, suda.score.astype(np.float64))


def _values(frequencies: Frequencies, suda: Suda, attribute: int, total: int) -> list[dict[str, Any]]:
    """Name the values of one column that contribute most."""
    sums = suda.by_value[attribute]
    order = np.lexsort((np.arange(len(sums)), -sums))[:VALUES_SHOWN]
    texts = frequencies.quasi[attribute].texts
    return [
        {"value": texts[code], "contribution": float(Fraction(int(sums[code]), total))}
        for code in order.tolist()
        if sums[code]
    ]
