"""Hilbert local recoding: rows in the order of a Hilbert curve, cut into the groups of neighbours that lose least.

    best[j] = min over i of best[i] + rows(i + 1 .. j) * loss of the box of rows i + 1 .. j

over groups of k to 2k - 1 rows: longer ones can be cut in two and lose no more, because a smaller box never costs more.
The coordinates of a row are its codes (numbers by rank, categories by the order of the leaves), spread evenly over
2^bits points with bits enough for the largest domain. Ties on the curve: canonical order. Classes that fail models
other than size join near ones (``clusters``).

Worked example, a grid of 4 x 4 (bits 2), index of (x, y): row y = 0 has 0, 1, 14, 15; y = 1 has 3, 2, 13, 12; y = 2 has
4, 7, 8, 11; y = 3 has 5, 6, 9, 10.

Source: G. Ghinita, P. Karras, P. Kalnis, N. Mamoulis, Fast data anonymization with low information loss, VLDB 2007,
758-769.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.clusters import Units, clustered, numbered_runs
from indistinct.algorithms.contract import Algorithm
from indistinct.policy.recoding import Hilbert

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies

    Int64 = NDArray[np.int64]

STEP = 20_000


def hilbert(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Cut the rows along a Hilbert curve into groups of least loss.

    The loss of a group is its rows times the weighted LM of its box. Time grows with rows times k.

    Raises InfeasibleError when the models cannot be met within the suppression limit; whatever ``progress`` raises.
    Not checked: that the models are merge-closed (``algorithms.require_fit``).
    """
    return clustered(frequencies, policy, progress, lambda units: groups_along_curve(units, progress))


def groups_along_curve(units: Units, progress: Progress) -> Int64:
    """int64[n]: number of the group of each unit, groups numbered along the curve."""
    from indistinct.kernels.lines import cheapest_boxes

    order = units.along_curve()
    reach, mass = units.reach[order], units.mass[order]
    n = len(order)
    best, cut = np.zeros(n + 1), np.zeros(n + 1, np.int64)
    box = np.zeros(reach.shape[1], np.int32)
    for first in range(1, n + 1, STEP):
        progress("search", first, n)
        last = min(first + STEP, n + 1)
        cheapest_boxes(units.problem.costs, reach, mass, units.k, first, last, best, cut, box)
    groups = np.empty(n, np.int64)
    groups[order] = numbered_runs(cut)
    return groups


ALGORITHM = Algorithm(Hilbert, hilbert, "truthful", merges=True)
