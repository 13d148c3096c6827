"""MDAV: clusters of k round the rows that are farthest out (maximum distance to the average vector).

    while 3k or more rows are left:
        r = the row farthest from the mean of those left; s = the row farthest from r
        one cluster of r and its k - 1 nearest; one of s and its k - 1 nearest of those left then
    where 2k or more are left: one cluster of the row farthest from their mean and its k - 1 nearest
    the rest is the last cluster

Where s falls into the cluster of r, the farthest row outside it takes its place. Squared distances: numbers, dates and
ordinals by z-score, categories by their tree (``scales``); ties: canonical order (distances within 1e-9 are ties).
Classes that fail models other than size join near ones (``clusters``).

Worked example: 1, 2, 3, 10, 11, 12, 20 with k = 3 gives {11, 12, 20}, {1, 2, 3, 10}, SSE 296/3; the optimum is 259/4.

Source: J. Domingo-Ferrer, V. Torra, Ordinal, continuous and heterogeneous k-anonymity through microaggregation, DMKD
11(2), 2005, doi:10.1007/s10618-005-0007-5. The distance between categories is this project's choice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.clusters import Units, clustered, in_portions
from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.scales import counts_of, space_of
from indistinct.policy.recoding import Mdav, option

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies

    Int64 = NDArray[np.int64]

STEP_WORK = 20_000_000


def mdav(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Cluster rows round the extremes; about 0.75 n^2 / k distances for n rows.

    ``recoding.partition``: largest number of rows that are clustered together; without it a table that would need more
    than 500 million distances is refused, before any work, with the number.

    Raises InfeasibleError when the models cannot be met within the suppression limit; PolicyError as above; whatever
    ``progress`` raises. Not checked: that the models are merge-closed (``algorithms.require_fit``).
    """
    most = option(policy.recoding, "partition")

    def cluster(units: Units) -> Int64:
        return in_portions(
            units, most, "mdav", lambda n: 3 * n * n // (4 * units.k), lambda part: mdav_groups(part, progress)
        )

    return clustered(frequencies, policy, progress, cluster)


def mdav_groups(units: Units, progress: Progress) -> Int64:
    """int64[n]: number of the cluster of each unit, in the order in which they are formed."""
    from indistinct.kernels.distances import mdav_clusters, mdav_end

    n, k = len(units.mass), units.k
    space = space_of(units.quasi, units.codes, units.mass[:, 0])
    counts = counts_of(space, units.codes, units.mass[:, 0])
    class_of, rest = np.full(n, -1, np.int32), np.arange(n)
    scratch = np.zeros((2, len(space.place))), np.zeros(n), np.zeros(k), np.zeros(k + n, np.int64)
    left, clusters = n, 0
    while True:
        progress("search", n - left, n)
        most = max(1, STEP_WORK // max(left, 1))
        before = left
        left, clusters = mdav_clusters(
            space, units.codes, units.mass, k, rest, left, clusters, most, class_of, counts, *scratch
        )
        if left == before:
            break
    mdav_end(space, units.codes, units.mass, k, rest, left, clusters, class_of, counts, *scratch)
    return class_of.astype(np.int64)


ALGORITHM = Algorithm(Mdav, mdav, "truthful", merges=True)
