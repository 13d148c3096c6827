"""The picture of a decision: what a release would look like, said of counts before anything is published.

A picture is not verified: no file was written, none was read back. What it says of classes, losses and models is what
``anonymize`` finds in its file (a test compares the two).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct import losses
from indistinct.algorithms import form_of
from indistinct.decision.aggregates import aggregated
from indistinct.decision.decide import as_read, stars_rows, suppressed_rows
from indistinct.models import Context
from indistinct.models.exact import rational
from indistinct.proof.groups import judge_both
from indistinct.risk.class_sizes import class_sizes
from indistinct.session.item_sets import sets_of_assignment
from indistinct.session.verdicts import judge, unit_of
from indistinct.tables.classes import alone, classes_of, groups_of, recoding_of
from indistinct.tables.records import SUPPRESSED, Assignment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.errors import InfeasibleError
    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.records import Classes, Frequencies, Recoding

    Int64 = NDArray[np.int64]

WORST_SHOWN, ROWS_SHOWN = 5, 10


def picture_of(prepared: Prepared, assignment: Assignment) -> dict[str, Any]:
    """Judge and measure what a decision would publish."""
    policy, frequencies = prepared.policy, prepared.counted.frequencies
    recoding = aggregated(prepared, assignment, recoding_of(frequencies, assignment))
    in_groups = assignment.group_of is not None
    whole = in_groups or assignment.counterfeits is not None
    starred = False if whole else stars_rows(prepared, assignment, recoding)
    alike = as_read(prepared, assignment, recoding, starred=starred)
    classes = classes_of(frequencies, alike)
    classes = replace(classes, sets=sets_of_assignment(policy, frequencies, alike))
    context = Context(frequencies.references)
    models = (
        judge_both(policy, groups_of(frequencies, assignment), classes, context)
        if in_groups
        else judge(policy, classes, context)[0]
    )
    labels = [recoding.labels(position) for position in range(len(frequencies.quasi))]
    return {
        **_head(prepared),
        "feasible": True,
        "satisfied": all(entry["satisfied"] for entry in models),
        "reason": "",
        "nearest": "",
        "classes": len(classes),
        "smallest_class": int(classes.sizes.min()),
        "largest_class": int(classes.sizes.max()),
        "sizes": class_sizes(classes.rows, classes.sizes),
        "suppressed_rows": suppressed_rows(assignment),
        "suppression_allowed": policy.suppression.allowed(frequencies.total),
        "levels": None
        if assignment.levels is None
        else {own.attribute: level for own, level in zip(frequencies.quasi, assignment.levels, strict=True)},
        "loss": losses.summary(frequencies, assignment, recoding),
        "columns": _fates(prepared, assignment, recoding),
        "risk": {
            "highest": rational(Fraction(1, int(classes.sizes.min()))),
            "rows_alone_before": alone(frequencies),
        },
        "models": models,
        "worst": _smallest(frequencies, alike, classes, labels),
        "rows_before_and_after": _rows(frequencies, assignment, labels),
        "notes": [str(note) for note in assignment.notes],
        "warnings": [notice.document() for notice in prepared.notices],
    }


def picture_without(prepared: Prepared, error: InfeasibleError) -> dict[str, Any]:
    """Say why there is no release, and what every model finds where all rows are one class: nothing is coarser."""
    policy, frequencies = prepared.policy, prepared.counted.frequencies
    models: list[dict[str, Any]] = []
    if frequencies.population is None and not (frequencies.detailed or frequencies.nested or policy.item_columns):
        together = Assignment.of_tuples(frequencies, np.zeros(len(frequencies.tuples), np.int32))
        models = judge(policy, classes_of(frequencies, together), Context(frequencies.references))[0]
    return {
        **_head(prepared),
        "feasible": False,
        "satisfied": False,
        "reason": error.public_message if not error.nearest else error.reason,
        "nearest": "" if error.shown else error.nearest,
        "models": models,
        "risk": {"highest": None, "rows_alone_before": alone(frequencies)},
        "warnings": [notice.document() for notice in prepared.notices],
    }


def _head(prepared: Prepared) -> dict[str, Any]:
    policy = prepared.policy
    return {
        "verified": False,
        "rows": prepared.rows,
        "left_out_rows": prepared.counted.left_out,
        **unit_of(prepared.counted.frequencies),
        "cells": len(prepared.counted.frequencies.rows),
        "algorithm": policy.recoding.algorithm,
        "form": form_of(policy),
    }


def _fates(prepared: Prepared, assignment: Assignment, recoding: Recoding) -> list[dict[str, Any]]:
    """Count for each quasi-identifier the rows that keep their value, get a wider label, or none; the others are gone.

    ``levels``: how many steps its hierarchy has; None where labels are ranges or sets of what is in a class.
    """
    frequencies, token = prepared.counted.frequencies, prepared.policy.output.suppressed_token
    published = assignment.class_of != SUPPRESSED
    rows = np.bincount(assignment.class_of[published], assignment.count[published], assignment.classes).astype(np.int64)
    gone = int(assignment.count[~published].sum())
    _, by_attribute = losses.lm(frequencies, assignment, recoding)
    found = []
    for position, hierarchy in enumerate(frequencies.quasi):
        labels, label_of = recoding.labels(position)
        of_label = np.bincount(label_of, rows, len(labels)).astype(np.int64)
        own = set(hierarchy.texts)
        exact = np.array([hierarchy.is_fixed or label in own for label in labels], np.bool_)
        hidden = np.array([label in (token, hierarchy.root) for label in labels], np.bool_) & ~exact
        found.append(
            {
                "column": hierarchy.attribute,
                "exact": int(of_label[exact].sum()),
                "coarser": int(of_label[~exact & ~hidden].sum()),
                "hidden": int(of_label[hidden].sum()),
                "left_out": gone,
                "labels": len(labels),
                "lm": float(by_attribute[hierarchy.attribute]),
            }
        )
    return found


def _smallest(
    frequencies: Frequencies, alike: Assignment, classes: Classes, labels: list[tuple[list[str | None], Int64]]
) -> list[dict[str, Any]]:
    """Describe the smallest classes by their published labels; the order of equal ones is that of the classes."""
    if alike.group_of is not None or alike.counterfeits is not None or any(len(at) < len(classes) for _, at in labels):
        return []
    chosen = np.argsort(classes.sizes, kind="stable")[:WORST_SHOWN].tolist()
    return [
        {
            "class": {
                own.attribute: texts[at[number]] for own, (texts, at) in zip(frequencies.quasi, labels, strict=True)
            },
            "size": int(classes.sizes[number]),
            "rows": int(classes.rows[number]),
        }
        for number in chosen
    ]


def _rows(
    frequencies: Frequencies, assignment: Assignment, labels: list[tuple[list[str | None], Int64]]
) -> list[dict[str, Any]]:
    """Take some cells from all over the table: their values, and what would be published of them (None: left out)."""
    step = max(1, len(assignment.cell) // ROWS_SHOWN)
    sizes = np.bincount(assignment.class_of[assignment.class_of >= 0], assignment.count[assignment.class_of >= 0])
    found = []
    for part in range(0, len(assignment.cell), step)[:ROWS_SHOWN]:
        codes, number = frequencies.codes[assignment.cell[part]].tolist(), int(assignment.class_of[part])
        after = None if number == SUPPRESSED else [texts[at[number]] for texts, at in labels]
        found.append(
            {
                "before": _values(frequencies.quasi, codes),
                "after": after if after is None else _named(frequencies.quasi, after),
                "unchanged": {} if after is None else _values(frequencies.sensitive, codes[len(frequencies.quasi) :]),
                "rows": 0 if number == SUPPRESSED else int(sizes[number]),
            }
        )
    return found


def _values(columns: tuple[Hierarchy, ...], codes: list[int]) -> dict[str, str | None]:
    return {own.attribute: own.texts[code] for own, code in zip(columns, codes, strict=False)}


def _named(columns: tuple[Hierarchy, ...], labels: list[str | None]) -> dict[str, str | None]:
    return {own.attribute: label for own, label in zip(columns, labels, strict=True)}
