"""The answer of ``attack`` as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.markup import preformatted, table
from indistinct.plain import for_people
from indistinct.sentences.columns import aligned
from indistinct.sentences.results import warnings_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HEADS = ("attack", "persons", "learnt", "share", "before", "after", "gain", "95 % interval")


@for_people
def attacks_text(document: Mapping[str, Any], revealed: Mapping[str, Sequence[str]]) -> str:
    """Write one line for each attack, what it learnt below, and what was not run."""
    lines = [f"{document['rows']} published rows in {document['classes']} classes", ""]
    ran = [entry for entry in document["attacks"] if entry["ran"]]
    head, *rows = aligned([HEADS, *map(_row, ran)], left=1)
    lines.append(head)
    for entry, row in zip(ran, rows, strict=True):
        lines += [row + ("  ABOVE" if entry["above"] else ""), f"    {entry['reason']}"]
        lines += _contrast(entry)
        if entry["above"]:
            verdict = entry["gate"]
            lines.append(
                f"    {verdict['compared']} {verdict['value']:.4g} against {verdict['limit']:.4g}: {verdict['why']}"
            )
        if entry["learnt"] and entry["stopped_by"]:
            lines.append(f"    models that bound it, where strict enough: {', '.join(entry['stopped_by'])}")
        if entry["worst"]:
            where = ", ".join(str(case["row"]) for case in entry["worst"])
            lines.append(f"    worst: row {where} of {entry['worst'][0]['table']}")
        lines += [f"    > {text}" for text in revealed.get(_title(entry), ())]
    idle = [entry for entry in document["attacks"] if not entry["ran"]]
    if idle:
        lines += ["", "not run:", *(f"  {_title(entry)}: {entry['reason']}" for entry in idle)]
    lines += warnings_text(document["warnings"])
    return "\n".join([*lines, *_verdict(document)])


def _verdict(document: Mapping[str, Any]) -> list[str]:
    """Say what the gate says."""
    if document["satisfied"] is None:
        return []
    lines = [""]
    if document["fail_above"] is not None:
        limit, kind = document["fail_above"], "mean" if document["fail_on"] == "average" else "largest"
        if document["fail_at"] != "estimate":
            number = document["judged"]
            kind = f"{document['fail_at']} end of the mean (95 % over all {number} together)"
        verdict = "no attack" if not document["broken"] else f"{len(document['broken'])} attacks"
        lines.append(f"{verdict} with a {kind} gain above {limit:g}; linkage is judged by the 1/k that was asked")
    if document["not_run"]:
        lines.append(f"required, but not run: {', '.join(document['not_run'])}")
    return lines


def _contrast(entry: Mapping[str, Any]) -> list[str]:
    found = entry["contrast"]
    if found is None:
        return []
    naive = "" if found["naive"] is None else f"; without the release {found['naive']:.4f}"
    attacked, control = found["attack"], found["control"]
    held_out = f"{control['right']:.4f} of {control['persons']} held out"
    return [f"    right for {attacked['right']:.4f} of the attacked and {held_out}{naive}"]


def attacks_html(document: Mapping[str, Any], revealed: Mapping[str, Sequence[str]]) -> str:
    """Write the attacks that ran as a table, and below it the text as it is in a terminal."""
    rows = [_row(entry) for entry in document["attacks"] if entry["ran"]]
    return (table("Attacks", HEADS, rows) if rows else "") + preformatted(attacks_text(document, revealed))


def _title(entry: Mapping[str, Any]) -> str:
    return str(entry["attack"]) + (f" of {entry['attribute']}" if entry["attribute"] else "")


def _row(entry: Mapping[str, Any]) -> tuple[str, ...]:
    interval = entry["gain_interval"]
    return (
        _title(entry),
        str(entry["persons"]),
        str(entry["learnt"]),
        f"{100 * entry['learnt_share']:.1f} %",
        f"{entry['prior']:.4f}",
        f"{entry['posterior']:.4f}",
        f"{entry['gain']:+.4f}",
        f"{interval['low']:+.4f} to {interval['high']:+.4f}",
    )
