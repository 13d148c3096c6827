"""Prove or refute a published release with counterfeits: what ``verify`` does under m-invariance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.decision.decide import Decision, apply, decide, grouped_attribute, layout_of
from indistinct.errors import IndistinctError, SchemaError
from indistinct.formats.digest import sha256
from indistinct.formats.source import path_of
from indistinct.proof.claims import false_claims, missing_rows
from indistinct.proof.files import tables_of
from indistinct.proof.invariance import NO_CLAIM, judge_invariance
from indistinct.proof.manifest import hash_status, manifest_notices, read_manifest
from indistinct.proof.published_file import count_published
from indistinct.proof.recount import matches, restored
from indistinct.proof.release import as_spelled, uncovered_columns
from indistinct.proof.spelling import guard_of
from indistinct.session.prepare import prepare
from indistinct.session.verdicts import unit_of
from indistinct.tables.counterfeits import COUNTERFEITS
from indistinct.tables.two_tables import GROUP

if TYPE_CHECKING:
    from collections.abc import Callable

    from indistinct.policy import Policy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.count import Progress

    # adds to a counted table what the releases before the file of a SHA-256 ("": all) told of its persons
    History = Callable[[Prepared, str], Prepared]


def verify_invariance(
    original: Any,
    published: Any,
    policy: Policy,
    history: History,
    *,
    query: str | None,
    sql_table: str | None,
    progress: Progress,
) -> dict[str, Any]:
    """Return the document of ``verify`` for a release under m-invariance.

    Groups and their values are judged on the file. Whether everybody keeps their signature is known when deciding again
    gives the file; else the answer is no where anybody was in an earlier release.

    Raises SchemaError when a column is lacking that such a release has, and what ``history`` raises.
    """
    prepared = prepare(original, policy, query=query, sql_table=sql_table, progress=progress)
    path = path_of(published)
    roles = prepared.roles
    hidden = {*roles.identifying, str(roles.person)}
    source, found = count_published(published, policy, prepared.source, hidden, added={GROUP, COUNTERFEITS})
    quasi = [hierarchy.attribute for hierarchy in prepared.counted.frequencies.quasi]
    for name in (*quasi, grouped_attribute(policy), GROUP, COUNTERFEITS):
        if name not in found.columns:
            raise SchemaError.unknown_column(name, found.columns)
    leaked = [name for name in source.columns if name in hidden]
    progress("verify", 0, 1)
    guard, guarded, ours = guard_of(policy, path), prepared, False
    # a file of the ledger follows those before it; a later release may have the same bytes, and follows all of them
    for mark in dict.fromkeys(("" if path is None else sha256(path), "")):
        guarded = history(prepared, mark)
        decision = _decided_again(guarded)
        texts = restored(found, {}, guard) if decision is None else as_spelled(found, decision.published, policy, path)
        ours = decision is not None and matches(decision.published, texts)
        if ours:
            break
    frequencies = guarded.counted.frequencies
    judged = judge_invariance(texts, frequencies, policy, decision if ours else None)
    failing = uncovered_columns(decision) if decision is not None and ours else []
    rows = int(found.rows.sum())
    coverage: dict[str, Any] = {"status": "not proven", "violations": [], "reason": NO_CLAIM}
    faults = list(judged.faults)
    somebodys = rows - judged.counterfeits
    if somebodys > prepared.rows:
        faults.append(f"{somebodys} rows are said to be somebody's, and the original has {prepared.rows}")
    if failing:
        faults.append(f"labels of {', '.join(failing)} do not cover the rows of their group")
    if faults:
        coverage.update(status="refuted", reason="; ".join(faults))
    elif not ours:
        coverage["reason"] = f"the file is not what this policy and version make of the original; {NO_CLAIM}"
    status = "absent" if path is None else hash_status(path)
    progress("verify", 1, 1)
    holds = all(entry["satisfied"] for entry in judged.models)
    missed, absent, more = missing_rows(prepared, somebodys)
    notices = [*source.warnings, *more, *([] if path is None else manifest_notices([path], path))]
    counts = {
        "rows": (prepared.rows, prepared.rows),
        "published_rows": (rows, rows),
        "left_out_rows": (prepared.counted.left_out, prepared.counted.left_out),
        "suppressed_rows": (missed["missing_rows"], missed["missing_rows"]),
        "counterfeits": (judged.counterfeits, judged.counterfeits),
        "groups": (len(judged.groups), len(judged.groups)),
    }
    manifest = None if path is None else read_manifest(path)
    claims, old = false_claims(manifest, policy, judged.models, counts, tables_of(published), {})
    notices += old
    return {
        "satisfied": holds and status != "differs" and not (faults or leaked or absent or claims),
        "coverage": coverage,
        "hash": "differs" if claims else status,
        "false_claims": claims,
        "faults": absent,
        **missed,
        "leaked_columns": leaked,
        "models": judged.models,
        "rows": rows,
        "counterfeits": judged.counterfeits,
        "starred_rows": 0,
        "original_rows": prepared.rows,
        **unit_of(frequencies),
        "classes": len(judged.groups),
        "groups": len(judged.groups),
        "earlier_releases": [] if frequencies.signatures is None else list(frequencies.signatures.releases),
        "reference": "original",
        "warnings": [notice.document() for notice in notices],
    }


def _decided_again(prepared: Prepared) -> Decision | None:
    try:
        return apply(prepared, decide(prepared), layout_of(prepared))
    except IndistinctError:  # the target is out of reach, so the file is not ours
        return None
