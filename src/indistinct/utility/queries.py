"""Accuracy of COUNT queries: a random workload, exact on the original, estimated from the release.

*Query*: COUNT(*) where A_1 in b_1 and ... and S in b_w: w - 1 distinct random quasi-identifiers and the sensitive
attribute always; w is the query dimension, 2 <= w <= d + 1. Each range covers ceil(|D_i| theta^(1/w)) consecutive
values of its domain (a random set of as many leaves for categories), its start uniform over all positions.

*Estimate*: each published row contributes the product over i of overlap(cell_i, b_i) / size(cell_i); a dropped row
contributes nothing, a starred one spreads over the whole domain. *Error*: |act - est| / act. A query with act = 0 has
no relative error and is drawn again; the redraws are counted. With ``phi`` the error is |act - est| / max(act, phi n)
and nothing is redrawn.

Source: X. Xiao, Y. Tao, VLDB 2006 (queries, estimate from two tables); the sanity bound is that of Garofalakis and
Gibbons, VLDB 2002.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import PolicyError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.losses.axes import Predicate
    from indistinct.utility.tables import TablePair

    Float64 = NDArray[np.float64]

QUERIES = 1000
DIMENSION = 3
THETA = 0.05
REDRAWS = 100  # for each query asked for; more say that nothing is there to be counted


@dataclass(frozen=True)
class Workload:
    """Answers to a workload: float64[queries] each; ``redraws`` queries were empty and drawn again."""

    actual: Float64
    estimated: Float64
    dimension: int
    theta: float
    seed: int
    redraws: int = 0
    floor: float = 0.0
    columns: tuple[str, ...] = field(default=())

    @property
    def errors(self) -> Float64:
        """float64[queries]: relative errors."""
        return np.asarray(np.abs(self.actual - self.estimated) / np.maximum(self.actual, self.floor))

    def document(self) -> dict[str, Any]:
        """Return mean (with a 95 % interval), median and 95th percentile of the relative error, and how asked."""
        errors = self.errors
        found: dict[str, Any] = {
            "queries": len(errors),
            "dimension": self.dimension,
            "theta": self.theta,
            "seed": self.seed,
            "redraws": self.redraws,
            "columns": list(self.columns),
        }
        if not len(errors):
            return {**found, "mean_relative_error": None, "median": None, "percentile_95": None, "interval": None}
        mean = float(errors.mean())
        half = 1.96 * float(errors.std(ddof=1)) / sqrt(len(errors)) if len(errors) > 1 else 0.0
        return {
            **found,
            "mean_relative_error": mean,
            "interval": [max(0.0, mean - half), mean + half],
            "median": float(np.median(errors)),
            "percentile_95": float(np.percentile(errors, 95)),
        }


def workload(
    pair: TablePair,
    quasi: Sequence[str],
    sensitive: str | None,
    *,
    queries: int = QUERIES,
    dimension: int | None = None,
    theta: float = THETA,
    seed: int = 1,
    phi: float | None = None,
) -> Workload:
    """Ask random COUNT queries of both tables.

    ``dimension`` defaults to 3, or fewer where there are fewer columns; without a sensitive column all of its
    predicates are on quasi-identifiers. Needs O(queries * distinct rows * dimension).

    Raises PolicyError for a dimension or theta out of range.
    """
    columns = [*quasi, *([] if sensitive is None else [sensitive])]
    least = 1 if sensitive is None else 2
    if dimension is None:
        dimension = min(DIMENSION, len(columns))
    if not least <= dimension <= len(columns):
        raise PolicyError(
            f"a query has {least} to {len(columns)} conditions here (quasi-identifiers and the sensitive column); "
            f"{dimension} were asked for"
        )
    if not 0 < theta < 1:
        raise PolicyError(f"theta, the share of the table that a query selects, must lie between 0 and 1, not {theta}")
    narrowed = pair.narrowed(columns)
    generator = np.random.Generator(np.random.PCG64(seed))
    floor = 0.0 if phi is None else phi * float(narrowed.rows_before.sum())
    actual: list[float] = []
    estimated: list[float] = []
    redraws = 0
    while len(actual) < queries and redraws <= REDRAWS * queries:
        chosen = generator.permutation(len(quasi))[: dimension - (sensitive is not None)].tolist()
        chosen += [] if sensitive is None else [len(quasi)]
        wanted = {place: narrowed.axes[place].wanted(generator, theta ** (1 / dimension)) for place in chosen}
        counted = count_before(narrowed, wanted)
        if counted == 0 and floor == 0:
            redraws += 1
            continue
        actual.append(counted)
        estimated.append(count_after(narrowed, wanted))
    return Workload(np.array(actual), np.array(estimated), dimension, theta, seed, redraws, floor, tuple(columns))


def count_before(pair: TablePair, wanted: Mapping[int, Predicate]) -> float:
    """Count the original rows that meet all conditions, given by column number."""
    rows = pair.rows_before
    codes = pair.before
    for place, predicate in wanted.items():
        matched = pair.axes[place].matches(predicate)[codes[:, place]]
        codes, rows = codes[matched], rows[matched]
    return float(rows.sum())


def count_after(pair: TablePair, wanted: Mapping[int, Predicate]) -> float:
    """Estimate that count from the release."""
    weight = pair.rows_after.astype(np.float64)
    for place, predicate in wanted.items():
        weight *= pair.axes[place].shares(predicate)[pair.after[:, place]]
    return float(weight.sum())


def count_two_tables(
    group: NDArray[np.integer[Any]],
    matches: NDArray[np.bool_],
    st_group: NDArray[np.integer[Any]],
    st_matches: NDArray[np.bool_],
    st_count: NDArray[np.integer[Any]],
) -> float:
    """Estimate a COUNT from a quasi-identifier table and a sensitive table: sum over groups of qm(G) sm(G) / |G|.

    ``group`` int[n] is the group of each row of the first table and ``matches`` bool[n] whether it meets the conditions
    on quasi-identifiers (exact values); ``st_group``, ``st_matches`` and ``st_count`` the same of the second. Assumes
    independence inside a group.

    >>> count_two_tables(np.array([0, 0, 0]), np.array([True, True, False]), np.array([0, 0]),
    ...     np.array([True, False]), np.array([2, 1]))
    1.3333333333333333
    """
    groups = int(max(group.max(initial=-1), st_group.max(initial=-1))) + 1
    qm = np.bincount(group, matches, groups)
    sm = np.bincount(st_group, np.where(st_matches, st_count, 0), groups)
    size = np.bincount(st_group, st_count, groups)
    return float((qm * sm)[size > 0] @ (1 / size[size > 0]))
