"""What clusterings share: rows of each block go to a clustering, and clusters that fail a model join others.

A clustering knows the size k that classes need and nothing of other models. Afterwards classes that violate one are
merged with near ones until all hold: for merge-closed models that ends, because whole blocks hold.

Source of the second step: J. Soria-Comas, J. Domingo-Ferrer, D. Sanchez, S. Martinez, IEEE TKDE 27(11), 2015,
doi:10.1109/TKDE.2015.2435777, algorithm 1 (microaggregation, then merging).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.curve import curve_order
from indistinct.algorithms.local.frame import within_limit
from indistinct.algorithms.local.merging import merge_violators, violating_rows
from indistinct.algorithms.local.plan import MOST_START
from indistinct.algorithms.local.settle import settle_classes
from indistinct.algorithms.local.state import assignment_of
from indistinct.algorithms.local.whole_cells import units_of, with_classes
from indistinct.errors import PolicyError
from indistinct.kernels.criteria import DISTINCT, K
from indistinct.kernels.guards import KIND, LEAST_SIZE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem
    from indistinct.algorithms.local.state import State
    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.notices import Sentence
    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Cluster = Callable[["Units"], Int64]

# what merging pays for the excess of one row that goes, in attributes of one row hidden
PRICE = 20.0
# comparisons of two rows that a quadratic clustering makes without being asked twice
MOST_WORK = 500_000_000


@dataclass(frozen=True)
class Units:
    """The rows (with persons: tuples) of one block, in canonical order.

    ``codes`` int32[n, d] of the quasi-identifiers; ``reach`` int32[n, w]: codes and negative codes, as kernels read
    boxes; ``mass`` int64[n, 2]: rows, and what counts for ``k``; ``cell`` int32[n]: first cell of each.
    """

    problem: Problem
    codes: Int32
    reach: Int32
    mass: Int64
    cell: Int32
    k: int

    def of(self, chosen: Int64) -> Units:
        """Some of the units."""
        return replace(
            self,
            codes=self.codes[chosen],
            reach=self.reach[chosen],
            mass=self.mass[chosen],
            cell=self.cell[chosen],
        )

    @property
    def quasi(self) -> Sequence[Hierarchy]:
        """The quasi-identifiers."""
        return self.problem.frequencies.quasi

    @property
    def size(self) -> int:
        """What counts for k of all units together."""
        return int(self.mass[:, 1].sum())

    def along_curve(self) -> Int64:
        """Order of the units along the Hilbert curve."""
        return curve_order(self.codes, [hierarchy.size for hierarchy in self.quasi])


def clustered(
    frequencies: Frequencies,
    policy: Policy,
    progress: Progress,
    cluster: Cluster,
    notes: Callable[[], tuple[Sentence, ...]] = tuple,
) -> Assignment:
    """Let ``cluster`` number the classes of the units of each block (int64[n], 0.. without gaps), then mend classes.

    Raises InfeasibleError when no partition holds within the suppression limit; whatever ``progress`` and ``cluster``
    raise. Not checked: that the models are merge-closed (``algorithms.require_fit``).
    """

    def solve(problem: Problem, hopeless: Bools) -> Assignment:
        state = _clustered(problem, cluster)
        progress("search", 0, 0)
        merge_violators(state, PRICE)
        return assignment_of(state, settle_classes(state, hopeless), notes())

    return within_limit(frequencies, policy, solve)


def _units(state: State, chosen: Int64, k: int) -> Units:
    reach = state.units.reach[chosen]
    return Units(
        state.problem,
        np.ascontiguousarray(reach[:, : len(state.problem.frequencies.quasi)]),
        reach,
        state.units.mass[chosen],
        state.cell[state.units.start[chosen]],
        k,
    )


def _clustered(problem: Problem, cluster: Cluster) -> State:
    """Classes of the clustering, as a state that can be searched.

    Where most rows are in classes that violate a model, and these are too many to be merged one by one, the clustering
    is asked for larger ones.
    """
    rows = units_of(problem)
    k = int(problem.guards.limits[LEAST_SIZE])
    state = with_classes(rows, *_numbered(rows, cluster, k))
    larger = int(problem.tuples.mass[:, 1].sum()) // MOST_START
    slow = bool(not np.isin(problem.guards.spec[:, KIND], (K, DISTINCT)).all())  # of these a few rows more give enough
    if slow and len(state.used) > MOST_START and larger > k and violating_rows(state) > problem.frequencies.total / 2:
        state = with_classes(rows, *_numbered(rows, cluster, larger))
    return state


def _numbered(state: State, cluster: Cluster, k: int) -> tuple[Int64, int]:
    """Class of each unit, and the number of classes, block by block."""
    class_of = np.empty(len(state.tuple_of), np.int64)
    block = state.problem.block[state.tuple_of]
    order = np.argsort(block, kind="stable")
    edges = np.flatnonzero(np.diff(block[order], prepend=-1, append=-1))
    found = 0
    for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        units = _units(state, order[begin:end], k)
        own = cluster(units) if units.size >= 2 * k else np.zeros(end - begin, np.int64)
        class_of[order[begin:end]] = own + found
        found += int(own.max()) + 1
    return class_of, found


def numbered_runs(cut: Int64) -> Int64:
    """Number the groups of a line from its cuts: ``cut[j]`` is where the last group of the first j begins."""
    begins = np.zeros(len(cut) - 1, np.int64)
    j = len(cut) - 1
    while j > 0:
        j = int(cut[j])
        begins[j] = 1
    numbers: Int64 = np.cumsum(begins) - 1
    return numbers


def in_portions(units: Units, most: int | None, name: str, work: Callable[[int], int], cluster: Cluster) -> Int64:
    """Cluster units as a whole, or in parts of at most ``most`` rows, as the work grows with the square of the rows.

    ``work(n)``: comparisons for n units. Parts are halves of halves: at the lower median of the attribute with the
    widest span of codes (for its domain) of which both sides hold k, else at the middle of the canonical order.

    Raises PolicyError, before any work, when that is more than 500 million comparisons and ``most`` is None.
    """
    n = len(units.mass)
    if most is None and work(n) > MOST_WORK:
        raise PolicyError(
            f"{name} would make about {work(n):,} comparisons for {n:,} rows, as rows are compared with all others; "
            f"set recoding.partition, such as {_bearable(work, n)}, to cluster parts of that many rows one by one, or "
            f"partition = {n} to do it all the same",
            key="recoding.partition",
        )
    if most is None or n <= most:
        return cluster(units)
    class_of, found = np.empty(n, np.int64), 0
    for part in _halves(units, np.arange(n), max(most, 2 * units.k)):
        own = cluster(units.of(part))
        class_of[part] = own + found
        found += int(own.max()) + 1
    return class_of


def _bearable(work: Callable[[int], int], n: int) -> int:
    """Rows of parts with which the work stays below the limit, one digit of it."""
    rows = MOST_WORK * n // work(n)
    digit: int = 10 ** (len(str(rows)) - 1)
    return max(2, rows // digit * digit)


def _halves(units: Units, within: Int64, most: int) -> list[Int64]:
    if len(within) <= most or int(units.mass[within, 1].sum()) < 2 * units.k:
        return [within]
    left = _half(units, within)
    return [*_halves(units, within[left], most), *_halves(units, within[~left], most)]


def _half(units: Units, within: Int64) -> Bools:
    """bool[.]: which units go left."""
    codes = units.codes[within]
    sizes = np.array([hierarchy.size for hierarchy in units.quasi])
    size = units.mass[within, 1]
    lo, hi = codes.min(axis=0), codes.max(axis=0)
    for a in np.argsort(-((hi - lo) / sizes), kind="stable").tolist():
        if lo[a] == hi[a]:
            break
        median = np.sort(codes[:, a])[(len(codes) - 1) // 2]
        left: Bools = codes[:, a] < median if median == hi[a] else codes[:, a] <= median
        if min(size[left].sum(), size[~left].sum()) >= units.k:
            return left
    middle: Bools = np.arange(len(within)) < len(within) // 2
    return middle
