"""``indistinct releases``: the ledger of what was published before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from indistinct.cli.common import (
    Debug,
    Json,
    PolicyFile,
    Query,
    Quiet,
    SqlTable,
    place,
    print_json,
    progress,
    tell,
)

if TYPE_CHECKING:
    from indistinct.history.ledger import Ledger
    from indistinct.history.record import Snapshot

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
    query: Query = None,
    sql_table: SqlTable = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001  # read by the entry point
) -> int:
    """Enter a published file, unless it breaks a guarantee of an earlier release or its own.

    With a key the ledger holds pseudonymous personal data. Exit code 0: entered, 1: refused, 2: wrong use or bad input.
    """
    book, new = _read(original, published, policy, ledger, key_file, m, query, sql_table, quiet=quiet or json)
    label = name or published.name
    answer = book.add(label, new, despite=despite)
    if json:
        print_json({"name": label, "added": True, **answer})
    elif not quiet:
        from indistinct.sentences.ledger import check_text

        tell(check_text(answer))
        tell(f'"{label}" is entered in {ledger}')
    return 0


@app.command("check")
def check(
    original: Original,
    published: Published,
    policy: PolicyFile,
    ledger: LedgerFile,
    key_file: KeyFile = None,
    m: Demand = None,
    query: Query = None,
    sql_table: SqlTable = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001  # read by the entry point
) -> int:
    """Attack a release together with all earlier ones; nothing is entered.

    Exit code 0: no guarantee is broken, 1: some are, or it cannot be told, 2: wrong use or bad input.
    """
    book, new = _read(original, published, policy, ledger, key_file, m, query, sql_table, quiet=quiet or json)
    answer = book.check(new)
    if json:
        print_json(answer)
    elif not quiet:
        from indistinct.sentences.ledger import check_text

        tell(check_text(answer))
    return 0 if answer["satisfied"] else 1


@app.command("list")
def list_(
    ledger: LedgerFile,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001  # read by the entry point
) -> int:
    """List the releases of a ledger; needs no key."""
    from indistinct.history.ledger import Ledger

    found = Ledger(ledger).releases()
    if json:
        print_json({"releases": found})
    elif not quiet:
        from indistinct.sentences.ledger import list_text

        tell(list_text(found))
    return 0


@app.command("forget")
def forget(
    name: Annotated[str, typer.Argument(help="Name of the release.")],
    ledger: LedgerFile,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001  # read by the entry point
) -> int:
    """Remove a release from the ledger with all it holds about persons. Later releases are not compared with it."""
    from indistinct.history.ledger import Ledger

    Ledger(ledger).forget(name)
    if json:
        print_json({"name": name, "forgotten": True})
    elif not quiet:
        tell(f'"{name}" is forgotten; copies of the ledger still hold it')
    return 0


@app.command("key")
def key(
    path: Annotated[Path, typer.Argument(help="A new file, not in the folder of the ledger.")],
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001  # read by the entry point
) -> int:
    """Make a key for a ledger: 256 random bits in a file that only you can read. Without it nothing can be opened."""
    from indistinct.history.key import make_key

    make_key(path)
    if json:
        print_json({"key_file": str(path)})
    elif not quiet:
        tell(f"key written to {path}; keep a copy in a safe place, away from the ledger")
    return 0


def _read(
    original: str,
    published: Path,
    policy: Path,
    ledger: Path,
    key_file: Path | None,
    m: int | None,
    query: str | None,
    sql_table: str | None,
    *,
    quiet: bool,
) -> tuple[Ledger, Snapshot]:
    from indistinct.history.key import read_ledger_key
    from indistinct.history.ledger import Ledger
    from indistinct.history.snapshot import snapshot
    from indistinct.policy import Policy

    secret = None if key_file is None else read_ledger_key(key_file, ledger)
    options: dict[str, Any] = {"query": query, "sql_table": sql_table}
    book = Ledger(ledger, secret)
    with progress(quiet=quiet) as report:
        new = snapshot(
            place(original), published, Policy.load(policy), secret, m=m, ledger=book, progress=report, **options
        )
    return book, new
