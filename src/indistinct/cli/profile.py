"""``indistinct profile``: what is in a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from indistinct.cli.common import Delimiter, Encoding, Force, Missing, place
from indistinct.cli.options import Answer, Database, grouped
from indistinct.formats.source import origins_of
from indistinct.outputs import Output, check_outputs, write_bytes


@grouped
def profile(
    table: Annotated[str, typer.Argument(help="The table: a file, or a database URL.")],
    max_size: Annotated[
        int, typer.Option("--max-size", help="Find all minimal unique sets of up to so many columns; 0: none.")
    ] = 3,
    draft: Annotated[Path | None, typer.Option("--draft", help="Write a policy draft here.")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: Missing = None,
    *,
    database: Database,
    force: Force = False,
    answering: Answer,
) -> int:
    """Look at a table: columns, types, suggested roles and why, what tells rows apart, a policy to begin with."""
    from indistinct.assess.profile import profile as run

    drafts = [] if draft is None else [Output(draft, "draft")]
    origins = origins_of(place(table))
    check_outputs(drafts, origins, force=force)
    with answering.progress() as report:
        answer = run(
            place(table),
            max_size=max_size,
            delimiter=delimiter,
            encoding=encoding,
            missing=missing,
            **vars(database),
            beside=draft,
            progress=report,
        )
    for one in drafts:
        write_bytes(one, answer.policy.encode(), origins, force=force)
    where = f"draft written to {draft}; read it, complete it, then: indistinct policy check {draft}"
    account = [answer] if draft is None else [answer, where]
    answering.give({**answer.document, "draft": None if draft is None else str(draft)}, *account)
    return 0
