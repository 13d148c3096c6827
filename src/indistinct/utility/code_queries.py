"""Error of COUNT queries on a decision that nobody wrote yet: one yardstick for classes and for groups.

*Query*: COUNT(*) where A in a and B in b and S in s: two random quasi-identifiers (or the only one) and the sensitive
attribute, where there is one. Each range covers ceil(|D| theta^(1/w)) neighbouring values of the table in canonical
order, at a random place, w the number of conditions, theta = 0.05. A query that counts nothing is drawn again.

*Estimate*, as a reader of the release would: a row of a class counts with the product over its quasi-identifiers of the
share of the values in its cell that lie in the range (even spread), times 1 if its sensitive value is in s. In a
release of groups the last factor is the share of the group's values that lie in s, and cells are mostly single values.
A suppressed row counts nothing; where rows are a sample drawn with a known probability, the estimate is divided by it.
*Error*: |actual - estimate| / actual.

Source: X. Xiao, Y. Tao, VLDB 2006 (queries, estimate from two tables); K. LeFevre, D. DeWitt, R. Ramakrishnan, ICDE
2006, doi:10.1109/ICDE.2006.101 (even spread).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.losses.cells import boxes, class_rows, covered
from indistinct.tables.records import SUPPRESSED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.tables.records import Assignment, Frequencies, Recoding

    Float64 = NDArray[np.float64]

QUERIES = 200
THETA = 0.05
SEED = 1
REDRAWS = 100  # for each query asked for


@dataclass(frozen=True)
class CodeQuery:
    """Conditions ``(column of the codes, first code, last code)``, and how many rows meet them."""

    ranges: tuple[tuple[int, int, int], ...]
    actual: int


def code_queries(frequencies: Frequencies, attribute: str | None, number: int = QUERIES) -> list[CodeQuery]:
    """Draw queries that count at least one row; fewer than ``number`` where they are hard to find.

    The same counts give the same queries; the draw protects nothing.
    """
    generator = np.random.Generator(np.random.PCG64(SEED))
    quasi = len(frequencies.quasi)
    hierarchies = [*frequencies.quasi, *frequencies.sensitive]
    secret = [place for place in range(quasi, len(hierarchies)) if hierarchies[place].attribute == attribute]
    dimension = min(2, quasi) + len(secret)
    columns = [np.ascontiguousarray(column) for column in frequencies.codes.T]
    found: list[CodeQuery] = []
    for _ in range(REDRAWS * number):
        if len(found) == number:
            break
        ranges = []
        for place in [*sorted(generator.permutation(quasi)[:2].tolist()), *secret]:
            size = hierarchies[place].size
            width = max(1, ceil(size * THETA ** (1 / dimension)))
            first = int(generator.integers(size - width + 1))
            ranges.append((place, first, first + width - 1))
        inside = np.ones(len(frequencies.rows), np.bool_)
        for place, first, last in ranges:
            inside &= (columns[place] >= first) & (columns[place] <= last)
        if actual := int(frequencies.rows[inside].sum()):
            found.append(CodeQuery(tuple(ranges), actual))
    return found


def query_error(
    frequencies: Frequencies,
    assignment: Assignment,
    recoding: Recoding,
    queries: Sequence[CodeQuery],
    *,
    sampled: float = 1.0,
) -> dict[str, Any] | None:
    """Mean and median relative error of the queries; None where there are none.

    ``sampled``: the probability with which a row is in the release. Raises ValueError when no node of a hierarchy
    covers a class.
    """
    if not queries:
        return None
    actual = np.array([query.actual for query in queries])
    estimate = np.array(estimates(frequencies, assignment, recoding, queries)) / sampled
    errors = np.abs(actual - estimate) / actual
    return {"mean": float(errors.mean()), "median": float(np.median(errors)), "queries": len(errors)}


def estimates(
    frequencies: Frequencies, assignment: Assignment, recoding: Recoding, queries: Sequence[CodeQuery]
) -> list[float]:
    """What a reader of the release would answer to each query."""
    quasi = len(frequencies.quasi)
    class_size = class_rows(assignment)[0]
    first, last = boxes(recoding, class_size)
    sets = {place: covered(recoding, place, class_size) for place in recoding.held}
    published = assignment.class_of != SUPPRESSED
    cell, rows, class_of = assignment.cell[published], assignment.count[published], assignment.class_of[published]
    group = None if assignment.group_of is None else assignment.group_of[published]
    sizes = None if group is None else np.bincount(group, rows, assignment.groups)
    found = []
    for query in queries:
        share = np.ones(len(first))
        secret = np.ones(len(cell), np.bool_)
        for place, low, high in query.ranges:
            if (table := sets.get(place)) is not None:
                share *= (table[:, low : high + 1].sum(axis=1) / table.sum(axis=1))[recoding.boxes(place)[2]]
            elif place < quasi:
                overlap = np.minimum(last[:, place], high) - np.maximum(first[:, place], low) + 1
                share *= np.maximum(overlap, 0) / (last[:, place] - first[:, place] + 1)
            else:
                codes = frequencies.codes[cell, place]
                secret &= (codes >= low) & (codes <= high)
        weight: Float64 = share[class_of] * rows
        if group is None or sizes is None:
            found.append(float(weight[secret].sum()))
        else:
            met, has = (np.bincount(group, own, assignment.groups) for own in (weight, rows * secret))
            found.append(float((met * has / sizes).sum()))
    return found
