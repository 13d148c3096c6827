"""``indistinct risk``: what an attacker gains from a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from indistinct.cli.common import Force, Person, Qi, names, place
from indistinct.cli.options import Answer, Database, grouped

if TYPE_CHECKING:
    from indistinct.policy import Reading


@dataclass(frozen=True)
class Population:
    """Of whom the table is a part."""

    population: Annotated[
        str | None, typer.Option("--population", help="Table of the whole population: journalist risk.")
    ] = None
    population_size: Annotated[
        int | None, typer.Option("--population-size", help="People of whom the table is a sample: estimates.")
    ] = None
    region: Annotated[str | None, typer.Option("--region", help="Take the people of this region, as germany.")] = None
    weights: Annotated[str | None, typer.Option("--weights", help="Column of sampling weights.")] = None
    sampling_fraction: Annotated[
        str | None, typer.Option("--sampling-fraction", help="Share of the people in the table, for DIS-SUDA.")
    ] = None


@dataclass(frozen=True)
class ColumnSets:
    """Which sets of columns single people out."""

    suda: Annotated[int | None, typer.Option("--suda", help="Find special uniques of up to so many columns.")] = None
    rank: Annotated[
        int | None, typer.Option("--rank", help="Rank sets of up to so many columns by how well they tell rows apart.")
    ] = None


@grouped
def risk(
    table: Annotated[str, typer.Argument(help="The table: a file, or a database URL.")],
    policy: Annotated[
        Path | None, typer.Option("--policy", "-p", help="The policy file; without it --qi names the columns.")
    ] = None,
    qi: Qi = None,
    person: Person = None,
    threshold: Annotated[str, typer.Option("--threshold", help='A risk above it is "at risk", such as 0.2.')] = "0.2",
    household: Annotated[str | None, typer.Option("--household", help="Column that says who lives together.")] = None,
    stars: Annotated[
        str | None, typer.Option("--stars", help="Read * in one cell as any value (wildcard) or as one (value).")
    ] = None,
    published: Annotated[str | None, typer.Option("--published", help="Measure this table too, side by side.")] = None,
    rows: Annotated[
        Path | None, typer.Option("--rows", help="Write the risk of each row here; keep it private.")
    ] = None,
    fail_above: Annotated[
        str | None, typer.Option("--fail-above", help="Exit code 1 when the highest prosecutor risk is above this.")
    ] = None,
    *,
    people: Population,
    sets: ColumnSets,
    database: Database,
    force: Force = False,
    answering: Answer,
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
    everybody, other = (None if one is None else place(one) for one in (people.population, published))
    origins = (*origins_of(place(table), everybody, other), *(() if given is None else given.origins))
    files = [] if rows is None else [table_output(rows, private=True)]
    check_outputs(files, origins, force=force)
    with answering.progress() as report:
        answer = run(
            place(table),
            given,
            threshold=threshold,
            population=everybody,
            population_size=people.population_size,
            region=people.region,
            weights=people.weights,
            household=household,
            suda=sets.suda,
            sampling_fraction=people.sampling_fraction,
            stars=stars,
            rank=sets.rank,
            rows=rows is not None,
            published=other,
            **vars(database),
            progress=report,
            **(flags if policy is None else {}),
        )
    for file in files:
        with stage(file, answer.rows.to_batches(), answer.rows.schema) as staged:
            staged.publish(origins, force=force)
    failed = fail_above is not None and is_above(answer, fail_above)
    where = [] if rows is None else [f"risk of each row written to {rows}; it says who is in danger, keep it private"]
    answering.give({**answer.document, "rows_file": None if rows is None else str(rows)}, answer, *where)
    return 1 if failed else 0
