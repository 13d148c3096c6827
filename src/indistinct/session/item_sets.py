"""Set-valued columns in releases: the level that ``km`` publishes, and the sets that ``km_anonymity`` judges."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms import require_fit
from indistinct.algorithms.km import item_hierarchy, refuse_persons, require_alone
from indistinct.hierarchies.suppression import ROOT
from indistinct.hierarchies.taxonomy import read_taxonomy
from indistinct.policy.privacy import KmAnonymity
from indistinct.tables.classes import recoding_of
from indistinct.tables.count import rebound
from indistinct.tables.item_sets import item_sets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.policy import Policy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.records import Assignment, Frequencies, ItemSets


def with_item_levels(prepared: Prepared) -> Prepared:
    """Give the columns of ``km_anonymity`` their level of generalized items; other policies change nothing.

    Raises PolicyError when the algorithm cannot hold the models, and as ``algorithms.km.item_hierarchy`` does.
    """
    policy, counted = prepared.policy, prepared.counted
    models = [model for model in policy.privacy if isinstance(model, KmAnonymity)]
    if not models:
        return prepared
    require_fit(policy)
    require_alone(policy)
    for name in policy.item_columns:
        names = [hierarchy.attribute for hierarchy in counted.frequencies.quasi]
        position, attribute = names.index(name), policy.attributes[name]
        column = counted.frequencies.quasi[position]
        rows = np.zeros(column.size, np.int64)
        np.add.at(rows, counted.frequencies.codes[:, position], counted.frequencies.rows)
        hierarchy = item_hierarchy(
            column,
            rows,
            read_taxonomy(policy.locate((attribute.spec or {})["file"])),
            str(attribute.separator),
            [(model.k, model.m) for model in models if model.attribute == name],
            (policy.output.suppressed_token, ROOT),
        )
        counted = rebound(counted, position, hierarchy)
    return replace(prepared, counted=counted)


def sets_of_labels(
    policy: Policy, columns: Mapping[str, tuple[Sequence[str | None], NDArray[np.integer]]]
) -> dict[str, ItemSets]:
    """Split the labels of set-valued columns that models look at.

    ``columns`` has the labels of each published quasi-identifier, and which of them each class has. Raises
    UnsupportedError where rows belong to persons.
    """
    item_columns = policy.item_columns
    if item_columns:
        refuse_persons(policy)
    return {
        name: item_sets(columns[name][0], str(policy.attributes[name].separator), columns[name][1])
        for name in item_columns
        if name in columns
    }


def sets_of_assignment(policy: Policy, frequencies: Frequencies, assignment: Assignment) -> dict[str, ItemSets]:
    """Split the labels that the classes of an assignment publish in set-valued columns."""
    names = [hierarchy.attribute for hierarchy in frequencies.quasi]
    item_columns = [name for name in policy.item_columns if name in names]
    if not item_columns or not assignment.classes:
        return {}
    recoding = recoding_of(frequencies, assignment)
    return sets_of_labels(policy, {name: recoding.labels(names.index(name)) for name in item_columns})
