"""``indistinct hierarchy``: check a hierarchy file, see what its levels do, make one from data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from indistinct.cli.common import Force, place, print_json, tell
from indistinct.cli.options import Answer, Database, grouped
from indistinct.plain import visible

app = typer.Typer(help="Check a hierarchy file, see what its levels do, make one from data.", no_args_is_help=True)

Column = Annotated[str, typer.Option("--column", "-c", help="The column of the table.")]


@app.command("check")
@grouped
def check(
    file: Annotated[Path, typer.Argument(help="A hierarchy file: value, level 1, ..., top (ARX CSV).")],
    table: Annotated[str | None, typer.Option("--for", help="A table whose column must be covered.")] = None,
    column: Annotated[str | None, typer.Option("--column", "-c", help="The column of that table.")] = None,
    *,
    answering: Answer,
) -> int:
    """Say whether a file is a hierarchy: no value twice, levels nested, every label for one set of values."""
    from indistinct.assess.column import column_counts
    from indistinct.hierarchies.taxonomy import build, read_taxonomy
    from indistinct.hierarchies.taxonomy import check as run

    if (table is None) != (column is None):
        message = "--for and --column go together"
        raise typer.BadParameter(message)
    rows = read_taxonomy(file)
    found = run(rows, where=file.name)
    if table is not None and column is not None:
        texts, _ = column_counts(place(table), column)
        build(column, texts, rows, file.name)
    document: dict[str, Any] = {
        "valid": True, "values": len(found.leaves), "levels": found.height + 1, "top_labels": list(found.top_labels),
    }  # fmt: skip
    if answering.json:
        print_json(document)
    elif not answering.quiet:
        tops = "one root" if len(found.top_labels) == 1 else f"{len(found.top_labels)} top labels, so no root"
        tell(f"{file.name} is a hierarchy: {len(found.leaves)} values, {found.height} levels above them, {tops}")
        if column is not None:
            tell(f'it covers every value of "{visible(column)}"')
    return 0


@app.command("show")
@grouped
def show(
    table: Annotated[str, typer.Argument(help="The table.")],
    column: Column,
    policy: Annotated[Path | None, typer.Option("--policy", "-p", help="Take the hierarchy from this policy.")] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="Take the hierarchy from this file.")] = None,
    *,
    database: Database,
    answering: Answer,
) -> int:
    """Show for every level how many classes the column has, how large the smallest is, and what the level loses."""
    from indistinct.assess.column import show as run
    from indistinct.sentences.results import counted

    if (policy is None) == (file is None):
        message = "give either --policy or --file"
        raise typer.BadParameter(message)
    levels = run(place(table), column, policy=policy, file=file, **vars(database))
    if answering.json:
        print_json({"column": column, "levels": [level.to_dict() for level in levels]})
    elif not answering.quiet:
        tell(f'levels of "{visible(column)}":')
        for level in levels:
            examples = [("missing" if label is None else visible(label), rows) for label, rows in level.examples]
            shown = ", ".join(f"{label} ({rows})" for label, rows in examples)
            tell(
                f"  {level.level}: {counted(level.classes, 'class')}, the smallest of {level.smallest} and the largest "
                f"of {level.largest} rows; loses {100 * float(level.loss):.1f} %; {shown}"
            )
    return 0


@app.command("build")
@grouped
def build(
    table: Annotated[str, typer.Argument(help="The table.")],
    column: Column,
    output: Annotated[Path, typer.Option("--output", "-o", help="The hierarchy file to write.")],
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help="How values are grouped: auto, quantiles, prefixes, calendar, rare, frequent, icd10, atc, zip3, "
            "times, bands or countries.",
        ),
    ] = "auto",
    type_: Annotated[str, typer.Option("--type", help="text, integer, decimal or date.")] = "text",
    format_: Annotated[str | None, typer.Option("--format", help="How dates are written, such as %d.%m.%Y.")] = None,
    decimal: Annotated[str, typer.Option("--decimal", help="Decimal mark of numbers.")] = ".",
    keep: Annotated[int, typer.Option("--keep", help="Values that stay themselves under --kind frequent.")] = 10,
    *,
    database: Database,
    force: Force = False,
    answering: Answer,
) -> int:
    """Make a hierarchy from the values of a column, as a file that you can edit."""
    from indistinct.assess.column import build as run

    rows = run(
        place(table),
        column,
        output,
        kind=kind,
        type=type_,
        format=format_,
        decimal=decimal,
        keep=keep,
        **vars(database),
        force=force,
    )
    if answering.json:
        print_json({"output": str(output), "values": len(rows), "levels": len(rows[0])})
    elif not answering.quiet:
        tell(
            f"{len(rows)} values in {len(rows[0])} levels written to {output}; edit it, then: indistinct "
            f"hierarchy check {output}"
        )
    return 0
