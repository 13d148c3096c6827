"""The problem in numbers: tuples, what boxes cost, what classes must satisfy, what may never be mixed."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.local.costs import costs_of
from indistinct.algorithms.local.guards import guards_of
from indistinct.kernels.units import Units, reach_of, units_of
from indistinct.models import Context, criteria, is_merge_closed, record_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.kernels.boxes import Costs
    from indistinct.kernels.guards import Guards
    from indistinct.models import Criterion
    from indistinct.policy import Policy
    from indistinct.policy.privacy import Privacy
    from indistinct.tables.records import Frequencies

    Int64 = NDArray[np.int64]

# in tables of at most so many rows a thorough search costs next to nothing
SMALL = 5000


@dataclass(frozen=True)
class Problem:
    """What the steps of the search share.

    ``tuples``: one unit for each distinct tuple. ``block`` int64[u]: tuples of different blocks may never be in
    one class. ``allowed``: rows that may be suppressed. ``guards`` hold what has a compiled form; where a model
    has none, the exact test at the end decides alone.
    """

    frequencies: Frequencies
    privacy: tuple[Privacy, ...]
    context: Context
    allowed: int
    costs: Costs
    guards: Guards
    tuples: Units
    block: Int64


def problem_of(frequencies: Frequencies, policy: Policy) -> Problem:
    """Bring counts and policy into the form that kernels read."""
    context = Context(frequencies.references)
    compiled = [criterion for privacy in policy.privacy for criterion in _guides(privacy, context)]
    names = [hierarchy.attribute for hierarchy in frequencies.sensitive]
    persons = frequencies.persons
    spanning = 0 if persons is None else persons.spanning
    guards = guards_of(compiled, names, [hierarchy.size for hierarchy in frequencies.sensitive], spanning)
    values = np.ascontiguousarray(frequencies.codes[:, len(frequencies.quasi) :])
    size = frequencies.tuple_rows if persons is None else persons.single + np.diff(persons.start)
    people = (None, None) if persons is None else (persons.start, persons.ids)
    mass = np.stack([frequencies.tuple_rows, size], axis=1)
    costs = costs_of(frequencies.quasi)
    return Problem(
        frequencies,
        policy.privacy,
        context,
        floor(policy.suppression.limit * frequencies.total),
        costs,
        guards,
        units_of(reach_of(frequencies.tuples, costs), mass, frequencies.start, values, frequencies.rows, *people),
        blocks_of(frequencies),
    )


def is_small(problem: Problem) -> bool:
    """Whether the table is one in which a thorough search costs next to nothing."""
    return problem.frequencies.total <= SMALL


def _guides(privacy: Privacy, context: Context) -> tuple[Criterion, ...]:
    """Compile a model, or what follows from it: the exact test has the last word anyway."""
    model = record_of(privacy)
    compiled = criteria([privacy], context) if is_merge_closed(privacy) else None
    if compiled is None and model.necessary is not None:
        return model.necessary(privacy, context)
    return compiled or ()


def blocks_of(frequencies: Frequencies) -> Int64:
    """Number the combinations of top labels: an attribute without a root keeps its top labels apart."""
    tops = [
        hierarchy.levels[-1].node_of[frequencies.tuples[:, a]]
        for a, hierarchy in enumerate(frequencies.quasi)
        if not hierarchy.is_range and hierarchy.levels[-1].node_of.max(initial=0) > 0
    ]
    if not tops:
        return np.zeros(len(frequencies.tuples), np.int64)
    return np.unique(np.stack(tops, axis=1), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
