"""``indistinct verify``: prove or refute a published file."""

from __future__ import annotations

from pathlib import Path  # typer reads it at run time
from typing import Annotated

import typer

from indistinct.cli.common import place
from indistinct.cli.options import Answer, Counting, Database, grouped


@grouped
def verify(
    original: Annotated[str, typer.Argument(help="The original table; with --public the published file.")],
    published: Annotated[
        str | None, typer.Argument(help="The published file, whoever made it; with --public the second of two tables.")
    ] = None,
    policy: Annotated[Path | None, typer.Option("--policy", "-p", help="The policy file (TOML).")] = None,
    st: Annotated[
        str | None, typer.Argument(help="The table of sensitive values by group, where a release has two tables.")
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Check as a recipient: by the file and its manifest, without the original.")
    ] = False,
    *,
    database: Database,
    counting: Counting,
    answering: Answer,
) -> int:
    """Re-read a published file and prove or refute it: the models, the coverage of every cell, the hash.

    With --public, verify --public PUBLISHED checks what a recipient can: that nothing contradicts the manifest.
    Exit code 0: proved (with --public: nothing is contradicted), 1: a model fails, a cell is not covered, a claim of
    the manifest is not true or the hash differs, 2: wrong use or bad input.
    """
    with answering.progress() as report:
        if public:
            others = [policy, st, *vars(database).values(), *vars(counting).values()]
            if any(value is not None for value in others):
                message = (
                    "--public takes the published file alone (or both of two tables); the policy is in its manifest"
                )
                raise typer.BadParameter(message)
            from indistinct.publish.recipient import verify_public

            answer = verify_public(place(original), None if published is None else place(published))
        else:
            if published is None:
                message = "give ORIGINAL and PUBLISHED; without the original: verify --public PUBLISHED"
                raise typer.BadParameter(message)
            if policy is None:
                message = "Missing option '--policy' / '-p'; without the policy: verify --public PUBLISHED"
                raise typer.BadParameter(message)
            from indistinct.assess.verify import verify as run
            from indistinct.policy import Policy

            answer = run(
                place(original),
                place(published),
                Policy.load(policy),
                None if st is None else place(st),
                **vars(database),
                **vars(counting),
                progress=report,
            )
    answering.give(answer.document, answer)
    return 0 if answer.satisfied else 1
