"""All models by name, and what callers ask of any of them.

The name of a model is that of its parameters (``policy.privacy``) and of its module here, which holds its record.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import DataError
from indistinct.models import shares
from indistinct.models.contract import Context, Criterion, Evaluation, K, Model
from indistinct.models.histograms import only
from indistinct.policy.privacy import MODEL_CLASSES
from indistinct.policy.problems import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.policy.privacy import Privacy
    from indistinct.tables.records import Classes


def _record(options: type[Privacy]) -> Model:
    """Take the record of a model from the module of its name."""
    found: Model = import_module(f"indistinct.models.{name_of(options)}").MODEL
    if found.options is not options:
        raise TypeError(f"the module of {name_of(options)} holds the record of {found.name}")
    return found


MODELS: Mapping[str, Model] = {name_of(options): _record(options) for options in MODEL_CLASSES}


def record_of(privacy: Privacy) -> Model:
    """Return the record of a model that a policy asks for."""
    return MODELS[privacy.model]


def evaluate(privacy: Privacy, classes: Classes, context: Context) -> Evaluation:
    """Judge a partition by one model, exactly: one of shares by rows and by persons, where there is a person key.

    Raises DataError when there is no class: an empty release satisfies nothing. Not checked: that the
    classes hold the attributes of the model.
    """
    _refuse_empty(classes)
    return shares.evaluate(record_of(privacy), privacy, classes, context)


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
    return shares.shortfall(record_of(privacy), privacy, root, context)


def is_merge_closed(privacy: Privacy, *, spread: bool = False) -> bool:
    """Whether the union of two classes that satisfy the model with these parameters satisfies it (M1).

    ``spread``: also where the two share persons (``Frequencies.is_spread``).
    """
    model = record_of(privacy)
    if spread and not model.merges_persons(privacy):
        return False
    return model.merge_closed if model.closure is None else model.closure(privacy)[0]


def depends_on_persons(privacy: Privacy) -> bool:
    """Whether the verdict may depend on who has which rows, beyond how many persons there are."""
    return record_of(privacy).by_persons(privacy)


def is_absorbing(privacy: Privacy) -> bool:
    """Whether a class that satisfies the model with these parameters does so with any rows added (M2)."""
    return record_of(privacy).absorbs(privacy)


def is_of_classes(privacy: Privacy) -> bool:
    """Whether each class is judged alone, whatever the others are."""
    return record_of(privacy).scope != "release"


def satisfied(models: Sequence[Privacy], classes: Classes, context: Context) -> NDArray[np.bool_]:
    """bool[g]: the classes that can stay, so that what stays satisfies all models together.

    Classes that a model of scope *class* refuses go first. Models of scope *release* then judge what is left, in
    turn, until none of them sends anything away. Nothing may stay.
    """
    chosen = np.ones(len(classes), np.bool_)
    whole = [privacy for privacy in models if not is_of_classes(privacy)]
    for privacy in models:
        if is_of_classes(privacy):
            chosen &= evaluate(privacy, classes, context).satisfied
    changed = bool(whole)
    while changed and chosen.any():
        changed = False
        for privacy in whole:
            places = np.flatnonzero(chosen)
            if not len(places):
                break
            answer = evaluate(privacy, only(classes, chosen), context).satisfied
            if not answer.all():
                chosen[places[~answer]] = False
                changed = True
    return chosen


def criteria(models: Sequence[Privacy], context: Context) -> tuple[Criterion, ...] | None:
    """Compile the conjunction of several models; None when one of them has no compiled form.

    Only the largest of several size conditions is kept. A model that every class satisfies adds nothing.
    """
    found: list[Criterion] = []
    for privacy in models:
        compiled = record_of(privacy).criteria(privacy, context)
        if compiled is None:
            return None
        found += compiled
    sizes = [criterion for criterion in found if criterion.kind == K]
    others = [criterion for criterion in found if criterion.kind != K]
    return (*sorted(sizes, key=lambda criterion: -criterion.parameters[0])[:1], *others)


def _refuse_empty(classes: Classes) -> None:
    if len(classes) == 0:
        raise DataError("the release holds no rows, and an empty release satisfies nothing; suppress fewer rows")
