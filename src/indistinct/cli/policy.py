"""``indistinct policy``: check a policy, print its JSON Schema, draft one from a table."""

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
    Query,
    Quiet,
    SqlTable,
    place,
    print_json,
    progress,
    tell,
)
from indistinct.formats.source import origins_of
from indistinct.outputs import Output, check_outputs, write_bytes
from indistinct.plain import for_people
from indistinct.sentences.results import warnings_text

app = typer.Typer(help="Check a policy, print its JSON Schema, draft one from a table.", no_args_is_help=True)


@app.command("check")
def check(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001  # read by the entry point
) -> int:
    """Say whether a policy is valid, and every problem with its place, value and valid range if not.

    Where it names its table ([table] source), this is read too, and what anonymize would refuse is found now.
    """
    from indistinct.policy import Policy
    from indistinct.publish.ready import check as run

    given = Policy.load(policy)
    source = None if given.table.source is None else place(given.table.source, given.base)
    with progress(quiet=quiet or json) as report:
        answer = run(given, source, progress=report)
    if json:
        print_json(answer)
    elif not quiet:
        tell(check_text(policy.name, len(given.attributes), len(given.privacy), answer))
    return 0


@for_people
def check_text(name: str, attributes: int, models: int, answer: dict[str, Any]) -> str:
    """Write the answer of ``policy check``."""
    lines = [f"{name} is valid: {attributes} attributes, {models} models"]
    if answer["table"] is not None:
        size = f"{answer['table']['rows']} rows, {answer['table']['columns']} columns"
        lines.append(f"its table was read: {size}; whether the target can be met says: indistinct explain")
    return "\n".join([*lines, *warnings_text(answer["warnings"])])


@app.command("schema")
def schema(json: Json = False, debug: Debug = False) -> int:  # noqa: ARG001  # the schema is JSON anyway
    """Print the JSON Schema of policies, for editors."""
    from indistinct.policy import Policy

    print_json(Policy.json_schema())
    return 0


@app.command("draft")
def draft(
    table: Annotated[str, typer.Argument(help="The table to draft a policy for.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the draft here instead of printing it.")
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    query: Query = None,
    sql_table: SqlTable = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001  # read by the entry point
) -> int:
    """Write a policy draft with measured reasons, for a person to complete. Values that may identify are not shown."""
    from indistinct.assess.draft import draft as run

    drafts = [] if output is None else [Output(output, "draft")]
    origins = origins_of(place(table))
    check_outputs(drafts, origins, force=force)
    with progress(quiet=quiet or json) as report:
        text = run(
            place(table),
            delimiter=delimiter,
            encoding=encoding,
            query=query,
            sql_table=sql_table,
            beside=output,
            progress=report,
        )
    for one in drafts:
        write_bytes(one, text.encode(), origins, force=force)
    if json:
        print_json({"policy": text, "output": None if output is None else str(output)})
    elif output is None:
        tell(text)
    elif not quiet:
        tell(f"draft written to {output}; read it, complete it, then: indistinct policy check {output}")
    return 0
