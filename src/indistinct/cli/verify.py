"""``indistinct verify``: prove or refute a published file."""

from __future__ import annotations

from typing import Annotated

import typer

from indistinct.cli.common import PolicyFile, place
from indistinct.cli.options import Answer, Database, grouped


@grouped
def verify(
    original: Annotated[str, typer.Argument(help="The original table.")],
    published: Annotated[str, typer.Argument(help="The published file, whoever made it.")],
    policy: PolicyFile,
    st: Annotated[
        str | None, typer.Argument(help="The table of sensitive values by group, where a release has two tables.")
    ] = None,
    *,
    database: Database,
    answering: Answer,
) -> int:
    """Re-read a published file and prove or refute it: the models, the coverage of every cell, the hash.

    Exit code 0: proved, 1: a model fails, a cell is not covered or the hash differs, 2: wrong use or bad input.
    """
    from indistinct.policy import Policy
    from indistinct.proof.verify import verify as run

    with answering.progress() as report:
        answer = run(
            place(original),
            place(published),
            Policy.load(policy),
            None if st is None else place(st),
            **vars(database),
            progress=report,
        )
    answering.give(answer.document, answer)
    return 0 if answer.satisfied else 1
