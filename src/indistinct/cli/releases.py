"""``indistinct releases``: the ledger of what was published before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from indistinct.cli.common import PolicyFile, place
from indistinct.cli.options import Answer, Database, grouped

if TYPE_CHECKING:
    from indistinct.history.ledger import Ledger
    from indistinct.history.record import Snapshot
    from indistinct.outputs import Origin

app = typer.Typer(help="Keep a ledger of releases, and check a new one against all earlier ones.", no_args_is_help=True)

Original = Annotated[str, typer.Argument(help="The original table.")]
Published = Annotated[Path, typer.Argument(help="The published file.")]
LedgerFile = Annotated[Path, typer.Option("--ledger", help="The ledger, a file that only you can read.")]
KeyFile = Annotated[
    Path | None,
    typer.Option("--key-file", help="The key of the ledger, in another folder; without it only classes are compared."),
]
Demand = Annotated[int | None, typer.Option("--m", help="Demand m-invariance of every sensitive column.")]


@app.command("add")
@grouped
def add(
    original: Original,
    published: Published,
    policy: PolicyFile,
    ledger: LedgerFile,
    key_file: KeyFile = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the release; default: the file's.")] = None,
    m: Demand = None,
    despite: Annotated[
        bool, typer.Option("--despite", help="Enter it although it breaks a guarantee: it has gone out already.")
    ] = False,
    *,
    database: Database,
    answering: Answer,
) -> int:
    """Enter a published file, unless it breaks a guarantee of an earlier release or its own.

    With a key the ledger holds pseudonymous personal data. Exit code 0: entered, 1: refused, 2: wrong use or bad input.
    """
    from indistinct.outputs import origin
    from indistinct.sentences.ledger import check_text

    book, new, origins = _read(original, published, policy, ledger, key_file, m, database, answering)
    label = name or published.name
    origins += () if key_file is None else (origin(key_file, "the key of the ledger"),)
    answer = book.add(label, new, despite=despite, origins=origins)
    answering.give({"name": label, "added": True, **answer}, check_text(answer), f'"{label}" is entered in {ledger}')
    return 0


@app.command("check")
@grouped
def check(
    original: Original,
    published: Published,
    policy: PolicyFile,
    ledger: LedgerFile,
    key_file: KeyFile = None,
    m: Demand = None,
    *,
    database: Database,
    answering: Answer,
) -> int:
    """Attack a release together with all earlier ones; nothing is entered.

    Exit code 0: no guarantee is broken, 1: some are, or it cannot be told, 2: wrong use or bad input.
    """
    from indistinct.sentences.ledger import check_text

    book, new, _ = _read(original, published, policy, ledger, key_file, m, database, answering)
    answer = book.check(new)
    answering.give(answer, check_text(answer))
    return 0 if answer["satisfied"] else 1


@app.command("list")
@grouped
def list_(
    ledger: LedgerFile,
    *,
    answering: Answer,
) -> int:
    """List the releases of a ledger; needs no key."""
    from indistinct.history.ledger import Ledger
    from indistinct.sentences.ledger import list_text

    found = Ledger(ledger).releases()
    answering.give({"releases": found}, list_text(found))
    return 0


@app.command("forget")
@grouped
def forget(
    name: Annotated[str, typer.Argument(help="Name of the release.")],
    ledger: LedgerFile,
    *,
    answering: Answer,
) -> int:
    """Remove a release from the ledger with all it holds about persons. Later releases are not compared with it."""
    from indistinct.history.ledger import Ledger

    Ledger(ledger).forget(name)
    answering.give({"name": name, "forgotten": True}, f'"{name}" is forgotten; copies of the ledger still hold it')
    return 0


@app.command("key")
@grouped
def key(
    path: Annotated[Path, typer.Argument(help="A new file, not in the folder of the ledger.")],
    *,
    answering: Answer,
) -> int:
    """Make a key for a ledger: 256 random bits in a file that only you can read. Without it nothing can be opened."""
    from indistinct.history.key import make_key

    make_key(path)
    answering.give({"key_file": str(path)}, f"key written to {path}; keep a copy in a safe place, away from the ledger")
    return 0


def _read(
    original: str,
    published: Path,
    policy: Path,
    ledger: Path,
    key_file: Path | None,
    m: int | None,
    database: Database,
    answering: Answer,
) -> tuple[Ledger, Snapshot, tuple[Origin, ...]]:
    from indistinct.formats.source import origins_of
    from indistinct.history.key import read_ledger_key
    from indistinct.history.ledger import Ledger
    from indistinct.history.snapshot import snapshot
    from indistinct.policy import Policy

    secret = None if key_file is None else read_ledger_key(key_file, ledger)
    book, rules, table = Ledger(ledger, secret), Policy.load(policy), place(original)
    with answering.progress() as report:
        new = snapshot(table, published, rules, secret, m=m, ledger=book, progress=report, **vars(database))
    return book, new, (*origins_of(table, published), *rules.origins)
