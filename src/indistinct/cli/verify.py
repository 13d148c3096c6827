"""``indistinct verify``: prove or refute a published file."""

from __future__ import annotations

from typing import Annotated

import typer

from indistinct.cli.common import (
    Debug,
    Json,
    PolicyFile,
    Query,
    Quiet,
    SqlTable,
    place,
    print_json,
    progress,
    tell,
)


def verify(
    original: Annotated[str, typer.Argument(help="The original table.")],
    published: Annotated[str, typer.Argument(help="The published file, whoever made it.")],
    policy: PolicyFile,
    st: Annotated[
        str | None, typer.Argument(help="The table of sensitive values by group, where a release has two tables.")
    ] = None,
    query: Query = None,
    sql_table: SqlTable = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001  # read by the entry point
) -> int:
    """Re-read a published file and prove or refute it: the models, the coverage of every cell, the hash.

    Exit code 0: proved, 1: a model fails, a cell is not covered or the hash differs, 2: wrong use or bad input.
    """
    from indistinct.assess.verify import verify as run
    from indistinct.policy import Policy

    with progress(quiet=quiet or json) as report:
        answer = run(
            place(original),
            place(published),
            Policy.load(policy),
            None if st is None else place(st),
            query=query,
            sql_table=sql_table,
            progress=report,
        )
    if json:
        print_json(answer.document)
    elif not quiet:
        tell(repr(answer))
    return 0 if answer.satisfied else 1
