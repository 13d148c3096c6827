"""What a decision knows that looks at quasi-identifiers alone: counts and a policy without sensitive columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.models import record_of
from indistinct.policy.privacy import KAnonymity
from indistinct.tables.records import Frequencies

if TYPE_CHECKING:
    from indistinct.policy import Policy
    from indistinct.policy.privacy import Privacy


def size_of(model: Privacy) -> int:
    """Return the k of a model, 1 where it has none."""
    promise = record_of(model).promises(model)
    return max(1, min(promise.rows, promise.candidates))


def least_size(policy: Policy) -> int:
    """Return the largest k that the models of a policy ask for, 1 where they ask for none."""
    return max((size_of(model) for model in policy.privacy), default=1)


def blind_policy(policy: Policy, size: int) -> Policy:
    """Return a policy that asks of quasi-identifiers what this one does, of sizes ``size``, and nothing of values."""
    models = tuple(model for model in policy.privacy if not model.attributes_used)
    if size > max((size_of(model) for model in models), default=1):
        models = (KAnonymity(size), *models)
    recoding = policy.recoding
    if "robust" in type(recoding).model_fields:  # it is about sensitive values alone
        recoding = recoding.model_copy(update={"robust": False})
    return policy.model_copy(update={"privacy": models, "recoding": recoding})


def blind_frequencies(frequencies: Frequencies) -> Frequencies:
    """Return the counts of a table that has no sensitive columns, so that nothing can look at them."""
    persons = frequencies.persons
    if persons is not None:
        owner = frequencies.tuple_of[persons.cell].astype(np.int64)
        width = int(persons.person.max(initial=0)) + 1
        pair, place = np.unique(owner * width + persons.person, return_inverse=True)
        rows = np.bincount(place.reshape(-1), weights=persons.rows, minlength=len(pair)).astype(np.int64)
        cell, person = (pair // width).astype(np.int32), (pair % width).astype(np.int32)
        persons = replace(persons, cell=cell, person=person, rows=rows)
    return Frequencies(
        frequencies.quasi,
        (),
        frequencies.tuples,
        frequencies.tuple_rows,
        np.arange(len(frequencies.tuples) + 1, dtype=np.int64),
        {},
        persons,
        frequencies.population,
        frequencies.detailed,
        frequencies.nested,
    )
