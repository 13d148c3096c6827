"""``indistinct plan``: what thresholds and columns cost on a table, before anything is decided."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from indistinct.cli.common import Force
from indistinct.cli.options import Answer, Database, grouped, source_of
from indistinct.formats.source import origins_of
from indistinct.outputs import Output, check_outputs, write_bytes


@grouped
def plan(
    table: Annotated[str | None, typer.Argument(help="The table; by default [table] source of the policy.")] = None,
    policy: Annotated[Path | None, typer.Argument(help="The policy file (TOML); or name it with --policy.")] = None,
    policy_file: Annotated[Path | None, typer.Option("--policy", "-p", help="The policy file (TOML).")] = None,
    k: Annotated[str | None, typer.Option("--k", help="Values of k to try, such as 2,5,10.")] = None,
    l: Annotated[str | None, typer.Option("--l", help="Values of l to try, such as 2,3,5.")] = None,  # noqa: E741
    t: Annotated[str | None, typer.Option("--t", help="Values of t to try, such as 0.2,0.5.")] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="Draw the price curves into this file.")] = None,
    *,
    database: Database,
    force: Force = False,
    answering: Answer,
) -> int:
    """Say what each promise, threshold and column costs on this table, and which decision would buy most.

    The table is read once; nothing is published. The answer is internal: it tells of the original. Exit code 0: the
    policy as it stands can be met, 1: it cannot, 2: wrong use or bad input.
    """
    from indistinct.assess.plan import plan as run
    from indistinct.policy import Policy

    named = [file for file in (policy, policy_file) if file is not None]
    if len(named) != 1:
        message = "name the policy once: indistinct plan TABLE POLICY, or indistinct plan [TABLE] --policy POLICY"
        raise typer.BadParameter(message)
    given = Policy.load(named[0])
    source = source_of(table, given)
    drawing = [] if svg is None else [Output(svg, "drawing")]
    origins = (*origins_of(source), *given.origins)
    check_outputs(drawing, origins, force=force)
    with answering.progress() as report:
        answer = run(
            source,
            given,
            k=[int(word) for word in _words(k, "--k", whole=True)],
            l=[int(word) for word in _words(l, "--l", whole=True)],
            t=_words(t, "--t", whole=False),
            **vars(database),
            progress=report,
        )
    for one in drawing:
        write_bytes(one, answer.svg().encode(), origins, force=force)
    answering.give(answer.document, answer)
    return 0 if answer.feasible else 1


def _words(text: str | None, option: str, *, whole: bool) -> list[str]:
    words = [part.strip() for part in (text or "").split(",") if part.strip()]
    if whole and not all(word.isascii() and word.isdigit() for word in words):
        message = f'{option} takes whole numbers separated by commas, such as 2,5,10, not "{text}"'
        raise typer.BadParameter(message)
    return words
