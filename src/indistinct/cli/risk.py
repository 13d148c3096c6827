"""``indistinct risk``: what an attacker gains from a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from indistinct.cli.common import (
    Debug,
    Force,
    Json,
    Person,
    Qi,
    Query,
    Quiet,
    SqlTable,
    names,
    place,
    print_json,
    progress,
    tell,
)

if TYPE_CHECKING:
    from indistinct.policy import Reading


def risk(
    table: Annotated[str, typer.Argument(help="The table: a file, or a database URL.")],
    policy: Annotated[
        Path | None, typer.Option("--policy", "-p", help="The policy file; without it --qi names the columns.")
    ] = None,
    qi: Qi = None,
    person: Person = None,
    threshold: Annotated[str, typer.Option("--threshold", help='A risk above it is "at risk", such as 0.2.')] = "0.2",
    population: Annotated[
        str | None, typer.Option("--population", help="Table of the whole population: journalist risk.")
    ] = None,
    population_size: Annotated[
        int | None, typer.Option("--population-size", help="People of whom the table is a sample: estimates.")
    ] = None,
    region: Annotated[str | None, typer.Option("--region", help="Take the people of this region, as germany.")] = None,
    weights: Annotated[str | None, typer.Option("--weights", help="Column of sampling weights.")] = None,
    household: Annotated[str | None, typer.Option("--household", help="Column that says who lives together.")] = None,
    suda: Annotated[int | None, typer.Option("--suda", help="Find special uniques of up to so many columns.")] = None,
    published: Annotated[str | None, typer.Option("--published", help="Measure this table too, side by side.")] = None,
    rows: Annotated[
        Path | None, typer.Option("--rows", help="Write the risk of each row here; keep it private.")
    ] = None,
    fail_above: Annotated[
        str | None, typer.Option("--fail-above", help="Exit code 1 when the highest prosecutor risk is above this.")
    ] = None,
    query: Query = None,
    sql_table: SqlTable = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001  # read by the entry point
) -> int:
    """Say what an attacker gains: prosecutor, journalist, marketer, uniqueness, individual risk, special uniques.

    Every figure comes with a sentence. Exit code 0: measured, 1: above --fail-above, 2: wrong use or bad input.
    """
    from indistinct.assess.risk import is_above
    from indistinct.assess.risk import risk as run
    from indistinct.formats.source import origins_of
    from indistinct.formats.write import stage, table_output
    from indistinct.outputs import check_outputs
    from indistinct.policy import Policy

    flags: Reading = {"qi": names(qi), "person": person}
    if policy is not None and any(flags.values()):
        message = "give either --policy or --qi and --person, not both"
        raise typer.BadParameter(message)
    given = None if policy is None else Policy.load(policy)
    people, other = (None if one is None else place(one) for one in (population, published))
    origins = (*origins_of(place(table), people, other), *(() if given is None else given.origins))
    files = [] if rows is None else [table_output(rows, private=True)]
    check_outputs(files, origins, force=force)
    with progress(quiet=quiet or json) as report:
        answer = run(
            place(table),
            given,
            threshold=threshold,
            population=people,
            population_size=population_size,
            region=region,
            weights=weights,
            household=household,
            suda=suda,
            rows=rows is not None,
            published=other,
            query=query,
            sql_table=sql_table,
            progress=report,
            **(flags if policy is None else {}),
        )
    for file in files:
        with stage(file, answer.rows.to_batches(), answer.rows.schema) as staged:
            staged.publish(origins, force=force)
    failed = fail_above is not None and is_above(answer, fail_above)
    if json:
        print_json({**answer.document, "rows_file": None if rows is None else str(rows)})
    elif not quiet:
        tell(repr(answer))
        if rows is not None:
            tell(f"risk of each row written to {rows}; it says who is in danger, keep it private")
    return 1 if failed else 0
