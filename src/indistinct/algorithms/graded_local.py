"""Graded l-diversity by local recoding: the level of each sensitive number becomes a column, diverse as any other.

Graded l-diversity is distinct l-diversity of the levels (``models.graded_l``). The table is counted with one more
sensitive column for each such model, the levels, and ``local`` finds classes that are distinct l-diverse in it, with
its compiled tests. Cells stay what they are, because a number has one level; so does what is published.

Source: J. Han, J. Yu, H. Yu, J. Jia, J. Computer Research and Development 48(1), 2011 (the model); ``local`` names its
own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.local import local
from indistinct.hierarchies import suppression
from indistinct.models.graded_l import levels_of
from indistinct.models.numbers import missing_refused, numbers_of
from indistinct.policy.privacy import DistinctL, GradedL
from indistinct.policy.recoding import GradedLocal
from indistinct.tables.count import reference_of

if TYPE_CHECKING:
    from indistinct.policy import Policy
    from indistinct.policy.privacy import Privacy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies


def graded_local(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Find classes of little loss whose numbers lie on enough levels, and that satisfy all other models.

    Works as ``local`` does, with its settings, and is ``local`` where the policy names no graded l-diversity. Raises as
    ``local`` does; DataError for missing numbers and numbers outside the domain.
    """
    return local(*with_levels(frequencies, policy), progress)


def with_levels(frequencies: Frequencies, policy: Policy) -> tuple[Frequencies, Policy]:
    """Add the column of levels of each graded model, and ask for distinct l-diversity of it instead."""
    models: list[Privacy] = []
    for position, model in enumerate(policy.privacy):
        if isinstance(model, GradedL):
            name = f"level {position} of {model.attribute}"
            frequencies = _leveled(frequencies, model, name)
            models.append(DistinctL(name, model.l))
        else:
            models.append(model)
    return frequencies, policy.model_copy(update={"privacy": tuple(models)})


def _leveled(frequencies: Frequencies, model: GradedL, name: str) -> Frequencies:
    numbers = numbers_of(frequencies.references[model.attribute])
    rank = numbers.rank[frequencies.sensitive_codes(model.attribute)]
    if (rank < 0).any():
        raise missing_refused(model.attribute)
    used, code = np.unique(levels_of(numbers, model.levels, model.domain), return_inverse=True)
    # as texts of one length the levels keep their order
    texts = [f"{level:09d}" for level in used.tolist()]
    hierarchy = suppression.build(name, texts)
    column = code.reshape(-1)[rank].astype(np.int32)
    return replace(
        frequencies,
        sensitive=(*frequencies.sensitive, hierarchy),
        codes=np.ascontiguousarray(np.column_stack([frequencies.codes, column])),
        references={**frequencies.references, name: reference_of(hierarchy, column, frequencies.rows)},
    )


ALGORITHM = Algorithm(GradedLocal, graded_local, "truthful", divides=True)
