"""Releases with counterfeits, read back and judged: whether it is m-unique, and everybody keeps a signature.

The first is decided on the published file alone. The second is about who is in which group, which no file tells; the
decision behind the file does: it is made again where it is not at hand, and must give the file, row for row. Otherwise
the answer is no, unless nobody was in an earlier release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.decision.decide import grouped_attribute
from indistinct.models import Context
from indistinct.proof.groups import classes_of_groups, groups_of_pair, read_back, split, whole_number
from indistinct.proof.recount import altered, matches, projected
from indistinct.proof.release import uncovered_columns
from indistinct.session.verdicts import judge
from indistinct.tables.count import silent
from indistinct.tables.counterfeits import COUNTERFEITS, group_values
from indistinct.tables.records import SUPPRESSED
from indistinct.tables.two_tables import GROUP

if TYPE_CHECKING:
    from pathlib import Path

    from indistinct.decision.decide import Decision
    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Classes, Frequencies
    from indistinct.tables.recount import Recount

NO_CLAIM = (
    "counterfeit rows are nobody's, and which they are is not told: that every row stands for somebody is not claimed"
)


@dataclass(frozen=True)
class Judged:
    """A re-read release: entries of the models, its groups, rows of nobody, and sentences about what cannot be so."""

    models: list[dict[str, Any]]
    groups: Classes
    counterfeits: int
    faults: tuple[str, ...]


def verify_invariance_written(decision: Decision, path: Path | None, *, progress: Progress = silent) -> dict[str, Any]:
    """Read the written file (or the table in memory) back and say what is proved about it, as ``verify_written``.

    ``rows_match``: its rows are, as a multiset, those that were decided. Labels must cover the rows of persons in their
    group; of all rows together no coverage is claimed, for some are nobody's.
    """
    progress("verify", 0, 2)
    found = read_back(decision, decision.published, None if path is None else [path], 0)
    rows_match = matches(decision.published, found)
    failing = uncovered_columns(decision)
    progress("verify", 1, 2)
    judged = judge_invariance(found, decision.frequencies, decision.policy, decision if rows_match else None)
    progress("verify", 2, 2)
    proof: dict[str, Any] = {"rows_match": rows_match, "coverage": "refuted" if failing else "not proven"}
    if failing:
        proof["uncovered_columns"] = failing
    else:
        proof["reason"] = NO_CLAIM
    if not rows_match:
        proof["altered_columns"] = altered(decision.published, found)
    return {
        "verification": proof,
        "models": judged.models,
        "classes": len(judged.groups),
        "counterfeits": judged.counterfeits,
        "satisfied": rows_match
        and not failing
        and not judged.faults
        and all(entry["satisfied"] for entry in judged.models),
    }


def judge_invariance(found: Recount, frequencies: Frequencies, policy: Policy, decision: Decision | None) -> Judged:
    """Judge a re-read table; ``decision`` is the one that gives exactly its rows, None where there is none.

    Raises DataError when no row has a value of the original or of an earlier release.
    """
    attribute = grouped_attribute(policy)
    groups = groups_of_pair(split(found, attribute), frequencies, attribute)
    classes = classes_of_groups(groups, frequencies, attribute)
    (entry,), _ = judge(policy, classes, Context(frequencies.references))
    lost, why = _signatures_lost(frequencies, None if decision is None else decision.assignment, attribute)
    if lost:
        entry = {**entry, "satisfied": False, "violating_rows": max(entry["violating_rows"], lost)}
    fakes, faults = _counterfeits(found, frequencies)
    models = [{**entry, "on": "groups", "reason": f"{entry['reason']}; {why}"}]
    return Judged(models, classes, fakes, (*groups.faults, *faults))


def _signatures_lost(frequencies: Frequencies, assignment: Assignment | None, attribute: str) -> tuple[int, str]:
    """Count the published persons who do not keep the values of earlier releases, or of whom that is not known."""
    signatures = frequencies.signatures
    if signatures is None or not signatures.releases:
        return 0, "no earlier release was looked at"
    again = int(frequencies.rows[signatures.of_cell >= 0].sum())
    if not again:
        return 0, f"nobody was in one of the {len(signatures.releases)} earlier releases"
    if assignment is None:
        return again, (
            f"{again} persons were in earlier releases, and the file is not what this policy and version make of the "
            "original and these releases, so nobody can say whether they keep their values"
        )
    owner, value = group_values(frequencies, assignment, attribute)
    start = np.searchsorted(owner, np.arange(assignment.classes + 1))
    published = assignment.class_of != SUPPRESSED
    own = signatures.of_cell[assignment.cell]
    lost = 0
    for i in np.flatnonzero(published & (own >= 0)).tolist():
        c, s = assignment.class_of[i], own[i]
        group, signature = (
            value[start[c] : start[c + 1]],
            signatures.value[signatures.start[s] : signatures.start[s + 1]],
        )
        if not np.array_equal(group, signature):  # both ascend, and a group has each value once
            lost += int(assignment.count[i])
    if lost:
        return lost, f"{lost} persons have other values in their group than in an earlier release"
    return 0, f"everybody keeps the values of their group in the earlier releases ({len(signatures.releases)})"


def _counterfeits(found: Recount, frequencies: Frequencies) -> tuple[int, list[str]]:
    """Count the rows of nobody, and say what cannot be so in the columns that each group has once."""
    quasi = [h.attribute for h in frequencies.quasi if h.attribute in found.columns]
    groups = projected(found, [GROUP])
    alike = projected(found, [GROUP, COUNTERFEITS, *quasi])
    faults = []
    if len(alike.rows) != len(groups.rows):
        faults.append(f"{len(alike.rows) - len(groups.rows)} groups show several labels or numbers of counterfeits")
        return 0, faults
    texts, codes = alike.column(COUNTERFEITS)
    numbers = np.array([whole_number(text) for text in texts], np.int64)
    strange = (numbers == 0) & np.array([not _is_zero(text) for text in texts], np.bool_)
    wrong = int((strange[codes] | (numbers[codes] >= alike.rows)).sum())
    if wrong:
        faults.append(f"{wrong} groups have no possible number of counterfeits: it is a whole number below their rows")
    return int(numbers[codes].sum()), faults


def _is_zero(text: str | None) -> bool:
    return text is not None and text.strip() in ("0", "0.0")
