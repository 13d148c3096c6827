"""All models by name, and what callers ask of any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.errors import DataError
from indistinct.models import (
    alpha_k,
    distinct_l,
    entropy_l,
    eps_i_k_anonymity,
    eps_m_anonymity,
    graded_l,
    joint_l,
    k_anonymity,
    ke_anonymity,
    p_sensitive_k,
    recursive_cl,
    t_closeness,
)
from indistinct.models.contract import Context, Criterion, Evaluation, K, Model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
        t_closeness.MODEL,
        ke_anonymity.MODEL,
        eps_m_anonymity.MODEL,
        graded_l.MODEL,
        eps_i_k_anonymity.MODEL,
    )
}


def evaluate(privacy: Privacy, classes: Classes, context: Context) -> Evaluation:
    """Judge a partition by one model, exactly.

    Raises DataError when there is no class: an empty release satisfies nothing. Not checked: that the
    classes hold the attributes of the model.
    """
    _refuse_empty(classes)
    return MODELS[privacy.model].evaluate(privacy, classes, context)


def achieved(name: str, attribute: str | None, classes: Classes, context: Context, **fixed: Any) -> Any:
    """Best parameters that a partition satisfies, without any threshold, as they stand in the JSON documents.

    ``fixed`` tells entries of one model apart: ``distance`` for ``t_closeness``, ``l`` for ``recursive_cl``
    (without it a list for l = 2..m), ``values`` for ``alpha_k``, ``attributes`` and ``kind`` for
    ``joint_l``.

    Raises DataError when there is no class.
    """
    _refuse_empty(classes)
    return MODELS[name].achieved(classes, context, attribute, **fixed)


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
