"""``indistinct audit``: say what a table satisfies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from indistinct.cli.common import Delimiter, Person, names, place
from indistinct.cli.options import Answer, Counting, Database, Reading, grouped, refuse_both

if TYPE_CHECKING:
    from indistinct.policy import Flags


@dataclass(frozen=True)
class Thresholds:
    """What the table has to satisfy."""

    k: Annotated[str | None, typer.Option("--k", help="Required k.")] = None
    l: Annotated[str | None, typer.Option("--l", help="Required l.")] = None  # noqa: E741  # the letter of the literature
    l_kind: Annotated[str, typer.Option("--l-kind", help="distinct, entropy or recursive.")] = "distinct"
    c: Annotated[str | None, typer.Option("--c", help="c of recursive (c,l)-diversity.")] = None
    t: Annotated[str | None, typer.Option("--t", help='Required t, such as 0.2 or "1/6".')] = None
    t_distance: Annotated[str | None, typer.Option("--t-distance", help="ordered, equal or hierarchical.")] = None


@grouped
def audit(
    table: Annotated[
        str,
        typer.Argument(help="A CSV, TSV, Parquet, Arrow, Excel, SPSS, Stata or SAS file, or a database URL."),
    ],
    policy: Annotated[
        Path | None, typer.Option("--policy", "-p", help="The policy file; without it the options below.")
    ] = None,
    identifying: Annotated[
        list[str] | None, typer.Option("--identifying", help="Directly identifying columns.")
    ] = None,
    person: Person = None,
    delimiter: Delimiter = None,
    reference: Annotated[
        str | None, typer.Option("--reference", help="Take the reference distribution from this table.")
    ] = None,
    suppressed_rows: Annotated[
        str | None,
        typer.Option(
            "--suppressed-rows",
            help="exempt (default): fully suppressed rows are no class; class (default of a policy that tests them): "
            "they are one.",
        ),
    ] = None,
    *,
    reading: Reading,
    thresholds: Thresholds,
    database: Database,
    counting: Counting,
    answering: Answer,
) -> int:
    """Say what a table satisfies: exact verdicts, the best parameters reached, and where it hurts most.

    Without thresholds it reports the best of each model. Exit code 0: satisfied (or nothing asked), 1: not satisfied,
    2: wrong use or bad input.
    """
    from indistinct.assess.audit import audit as run
    from indistinct.policy import Policy

    flags: Flags = {
        **reading.flags, "identifying": names(identifying), "person": person, "delimiter": delimiter,
        "k": thresholds.k, "l": thresholds.l, "l_kind": thresholds.l_kind, "c": thresholds.c, "t": thresholds.t,
        "t_distance": thresholds.t_distance,
    }  # fmt: skip
    refuse_both(policy, [name for name, value in flags.items() if value and (name, value) != ("l_kind", "distinct")])
    with answering.progress() as report:
        answer = run(
            place(table),
            None if policy is None else Policy.load(policy),
            reference=None if reference is None else place(reference),
            suppressed_rows=suppressed_rows,
            **vars(database),
            **vars(counting),
            progress=report,
            **(flags if policy is None else {}),
        )
    answering.give(answer.document, answer)
    return 1 if answer.satisfied is False else 0
