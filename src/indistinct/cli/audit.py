"""``indistinct audit``: say what a table satisfies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from indistinct.cli.common import (
    Debug,
    Decimal,
    Delimiter,
    Encoding,
    Hierarchies,
    Json,
    Missing,
    Orders,
    Person,
    Qi,
    Query,
    Quiet,
    Sensitive,
    SqlTable,
    Types,
    names,
    pairs,
    place,
    print_json,
    progress,
    tell,
)

if TYPE_CHECKING:
    from indistinct.policy import Flags


def audit(
    table: Annotated[
        str,
        typer.Argument(help="A CSV, TSV, Parquet, Arrow, Excel, SPSS, Stata or SAS file, or a database URL."),
    ],
    policy: Annotated[
        Path | None, typer.Option("--policy", "-p", help="The policy file; without it the options below.")
    ] = None,
    qi: Qi = None,
    sensitive: Sensitive = None,
    identifying: Annotated[
        list[str] | None, typer.Option("--identifying", help="Directly identifying columns.")
    ] = None,
    k: Annotated[str | None, typer.Option("--k", help="Required k.")] = None,
    l: Annotated[str | None, typer.Option("--l", help="Required l.")] = None,  # noqa: E741  # the letter of the literature
    l_kind: Annotated[str, typer.Option("--l-kind", help="distinct, entropy or recursive.")] = "distinct",
    c: Annotated[str | None, typer.Option("--c", help="c of recursive (c,l)-diversity.")] = None,
    t: Annotated[str | None, typer.Option("--t", help='Required t, such as 0.2 or "1/6".')] = None,
    t_distance: Annotated[str | None, typer.Option("--t-distance", help="ordered, equal or hierarchical.")] = None,
    person: Person = None,
    type_: Types = None,
    order: Orders = None,
    hierarchy: Hierarchies = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    missing: Missing = None,
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
    query: Query = None,
    sql_table: SqlTable = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001  # read by the entry point
) -> int:
    """Say what a table satisfies: exact verdicts, the best parameters reached, and where it hurts most.

    Without thresholds it reports the best of each model. Exit code 0: satisfied (or nothing asked), 1: not satisfied,
    2: wrong use or bad input.
    """
    from indistinct.assess.audit import audit as run
    from indistinct.policy import Policy

    if suppressed_rows not in (None, "exempt", "class"):
        message = "--suppressed-rows takes exempt or class"
        raise typer.BadParameter(message)
    flags: Flags = {
        "qi": names(qi), "sensitive": names(sensitive), "identifying": names(identifying), "k": k, "l": l,
        "l_kind": l_kind, "c": c, "t": t, "t_distance": t_distance, "person": person, "types": pairs(type_, "--type"),
        "orders": {name: text.split(",") for name, text in pairs(order, "--order", listed=False).items()},
        "hierarchies": pairs(hierarchy, "--hierarchy"), "delimiter": delimiter, "missing": missing,
        "decimal": decimal, "encoding": encoding,
    }  # fmt: skip
    given = [name for name, value in flags.items() if value and (name, value) != ("l_kind", "distinct")]
    if policy is not None and given:
        message = f"give either --policy or the options that it replaces, not both; given are {', '.join(given)}"
        raise typer.BadParameter(message)
    with progress(quiet=quiet or json) as report:
        answer = run(
            place(table),
            None if policy is None else Policy.load(policy),
            reference=None if reference is None else place(reference),
            suppressed_rows=suppressed_rows,
            query=query,
            sql_table=sql_table,
            progress=report,
            **(flags if policy is None else {}),
        )
    if json:
        print_json(answer.document)
    elif not quiet:
        tell(repr(answer))
    return 1 if answer.satisfied is False else 0
