"""All models by name, and what callers ask of any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import DataError
from indistinct.models import (
    alpha_k,
    average_risk,
    beta_likeness,
    delta_disclosure,
    delta_presence,
    distinct_l,
    entropy_l,
    eps_i_k_anonymity,
    eps_m_anonymity,
    graded_l,
    joint_l,
    k_anonymity,
    k_map,
    ke_anonymity,
    km_anonymity,
    m_invariance,
    n_t_closeness,
    npd_recursive,
    p_sensitive_k,
    pd_recursive,
    population_uniqueness,
    profitability,
    recursive_cl,
    safepub,
    sample_uniqueness,
    shares,
    t_closeness,
    tiered,
)
from indistinct.models.contract import Context, Criterion, Evaluation, K, Model
from indistinct.models.histograms import only

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.policy.privacy import Privacy
    from indistinct.tables.records import Classes

MODELS: Mapping[str, Model] = {
    model.name: model
    for model in (
        k_anonymity.MODEL,
        alpha_k.MODEL,
        p_sensitive_k.MODEL,
        distinct_l.MODEL,
        entropy_l.MODEL,
        recursive_cl.MODEL,
        joint_l.MODEL,
        pd_recursive.MODEL,
        npd_recursive.MODEL,
        t_closeness.MODEL,
        n_t_closeness.MODEL,
        ke_anonymity.MODEL,
        eps_m_anonymity.MODEL,
        graded_l.MODEL,
        eps_i_k_anonymity.MODEL,
        beta_likeness.MODEL,
        delta_disclosure.MODEL,
        k_map.MODEL,
        delta_presence.MODEL,
        average_risk.MODEL,
        sample_uniqueness.MODEL,
        population_uniqueness.MODEL,
        profitability.MODEL,
        km_anonymity.MODEL,
        tiered.MODEL,
        safepub.MODEL,
        m_invariance.MODEL,
    )
}


def evaluate(privacy: Privacy, classes: Classes, context: Context) -> Evaluation:
    """Judge a partition by one model, exactly: one of shares by rows and by persons, where there is a person key.

    Raises DataError when there is no class: an empty release satisfies nothing. Not checked: that the
    classes hold the attributes of the model.
    """
    _refuse_empty(classes)
    return shares.evaluate(MODELS[privacy.model], privacy, classes, context)


def achieved(name: str, attribute: str | None, classes: Classes, context: Context, **fixed: Any) -> Any:
    """Best parameters that a partition satisfies, without any threshold, as they stand in the JSON documents.

    ``fixed`` tells entries of one model apart: ``distance`` for ``t_closeness``, ``l`` for ``recursive_cl``
    (without it a list for l = 2..m), ``values`` for ``alpha_k``, ``attributes`` and ``kind`` for
    ``joint_l``.

    Raises DataError when there is no class.
    """
    _refuse_empty(classes)
    return shares.achieved(MODELS[name], classes, context, attribute, **fixed)


def shortfall(privacy: Privacy, root: Classes, context: Context) -> str:
    """Say why the class that holds the whole table fails a model."""
    return shares.shortfall(MODELS[privacy.model], privacy, root, context)


def is_merge_closed(privacy: Privacy, *, spread: bool = False) -> bool:
    """Whether the union of two classes that satisfy the model with these parameters satisfies it (M1).

    ``spread``: also where the two share persons (``Frequencies.is_spread``).
    """
    model = MODELS[privacy.model]
    if spread and not model.merges_persons(privacy):
        return False
    return model.merge_closed if model.closure is None else model.closure(privacy)[0]


def depends_on_persons(privacy: Privacy) -> bool:
    """Whether the verdict may depend on who has which rows, beyond how many persons there are."""
    return MODELS[privacy.model].by_persons(privacy)


def is_absorbing(privacy: Privacy) -> bool:
    """Whether a class that satisfies the model with these parameters does so with any rows added (M2)."""
    return MODELS[privacy.model].absorbs(privacy)


def is_of_classes(privacy: Privacy) -> bool:
    """Whether each class is judged alone, whatever the others are."""
    return MODELS[privacy.model].scope != "release"


def satisfied(models: Sequence[Privacy], classes: Classes, context: Context) -> NDArray[np.bool_]:
    """bool[g]: the classes that can stay, so that what stays satisfies all models together.

    Classes that a model of scope *class* refuses go first. Models of scope *release* then judge what is left, in
    turn, until none of them sends anything away. Nothing may stay.
    """
    kept = np.ones(len(classes), np.bool_)
    whole = [privacy for privacy in models if not is_of_classes(privacy)]
    for privacy in models:
        if is_of_classes(privacy):
            kept &= evaluate(privacy, classes, context).satisfied
    changed = bool(whole)
    while changed and kept.any():
        changed = False
        for privacy in whole:
            places = np.flatnonzero(kept)
            if not len(places):
                break
            answer = evaluate(privacy, only(classes, kept), context).satisfied
            if not answer.all():
                kept[places[~answer]] = False
                changed = True
    return kept


def criteria(models: Sequence[Privacy], context: Context) -> tuple[Criterion, ...] | None:
    """Compile the conjunction of several models; None when one of them has no compiled form.

    Only the largest of several size conditions is kept. A model that every class satisfies adds nothing.
    """
    found: list[Criterion] = []
    for privacy in models:
        compiled = MODELS[privacy.model].criteria(privacy, context)
        if compiled is None:
            return None
        found += compiled
    sizes = [criterion for criterion in found if criterion.kind == K]
    others = [criterion for criterion in found if criterion.kind != K]
    return (*sorted(sizes, key=lambda criterion: -criterion.parameters[0])[:1], *others)


def _refuse_empty(classes: Classes) -> None:
    if len(classes) == 0:
        raise DataError("the release holds no rows, and an empty release satisfies nothing; suppress fewer rows")
