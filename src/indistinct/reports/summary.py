"""The internal summary of a release: all that the report shows, as plain data without words of any language.

``risk`` and ``attacks`` are documents of ``indistinct risk`` and ``indistinct attack``, shown where they are given.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct import losses
from indistinct.algorithms import form_of
from indistinct.assess.side_by_side import column_axis
from indistinct.attacks.told_by_merging import told_by_merging
from indistinct.policy.recoding import option
from indistinct.reports.attackers import check_attacks, check_risk, risk_before_and_after
from indistinct.reports.front import internal_front
from indistinct.tables.classes import classes_of
from indistinct.tables.records import SUPPRESSED
from indistinct.utility import TablePair
from indistinct.utility.distributions import distributions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from indistinct.decision.decide import Decision
    from indistinct.policy import Policy
    from indistinct.policy.transforms import Transform
    from indistinct.publish.anonymize import Release

    Int64 = NDArray[np.int64]

WORST = 5
PACKAGES = ("indistinct", "numpy", "pyarrow", "duckdb")


def summary(
    release: Release, *, risk: Mapping[str, Any] | None = None, attacks: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Collect the internal summary of a release.

    Raises DataError for a document of ``risk`` or ``attack`` about another table.
    """
    decision, document = release.decision, release.document
    outputs = [Path(path) for path in document["outputs"]]
    form = form_of(decision.policy)
    sizes = _sizes(decision)
    if risk is not None:
        check_risk(risk, (document["rows"], document["published_rows"]))
    if attacks is not None:
        check_attacks(attacks, (document["published_rows"],))
    return {
        "kind": "internal",
        "form": form,
        "outputs": [path.name for path in outputs],
        **requirements(decision.policy),
        "unit": document["unit"],
        "declares": document["declares"],
        "transformed": document.get("transformed", []),
        "transforms": document.get("transforms", []),
        "models": document["models"],
        "satisfied": document["satisfied"],
        "verification": {key: document["verification"][key] for key in ("rows_match", "coverage")},
        "counterfeits": document.get("counterfeits"),
        "rows": document["rows"],
        "published_rows": document["published_rows"],
        "suppressed_rows": document["suppressed_rows"],
        "left_out_rows": document["left_out_rows"],
        "suppressed": document["suppressed"],
        "classes": document["classes"],
        "persons": document["persons"],
        "persons_in_several_classes": document["persons_in_several_classes"],
        "person_shares": document["person_shares"],
        "loss": {
            **document["loss"],
            **losses.costly(decision.frequencies, decision.assignment, decision.recoding),
        },
        "levels": document["levels"],
        "columns": columns(decision, document["loss"]["lm_by_attribute"]),
        "sizes": size_histogram(sizes),
        "smallest_class": int(sizes.min()),
        # groups hide which value belongs to which row, not whose row it is
        "guaranteed": {"size": int(sizes.min()), "unit": document["unit"]} if form == "one_table" else None,
        "distributions": _distributions(decision),
        "worst": _worst(decision) if form == "one_table" and decision.assignment.counterfeits is None else [],
        "risk": risk_before_and_after(decision),
        "risk_document": None if risk is None else dict(risk),
        "attacks_document": None if attacks is None else dict(attacks),
        "told_by_merging": (
            document["told_by_merging"] if "told_by_merging" in document else told_by_merging(decision)
        ),
        "warnings": document["warnings"],
        "policy": decision.policy.dumps(),
        **internal_front(decision, document),
        **proof(document, decision.policy),
    }


def _sizes(decision: Decision) -> Int64:
    """Sizes of the classes, or of the groups of a release in groups."""
    assignment = decision.assignment
    if assignment.group_of is not None:
        published = assignment.group_of != SUPPRESSED
        return np.bincount(assignment.group_of[published], assignment.count[published], assignment.groups).astype(
            np.int64
        )
    return classes_of(decision.frequencies, decision.alike).sizes


def requirements(policy: Policy) -> dict[str, Any]:
    """What the policy asks of the search."""
    return {
        "algorithm": policy.recoding.algorithm,
        "aim": option(policy.recoding, "loss"),
        "limit": float(policy.suppression.limit),
        "person": policy.person is not None,
    }


def proof(document: Mapping[str, Any], policy: Policy) -> dict[str, Any]:
    """Hashes of the written files and of the policy, and versions."""
    return {
        "sha256": document["sha256"],
        "policy_sha256": policy.fingerprint(),
        "versions": {name: version(name) for name in PACKAGES},
    }


