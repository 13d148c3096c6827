"""t-closeness first: cut the ranks of the sensitive value into k buckets, and give every class one row of each.

1. Rank the n rows by the sensitive value (ties: canonical order). k = max(k asked for, ceil(n / (2 (n - 1) t + 1))),
   then k += floor((n mod k) / floor(n / k)).
2. Cut the ranks into k buckets of floor(n / k) rows; the n mod k rows that are left go to the middle bucket.
3. Until all rows are placed: the row farthest from the mean of the rows left, then the row farthest from that one, each
   with the nearest row of each bucket (two of the middle one, while it has more rows than classes are to come).

The ordered distance over ranks of a class with one row of each bucket is at most (n - k) / (2 (n - 1) k). With repeated
values, other distances or rows left over that bound proves nothing, so every class is judged by the models afterwards,
and as long as one fails, k is raised (by an eighth, at least by 1), again so that few rows are left over, and all is
done again; k = n is one class.

Step 3 makes about n^2 / k distances. Tables that would need more than 500 million are dealt out along a Hilbert curve
instead: class j gets the j-th row (or rows) of each bucket in the order of the curve, and a note says so. Distances as
in ``mdav``.

Worked example: n = 12, t = 0.1 needs k = ceil(12 / 3.2) = 4, and the bound is 8 / 88 = 1/11; k = 3 has 9 / 66 = 3/22.

Source: J. Soria-Comas, J. Domingo-Ferrer, D. Sanchez, S. Martinez, t-closeness through microaggregation, IEEE TKDE
27(11), 2015, doi:10.1109/TKDE.2015.2435777, algorithm 3.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.clusters import MOST_WORK, Units, clustered
from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.fitting import one_t_closeness, refuse_persons
from indistinct.algorithms.scales import counts_of, space_of
from indistinct.models import evaluate
from indistinct.notices import Sentence
from indistinct.policy.recoding import TClosenessFirst
from indistinct.tables.classes import classes_of
from indistinct.tables.records import Assignment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Frequencies

    Int64 = NDArray[np.int64]

STEP_WORK = 20_000_000


def t_closeness_first(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Form classes with one row of each bucket of the sensitive value.

    Raises PolicyError when there is not exactly one t-closeness model, or with a person key; InfeasibleError when the
    models cannot be met within the suppression limit; whatever ``progress`` raises. Not checked: that the models are
    merge-closed (``algorithms.require_fit``).
    """
    model = one_t_closeness(policy, "t_closeness_first")
    refuse_persons(frequencies, "t_closeness_first")
    notes: list[Sentence] = []

    def cluster(units: Units) -> Int64:
        n = len(units.mass)
        codes = units.problem.frequencies.sensitive_codes(model.attribute)[units.cell]
        k = least_size(n, model.t, units.k)
        while True:
            class_of = _dealt(units, np.argsort(codes, kind="stable"), k, progress)
            if k >= n or holds(units, class_of):
                break
            k = least_size(n, model.t, k + max(1, k // 8))
        notes.append(
            Sentence("classes have at least {n} rows, one of each bucket of {name}", n=min(n, k), name=model.attribute)
        )
        if n * n // k > MOST_WORK:
            notes.append(Sentence("rows were dealt out along a Hilbert curve, as the table is large"))
        return class_of

    return clustered(frequencies, policy, progress, cluster, lambda: tuple(notes))


def least_size(n: int, t: Fraction, k: int) -> int:
    """Class size for n rows: large enough for t by the bound, and so that the rows left over fit into the classes.

    >>> least_size(12, Fraction(1, 10), 3), least_size(12, Fraction(3, 22), 2), least_size(11, Fraction(1), 4)
    (4, 3, 5)
    """
    size = min(n, max(k, ceil(n / (2 * (n - 1) * t + 1))))
    return size + (n % size) // (n // size)


def rank_bound(n: int, k: int) -> Fraction:
    """Largest ordered distance, over ranks 1..n, of a class with one row of each of k buckets of n / k ranks.

    >>> rank_bound(12, 3)
    Fraction(3, 22)
    """
    return Fraction(n - k, 2 * (n - 1) * k)


def buckets_of(n: int, k: int) -> Int64:
    """int64[n]: bucket of each rank: k of floor(n / k) ranks, the rest in the middle one.

    >>> buckets_of(8, 3).tolist()
    [0, 0, 1, 1, 1, 1, 2, 2]
    """
    sizes = np.full(k, n // k)
    sizes[(k - 1) // 2] += n % k
    return np.repeat(np.arange(k), sizes)


def holds(units: Units, class_of: Int64) -> bool:
    """Whether every class satisfies every model, exactly."""
    problem = units.problem
    assignment = Assignment(units.cell, units.mass[:, 0], class_of.astype(np.int32), int(class_of.max()) + 1)
    classes = classes_of(problem.frequencies, assignment)
    return all(bool(evaluate(model, classes, problem.context).satisfied.all()) for model in problem.privacy)


def _dealt(units: Units, ranked: Int64, k: int, progress: Progress) -> Int64:
    """int64[n]: class of each unit, floor(n / k) classes with rows of each of k buckets."""
    n = len(ranked)
    bucket = np.empty(n, np.int64)
    bucket[ranked] = buckets_of(n, k)
    if n * n // k > MOST_WORK:
        return dealt_along_curve(units, bucket, n // k)
    return _dealt_by_distance(units, bucket, k, progress)


def dealt_along_curve(units: Units, bucket: Int64, classes: int) -> Int64:
    """Cut each bucket, in the order of the Hilbert curve, into as many even runs as there are classes."""
    order = units.along_curve()
    order = order[np.argsort(bucket[order], kind="stable")]
    sizes = np.bincount(bucket)
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    class_of = np.empty(len(order), np.int64)
    class_of[order] = place * classes // np.repeat(sizes, sizes)
    return class_of


def _dealt_by_distance(units: Units, bucket: Int64, k: int, progress: Progress) -> Int64:
    from indistinct.kernels.distances import bucket_clusters

    n = len(bucket)
    space = space_of(units.quasi, units.codes, units.mass[:, 0])
    counts = counts_of(space, units.codes, units.mass[:, 0])
    class_of, rest = np.full(n, -1, np.int32), np.arange(n)
    stock = np.bincount(bucket)
    scratch = np.zeros((2, len(space.place))), np.zeros(n), np.zeros(k), np.zeros(k, np.int64), np.zeros(k, np.int64)
    left, clusters, far = n, 0, -1
    while left > 0:
        progress("search", n - left, n)
        most = max(1, STEP_WORK // left)
        left, clusters, far = bucket_clusters(
            space, units.codes, units.mass, bucket, stock, rest, left, clusters, n // k, most, far, class_of, counts,
            *scratch,
        )  # fmt: skip
    return class_of.astype(np.int64)


ALGORITHM = Algorithm(TClosenessFirst, t_closeness_first, "truthful", merges=True)
