"""Ranking of sets of quasi-identifiers: which columns together tell rows apart best."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import PolicyError, UnsupportedError
from indistinct.risk.column_keys import combined
from indistinct.risk.distinction import distinction, separation
from indistinct.risk.figure import Figure, plain, share, things

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from indistinct.tables.records import Frequencies

MOST_STEPS = 10**10
MOST_SETS = 100
"""So many sets of each number of columns stand in the document, the best first."""


def column_ranking(frequencies: Frequencies, size: int, published: NDArray[np.bool_] | None = None) -> Figure:
    """Rank all sets of up to ``size`` quasi-identifiers by distinction, those of equal distinction by separation.

    Sets of equal numbers of columns are ranked among each other: neither figure falls when a column joins, so the
    largest set would always be first. Of equal sets the one whose columns come first in the policy is first. Rows
    count, also where there is a person key; a missing value equals a missing value. ``published`` bool[.] chooses among
    the distinct tuples (u of them are left); every set is one pass over these.

    Raises PolicyError for a size below 1; UnsupportedError when that is more than 10^10 steps.

    Source: R. Motwani, Y. Xu, Efficient algorithms for masking and finding quasi-identifiers, SIAM workshop on
    practical privacy-preserving data mining, 2008, for both figures. Worked example: docs/risk.md.
    """
    if size < 1:
        raise PolicyError(f"sets of up to {size} columns do not exist; give a whole number from 1 on", key="rank")
    tuples, rows = frequencies.tuples, frequencies.tuple_rows
    if published is not None:
        tuples, rows = tuples[published], rows[published]
    names = [hierarchy.attribute for hierarchy in frequencies.quasi]
    size = min(size, len(names))
    checked = sum(comb(len(names), level) for level in range(1, size + 1))
    if checked * max(len(tuples), 1) > MOST_STEPS:
        raise UnsupportedError(
            f"{len(names)} columns have {checked} sets of up to {size}, too many for {len(tuples)} different rows; "
            "ask for smaller sets or fewer columns"
        )
    columns = [np.ascontiguousarray(column) for column in tuples.T]
    sizes = [hierarchy.size for hierarchy in frequencies.quasi]
    total = int(rows.sum())
    sets, texts = [], []
    for level in range(1, size + 1):
        found = []
        for chosen in combinations(range(len(names)), level):
            _, key = np.unique(combined([columns[a] for a in chosen], [sizes[a] for a in chosen]), return_inverse=True)
            counts = np.zeros(int(key.max()) + 1, np.int64)
            np.add.at(counts, key.reshape(-1), rows)
            found.append((-distinction(counts), -separation(counts), chosen, int((counts == 1).sum())))
        found.sort()
        sets += [_entry(names, *one) for one in found[:MOST_SETS]]
        first, apart, best, _ = found[0]
        texts.append(
            f"of {things(len(found), 'sets')} of {things(level, 'columns')} {_joined(names, best)} "
            f"{'has' if level == 1 else 'have'} most different values: {_amount(-first, total)}, "
            f"{share(-apart, 1)} of the pairs of rows differ"
        )
    return Figure("column_ranking", {"size": size, "checked": checked, "sets": sets}, "; ".join(texts))


def _entry(
    names: list[str], distinct: Fraction, separate: Fraction, chosen: tuple[int, ...], alone: int
) -> dict[str, object]:
    return {
        "columns": [names[a] for a in chosen],
        "distinction": plain(-distinct),
        "separation": plain(-separate),
        "unique_rows": alone,
    }


def _joined(names: list[str], chosen: tuple[int, ...]) -> str:
    return " and ".join(filter(None, (", ".join(names[a] for a in chosen[:-1]), names[chosen[-1]])))


def _amount(part: Fraction, rows: int) -> str:
    return f"{int(part * rows)} in {things(rows, 'rows')}"
