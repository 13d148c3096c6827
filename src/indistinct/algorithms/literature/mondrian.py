"""Mondrian: cut the table in two at the median of its widest attribute, and each part again, while the models hold.

    split(P): for the attributes of P, widest first: if every part of the cut satisfies every model,
              split the parts; otherwise try the next attribute; without an allowed cut P is a class

*Width* of a ``range`` attribute: (max - min) / (max - min of the column), 1 where missing and present values are mixed;
of an attribute with levels: values of the column under the smallest node that covers P / values of the column. Ties go
to the earlier attribute of the policy.

*Cut* of a ``range`` attribute: missing values against the others where both occur. Else, ``strict``: at the lower
median ``s[(n - 1) // 2]`` of the sorted rows, values <= median to the left; where that leaves nothing to the right,
values < median. ``relaxed``: the first ``n // 2`` rows to the left, so that equal values may be on both sides (ties by
canonical order). Cut of an attribute with levels: the children of the smallest node that covers P, all that are not
empty.

Cells are published by the ``bounds`` of the hierarchy: the range of the members, that range snapped outward to a grid,
or the region. Two classes that publish the same box merge in the release, which merge-closed models allow.

Source: K. LeFevre, D. DeWitt, R. Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006,
doi:10.1109/ICDE.2006.101.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.fitting import refuse_persons, refuse_published_alike
from indistinct.algorithms.local.frame import within_limit
from indistinct.algorithms.medians import Medians
from indistinct.algorithms.rounds import as_assignment, blocks_as_regions, split_while
from indistinct.errors import InfeasibleError
from indistinct.models import is_merge_closed
from indistinct.models.contract import EVERY_CLASS
from indistinct.policy.recoding import Mondrian, option

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem
    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies

    Bools = NDArray[np.bool_]


def mondrian(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Cut at medians, widest attribute first, while every part satisfies every model.

    ``recoding.mode``: ``strict`` keeps equal rows together, ``relaxed`` may divide them. Every cut is tested exactly,
    so any model of classes is held; under models that are not merge-closed a table may have a release although the
    whole table fails, and this algorithm does not find it.

    Raises InfeasibleError when the whole table (or a block that may not be mixed with others) fails and the suppression
    limit does not mend it; PolicyError for ``relaxed`` with a person key, and for models that are not merge-closed
    where two classes may be published alike (``relaxed``, snapped bounds); whatever ``progress`` raises.

    >>> from indistinct.hierarchies import ranges
    >>> from indistinct.policy import Policy
    >>> from indistinct.tables.count import frequencies_of, silent
    >>> age = ranges.build("age", ["20", "22", "40", "41"])
    >>> table = frequencies_of((age,), (), np.arange(4, dtype=np.int32).reshape(-1, 1), np.ones(4, np.int64))
    >>> attribute = {"role": "quasi_identifying", "type": "integer", "hierarchy": {"kind": "range"}}
    >>> policy = Policy(attributes={"age": attribute}, privacy=[{"model": "k_anonymity", "k": 2}])
    >>> mondrian(table, policy, silent).class_of.tolist()
    [0, 0, 1, 1]
    """
    relaxed = option(policy.recoding, "mode") == "relaxed"
    if relaxed:
        refuse_persons(frequencies, 'mondrian with mode = "relaxed"')
        refuse_published_alike(policy, 'mondrian with mode = "relaxed"', 'set mode = "strict"')
    for hierarchy in frequencies.quasi:
        if hierarchy.lower is not None and (np.diff(hierarchy.lower[: len(hierarchy.positions)]) == 0).any():
            what = f'mondrian with the snapped bounds of "{hierarchy.attribute}"'
            refuse_published_alike(policy, what, 'set bounds = "members" or "region"')

    def solve(problem: Problem, hopeless: Bools) -> Assignment:
        cuts = Medians(problem.frequencies, relaxed=relaxed)
        return as_assignment(problem, split_while(problem, blocks_as_regions(problem, hopeless), cuts, progress))

    try:
        return within_limit(frequencies, policy, solve)
    except InfeasibleError as error:
        for model in policy.privacy:
            if not is_merge_closed(model, spread=frequencies.is_spread):
                reason = (
                    f"{error.reason}; mondrian begins with the whole table, and under {model.model} another algorithm "
                    "may find a release all the same"
                )
                raise InfeasibleError(reason, error.nearest).showing(*error.shown) from None
        raise


ALGORITHM = Algorithm(Mondrian, mondrian, "truthful", offers=frozenset({EVERY_CLASS}))