def columns(decision: Decision, loss: Mapping[str, float] | None) -> list[dict[str, Any]]:
    """What was done to each column, counted on the published rows.

    ``done`` is one of dropped, person, mask, pseudonym, unchanged, sensitive, generalized. For quasi-identifiers
    ``exact``, ``general`` and ``starred`` are published rows with a value itself, with something wider, with ``*``.
    ``transformed`` names the transforms of the policy that changed the column before.
    """
    policy, roles, published = decision.policy, decision.prepared.roles, decision.published
    by_name = {column.name: column for column in published.columns}
    quasi = {hierarchy.attribute: number for number, hierarchy in enumerate(decision.frequencies.quasi)}
    found = []
    for name in decision.prepared.source.columns:
        attribute = policy.attributes.get(name)
        entry: dict[str, Any] = {"name": name, "role": _role(decision, name)}
        if methods := [one.method for one in policy.transforms if name in (one.names or _all_quasi(one, quasi))]:
            entry["transformed"] = methods
        if name not in by_name:
            found.append({**entry, "done": "person" if name == roles.person else "dropped"})
            continue
        column = by_name[name]
        rows = np.bincount(column.codes + 1, published.repeat, len(column.values) + 1).astype(np.int64)
        entry["labels"] = int((rows[1:] > 0).sum())
        entry["missing_rows"] = int(rows[0])
        if name in quasi:
            hierarchy = decision.frequencies.quasi[quasi[name]]
            texts = column.values.to_pylist()
            stars = {policy.output.suppressed_token, hierarchy.root}
            exact_texts = {str(text) for text in hierarchy.texts if text is not None}
            starred = sum(int(n) for text, n in zip(texts, rows[1:], strict=True) if str(text) in stars - exact_texts)
            exact = int(rows[0]) + sum(
                int(n)
                for text, n in zip(texts, rows[1:], strict=True)
                if _is_value(text, hierarchy.is_fixed, exact_texts)
            )
            entry |= {
                "done": "unchanged" if hierarchy.is_fixed else "generalized",
                "hierarchy": hierarchy.kind,
                "exact": exact,
                "starred": starred,
                "general": published.rows - exact - starred,
            }
            if loss is not None:
                entry["lm"] = loss[name]
        elif attribute is not None and attribute.role == "identifying":
            entry["done"] = attribute.action or "dropped"
        else:
            entry["done"] = "sensitive" if name in roles.sensitive else "unchanged"
        found.append(entry)
    return found


def _all_quasi(transform: Transform, quasi: Mapping[str, int]) -> Iterable[str]:
    """Columns that a transform changes when it names none."""
    return quasi if transform.method == "local_suppression" else ()


def _is_value(text: Any, is_fixed: bool, values: set[str]) -> bool:  # noqa: FBT001  # a property of the column
    return is_fixed or str(text) in values


def _role(decision: Decision, name: str) -> str:
    roles = decision.prepared.roles
    if name == roles.person or name in roles.identifying:
        return "identifying"
    if name in roles.quasi:
        return "quasi_identifying"
    return "sensitive" if name in roles.sensitive else "insensitive"


def size_histogram(sizes: Int64) -> list[dict[str, int]]:
    """Classes and their rows or persons by size, the bounds doubling: 5, 6 to 10, 11 to 20, ..."""
    if not len(sizes):
        return []
    bounds = [int(sizes.min())]
    while bounds[-1] < int(sizes.max()):
        bounds.append(2 * bounds[-1])
    low = 0
    found = []
    for high in bounds:
        inside = (sizes > low) & (sizes <= high)
        found.append({"from": low + 1 if low else high, "to": high, "classes": int(inside.sum()),
                      "members": int(sizes[inside].sum())})  # fmt: skip
        low = high
    return found


def _distributions(decision: Decision) -> list[dict[str, Any]]:
    """Distribution of each quasi-identifier and modelled sensitive column, before and after (spread evenly)."""
    frequencies, assignment, policy = decision.frequencies, decision.assignment, decision.policy
    source, token = decision.prepared.source, policy.output.suppressed_token
    published = assignment.class_of != SUPPRESSED
    after, axes = [], []
    for position, hierarchy in enumerate(frequencies.quasi):
        texts, label_of = decision.recoding.labels(position)
        axes.append(
            column_axis(hierarchy.attribute, hierarchy.texts, [*texts, token], source, policy, generalized=True)
        )
        after.append(label_of[assignment.class_of[published]])
    for position, hierarchy in enumerate(frequencies.sensitive, len(frequencies.quasi)):
        axes.append(
            column_axis(hierarchy.attribute, hierarchy.texts, hierarchy.texts, source, policy, generalized=False)
        )
        after.append(frequencies.codes[assignment.cell[published], position])
    pair = TablePair(
        tuple(axes), frequencies.codes, frequencies.rows, np.column_stack(after), assignment.count[published]
    )
    return distributions(pair)


def _worst(decision: Decision) -> list[dict[str, Any]]:
    """Classes where the most frequent sensitive value has the largest share; the value itself is not named."""
    frequencies = decision.frequencies
    classes = classes_of(frequencies, decision.assignment)
    labels = [decision.recoding.labels(position) for position in range(len(frequencies.quasi))]
    found = []
    for name in classes.sensitive:
        histogram = classes.histograms[name]
        top = np.maximum.reduceat(histogram.count, histogram.start[:-1])
        reference = frequencies.references[name]
        overall = float(reference.counts.max() / reference.total)
        order = np.lexsort((-classes.rows, -top / classes.rows))
        found += [
            {
                "column": name,
                "class": {
                    h.attribute: texts[at[number]] for h, (texts, at) in zip(frequencies.quasi, labels, strict=True)
                },
                "rows": int(classes.rows[number]),
                "top": int(top[number]),
                "share": float(top[number] / classes.rows[number]),
                "share_in_table": overall,
            }
            for number in order[:WORST].tolist()
        ]
    return found
