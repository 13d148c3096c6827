"""What all commands share: their common options, progress on a terminal, printing of answers."""

from __future__ import annotations

import json
import re
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from indistinct.formats.source import STDIN, is_url
from indistinct.plain import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Report = Callable[[str, int, int], None]

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no account; errors only.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an output that exists.")]
# raised when a key of the JSON documents changes its meaning or goes; new keys leave it as it is
SCHEMA = 1

AcceptDraft = Annotated[
    str | None,
    typer.Option("--accept-draft", metavar="NAME", help="Accept the open suggestions of a draft in this name."),
]
PolicyFile = Annotated[Path, typer.Option("--policy", "-p", help="The policy file (TOML).", envvar="INDISTINCT_POLICY")]
Query = Annotated[str | None, typer.Option("--query", help="SQL query, when TABLE is a database URL.")]
SqlTable = Annotated[str | None, typer.Option("--table", help="Table name, when TABLE is a database URL.")]
Engine = Annotated[
    str | None,
    typer.Option("--engine", help="What counts and publishes: local, duckdb, postgresql or spark; else by the policy."),
]
OutputTable = Annotated[
    str | None, typer.Option("--output-table", help="Name of the new table, when OUTPUT is a database URL.")
]
ManifestFile = Annotated[
    Path | None, typer.Option("--manifest", help="File for the manifest, when OUTPUT is a database URL or -.")
]
Qi = Annotated[list[str] | None, typer.Option("--qi", help="Quasi-identifiers, separated by commas.")]
Sensitive = Annotated[list[str] | None, typer.Option("--sensitive", "-s", help="Sensitive columns.")]
Person = Annotated[str | None, typer.Option("--person", help="Column that says whose a row is.")]
Types = Annotated[list[str] | None, typer.Option("--type", help="column=integer, decimal, date or text.")]
Orders = Annotated[list[str] | None, typer.Option("--order", help="column=a,b,c: the order of its values.")]
Hierarchies = Annotated[list[str] | None, typer.Option("--hierarchy", help="column=file: an ARX hierarchy.")]
Delimiter = Annotated[str | None, typer.Option("--delimiter", help="Separator of a text file; sniffed when absent.")]
Decimal = Annotated[str | None, typer.Option("--decimal", help="Decimal mark of numbers, . or ,")]
Encoding = Annotated[str | None, typer.Option("--encoding", help="Encoding of a text file; default utf-8.")]
Missing = Annotated[
    list[str] | None, typer.Option("--missing", help="Token of a missing value (repeatable; default '').")
]

WORDS = {
    "count": "reading and counting",
    "judge": "judging",
    "search": "searching",
    "compare": "comparing",
    "transform": "transforming",
    "write": "writing",
    "read": "reading",
    "verify": "verifying",
    "attack": "attacking",
    "plan": "trying",
}


def place(text: str, base: Path | None = None) -> str | Path:
    """Take a table as the URL of a database, as standard input, or as the path of a file, relative to ``base``."""
    return text if is_url(text) or text == STDIN else (base or Path()) / text


@contextmanager
def progress(*, quiet: bool) -> Iterator[Report]:
    """Show progress on standard error, only on a terminal and not when quiet."""
    if quiet or not sys.stderr.isatty():
        yield lambda _phase, _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.completed:,.0f}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bars:
        tasks: dict[str, Any] = {}

        def report(phase: str, done: int, total: int) -> None:
            if phase not in tasks:
                tasks[phase] = bars.add_task(WORDS.get(phase, phase), total=total or None)
            bars.update(tasks[phase], completed=done, total=total or None)

        yield report


def print_json(document: Mapping[str, Any]) -> None:
    """Print the one JSON document of a command; ``schema`` is the version of its keys."""
    print_plain_json({"schema": SCHEMA, **document})


def print_plain_json(document: Mapping[str, Any]) -> None:
    """Print JSON that has a form of its own, such as a JSON Schema."""
    _print(json.dumps(document, ensure_ascii=False, allow_nan=False))


def tell(text: str) -> None:
    """Print an answer for people; control characters but line feeds are escaped, whatever they come from."""
    _print(visible(text, lines=True))


def _print(text: str) -> None:
    """Print an answer; a reader that goes away, as head does, changes nothing about it."""
    with suppress(BrokenPipeError):
        print(text)  # noqa: T201  # the answer of the command


def pairs(values: list[str] | None, option: str, *, listed: bool = True) -> dict[str, str]:
    """Split ``name=value`` arguments of a repeatable option; one argument may list several, ``a=x,b=y``.

    Not ``listed``: all after the first ``=`` is the value, whatever it holds.
    """
    found = {}
    for value in _listed(values) if listed else values or []:
        name, sign, text = value.partition("=")
        if not sign or not name:
            message = f'{option} takes name=value, not "{value}"'
            raise typer.BadParameter(message)
        found[name] = text
    return found


def _listed(values: list[str] | None) -> list[str]:
    """Split at commas that the next ``name=`` follows; a column may have a comma in its name."""
    found: list[str] = []
    for value in values or []:
        items = re.split(r",(?=[^,=]+=)", value)
        found += items if "=" in items[0] else [value]
    return found


def names(values: list[str] | None) -> list[str]:
    """Split comma-separated column names of a repeatable option."""
    return [name for value in values or [] for name in value.split(",") if name]
