"""``indistinct anonymize``: the main job."""

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


def anonymize(
    policy: PolicyFile,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Published file: csv, tsv, parquet, arrow, xlsx, sav or dta."),
    ],
    table: Annotated[str | None, typer.Argument(help="The table; by default [table] source of the policy.")] = None,
    query: Query = None,
    sql_table: SqlTable = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001  # read by the entry point
) -> int:
    """Publish a table that satisfies the policy, verified from the written file.

    Beside the output stands its manifest. Exit code 0: done, 1: the target cannot be met or a check failed (nothing is
    written), 2: wrong use or bad input.
    """
    from indistinct.policy import Policy
    from indistinct.releases.anonymize import anonymize as run

    given = Policy.load(policy)
    written = given.table.source
    if table is None and written is None:
        message = "say which table: as the argument, or as [table] source in the policy"
        raise typer.BadParameter(message)
    source = place(table) if table is not None else place(str(written), given.base)
    with progress(quiet=quiet or json) as report:
        release = run(source, given, output=output, force=force, query=query, sql_table=sql_table, progress=report)
    if json:
        print_json(release.document)
    elif not quiet:
        tell(repr(release))
    return 0
