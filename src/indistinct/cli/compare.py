"""``indistinct compare``: many runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from indistinct.cli.common import Force, PolicyFile
from indistinct.cli.options import Answer, Database, grouped, source_of
from indistinct.formats.source import origins_of
from indistinct.outputs import Output, check_outputs, write_bytes


@grouped
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
    *,
    database: Database,
    force: Force = False,
    answering: Answer,
) -> int:
    """Run the algorithms on one counted table: what each reaches, what it loses, and which no other one beats.

    Nothing is published. Exit code 0: some run satisfies the policy, 1: none does, 2: wrong use or bad input.
    """
    from indistinct.assess.compare import compare as run
    from indistinct.policy import Policy

    given = Policy.load(policy)
    source = source_of(table, given)
    drawing = [] if svg is None else [Output(svg, "drawing")]
    origins = (*origins_of(source), *given.origins)
    check_outputs(drawing, origins, force=force)
    with answering.progress() as report:
        answer = run(
            source,
            given,
            algorithms=algorithms,
            k=_numbers(k),
            output=output,
            **vars(database),
            epsilon_budget=epsilon_budget,
            progress=report,
        )
    for one in drawing:
        write_bytes(one, answer.svg().encode(), origins, force=force)
    answering.give(answer.document, answer)
    return 0 if answer.document["satisfied"] else 1


def _numbers(text: str | None) -> list[int]:
    try:
        return [int(part) for part in (text or "").split(",") if part.strip()]
    except ValueError:
        message = f'--k takes whole numbers separated by commas, such as 2,5,10, not "{text}"'
        raise typer.BadParameter(message) from None
