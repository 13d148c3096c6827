"""Whether any release can satisfy the models: the class that holds the whole table is the test.

Models that are merge-closed are looked at: if some recoding without suppression satisfies them, so does the union of
its classes, the whole table. By persons that is so only where nobody has rows of different quasi-identifiers
(``shares``): elsewhere the whole table is judged by rows alone, since finer classes may hold where it fails. With
suppression, at least as many rows must go as have to be removed from the whole table until the rest satisfies
(``kernels.criteria.removable`` bounds that number from below).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.models.contract import Context
from indistinct.models.registry import MODELS, evaluate, is_merge_closed, is_of_classes, record_of, shortfall
from indistinct.tables.records import Classes, CoveredPopulation, Detail, Histogram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.policy.privacy import Privacy
    from indistinct.tables.records import Frequencies


def whole_table(frequencies: Frequencies) -> Classes:
    """Make one class of all rows of a table; it covers every value, and everybody of a population.

    Hierarchies may have no label for that: several labels on top, columns that are never changed.
    """
    from indistinct.tables.classes import classes_of
    from indistinct.tables.records import Assignment

    everything = np.zeros(len(frequencies.start) - 1, np.int32)
    plain = replace(frequencies, population=None, detailed=False, nested=False)
    root = classes_of(plain, Assignment.of_tuples(plain, everything))
    if frequencies.population is not None:
        people = int(frequencies.population.rows.sum())
        root = replace(root, population=CoveredPopulation(np.array([people], np.int64), 0, people))
    if frequencies.detailed:
        sizes = np.array([hierarchy.size for hierarchy in frequencies.quasi], np.int64)
        root = replace(root, detail=Detail(sizes.reshape(1, -1), sizes))
    return root


def feasible_root(privacies: Sequence[Privacy], context: Context, n: int) -> bool:
    """Whether one class of ``n`` rows with the reference distributions satisfies the models.

    Necessary for a release without suppression. Joint models are passed over (references hold no joint
    counts), so are those that are not merge-closed; sizes are rows: ``infeasible_reason`` has both.
    """
    histograms = {}
    for name, reference in context.references.items():
        value = np.flatnonzero(reference.counts)
        start = np.array([0, len(value)], np.int64)
        histograms[name] = Histogram(start, value.astype(np.int32), reference.counts[value])
    nothing = np.zeros(0, np.int64)
    root = Classes(
        np.array([n], np.int64),
        None,
        tuple(histograms),
        histograms,
        nothing.astype(np.int32),
        np.zeros((0, len(histograms)), np.int32),
        nothing,
    )
    return all(
        bool(evaluate(privacy, root, context).satisfied[0])
        for privacy in privacies
        if not record_of(privacy).is_joint and is_merge_closed(privacy) and is_of_classes(privacy)
    )


def infeasible_reason(privacies: Sequence[Privacy], frequencies: Frequencies, allowed: int | None = None) -> str | None:
    """Say why no recoding can satisfy the models: model, value and count; None when nothing forbids it.

    ``allowed`` is the number of rows that may be suppressed. None means "any number short of all": then
    only what no suppression can mend is a reason (too few rows, too few distinct values). Hierarchies are
    not looked at: fixed attributes or several top labels may make more impossible.
    """
    context = Context(frequencies.references)
    root = whole_table(frequencies)
    total = int(root.rows[0])
    for privacy in privacies:
        if not (is_merge_closed(privacy) and is_of_classes(privacy)):
            continue  # finer classes may hold where the whole table does not
        judged = root if is_merge_closed(privacy, spread=frequencies.is_spread) else replace(root, holdings=None)
        if bool(evaluate(privacy, judged, context).satisfied[0]):
            continue
        least = _least_removal(privacy, root, context)
        if least <= (total - 1 if allowed is None else allowed):
            continue
        sentence = f"{privacy.model}: {shortfall(privacy, judged, context)}{_blanks(privacy, root, context)}"
        if least < total and allowed:
            sentence += f"; at least {least} of {total} rows would have to be suppressed, and {allowed} may be"
        return sentence
    return None


def _blanks(privacy: Privacy, root: Classes, context: Context) -> str:
    """Say where a missing value is one of the values that a model counts."""
    if not MODELS[privacy.model].counts_values:
        return ""
    said = ""
    for name in privacy.attributes_used:
        own, missing = root.histograms[name], context.references[name].hierarchy.missing
        rows = int(own.count[own.value == missing].sum())
        said += f"; one of the values of {name} is the missing value, in {rows} rows" if rows else ""
    return said


def _least_removal(privacy: Privacy, root: Classes, context: Context) -> int:
    """Bound from below, by at least 1, the rows to remove from a whole table that violates a model."""
    from indistinct.kernels.criteria import removable

    bound = 1
    for criterion in record_of(privacy).criteria(privacy, context) or ():
        counts = np.zeros(1, np.int64)
        if criterion.attribute is not None:
            histogram = root.histograms[criterion.attribute]
            counts = np.zeros(context.references[criterion.attribute].hierarchy.size, np.int64)
            counts[histogram.value] = histogram.count
        found = removable(
            criterion.kind,
            criterion.parameters,
            counts,
            int(root.rows[0]),
            int(root.sizes[0]),
            criterion.shares,
            criterion.tree,
        )
        bound = max(bound, found)
    return bound
