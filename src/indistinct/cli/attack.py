"""``indistinct attack``: run attacks on a published table and say what each learnt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from indistinct.cli.common import names, pairs, place
from indistinct.cli.options import Answer, Reading, grouped, refuse_both


@dataclass(frozen=True)
class Knowledge:
    """What the attacker has and knows."""

    identified: Annotated[
        str | None, typer.Option("--identified", help="A table with names that the attacker has.")
    ] = None
    other: Annotated[str | None, typer.Option("--with", help="Another release of the same people.")] = None
    other_second: Annotated[
        str | None, typer.Option("--with-st", help="Its table of sensitive values, if it has two.")
    ] = None
    other_policy: Annotated[
        Path | None, typer.Option("--with-policy", help="The policy of the other release, if it is another one.")
    ] = None
    original: Annotated[
        str | None,
        typer.Option("--original", help="The table before anonymization: measures guesses, gives the prior."),
    ] = None
    control: Annotated[
        str | None, typer.Option("--control", help="Persons held out before anonymization, for inference.")
    ] = None
    width: Annotated[list[str] | None, typer.Option("--width", help="column=w: the window for proximity.")] = None
    rule_out: Annotated[int, typer.Option("--rule-out", help="Values that background knowledge rules out.")] = 1
    known: Annotated[
        int, typer.Option("--known", help="Quasi-identifiers of a person that an attacker knows, for uniqueness.")
    ] = 3
    bound: Annotated[
        str | None, typer.Option("--bound", help='Share of a value that a minimal algorithm keeps to, such as "1/3".')
    ] = None
    tight: Annotated[bool, typer.Option("--tight", help="Ranges are known to end at values of their members.")] = False
    knows_program: Annotated[
        bool,
        typer.Option(
            "--knows-program/--knows-labels-only",
            help="The attacker runs the program himself, over everybody's quasi-identifiers.",
        ),
    ] = True


@dataclass(frozen=True)
class Requirement:
    """What the release must keep to."""

    fail_above: Annotated[
        str | None, typer.Option("--fail-above", help="Exit 1 when the gain of an attack is above this, 0 to 1.")
    ] = None
    fail_on: Annotated[
        str, typer.Option("--fail-on", help="average: the mean gain of an attack decides; worst: its worst case.")
    ] = "average"
    fail_at: Annotated[
        str,
        typer.Option(
            "--fail-at",
            help="estimate, lower or upper: an end of the interval, corrected for the number of attacks.",
        ),
    ] = "estimate"
    require: Annotated[
        list[str] | None, typer.Option("--require", help="Exit 1 when one of these, separated by commas, did not run.")
    ] = None


@grouped
def attack(
    published: Annotated[str, typer.Argument(help="The published table, whoever made it.")],
    second: Annotated[
        str | None, typer.Argument(metavar="[ST]", help="Of a two-table release: the table of sensitive values.")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option("--policy", "-p", help="The policy file; without it the options below.")
    ] = None,
    attacks: Annotated[list[str] | None, typer.Option("--attacks", help="Only these, separated by commas.")] = None,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Show values of the worst cases, on the console only (not with --json).")
    ] = False,
    *,
    reading: Reading,
    knowledge: Knowledge,
    requirement: Requirement,
    answering: Answer,
) -> int:
    """Run attacks on a published table and say what each learnt, against somebody who knows only the distribution.

    Exit code 0: no attack gains more than --fail-above (or none was asked for), 1: one does, or one that --require
    names did not run, 2: wrong use or bad input.
    """
    from indistinct.attacks.run import attack as run
    from indistinct.policy import Policy

    flags = reading.flags
    refuse_both(policy, [name for name, value in flags.items() if value])
    if reveal and answering.json:
        message = "--reveal shows values of persons; they are never in a document, so leave out --json or --reveal"
        raise typer.BadParameter(message)
    with answering.progress() as report:
        answer = run(
            place(published),
            None if policy is None else Policy.load(policy),
            second=_place(second),
            identified=_place(knowledge.identified),
            other=_place(knowledge.other),
            other_second=_place(knowledge.other_second),
            other_policy=None if knowledge.other_policy is None else Policy.load(knowledge.other_policy),
            original=_place(knowledge.original),
            control=_place(knowledge.control),
            attacks=names(attacks),
            widths=pairs(knowledge.width, "--width"),
            rule_out=knowledge.rule_out,
            known=knowledge.known,
            bound=knowledge.bound,
            tight=knowledge.tight,
            knows_program=knowledge.knows_program,
            fail_above=requirement.fail_above,
            fail_on=requirement.fail_on,
            fail_at=requirement.fail_at,
            require=names(requirement.require),
            reveal=reveal,
            progress=report,
            **(flags if policy is None else {}),
        )
    answering.give(answer.document, answer)
    return 1 if answer.satisfied is False else 0


def _place(text: str | None) -> str | Path | None:
    return None if text is None else place(text)
