"""SUDA2: special uniques, the rows that few columns suffice to single out."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import PolicyError, UnsupportedError
from indistinct.risk.column_keys import Space, combined
from indistinct.risk.figure import Figure, things

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.tables.records import Frequencies

    Int64 = NDArray[np.int64]
    UInt8 = NDArray[np.uint8]

MOST_CHECKS = 10**10
VALUES_SHOWN = 10
# from here on the power of the scale would not be above 0
MOST_SCALED = 28


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


def suda2(frequencies: Frequencies, size: int = 3, published: NDArray[np.bool_] | None = None) -> Suda:
    """Find all minimal sample uniques (MSU) of up to ``size`` columns, and score the rows.

    A row is *unique* on a set of quasi-identifiers when no other row has the same values in all of them; the set is an
    MSU of the row when it is unique on none of its proper subsets. The score of a row is the sum of ``weight`` over its
    MSUs. Uniqueness is inherited by larger sets, so a set is minimal when none of those with one column less is unique:
    the search goes level by level and meets every MSU that the recursion of SUDA2 meets. Cost: C(d,1) + .. + C(d,size)
    passes over the distinct tuples; ``published`` bool[.] chooses among these (u of them are left).

    Raises UnsupportedError when that is more than 10^10 steps.

    Source: A. Manning, D. Haglin, J. Keane, Data Mining and Knowledge Discovery 16(2):165-196, 2008,
    doi:10.1007/s10618-007-0078-6; score: M. Elliot, A. Manning, K. Mayes, J. Gurd, M. Bane, SUDA: a program for
    detecting special uniques, UNECE work session on statistical data confidentiality, 2005. Worked example:
    docs/risk.md.
    """
    tuples, single = frequencies.tuples, frequencies.tuple_rows == 1
    if published is not None:
        tuples, single = tuples[published], single[published]
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


@dataclass(frozen=True)
class Disclosure:
    """DIS of a whole file, and DIS-SUDA of each tuple, float64[u]."""

    dis: Fraction
    scores: NDArray[np.float64]


def dis_suda(score: NDArray[Any], rows: Int64, attributes: int, fraction: Fraction) -> Disclosure:
    """Scale scores to the chance that a match with a unique row is right: data intrusion simulation.

    With U rows alone with their tuple, P rows in classes of exactly two, sampling fraction f, d ``attributes`` and
    g = 1 + (8 - d) / 20::

        DIS        = U f / (U f + P (1 - f))
        A          = sum over rows with score > 0 of score^-g
        DIS-SUDA_i = 1 / (1 + (U/DIS - U) / (score_i^g A)),  0 where score_i = 0

    so the inverse odds of the scored rows add up to U times those of DIS. It orders rows; it is a model, not a bound,
    and knows no sampling weights. U = 0: all 0; P = 0 or f = 1: every scored row 1.

    Raises PolicyError for a fraction that is not above 0 and at most 1, or 28 columns and more.

    Source: C. Skinner, M. Elliot, JRSS B 64(4), 2002, doi:10.1111/1467-9868.00365; the formula as in sdcMicro, with the
    worked example of the practice guide of the IHSN. Worked example: docs/risk.md.

    >>> dis_suda(np.array([6, 0]), np.array([1, 2]), 4, Fraction(1, 2)).dis
    Fraction(1, 3)
    """
    if not 0 < fraction <= 1:
        raise PolicyError(f"a sampling fraction of {fraction} is none; give a number above 0 and at most 1")
    if attributes >= MOST_SCALED:
        raise PolicyError(f"DIS-SUDA is made for fewer than {MOST_SCALED} columns, not {attributes}; name fewer")
    uniques, pairs = int((rows == 1).sum()), int(rows[rows == 2].sum())
    scaled = np.zeros(len(score))
    if uniques == 0:
        return Disclosure(Fraction(0), scaled)
    dis = uniques * fraction / (uniques * fraction + pairs * (1 - fraction))
    power = 1 + (8 - attributes) / 20
    scored = np.asarray(score, np.float64)[score > 0] ** power
    odds = float(pairs * (1 - fraction) / fraction)  # U / DIS - U
    scaled[score > 0] = 1 / (1 + odds / (scored * float((1 / scored).sum())))
    return Disclosure(dis, scaled)


def special_uniques(
    frequencies: Frequencies,
    size: int = 3,
    published: NDArray[np.bool_] | None = None,
    fraction: Fraction | None = None,
) -> Figure:
    """Summarise the minimal sample uniques: how many rows, how few columns, and which columns and values to blame.

    With the sampling ``fraction`` of the table DIS-SUDA is there too: ``dis`` and ``highest_dis_suda``.

    ``contribution`` of a column (of a value) is the share of the total score that stems from uniques containing it; the
    shares of the columns add up to more than 1, since a unique has several columns.
    """
    suda = suda2(frequencies, size, published)
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
    clauses = [f"{count} by {things(level, 'columns')}" for level, count in enumerate(by_size, 1) if count]
    verb = "is" if rows == 1 else "are"
    sentence = f"{things(rows, 'rows')} {verb} singled out by at most {things(suda.size, 'columns')}"
    if clauses:
        worst = names[order[0]]
        sentence += f" ({', '.join(clauses)}); making {worst} coarser would help most: it is in the uniques behind "
        sentence += f"{100 * values['contributions'][0]['contribution']:.0f} % of the score"
    if fraction is not None:
        counts = frequencies.tuple_rows if published is None else frequencies.tuple_rows[published]
        scaled = dis_suda(suda.score, counts, len(names), fraction)
        values |= {"sampling_fraction": fraction, "dis": scaled.dis}
        values["highest_dis_suda"] = float(scaled.scores.max(initial=0.0))
        sentence += (
            f"; a match with a row that is alone is right with a chance of about {100 * float(scaled.dis):.3g} % (DIS)"
            f", with the easiest row of about {100 * values['highest_dis_suda']:.3g} % (DIS-SUDA, a model and no bound)"
        )
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
