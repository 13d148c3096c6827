"""``indistinct compare``: many runs side by side."""

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
from indistinct.formats.source import origins_of
from indistinct.outputs import Output, check_outputs, write_bytes


def compare(
    policy: PolicyFile,
    table: Annotated[str | None, typer.Argument(help="The table; by default [table] source of the policy.")] = None,
    algorithms: Annotated[str, typer.Option("--algorithms", help="all, or names separated by commas.")] = "all",
    k: Annotated[
        str | None, typer.Option("--k", help="Values of k, such as 2,5,10,20; without it that of the policy.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the finished runs: an interrupted comparison goes on there."),
    ] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="Draw loss against guarantee into this file.")] = None,
    epsilon_budget: Annotated[
        str | None,
        typer.Option("--epsilon-budget", help='What runs of safepub may spend in all, such as 1 or "ln 2".'),
    ] = None,
    query: Query = None,
    sql_table: SqlTable = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001  # read by the entry point
) -> int:
    """Run the algorithms on one counted table: what each reaches, what it loses, and which no other one beats.

    Nothing is published. Exit code 0: some run satisfies the policy, 1: none does, 2: wrong use or bad input.
    """
    from indistinct.assess.compare import compare as run
    from indistinct.policy import Policy

    given = Policy.load(policy)
    written = given.table.source
    if table is None and written is None:
        message = "say which table: as the argument, or as [table] source in the policy"
        raise typer.BadParameter(message)
    source = place(table) if table is not None else place(str(written), given.base)
    drawing = [] if svg is None else [Output(svg, "drawing")]
    origins = (*origins_of(source), *given.origins)
    check_outputs(drawing, origins, force=force)
    with progress(quiet=quiet or json) as report:
        answer = run(
            source,
            given,
            algorithms=algorithms,
            k=_numbers(k),
            output=output,
            query=query,
            sql_table=sql_table,
            epsilon_budget=epsilon_budget,
            progress=report,
        )
    for one in drawing:
        write_bytes(one, answer.svg().encode(), origins, force=force)
    if json:
        print_json(answer.document)
    elif not quiet:
        tell(repr(answer))
    return 0 if answer.document["satisfied"] else 1


def _numbers(text: str | None) -> list[int]:
    try:
        return [int(part) for part in (text or "").split(",") if part.strip()]
    except ValueError:
        message = f'--k takes whole numbers separated by commas, such as 2,5,10, not "{text}"'
        raise typer.BadParameter(message) from None
