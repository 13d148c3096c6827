"""SafePub: sample the rows, recode at levels that do not depend on them, drop small classes.

    with search_epsilon: choose the levels by the exponential mechanism (``safepub_scheme``)
    keep every row with probability beta, by a cryptographic source of randomness
    recode at the levels
    drop every class with fewer than k sampled rows

beta and k: ``models.safepub``. Every run draws anew and spends the budget again: running it until the result is nice
breaks the guarantee.

Source: R. Bild, K. Kuhn, F. Prasser, PoPETs 2018(1):67-87, doi:10.1515/popets-2018-0004.
"""

from __future__ import annotations

from secrets import randbelow, randbits
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.safepub_scheme import chosen_levels
from indistinct.errors import InfeasibleError, PolicyError
from indistinct.models.contract import MECHANISM
from indistinct.models.safepub import least_k, mechanism
from indistinct.notices import Sentence
from indistinct.policy.recoding import SafepubScheme
from indistinct.tables.order import numbered_rows
from indistinct.tables.records import SUPPRESSED, Assignment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from numpy.typing import NDArray

    from indistinct.algorithms.exponential_mechanism import Bits
    from indistinct.policy import Policy
    from indistinct.policy.privacy import Safepub
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Frequencies

    Int64 = NDArray[np.int64]


def safepub(frequencies: Frequencies, policy: Policy, progress: Progress, bits: Bits = randbits) -> Assignment:
    """Draw a sample and publish its classes of at least k rows at the levels of the model, stated or searched.

    Raises PolicyError when the policy asks for anything that would look at the data (another model, another published
    column, a suppression limit, persons), InfeasibleError when no class is large enough; whatever ``progress`` raises.
    Not checked: that hierarchies and levels were chosen without looking at the data.
    """
    model = _model_of(frequencies, policy)
    found = mechanism(model.epsilon, model.search_epsilon)
    k = least_k(found, model.delta)
    levels = _levels(frequencies, model.levels) if model.levels is not None else None
    if levels is None:
        assert model.search_epsilon is not None  # noqa: S101  # the model has one of the two
        levels = chosen_levels(frequencies, model.search_epsilon, k, found.beta, progress, bits)
    progress("sample", 0, 1)
    sampled = _sample(frequencies.rows, found.beta)
    nodes = np.column_stack(
        [
            hierarchy.levels[level].node_of[frequencies.codes[:, position]]
            for position, (hierarchy, level) in enumerate(zip(frequencies.quasi, levels, strict=True))
        ]
    )
    first, group = numbered_rows(nodes, [int(column.max()) + 1 for column in nodes.T])
    sizes = np.zeros(len(first), np.int64)
    np.add.at(sizes, group, sampled)
    large = sizes >= k
    if not large.any():
        raise InfeasibleError(
            "no class of the sample is large enough to be published", "use more general levels, or a larger epsilon"
        )
    number = np.where(large, np.cumsum(large) - 1, SUPPRESSED)
    progress("sample", 1, 1)
    class_of = number[group]
    cells = np.arange(len(sampled))
    published = np.where(class_of == SUPPRESSED, 0, sampled)
    gone = frequencies.rows - published
    stay, go = np.flatnonzero(published), np.flatnonzero(gone)
    return Assignment(
        np.concatenate([cells[stay], cells[go]]).astype(np.int32),
        np.concatenate([published[stay], gone[go]]),
        np.concatenate([class_of[stay], np.full(len(go), SUPPRESSED)]).astype(np.int32),
        int(large.sum()),
        levels,
        (Sentence("the rows are a random sample, drawn anew in every run; each run spends epsilon and delta again"),),
    )


def _sample(rows: Int64, beta: Fraction) -> Int64:
    """Draw every row with probability ``beta``, exactly, from the system's source of randomness."""
    p, q = beta.numerator, beta.denominator
    return np.array([sum(randbelow(q) < p for _ in range(count)) for count in rows.tolist()], np.int64)


def _model_of(frequencies: Frequencies, policy: Policy) -> Safepub:
    if len(policy.privacy) != 1 or policy.privacy[0].model != "safepub":
        raise PolicyError(
            "the algorithm safepub holds the model safepub and no other: another model would look at the data",
            key="privacy",
        )
    quasi = {hierarchy.attribute for hierarchy in frequencies.quasi}
    others = [name for name, a in policy.attributes.items() if a.role != "identifying" and name not in quasi]
    others += ["unlisted columns"] if policy.table.unlisted not in (None, "identifying") else []
    if others:
        raise PolicyError(
            f"safepub protects quasi-identifiers only, and {others[0]} would be published as it is; make every column"
            " quasi-identifying or identifying",
            key="attributes",
        )
    if any(attribute.action is not None for attribute in policy.attributes.values()):
        raise PolicyError("safepub publishes no mask or pseudonym of an identifying column", key="attributes")
    if frequencies.persons is not None:
        raise PolicyError("safepub protects one row, not the rows of one person; leave out [person]", key="person")
    if policy.suppression.limit != 1 or policy.suppression.rows != "drop":
        raise PolicyError(
            "safepub drops rows at random, and a limit would look at the data: set [suppression] limit = 1 and"
            ' rows = "drop"',
            key="suppression.limit",
        )
    return policy.privacy[0]


def _levels(frequencies: Frequencies, stated: Mapping[str, int]) -> tuple[int, ...]:
    names = [hierarchy.attribute for hierarchy in frequencies.quasi]
    if set(names) != set(stated):
        raise PolicyError(
            f"levels of safepub must name every quasi-identifier once: {', '.join(names)}", key="privacy.levels"
        )
    for hierarchy in frequencies.quasi:
        level = stated[hierarchy.attribute]
        if level > hierarchy.height:
            raise PolicyError(
                f"level {level} of {hierarchy.attribute} does not exist; its levels are 0 to {hierarchy.height}",
                key="privacy.levels",
            )
        top = hierarchy.height if hierarchy.max_level is None else hierarchy.max_level
        if not hierarchy.min_level <= level <= top:
            raise PolicyError(
                f"level {level} of {hierarchy.attribute} is outside its floor and ceiling, "
                f"{hierarchy.min_level} to {top}",
                key="privacy.levels",
            )
    return tuple(stated[name] for name in names)


ALGORITHM = Algorithm(SafepubScheme, safepub, "truthful", offers=frozenset({MECHANISM}), by_level=True)
