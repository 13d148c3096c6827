"""``indistinct transform``: the transforms of a policy, before anonymizing or alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from indistinct.cli.common import (
    Debug,
    Force,
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


def transform(
    policy: PolicyFile,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Transformed file: csv, tsv, parquet, arrow, xlsx, sav or dta."),
    ],
    table: Annotated[str | None, typer.Argument(help="The table; by default [table] source of the policy.")] = None,
    query: Query = None,
    sql_table: SqlTable = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001  # read by the entry point
) -> int:
    """Apply the [[transforms]] of a policy: suppression of cells, coding, PRAM, noise, rank swapping, sampling.

    They give no k: anonymize the result, or audit it. Where the policy has models, anonymize applies them itself; this
    command keeps the transformed table. Beside the output stands its record, OUT.transform.json. Exit
    code 0: done, 1: a transform cannot be done or a check failed (nothing is written), 2: wrong use or bad input.
    """
    from indistinct.policy import Policy
    from indistinct.publish.transform import transform as run

    given = Policy.load(policy)
    written = given.table.source
    if table is None and written is None:
        message = "say which table: as the argument, or as [table] source in the policy"
        raise typer.BadParameter(message)
    source = place(table) if table is not None else place(str(written), given.base)
    with progress(quiet=quiet or json) as report:
        found = run(source, given, output=output, force=force, query=query, sql_table=sql_table, progress=report)
    if json:
        print_json(found.document)
    elif not quiet:
        tell(repr(found))
    return 0
