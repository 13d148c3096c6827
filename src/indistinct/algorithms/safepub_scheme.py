"""The recoding scheme of SafePub, chosen by the exponential mechanism with a part of the budget.

Candidates G: all combinations of levels from ``min_level`` to ``max_level``. With k and beta of the mechanism (for the
rest of the budget), h = ceil(k / beta), the rows that a class needs to keep k of them in expectation, and l_a, h_a the
level and the height of column a, w_a its weight:

    precision(g)  = sum of w_a (1 - l_a / h_a) / sum of w_a          (1 - l_a / h_a = 1 for a column without levels)
    score(g) = (1 + precision(g)) / 2 * sum over classes E of f(|E|),    f(c) = max(0, min(c, 4 (c - h)))
    P(g) proportional to exp(search_epsilon score(g) / 4)

in words: the rows that will be published, each counting half for being there and half for its detail. A class of h rows
may lose its place by chance and counts nothing, one of 4/3 h rows or more counts whole. One row more is in one class,
whose f grows by 0 to 4: no score falls, none grows by more than 4, and the choice is search_epsilon-differentially
private (``exponential_mechanism``). (A class that counts whole from h rows on would jump by h, and the choice would
have to be that much more random.)

For the same reason nothing else may look at the table: G and precision(g) must follow from the policy. Heights do but
for masking, whose levels are those of the longest value; it is refused here. LM is not used, because it may measure
domains by the values that occur.

Worked example: ages 20 (5 rows) and 30 (3 rows), level 1 of 1 puts them together, h = 4. Level 0: f(5) = 4, f(3) = 0,
score 4. Level 1: f(8) = 8, score 1/2 * 8 = 4. Both are equally likely, whatever search_epsilon.

Source: R. Bild, K. Kuhn, F. Prasser, PoPETs 2018(1):67-87, doi:10.1515/popets-2018-0004 (a scheme chosen by the
exponential mechanism, budgets added); the score is this project's.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.exponential_mechanism import exponential_mechanism
from indistinct.errors import PolicyError
from indistinct.tables.count import silent
from indistinct.tables.order import numbered_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.algorithms.exponential_mechanism import Bits
    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Frequencies

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

LARGEST = 100_000
SENSITIVITY = 4


def chosen_levels(
    frequencies: Frequencies, epsilon: Fraction, k: int, beta: Fraction, progress: Progress, bits: Bits
) -> tuple[int, ...]:
    """Draw the levels of all quasi-identifiers, spending ``epsilon``.

    Raises PolicyError for masking and for more than ``LARGEST`` combinations; whatever ``progress`` raises.
    """
    ranges = [_levels(hierarchy) for hierarchy in frequencies.quasi]
    number = prod(map(len, ranges))
    if number > LARGEST:
        raise PolicyError(
            f"safepub has {number} combinations of levels to choose from, more than {LARGEST}: bound the levels by "
            "min_level and max_level, or state levels",
            key="privacy.search_epsilon",
        )
    needed = ceil(k / beta)
    worths = class_worths(frequencies.tuples, frequencies.tuple_rows, frequencies.quasi, ranges, needed, progress)
    schemes = list(product(*ranges))
    exponents = [
        epsilon * score(frequencies.quasi, levels, worth) / SENSITIVITY
        for levels, worth in zip(schemes, worths.ravel().tolist(), strict=True)
    ]
    return schemes[exponential_mechanism(exponents, bits)]


def _levels(hierarchy: Hierarchy) -> range:
    if hierarchy.kind == "masking":
        raise PolicyError(
            f'safepub cannot search levels of "{hierarchy.attribute}": how many levels masking has depends on the '
            "longest value of the table; give a hierarchy file, or state levels instead of search_epsilon",
            column=hierarchy.attribute,
        )
    return range(hierarchy.min_level, (hierarchy.height if hierarchy.max_level is None else hierarchy.max_level) + 1)


def precision(quasi: Sequence[Hierarchy], levels: Sequence[int]) -> Fraction:
    """Share of the detail that levels keep: the weighted mean of 1 - level / height.

    >>> from indistinct.hierarchies import suppression
    >>> precision([suppression.build(name, ["a", "b"]) for name in "xy"], (0, 1))
    Fraction(1, 2)
    """
    whole = sum((hierarchy.weight for hierarchy in quasi), Fraction(0))
    shares = (h.weight * (1 - Fraction(level, max(h.height, 1))) for h, level in zip(quasi, levels, strict=True))
    return sum(shares, Fraction(0)) / whole


def score(quasi: Sequence[Hierarchy], levels: Sequence[int], worth: int) -> Fraction:
    """Score of a combination of levels whose classes count for ``worth`` rows."""
    return (1 + precision(quasi, levels)) / 2 * worth


def class_worths(
    codes: Int32,
    rows: Int64,
    quasi: Sequence[Hierarchy],
    ranges: Sequence[range],
    needed: int,
    progress: Progress = silent,
) -> Int64:
    """Sum of f(rows) over the classes of each combination of levels, h = ``needed``: int64, one axis for each column.

    ``codes`` int32[u, d] and ``rows`` int64[u]. Columns are recoded one after the other, those with most values first,
    equal rows are merged, and rows are left out that would be in a class of at most h even with all other columns at
    their highest level: in finer classes they count nothing.
    """
    order = sorted(range(len(quasi)), key=lambda a: (-quasi[a].size, a))
    shape = tuple(len(ranges[a]) for a in order)
    tops = [quasi[a].levels[ranges[a][-1]].node_of for a in order]
    found = np.zeros(shape, np.int64)

    def descend(codes: Int32, rows: Int64, chosen: tuple[int, ...]) -> None:
        place = len(chosen)
        if place == len(order):
            found[chosen] = np.clip(SENSITIVITY * (rows - needed), 0, rows).sum()
            return
        for number, level in enumerate(ranges[order[place]]):
            here = (*chosen, number)
            progress("search", int(np.ravel_multi_index(here + (0,) * (len(order) - len(here)), shape)), found.size)
            # a recoded column goes behind: its nodes are numbers like any other code
            recoded = np.column_stack([codes[:, 1:], quasi[order[place]].levels[level].node_of[codes[:, 0]]])
            others = [top[recoded[:, a]] for a, top in enumerate(tops[place + 1 :])]
            coarse = np.column_stack([*others, recoded[:, len(others) :]])
            own, sums = _grouped(coarse, rows)
            published = sums[own] > needed
            if published.any():
                group, sums = _grouped(recoded[published], rows[published])
                first = np.zeros(len(sums), np.int64)
                first[group] = np.flatnonzero(published)
                descend(recoded[first], sums, here)

    descend(codes[:, order], rows, ())
    progress("search", found.size, found.size)
    return found.transpose(np.argsort(order))


def _grouped(codes: Int32, rows: Int64) -> tuple[Int32, Int64]:
    """Number of the group of equal rows that each row is in, and the sum of ``rows`` of each group."""
    first, group = numbered_rows(codes, [int(column.max()) + 1 for column in codes.T])
    sums = np.zeros(len(first), np.int64)
    np.add.at(sums, group, rows)
    return group, sums
