"""``indistinct explain``: say why, what blocks the target, and what would help."""

from __future__ import annotations

from typing import Annotated

import typer

from indistinct.cli.common import PolicyFile
from indistinct.cli.options import Answer, Database, grouped, source_of


@grouped
def explain(
    policy: PolicyFile,
    table: Annotated[str | None, typer.Argument(help="The table; by default [table] source of the policy.")] = None,
    loss: Annotated[
        str | None, typer.Option("--loss", help="Also find the largest k and l, the smallest t at this LM (0 to 1).")
    ] = None,
    *,
    database: Database,
    answering: Answer,
) -> int:
    """Say why rows are suppressed and classes are large, what blocks the target, and what would help.

    The answer is internal: it shows values of quasi-identifiers, never sensitive ones. Exit code 0: the target can be
    met, 1: it cannot, 2: wrong use or bad input.
    """
    from indistinct.assess.explain import explain as run
    from indistinct.policy import Policy

    given = Policy.load(policy)
    source = source_of(table, given)
    with answering.progress() as report:
        answer = run(source, given, loss=loss, **vars(database), progress=report)
    answering.give(answer.document, answer)
    return 0 if answer.feasible else 1
