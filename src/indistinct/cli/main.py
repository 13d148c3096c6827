"""Entry point: one place where errors become sentences, JSON documents and exit codes."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from indistinct.cli import anonymize, audit, demo, hierarchy, policy, verify
from indistinct.cli.common import print_json, tell
from indistinct.errors import Cancelled, IndistinctError

if TYPE_CHECKING:
    from types import FrameType

app = typer.Typer(
    name="indistinct",
    help="Turn a table about people into one that may be published, and prove what it guarantees.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("audit")(audit.audit)
app.command("anonymize")(anonymize.anonymize)
app.command("verify")(verify.verify)
app.command("demo")(demo.demo)
app.add_typer(hierarchy.app, name="hierarchy")
app.add_typer(policy.app, name="policy")


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    if version:
        from importlib.metadata import version as installed

        tell(f"indistinct {installed('indistinct')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        tell(context.get_help())


def main() -> None:
    """Run the command line and leave at once with its exit code.

    The answer is out when this function leaves: taking the interpreter down in order would take half a second more, in
    which an interruption would turn a finished job into a failed one.
    """
    code = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a reader that went away, as head does, is no error
            stream.flush()
    os._exit(code)


def run(words: list[str]) -> int:
    """Run one command and return its exit code."""
    signal.signal(signal.SIGTERM, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")  # the same bytes under every locale
    try:
        outcome = app(args=words, prog_name="indistinct", standalone_mode=False)
        code = outcome if isinstance(outcome, int) else 0
        if code == Cancelled.exit_code:  # Typer swallows the interruption and returns its code
            code = _answer(KeyboardInterrupt(), words)
        sys.stdout.flush()
    except BrokenPipeError:
        code = 0
    except BaseException as error:  # noqa: BLE001  # the last place that can turn an error into a sentence
        code = _answer(error, words)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _answer(error: BaseException, words: list[str]) -> int:
    """Print an error as its reader needs it and return the exit code."""
    if isinstance(error, typer.Exit):
        code = error.exit_code
    elif isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else 2
    else:
        code = -1
    if code == Cancelled.exit_code or isinstance(error, KeyboardInterrupt | typer.Abort):
        error = Cancelled("cancelled; no partial file is left")
    elif code >= 0:
        return code
    if "--debug" in words:
        traceback.print_exception(error)
    if isinstance(error, IndistinctError):
        kind, message, where, code = error.kind, error.message, dict(error.where), error.exit_code
    elif hasattr(error, "format_message"):  # what Typer raises for wrong words; its class has no public name
        kind, message, where, code = "usage", str(error.format_message()), {}, 2
    elif isinstance(error, MemoryError):
        kind, message, where, code = "data", "there is not enough memory for this table", {}, 2
    else:
        fault = f"{type(error).__name__}: {error}" if "--debug" in words else type(error).__name__
        kind, where, code = "internal", {}, 2
        message = (
            f"indistinct failed unexpectedly ({fault}); nothing was delivered; run again with --debug and report it"
        )
    if "--json" in words:
        # documents are kept: they name the place, not values of the table
        message = error.public_message if isinstance(error, IndistinctError) else message
        print_json({"error": {"kind": kind, "message": message, "where": where}})
    else:
        print(f"error: {message}", file=sys.stderr)  # noqa: T201
    return code
