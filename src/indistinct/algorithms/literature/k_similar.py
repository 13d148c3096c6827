"""k-Similar style clustering: k-member with the number of generalization steps as distance.

The distance of two rows is the number of levels that their attributes must rise until they are equal: sum over
attributes of the level of the smallest common node (1 for attributes published as ranges), times the attribute's
weight. Clusters are formed as k-member forms them (``k_member``). This is not the published code, which divides the
table recursively and of which no reference implementation is public.

Source of the distance: L. Sweeney, Computational disclosure control, PhD thesis, MIT, 2001.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.literature.k_member import clustered_greedily
from indistinct.algorithms.local.costs import costs_of
from indistinct.policy.recoding import KSimilar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies


def k_similar(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Cluster rows greedily by generalization steps; about n^2 / 2 comparisons for n rows.

    ``recoding.partition`` and errors as for ``k_member``.
    """
    trees = [replace(hierarchy, lower=None, upper=None) for hierarchy in frequencies.quasi]
    return clustered_greedily(frequencies, policy, progress, "k_similar", costs_of(trees, _steps))


def _steps(hierarchy: Hierarchy, level: int) -> NDArray[np.float64]:
    return np.full(hierarchy.size, float(level))


ALGORITHM = Algorithm(KSimilar, k_similar, "truthful", merges=True)
