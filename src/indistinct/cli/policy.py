"""``indistinct policy``: check a policy, print its JSON Schema, draft one or take it from ARX, make a key for one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from indistinct.cli.common import (
    Debug,
    Delimiter,
    Encoding,
    Force,
    Json,
    Missing,
    place,
    print_json,
    print_plain_json,
    tell,
)
from indistinct.cli.options import Answer, Database, grouped
from indistinct.formats.source import origins_of
from indistinct.outputs import Output, check_outputs, write_bytes
from indistinct.plain import for_people

app = typer.Typer(
    help="Check a policy, print its JSON Schema, draft one from a table or a project of ARX, make a key.",
    no_args_is_help=True,
)


@app.command("check")
@grouped
def check(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    *,
    answering: Answer,
) -> int:
    """Say whether a policy is valid, and every problem with its place, value and valid range if not.

    Where it names its table ([table] source), this is read too, and what anonymize would refuse is found now.
    """
    from indistinct.policy import Policy
    from indistinct.publish.ready import check as run

    given = Policy.load(policy)
    source = None if given.table.source is None else place(given.table.source, given.base)
    with answering.progress() as report:
        answer = run(given, source, progress=report)
    answering.give(answer, check_text(policy.name, len(given.attributes), len(given.privacy), answer))
    return 0


@for_people
def check_text(name: str, attributes: int, models: int, answer: dict[str, Any]) -> str:
    """Write the answer of ``policy check``."""
    from indistinct.sentences.results import warnings_text

    lines = [f"{name} is valid: {attributes} attributes, {models} models"]
    if answer["open"]:
        listed = ", ".join(f"{mark['place']} (line {mark['line']})" for mark in answer["open"])
        lines.append(f"not decided yet, marked CONFIRM: {len(answer['open'])}: {listed}; anonymize will refuse it")
    if answer["table"] is not None:
        size = f"{answer['table']['rows']} rows, {answer['table']['columns']} columns"
        lines.append(f"its table was read: {size}; whether the target can be met says: indistinct explain")
    return "\n".join([*lines, *warnings_text(answer["warnings"])])


@app.command("schema")
def schema(json: Json = False, debug: Debug = False) -> int:  # noqa: ARG001  # the schema is JSON anyway
    """Print the JSON Schema of policies, for editors."""
    from indistinct.policy import Policy

    print_plain_json(Policy.json_schema())
    return 0


@app.command("draft")
@grouped
def draft(
    table: Annotated[str, typer.Argument(help="The table to draft a policy for.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the draft here instead of printing it.")
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    recipient: Annotated[
        str | None,
        typer.Option(
            "--recipient", help="Who gets the table: public, partners, researchers or internal; sets k, l, t."
        ),
    ] = None,
    *,
    database: Database,
    force: Force = False,
    answering: Answer,
) -> int:
    """Write a policy draft with measured reasons, for a person to complete. Values that may identify are not shown."""
    from indistinct.assess.draft import draft as run

    drafts = [] if output is None else [Output(output, "draft")]
    origins = origins_of(place(table))
    check_outputs(drafts, origins, force=force)
    with answering.progress() as report:
        text = run(
            place(table),
            delimiter=delimiter,
            encoding=encoding,
            missing=missing,
            recipient=recipient,
            **vars(database),
            beside=output,
            progress=report,
        )
    for one in drafts:
        write_bytes(one, text.encode(), origins, force=force)
    if answering.json:
        print_json({"policy": text, "output": None if output is None else str(output)})
    elif output is None:
        tell(text)
    elif not answering.quiet:
        tell(f"draft written to {output}; read it, complete it, then: indistinct policy check {output}")
    return 0


@app.command("from-arx")
@grouped
def from_arx(
    project: Annotated[Path, typer.Argument(help="A project of ARX (.deid).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The policy file to write.")],
    *,
    force: Force = False,
    answering: Answer,
) -> int:
    """Write the settings and hierarchies of an ARX project as a policy, and say what has no counterpart here.

    The hierarchies stand beside the policy. The data in the project are not read. Exit code 0: done, though models may
    be left to decide; 2: wrong use, or no such project.
    """
    from indistinct.outputs import origin, publish, stage_bytes
    from indistinct.policy.arx_project import translate

    found = translate(project, output.stem)
    files = {output: found.text.encode()} | {output.with_name(name): own for name, own in found.hierarchies.items()}
    outputs = {Output(path, "policy" if path == output else "hierarchy file"): own for path, own in files.items()}
    origins = [origin(project, "the project")]
    check_outputs(outputs, origins, force=force)
    publish([stage_bytes(one, own) for one, own in outputs.items()], origins, force=force)
    document = {
        "policy": str(output), "hierarchies": [str(path) for path in files if path != output],
        "undecided": list(found.undecided), "not_taken_over": list(found.left),
    }  # fmt: skip
    answering.give(document, _from_arx_text(document))
    return 0


@for_people
def _from_arx_text(document: dict[str, Any]) -> str:
    lines = [f"written: {document['policy']}, and {len(document['hierarchies'])} hierarchies beside it"]
    lines += [f"to decide: {text} has no counterpart here" for text in document["undecided"]]
    lines += [f"not taken over: {text}" for text in document["not_taken_over"]]
    return "\n".join([*lines, f"next: indistinct policy check {document['policy']}"])


@app.command("key")
@grouped
def key(
    path: Annotated[Path, typer.Argument(help="A new file, away from the releases.")],
    *,
    answering: Answer,
) -> int:
    """Make a key for the coins of robust recoding: 256 random bits in a file that only you can read."""
    from indistinct.history.key import make_key

    make_key(path)
    advice = f"key written to {path}; keep it: releases of one table under different keys tell which merges are decoys"
    answering.give({"key_file": str(path)}, advice)
    return 0
