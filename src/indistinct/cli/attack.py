"""``indistinct attack``: run attacks on a published table and say what each learnt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from indistinct.cli.common import (
    Debug,
    Decimal,
    Hierarchies,
    Json,
    Missing,
    Orders,
    Qi,
    Quiet,
    Sensitive,
    Types,
    names,
    pairs,
    place,
    print_json,
    progress,
    tell,
)

if TYPE_CHECKING:
    from indistinct.policy import Reading


def attack(
    published: Annotated[str, typer.Argument(help="The published table, whoever made it.")],
    second: Annotated[
        str | None, typer.Argument(metavar="[ST]", help="Of a two-table release: the table of sensitive values.")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option("--policy", "-p", help="The policy file; without it the options below.")
    ] = None,
    qi: Qi = None,
    sensitive: Sensitive = None,
    identified: Annotated[
        str | None, typer.Option("--identified", help="A table with names that the attacker has.")
    ] = None,
    other: Annotated[str | None, typer.Option("--with", help="Another release of the same people.")] = None,
    other_second: Annotated[
        str | None, typer.Option("--with-st", help="Its table of sensitive values, if it has two.")
    ] = None,
    original: Annotated[
        str | None,
        typer.Option("--original", help="The table before anonymization: measures guesses, gives the prior."),
    ] = None,
    control: Annotated[
        str | None, typer.Option("--control", help="Persons held out before anonymization, for inference.")
    ] = None,
    attacks: Annotated[list[str] | None, typer.Option("--attacks", help="Only these, separated by commas.")] = None,
    width: Annotated[list[str] | None, typer.Option("--width", help="column=w: the window for proximity.")] = None,
    rule_out: Annotated[int, typer.Option("--rule-out", help="Values that background knowledge rules out.")] = 1,
    known: Annotated[
        int, typer.Option("--known", help="Quasi-identifiers of a person that an attacker knows, for uniqueness.")
    ] = 3,
    bound: Annotated[
        str | None, typer.Option("--bound", help='Share of a value that a minimal algorithm keeps to, such as "1/3".')
    ] = None,
    tight: Annotated[bool, typer.Option("--tight", help="Ranges are known to end at values of their members.")] = False,
    fail_above: Annotated[
        str | None, typer.Option("--fail-above", help="Exit 1 when the gain of an attack is above this, 0 to 1.")
    ] = None,
    fail_on: Annotated[
        str, typer.Option("--fail-on", help="average: the mean gain of an attack decides; worst: its worst case.")
    ] = "average",
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Show values of the worst cases, on the console only (not with --json).")
    ] = False,
    type_: Types = None,
    order: Orders = None,
    hierarchy: Hierarchies = None,
    decimal: Decimal = None,
    encoding: Annotated[str | None, typer.Option("--encoding", help="Encoding of text files; default utf-8.")] = None,
    missing: Missing = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001  # read by the entry point
) -> int:
    """Run attacks on a published table and say what each learnt, against somebody who knows only the distribution.

    Exit code 0: no attack gains more than --fail-above (or none was asked for), 1: one does, 2: wrong use or bad input.
    """
    from indistinct.attacks import attack as run
    from indistinct.policy import Policy

    flags: Reading = {
        "qi": names(qi), "sensitive": names(sensitive), "types": pairs(type_, "--type"),
        "orders": {name: text.split(",") for name, text in pairs(order, "--order", listed=False).items()},
        "hierarchies": pairs(hierarchy, "--hierarchy"), "missing": missing, "decimal": decimal, "encoding": encoding,
    }  # fmt: skip
    given = [name for name, value in flags.items() if value]
    if policy is not None and given:
        message = f"give either --policy or the options that it replaces, not both; given are {', '.join(given)}"
        raise typer.BadParameter(message)
    if reveal and json:
        message = "--reveal shows values of persons; they are never in a document, so leave out --json or --reveal"
        raise typer.BadParameter(message)
    with progress(quiet=quiet or json) as report:
        answer = run(
            place(published),
            None if policy is None else Policy.load(policy),
            second=_place(second),
            identified=_place(identified),
            other=_place(other),
            other_second=_place(other_second),
            original=_place(original),
            control=_place(control),
            attacks=names(attacks),
            widths=pairs(width, "--width"),
            rule_out=rule_out,
            known=known,
            bound=bound,
            tight=tight,
            fail_above=fail_above,
            fail_on=fail_on,
            reveal=reveal,
            progress=report,
            **(flags if policy is None else {}),
        )
    if json:
        print_json(answer.document)
    elif not quiet:
        tell(repr(answer))
    return 1 if answer.satisfied is False else 0


def _place(text: str | None) -> str | Path | None:
    return None if text is None else place(text)
