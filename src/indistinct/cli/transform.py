"""``indistinct transform``: the transforms of a policy, before anonymizing or alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from indistinct.cli.common import AcceptDraft, Force, PolicyFile
from indistinct.cli.options import Answer, Database, grouped, source_of


@grouped
def transform(
    policy: PolicyFile,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Transformed file: csv, tsv, parquet, arrow, xlsx, sav or dta."),
    ],
    table: Annotated[str | None, typer.Argument(help="The table; by default [table] source of the policy.")] = None,
    accept_draft: AcceptDraft = None,
    *,
    database: Database,
    force: Force = False,
    answering: Answer,
) -> int:
    """Apply the [[transforms]] of a policy: suppression of cells, coding, noise, swapping, shifted dates, sampling.

    They give no k: anonymize the result, or audit it. Where the policy has models, anonymize applies them itself; this
    command keeps the transformed table. Beside the output stands its record, OUT.transform.json. Exit
    code 0: done, 1: a transform cannot be done or a check failed (nothing is written), 2: wrong use or bad input.
    """
    from indistinct.policy import Policy
    from indistinct.publish.transform import transform as run

    given = Policy.load(policy)
    source = source_of(table, given)
    with answering.progress() as report:
        found = run(
            source, given, output=output, force=force, **vars(database), accept_draft=accept_draft, progress=report
        )
    answering.give(found.document, found)
    return 0
