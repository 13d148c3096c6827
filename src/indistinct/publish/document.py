"""What is said of a release before its file is written and verified: the internal document of the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct import losses
from indistinct.algorithms import declared, form_of
from indistinct.models import Context
from indistinct.models.safepub import budget
from indistinct.notices import Notice, Sentence
from indistinct.policy.privacy import Safepub
from indistinct.policy.recoding import option
from indistinct.proof.groups import PROTECTS, weakness
from indistinct.proof.invariance import NO_CLAIM
from indistinct.publish.ages import age_notices
from indistinct.publish.manifest import earlier_releases
from indistinct.session.blanks import GROUPS, blank_notices, namer
from indistinct.session.person_shares import person_shares
from indistinct.session.verdicts import persons_spread, unit_of, weaknesses
from indistinct.tables.classes import classes_of, groups_of

if TYPE_CHECKING:
    from pathlib import Path

    from indistinct.decision.decide import Decision
    from indistinct.policy import Policy

NEARLY_LOST = 0.9


def document_of(decision: Decision, output: Path | None) -> dict[str, Any]:
    """Collect what the decision tells; models, verification, outputs and seconds are filled in later."""
    prepared, policy, frequencies = decision.prepared, decision.policy, decision.frequencies
    assignment = decision.assignment
    notices = [
        *prepared.notices,
        *weaknesses(prepared, earlier_releases=0 if output is None else earlier_releases(output)),
        *(Notice("search", None, note) for note in assignment.notes),
    ]
    context = Context(frequencies.references)
    if assignment.group_of is None:
        notices += blank_notices(policy, classes_of(frequencies, assignment), context, namer(frequencies, assignment))
    else:  # groups get their numbers when they are written
        notices += blank_notices(policy, groups_of(frequencies, assignment), context, of=GROUPS)
    if prepared.counted.left_out:
        message = Sentence(
            "{n} rows with a missing sensitive value were left out, as the policy says", n=prepared.counted.left_out
        )
        notices.append(Notice("left-out", None, message))
    if declared(policy) == "perturbing":
        message = Sentence(
            "quasi-identifiers are the {aggregate} of their class (median or mode where there is no mean): a published "
            "cell need not cover its original, and losses are those of the ranges of the classes",
            aggregate=option(policy.recoding, "aggregate"),
        )
        notices.append(Notice("perturbing", None, message))
    names = [hierarchy.attribute for hierarchy in frequencies.quasi]
    grouped, adding = assignment.group_of is not None, assignment.counterfeits is not None
    if adding:
        added = 0 if assignment.counterfeits is None else len(assignment.counterfeits)
        message = Sentence(
            "{n} of {rows} published rows are counterfeits, which are nobody's: that every row stands for somebody is "
            "not claimed",
            n=added,
            rows=decision.published.rows,
        )
        notices.append(Notice("counterfeits", None, message))
    if grouped:
        notices.append(weakness(decision.published, names))
    spending = [model for model in policy.privacy if isinstance(model, Safepub)]
    for table in (decision.published, *([] if decision.values is None else [decision.values])):
        notices += age_notices(table, policy)
    loss = _loss(decision)
    notices += _lost_columns(loss)
    return {
        "satisfied": False,
        "rows": prepared.rows,
        "published_rows": decision.published.rows,
        "suppressed_rows": decision.suppressed,
        "suppressed": policy.suppression.rows,
        "left_out_rows": prepared.counted.left_out,
        **({"suppressed_because": dict(assignment.reasons)} if grouped or adding else {}),
        "classes": decision.alike.classes,
        **({"groups": assignment.groups} if grouped else {}),
        **unit_of(frequencies),
        "persons_in_several_classes": persons_spread(frequencies, assignment),
        "person_shares": person_shares(classes_of(frequencies, assignment)) if frequencies.weighs_persons else [],
        "engine": prepared.engine.name,
        "algorithm": policy.recoding.algorithm,
        "declares": declared(policy),
        "form": form_of(policy),
        **({} if policy.output.ranges == "label" else {"ranges": policy.output.ranges}),
        **({"protects": PROTECTS} if grouped else {}),
        **({"no_claim": NO_CLAIM} if adding else {}),
        "proven_optimal": assignment.proven,
        "seconds": 0.0,
        "phases": {},
        "loss": loss,
        "levels": None if assignment.levels is None else dict(zip(names, assignment.levels, strict=True)),
        **({"budget": budget(spending[0])} if spending else {}),
        "models": [],
        "verification": {"rows_match": False, "coverage": "not proven"},
        "outputs": [],
        "manifest": None,
        "sha256": {},
        "warnings": [notice.document() for notice in notices],
    }


def qualify(document: dict[str, Any]) -> None:
    """Claim no coverage of the original in the document of a release that was made of a perturbed table."""
    if "transformed" in document and document["declares"] == "perturbing":
        proof = document["verification"]
        proof["coverage_of_transformed"], proof["coverage"] = proof["coverage"], "not proven"


def _lost_columns(loss: dict[str, Any]) -> list[Notice]:
    """Name the columns that say almost nothing any more."""
    return [
        Notice(
            "lost-column",
            name,
            Sentence(
                '"{name}" has lost {share:.0f} % of its detail: leave it out, give it finer levels or a range, or ask '
                "for less protection",
                name=name,
                share=100 * share,
            ),
        )
        for name, share in loss["lm_by_attribute"].items()
        if share > NEARLY_LOST
    ]


def _loss(decision: Decision) -> dict[str, Any]:
    loss = losses.summary(decision.frequencies, decision.assignment, decision.recoding)
    largest_k = max((model.k for model in decision.policy.privacy if hasattr(model, "k")), default=None)
    if largest_k is not None:  # compared with the k asked for, so that runs can be compared
        value = float(losses.normalised_class_size(decision.assignment, largest_k))
        loss["normalised_class_size"] = {"k": largest_k, "value": value}
    return loss


def record_acceptance(document: dict[str, Any], policy: Policy, by: str | None) -> None:
    """Write into a document who accepted the open suggestions of a draft, if somebody did and there are some."""
    if by is None or not policy.open_marks:
        return
    document["accepted_draft"] = by
    message = Sentence(
        "{count} settings of the policy are suggestions of a draft, accepted as they stand by {name}",
        count=len(policy.open_marks),
        name=by,
    )
    document["warnings"].append(Notice("draft", None, message).document())
