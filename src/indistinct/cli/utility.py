"""``indistinct utility``: say what a published table is still good for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from indistinct.cli.common import PolicyFile, pairs, place
from indistinct.cli.options import Answer, Database, grouped


@dataclass(frozen=True)
class Task:
    """What a user of the table would learn from it, and how."""

    target: Annotated[str | None, typer.Option("--target", help="Column to be learned, published as it is.")] = None
    estimator: Annotated[
        str | None, typer.Option("--estimator", help="module:factory of a scikit-learn estimator.")
    ] = None
    holdout: Annotated[
        str | None, typer.Option("--holdout", help="Rows kept out of the release: the estimator is tested on them.")
    ] = None
    encoding: Annotated[str, typer.Option("--encoding", help="Cells as features: nodes, midpoint or bounds.")] = "nodes"


@dataclass(frozen=True)
class Workload:
    """The random queries."""

    queries: Annotated[int, typer.Option("--queries", help="Number of random COUNT queries.", min=1)] = 1000
    dimension: Annotated[
        int | None, typer.Option("--dimension", help="Conditions of a query; default 3, or fewer columns.")
    ] = None
    theta: Annotated[float, typer.Option("--theta", help="Selectivity of the random queries, 0 to 1.")] = 0.05
    phi: Annotated[
        float | None, typer.Option("--phi", help="Sanity bound: errors relative to at least this share of the rows.")
    ] = None
    sensitive: Annotated[
        str | None, typer.Option("--sensitive", help="Sensitive column of the random queries; default the first.")
    ] = None


@grouped
def utility(
    original: Annotated[str, typer.Argument(help="The original table.")],
    published: Annotated[str, typer.Argument(help="The published file, whoever made it.")],
    policy: PolicyFile,
    st: Annotated[
        str | None, typer.Argument(help="The table of sensitive values by group, where a release has two tables.")
    ] = None,
    sql: Annotated[
        list[str] | None, typer.Option("--sql", help="A SELECT on the table data, or @FILE (repeatable).")
    ] = None,
    regression: Annotated[
        list[str] | None, typer.Option("--regression", help='A linear regression, "y ~ a + b" (repeatable).')
    ] = None,
    private: Annotated[
        str | None,
        typer.Option("--private", help="Epsilon of differentially private answers, for all of them together."),
    ] = None,
    bounds: Annotated[
        list[str] | None,
        typer.Option("--bounds", help="column=lowest,highest, not taken from the table; with --private (repeatable)."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of queries, draws and test rows.")] = 1,
    *,
    task: Task,
    workload: Workload,
    database: Database,
    answering: Answer,
) -> int:
    """Say what a published table has lost for its users: queries, distributions, regressions, the user's own task.

    Exit code 0: measured, 2: wrong use or bad input. The answer is internal: it holds distributions of the original.
    """
    from indistinct.assess.utility import utility as run
    from indistinct.policy import Policy

    if (task.target is None) != (task.estimator is None):
        message = "--target and --estimator go together"
        raise typer.BadParameter(message)
    if bounds and private is None:
        message = "--bounds belongs to --private"
        raise typer.BadParameter(message)
    declared = {name: ends.split(",") for name, ends in pairs(bounds, "--bounds").items()}
    with answering.progress() as report:
        answer = run(
            place(original),
            place(published),
            Policy.load(policy),
            None if st is None else place(st),
            **vars(workload),
            sql=[_text(one) for one in sql or []],
            regressions=regression or [],
            target=task.target,
            estimator=task.estimator,
            holdout=None if task.holdout is None else place(task.holdout),
            encoding=task.encoding,  # type: ignore[arg-type]  # checked there
            seed=seed,
            **vars(database),
            progress=report,
        )
        noisy = None
        if private is not None:
            from indistinct.assess.private import private as ask

            noisy = ask(
                place(original),
                place(published),
                Policy.load(policy),
                st=None if st is None else place(st),
                epsilon=private,
                bounds=declared,
                **vars(database),
                progress=report,
            )
    if noisy is None:
        answering.give(answer.document, answer)
    else:
        answering.give({**answer.document, "private": noisy.document}, answer, "", noisy)
    return 0


def _text(words: str) -> str:
    """Take the SQL from a file when it is given as @FILE."""
    return Path(words[1:]).read_text(encoding="utf-8") if words.startswith("@") else words
