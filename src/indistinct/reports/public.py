"""The public summary: what may stand beside the published file.

It is a function of the published table, of the policy, and of how many rows went in and how many were suppressed, which
the manifest says too. Two tables that lead to the same published table under one policy give the same public summary,
so nothing in it tells anything about a suppressed row. Left out for that reason: exact losses (they depend on the
domain, which a suppressed row may span), what was reached against the distribution of the input, warnings, counts of
persons. Left out for others: paths, example rows, values that the policy lists (orders, domains, alpha values).
Values of fewer rows than the largest size that the policy asks for (at least 5) are shown together.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tomlkit

from indistinct.algorithms import form_of
from indistinct.errors import UnsupportedError
from indistinct.models import record_of
from indistinct.policy.public import public_form
from indistinct.proof.public_document import PublicPolicy
from indistinct.reports.attackers import attacks_of_file, check_attacks, risk_of_file
from indistinct.reports.front import public_front, rows_by_class
from indistinct.reports.summary import columns, proof, requirements, size_histogram
from indistinct.session.verdicts import required as asked_of
from indistinct.tables.two_tables import GROUP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indistinct.decision.decide import Decision
    from indistinct.policy import Policy
    from indistinct.publish.anonymize import Release

LEAST = 5
SHOWN = 12
VERDICT = ("model", "attribute", "attributes", "distance", "kind", "estimator", "required", "satisfied")


def check_public(policy: Policy) -> None:
    """Raise UnsupportedError for a model whose public report would tell what it protects."""
    for model in policy.privacy:
        if record_of(model).scope == "mechanism":
            raise UnsupportedError(
                f"there is no public report under {model.model}, whose row counts are protected; publish the manifest "
                "instead, and leave the public report out"
            )


def public(release: Release, attacks: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Collect the public summary of a release.

    Of a document of ``attack`` it holds the attacks that look at the published table alone.

    Raises UnsupportedError for a model of scope mechanism: there the number of dropped rows is itself protected.
    Raises DataError for a document of ``attack`` about another table.
    """
    check_public(release.policy)
    decision, document = release.decision, release.document
    if attacks is not None:
        check_attacks(attacks, (document["published_rows"],))
    outputs = [Path(path) for path in document["outputs"]]
    _, number, repeat = rows_by_class(decision)
    alike = np.bincount(number, repeat).astype(np.int64)
    sizes = alike if form_of(decision.policy) == "one_table" else _group_sizes(decision)
    return {
        "kind": "public",
        "form": form_of(decision.policy),
        "outputs": [path.name for path in outputs],
        **requirements(decision.policy),
        "declares": document["declares"],
        "transformed": document.get("transformed", []),
        "models": _models(release.policy, satisfied=document["satisfied"]),
        "satisfied": document["satisfied"],
        "verification": {key: document["verification"][key] for key in ("rows_match", "coverage")},
        "counterfeits": document.get("counterfeits"),
        "rows": document["rows"],
        "published_rows": document["published_rows"],
        "suppressed_rows": document["suppressed_rows"],
        "left_out_rows": document["left_out_rows"],
        "suppressed": document["suppressed"],
        "classes": len(sizes),
        "unit": "rows",
        "columns": public_columns(decision),
        "sizes": size_histogram(sizes),
        "smallest_class": int(sizes.min(initial=document["published_rows"])),
        "guaranteed": _guaranteed(decision.policy, sizes),
        # the file does not tell how many persons stand behind a group
        "risk": risk_of_file(alike) if decision.policy.person is None and len(alike) else None,
        "attacks_document": None if attacks is None else attacks_of_file(attacks),
        "values_modelled": any(model.attributes_used for model in decision.policy.privacy),
        "distributions": _published_distributions(decision),
        "policy": _policy_text(decision.policy),
        **public_front(decision),
        **proof(document, decision.policy),
    }


def _models(policy: Policy, *, satisfied: bool) -> list[dict[str, Any]]:
    """What the public form of the policy asks, which lists no private values; all of it holds, or nothing got out."""
    form = PublicPolicy(public_form(policy)).policy
    entries = [{**asked_of(model), "satisfied": satisfied} for model in form.privacy]
    return [{key: entry[key] for key in VERDICT if key in entry} for entry in entries]


def public_columns(decision: Decision) -> list[dict[str, Any]]:
    """Columns without what needs the original values: which labels stand for one value only."""
    published, token = decision.published, decision.policy.output.suppressed_token
    stars = {
        column.name: sum(
            int(published.repeat[column.codes == number].sum())
            for number, text in enumerate(column.values.to_pylist())
            if text == token
        )
        for column in published.columns
    }
    keys = ("name", "role", "done", "transformed", "hierarchy", "labels")
    # which columns that nobody declared the input had besides is not public
    declared = {
        *(column.name for column in published.columns),
        *decision.policy.attributes,
        decision.prepared.roles.person,
    }
    return [
        {**{key: entry[key] for key in keys if key in entry}, "starred": stars.get(entry["name"], 0)}
        for entry in columns(decision, None)
        if entry["name"] in declared
    ]


def _guaranteed(policy: Policy, sizes: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, Any] | None:
    """Least size of a group that the reader may rely on: rows counted in the file, or the persons that were asked for.

    The file does not tell how many persons stand behind a group.
    """
    if form_of(policy) != "one_table":
        return None  # groups hide which value belongs to which row, not whose row it is
    if policy.person is None:
        return {"size": int(sizes.min()), "unit": "rows"} if len(sizes) else None
    required_k = [int(model.k) for model in policy.privacy if hasattr(model, "k")]
    return {"size": max(required_k), "unit": "persons"} if required_k else None


def _group_sizes(decision: Decision) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Sizes in rows of the published groups, as anyone can count them in the file."""
    (group,) = [column for column in decision.published.columns if column.name == GROUP]
    return np.bincount(group.codes, decision.published.repeat).astype(np.int64)


def _published_distributions(decision: Decision) -> list[dict[str, Any]]:
    """Published labels of quasi-identifiers and sensitive columns with their rows; rare ones together."""
    published, policy = decision.published, decision.policy
    wanted = [LEAST, *(int(m.k) for m in policy.privacy if hasattr(m, "k"))]
    least = max(wanted)
    shown = {hierarchy.attribute for hierarchy in (*decision.frequencies.quasi, *decision.frequencies.sensitive)}
    found = []
    for column in published.columns:
        if column.name not in shown:
            continue
        rows = np.bincount(column.codes + 1, published.repeat, len(column.values) + 1).astype(np.int64)
        texts = [None, *column.values.to_pylist()]
        order = [number for number in np.argsort(-rows, kind="stable").tolist() if rows[number] >= least][:SHOWN]
        rest = [number for number in range(len(rows)) if number not in order and rows[number] > 0]
        values = ["(missing)" if texts[number] is None else str(texts[number]) for number in order]
        counts = [float(rows[number]) for number in order]
        if rest:
            values.append(f"{len(rest)} others")
            counts.append(float(rows[rest].sum()))
        found.append({"column": column.name, "values": values, "after": counts})
    return found


def _policy_text(policy: Policy) -> str:
    """The policy without paths, places of keys and listed values: what its fingerprint is taken of."""
    return tomlkit.dumps(public_form(policy))
