"""``indistinct policy``: check a policy, print its JSON Schema, draft one from a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
from indistinct.outputs import Output, check_outputs, write_bytes
from indistinct.tables.source import origins_of

app = typer.Typer(help="Check a policy, print its JSON Schema, draft one from a table.", no_args_is_help=True)


@app.command("check")
def check(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001  # read by the entry point
) -> int:
    """Say whether a policy is valid, and every problem with its place, value and valid range if not."""
    from indistinct.policy import Policy

    given = Policy.load(policy)
    notices = given.notices()
    if json:
        print_json({"valid": True, "warnings": [notice.document() for notice in notices]})
    elif not quiet:
        tell(f"{policy.name} is valid: {len(given.attributes)} attributes, {len(given.privacy)} models")
        for notice in notices:
            tell(f"note: {notice.message}")
    return 0


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
    from indistinct.releases.draft import draft as run

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
