"""Optimal microaggregation of one attribute: the groups of neighbours with the least sum of squares.

    best[j] = min over i of best[i] + SSE(i + 1 .. j),   SSE = sum over the group of (x - mean)^2

over groups of k to 2k - 1 of the sorted values; an optimal partition has no other groups. The attribute is a number,
a date (in days) or an ordinal (by rank). Missing values are a group of their own; where they are fewer than k, it joins
another one, as do classes that fail models other than size (``clusters``).

Worked example: 1, 2, 3, 10, 11, 12, 20 with k = 3 gives {1, 2, 3}, {10, 11, 12, 20} with SSE 2 + 251/4 = 259/4.

Source: S. Hansen, S. Mukherjee, A polynomial algorithm for optimal univariate microaggregation, IEEE TKDE 15(4), 2003,
doi:10.1109/TKDE.2003.1209020.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.clusters import Units, clustered, numbered_runs
from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.scales import places_of
from indistinct.errors import PolicyError
from indistinct.policy.recoding import UnivariateMicroaggregation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies

    Int64 = NDArray[np.int64]

STEP = 50_000


def univariate_microaggregation(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Group the values of the one quasi-identifier with the least sum of squares; time grows with rows times k.

    The groups are found with doubles: of two partitions whose sums differ by less than a part in 10^9, either may be
    taken (the one with the shorter last group), whatever the order of rows.

    Raises PolicyError when there is not exactly one quasi-identifier, or when it has no order; InfeasibleError when the
    models cannot be met within the suppression limit; whatever ``progress`` raises.
    """
    if len(frequencies.quasi) != 1 or not _is_scale(frequencies):
        raise PolicyError(
            "univariate_microaggregation takes one quasi-identifier, a number, a date or an ordinal with a hierarchy, "
            f"and the policy has {', '.join(hierarchy.attribute for hierarchy in frequencies.quasi)}; "
            'algorithm = "mdav" takes any',
            key="recoding.algorithm",
        )
    return clustered(frequencies, policy, progress, lambda units: _groups(units, progress))


def _is_scale(frequencies: Frequencies) -> bool:
    return frequencies.quasi[0].is_ordered and not frequencies.quasi[0].is_fixed


def _groups(units: Units, progress: Progress) -> Int64:
    from indistinct.kernels.lines import least_squares

    hierarchy = units.quasi[0]
    code = units.codes[:, 0]
    present = np.flatnonzero(code != hierarchy.missing)
    groups = np.zeros(len(code), np.int64)
    if units.mass[present, 1].sum() < 2 * units.k:
        groups[present] = 1 if 0 < len(present) < len(code) else 0
        return groups
    places = places_of(hierarchy)[code[present]]  # units are sorted by code
    mass, n = units.mass[present], len(present)
    best, cut = np.zeros(n + 1), np.zeros(n + 1, np.int64)
    for first in range(1, n + 1, STEP):
        progress("search", first, n)
        least_squares(places, mass, units.k, first, min(first + STEP, n + 1), best, cut)
    groups[present] = numbered_runs(cut)
    groups[code == hierarchy.missing] = groups.max() + 1
    return groups


ALGORITHM = Algorithm(UnivariateMicroaggregation, univariate_microaggregation, "truthful", merges=True)
