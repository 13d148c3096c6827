"""k-member clustering: from the row farthest from the last cluster's first, add the row that costs least until k.

    r = the first row; while k or more rows are left:
        r = the row farthest from r; c = {r}
        k - 1 times: put the row into c that raises IL(c) least
    each row that is left goes to the cluster whose IL it raises least

IL(c) = |c| * sum over attributes of: width of the published range / width of the domain, or for attributes with levels
height of the smallest common node / height of the tree; each times the attribute's weight. The distance of two rows is
that sum for the two. Ties: canonical order (costs within 1e-9 are ties). The published pseudocode draws the first r at
random; here it is the first row, so that results can be repeated. Classes that fail models other than size join near
ones (``clusters``).

Worked example: 1, 2, 10, 11, 20 with k = 2 gives {1, 2}, {10, 11, 20}, IL = 2/19 + 30/19 = 32/19.

Source: J.-W. Byun, A. Kamra, E. Bertino, N. Li, Efficient k-anonymization using clustering techniques, DASFAA 2007,
doi:10.1007/978-3-540-71703-4_18.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.clusters import Units, clustered, in_portions
from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.local.costs import costs_of
from indistinct.policy.recoding import KMember, option

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.kernels.boxes import Costs
    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies

    Int64 = NDArray[np.int64]

STEP_WORK = 20_000_000


def k_member(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Cluster rows greedily by what the published cells lose; about n^2 / 2 comparisons for n rows.

    ``recoding.partition``: largest number of rows that are clustered together; without it a table that would need more
    than 500 million comparisons is refused, before any work, with the number.

    Raises InfeasibleError when the models cannot be met within the suppression limit; PolicyError as above; whatever
    ``progress`` raises. Not checked: that the models are merge-closed (``algorithms.require_fit``).
    """
    costs = costs_of(frequencies.quasi, heights)
    return clustered_greedily(frequencies, policy, progress, "k_member", costs)


def clustered_greedily(
    frequencies: Frequencies, policy: Policy, progress: Progress, name: str, costs: Costs
) -> Assignment:
    """Run the clustering with other costs."""
    most = option(policy.recoding, "partition")

    def cluster(units: Units) -> Int64:
        return in_portions(units, most, name, lambda n: n * n // 2, lambda part: k_member_groups(part, costs, progress))

    return clustered(frequencies, policy, progress, cluster)


def heights(hierarchy: Hierarchy, level: int) -> NDArray[np.float64]:
    """Height of each node of a level over the height of the tree."""
    return np.full(hierarchy.size, level / max(hierarchy.height, 1))


def k_member_groups(units: Units, costs: Costs, progress: Progress) -> Int64:
    """int64[n]: number of the cluster of each unit, in the order in which they are formed."""
    from indistinct.kernels.clusters import grow_clusters, join_clusters

    n, width = units.reach.shape
    class_of, rest = np.full(n, -1, np.int32), np.arange(n)
    box = np.zeros(width, np.int32)
    left, seed, clusters = n, 0, 0
    while True:
        progress("search", n - left, n)
        most = max(1, STEP_WORK // max(left * units.k, 1))
        before = clusters
        left, seed, clusters = grow_clusters(
            costs, units.reach, units.mass, units.k, rest, left, seed, clusters, most, class_of, box
        )
        if clusters == before:
            break
    boxes = np.zeros((clusters, width + 1), np.int32)
    placed = np.flatnonzero(class_of >= 0)
    boxes[:, : costs.ends] = np.iinfo(np.int32).min
    np.maximum.at(boxes[:, : costs.ends], class_of[placed], units.reach[placed, : costs.ends])
    np.bitwise_or.at(boxes[:, costs.ends : width], class_of[placed], units.reach[placed, costs.ends :])
    np.add.at(boxes[:, width], class_of[placed], units.mass[placed, 0].astype(np.int32))
    join_clusters(costs, units.reach, units.mass, rest, left, clusters, class_of, boxes)
    return class_of.astype(np.int64)


ALGORITHM = Algorithm(KMember, k_member, "truthful", merges=True)
