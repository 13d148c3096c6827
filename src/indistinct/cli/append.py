"""``indistinct append``: new rows beside an earlier release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from indistinct.cli.common import Force, PolicyFile, place
from indistinct.cli.options import Answer, grouped


@grouped
def append(
    original: Annotated[str, typer.Argument(help="The table that the earlier release was made of.")],
    published: Annotated[Path, typer.Argument(help="The earlier release.")],
    arrivals: Annotated[str, typer.Argument(help="The new rows: a table with the same columns.")],
    policy: PolicyFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The new release: csv, tsv, parquet or arrow.")],
    retained: Annotated[
        Path | None, typer.Option("--retained", help="File for new rows that are kept back, to be given again later.")
    ] = None,
    whole: Annotated[
        Path | None, typer.Option("--whole", help="File for the original of the new release: for verify, next append.")
    ] = None,
    force: Force = False,
    *,
    answering: Answer,
) -> int:
    """Publish an earlier release again with new rows in its classes, and prove the whole.

    New rows that fit nowhere are kept back. Whoever has both releases sees which rows are new; those of each class
    satisfy the policy by themselves. Exit code 0: done, 1: no row can be placed or a check failed, 2: wrong use or bad
    input. Unless it is 0 nothing is written.
    """
    from indistinct.policy import Policy
    from indistinct.publish.append import append as run

    with answering.progress() as report:
        found = run(
            place(original), published, place(arrivals), Policy.load(policy),
            output=output, retained=retained, whole=whole, force=force, progress=report,
        )  # fmt: skip
    answering.give(found.document, found)
    return 0
