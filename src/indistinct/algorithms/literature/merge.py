"""Class merging: the class farthest from holding joins the class with which it is nearest to holding.

    while some class violates a model:
        c = the class with the largest violation
        merge it with the class that leaves the smallest violation of the two together
        (partner = "loss": that adds least loss, of those that leave a smaller one than that of c; if there is any)

The violation of a class under t-closeness is its distance from the table (whatever t), under others what it lacks;
several models add up; ties: the class that comes first, numbers within 1e-9 being ties. It ends: each step removes a
class, and one class of everything holds under merge-closed models where anything does. A class that held may fail after
another joins it.

The start is what Mondrian (strict) makes under the models that stay satisfied whatever joins a class (size, distinct
values). From more than 4,000 classes the work would grow too fast, as every merge looks at all: then Mondrian is
asked for larger classes, the least multiple of k that leaves at most so many.

Worked example: classes {a, a}, {a, b}, {b, b}, {a, b, b, a} at t = 0.1 (equal distance): {a, a} and {b, b} are 1/2 from
the table; the first of them merges with the other, the union is 0 from it, and all classes hold.

Source: this project's; that merging ends is shown in N. Li, T. Li, S. Venkatasubramanian, ICDE 2007,
doi:10.1109/ICDE.2007.367856 (monotonicity of the distance).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.local.frame import within_limit
from indistinct.algorithms.local.settle import settle_classes
from indistinct.algorithms.local.state import assignment_of
from indistinct.algorithms.local.whole_cells import state_of_classes
from indistinct.algorithms.medians import Medians
from indistinct.algorithms.rounds import blocks_as_regions, split_while
from indistinct.kernels.criteria import T_HIERARCHICAL, T_ORDERED
from indistinct.kernels.guards import KIND, LEAST_SIZE
from indistinct.models import is_absorbing
from indistinct.notices import Sentence
from indistinct.policy.recoding import Merge, option

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem
    from indistinct.algorithms.local.state import State
    from indistinct.algorithms.rounds import Regions
    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies

    Int64 = NDArray[np.int64]
    Bools = NDArray[np.bool_]

MOST_CLASSES = 4000
EQUAL = 1e-9
EVERY = 16


def merge(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Merge the classes of Mondrian, the worst with its best partner, until all models hold.

    Raises InfeasibleError when the models cannot be met within the suppression limit; whatever ``progress`` raises.
    Not checked: that the models are merge-closed (``algorithms.require_fit``).
    """

    def solve(problem: Problem, hopeless: Bools) -> Assignment:
        regions, k = _start(problem, hopeless, progress)
        state = state_of_classes(problem, regions)
        merge_worst(state, progress, by_loss=option(policy.recoding, "partner") == "loss")
        least = int(problem.guards.limits[LEAST_SIZE])
        larger = Sentence(
            "merging began with classes of {n} rows or more, so that there were at most {most:,} of them",
            n=k,
            most=MOST_CLASSES,
        )
        return assignment_of(state, settle_classes(state, hopeless), (larger,) if k > least else ())

    return within_limit(frequencies, policy, solve)


def _start(problem: Problem, hopeless: Bools, progress: Progress) -> tuple[Regions, int]:
    """Classes to begin with, and their least size; hopeless blocks stay whole."""
    absorbing = tuple(privacy for privacy in problem.privacy if is_absorbing(privacy))
    k = least = int(problem.guards.limits[LEAST_SIZE])
    while True:
        limits = problem.guards.limits.copy()
        limits[LEAST_SIZE] = k
        eased = replace(problem, privacy=absorbing, guards=problem.guards._replace(limits=limits))
        begin = blocks_as_regions(problem, np.zeros(len(hopeless), np.bool_))
        regions = split_while(eased, begin, Medians(problem.frequencies, relaxed=False), progress)
        if regions.number <= MOST_CLASSES or k > problem.frequencies.total:
            return regions, k
        k = least * -(-k * regions.number // (MOST_CLASSES * least))
        k = max(k, int(limits[LEAST_SIZE]) + least)


def merge_worst(state: State, progress: Progress, *, by_loss: bool) -> None:
    """Merge until no class violates the compiled tests; what is nearer to them than rounding is left to ``settle``."""
    from indistinct.kernels.merging import measures, merge_with_nearest

    problem, partition, scratch = state.problem, state.partition, state.scratch()
    if len(problem.guards.spec) == 0:
        return
    # a distance itself, whatever t: what is left of it ranks classes and partners
    parameter = problem.guards.parameter.copy()
    distances = np.isin(problem.guards.spec[:, KIND], (T_ORDERED, T_HIERARCHICAL))
    parameter[distances, 0] = 0.0
    ranking = problem.guards._replace(parameter=parameter)
    violation, rank = np.zeros(len(partition.loss)), np.zeros(len(partition.loss))
    changed = state.used
    stuck = np.zeros(len(partition.loss), np.bool_)
    total, step = len(changed), 0
    place = np.arange(len(partition.loss))  # in the order of classes, that of a union being its first one's
    while True:
        for guards, result in ((problem.guards, violation), (ranking, rank)):
            found = np.zeros(len(changed))
            measures(state.units, guards, partition, changed, found, scratch)
            result[changed] = found
        used = state.used
        used = used[np.argsort(place[used])]
        bad = used[(violation[used] > 0.0) & ~stuck[used]]
        if len(bad) == 0:
            return
        if step % EVERY == 0:
            progress("search", total - len(used), total)
        step += 1
        worst = int(bad[np.flatnonzero(rank[bad] >= rank[bad].max() - EQUAL)[0]])
        before = partition.mass[:, 0].copy()
        here = rank[worst] if by_loss else 0.0
        if merge_with_nearest(state.units, problem.costs, ranking, partition, worst, used, here, EQUAL, scratch) < 0.0:
            stuck[worst] = True
            changed = np.zeros(0, np.int64)
            continue
        both = np.flatnonzero(partition.mass[:, 0] != before)
        changed = both[partition.mass[both, 0] > 0]
        place[changed] = place[both].min()


ALGORITHM = Algorithm(Merge, merge, "truthful", merges=True)
