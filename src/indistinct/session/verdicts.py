"""Verdicts and measures of classes, as the documents of audit, anonymize and verify hold them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import UnsupportedError
from indistinct.models import MODELS, achieved, evaluate, is_merge_closed, is_of_classes, record_of
from indistinct.models.contract import Column
from indistinct.models.exact import rational
from indistinct.notices import Notice, Sentence
from indistinct.policy.parameters import Privacy
from indistinct.policy.privacy import MInvariance
from indistinct.session.suitability import suitability
from indistinct.tables.order import distinct
from indistinct.tables.records import SUPPRESSED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indistinct.models import Context, Evaluation
    from indistinct.policy import Policy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.records import Assignment, Classes, Frequencies

APART = ("attribute", "attributes", "distance", "kind", "estimator", "values", "absent", "base", "Y", "W")


def judge(
    policy: Policy, classes: Classes, context: Context
) -> tuple[list[dict[str, Any]], list[tuple[str, Evaluation]]]:
    """Evaluate the models of a policy: one entry for the document and one evaluation for each."""
    entries: list[dict[str, Any]] = []
    evaluations: list[tuple[str, Evaluation]] = []
    for model in policy.privacy:
        evaluation = evaluate(model, classes, context)
        violating = ~evaluation.satisfied
        entries.append(
            {
                **required(model),
                "achieved": evaluation.achieved,
                **({} if evaluation.unit is None else {"unit": evaluation.unit}),
                "satisfied": bool(evaluation.satisfied.all()),
                "violating_classes": int(violating.sum()),
                "violating_rows": int(classes.rows[violating].sum()),
                "reason": evaluation.reason,
            }
        )
        evaluations.append((model.model, evaluation))
    return entries, evaluations


def refuse_mechanisms(policy: Policy) -> None:
    """Raise UnsupportedError for models that no table alone shows: how it was made, or what went out before it."""
    for model in policy.privacy:
        if record_of(model).scope == "sequence":
            raise UnsupportedError(
                f"{model.model} is a guarantee of a release together with all before it, which no table alone shows; "
                "anonymize gives it, and verify with the original, the policy and its ledger decides it"
            )
        if record_of(model).scope == "mechanism":
            raise UnsupportedError(
                f"{model.model} is a guarantee of how a table is made, which no table shows; only anonymize can give it"
            )


def refuse_sequences(policy: Policy) -> None:
    """Raise UnsupportedError for models of a release together with all before it, where these are not looked at."""
    for model in policy.privacy:
        if record_of(model).scope == "sequence":
            raise UnsupportedError(
                f"{model.model} is decided with the ledger of earlier releases, which anonymize, verify and releases "
                "read; other commands cannot say anything about it"
            )


def required(model: Privacy) -> dict[str, Any]:
    """Name a model, what tells it apart from others of its name, and what it requires."""
    apart: dict[str, Any] = {"model": model.model}
    required: dict[str, Any] = {}
    for name in type(model).model_fields:
        value = getattr(model, name)
        if name in APART:
            apart[name] = _plain(value)
        elif name != "model" and value is not None:
            required[name] = _plain(value)
    return {**apart, "required": required}


def _plain(value: Any) -> Any:
    """Write a parameter as JSON has it: fractions with their decimals, tuples as lists."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Privacy):
        return {name: _plain(inner) for name in type(value).model_fields if (inner := getattr(value, name)) is not None}
    return rational(value) if isinstance(value, Fraction) else value


def best_of_each(policy: Policy, classes: Classes, context: Context) -> list[dict[str, Any]]:
    """Report the best parameters of every model that the table satisfies, when nothing is required."""
    columns = [(name, _column(policy, name, context)) for name in classes.sensitive]
    wanted: list[tuple[str, str | None, Mapping[str, Any]]] = [
        (model.name, name, fixed)
        for name, column in [(None, None), *columns]
        for model in MODELS.values()
        for fixed in model.measured(column)
    ]
    return [
        {
            "model": model,
            **({} if attribute is None else {"attribute": attribute}),
            **fixed,
            "required": None,
            "achieved": achieved(model, attribute, classes, context, **fixed),
            "satisfied": None,
        }
        for model, attribute, fixed in wanted
    ]


def _column(policy: Policy, name: str, context: Context) -> Column:
    """Say what a sensitive column can be measured by; without a place for missing values it has no order."""
    attribute, reference = policy.attributes.get(name), context.references[name]
    placed = reference.hierarchy.missing < 0 or bool(reference.missing_at)
    ordered = attribute is not None and attribute.is_ordered and placed
    return Column(is_ordered=ordered, has_tree=reference.hierarchy.height > 0)


def persons_spread(frequencies: Frequencies, assignment: Assignment) -> int | None:
    """Count the persons whose rows lie in several classes: who knows two of their rows may narrow them down."""
    persons = frequencies.persons
    if persons is None:
        return None
    class_of_tuple = np.full(len(frequencies.start) - 1, SUPPRESSED, np.int64)
    class_of_tuple[frequencies.tuple_of[assignment.cell]] = assignment.class_of
    owners = np.repeat(class_of_tuple, np.diff(persons.start))
    published, width = owners != SUPPRESSED, assignment.classes + 1
    pairs = distinct(
        persons.ids[published].astype(np.int64) * width + owners[published], max(persons.spanning, 1) * width
    )
    return int((np.bincount(pairs // width) > 1).sum()) if len(pairs) else 0


def unit_of(frequencies: Frequencies) -> dict[str, Any]:
    """Say how many persons there are, if that is known, and what sizes count."""
    persons = frequencies.persons
    return {"persons": None, "unit": "rows"} if persons is None else {"persons": persons.total, "unit": "persons"}


def weaknesses(prepared: Prepared, *, earlier_releases: int = 0) -> list[Notice]:
    """Say where the models of the policy are the wrong tool for a table, or a weak one (``suitability``)."""
    policy = prepared.policy
    numeric = [
        name for name, attribute in policy.attributes.items() if attribute.type in ("integer", "decimal", "date")
    ]
    return _not_merge_closed(policy) + suitability(
        prepared.counted.frequencies,
        policy.privacy,
        numeric,
        rows_per_person=int(prepared.counted.rows_of_persons.max(initial=1)),
        earlier_releases=earlier_releases,
    )


def _not_merge_closed(policy: Policy) -> list[Notice]:
    """Say for which models coarser classes may fail where finer ones hold."""
    return [
        Notice(
            "not-merge-closed",
            model.attributes_used[0] if model.attributes_used else None,
            Sentence(
                "{model} with these parameters can hold for two classes and fail for their union: coarser is not "
                "safer, and a search may find no release where one exists",
                model=model.model,
            ),
        )
        for model in policy.privacy
        if is_of_classes(model) and record_of(model).scope != "sequence" and not is_merge_closed(model)
    ]


def invariant_model(policy: Policy) -> MInvariance | None:
    """Return the m-invariance that a policy asks for, if it does."""
    return next((model for model in policy.privacy if isinstance(model, MInvariance)), None)
