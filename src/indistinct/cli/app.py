"""The application and its entry point: one place where errors become sentences, JSON documents and exit codes."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer

from indistinct.cli.common import print_json, tell
from indistinct.errors import Cancelled, IndistinctError
from indistinct.limits import check_address_space
from indistinct.loading import spare_pandas
from indistinct.plain import visible

if TYPE_CHECKING:
    from types import FrameType

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # none is wanted, and looking for some takes time

# in the order of the help; a command is the function of its name in its module, and groups are a Typer of their own
READING = (
    "audit", "anonymize", "append", "transform", "verify", "compare", "profile", "risk", "attack", "explain", "plan",
    "utility", "demo",
)  # fmt: skip
COMMANDS = (*READING, "studio")
GROUPS = ("hierarchy", "policy", "releases")


def application(first: str = "") -> typer.Typer:
    """Make the application with all commands, or, where the first word is a command, with that one alone.

    A command reads the annotations of its options when it is added, which takes time for seventeen of them.
    """
    app = typer.Typer(
        name="indistinct",
        help="Turn a table about people into one that may be published, and prove what it guarantees.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_top)
    for name in (first,) if first in COMMANDS + GROUPS else COMMANDS + GROUPS:
        module = import_module(f"indistinct.cli.{name}")
        if name in GROUPS:
            app.add_typer(module.app, name=name)
        else:
            app.command(name)(getattr(module, name))
    return app


def _top(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    if version:
        import indistinct

        tell(f"indistinct {indistinct.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        tell(context.get_help())


def main() -> None:
    """Run the command line and leave at once with its exit code.

    The answer is out when this function leaves: taking the interpreter down in order would take half a second more, in
    which an interruption would turn a finished job into a failed one.
    """
    code = run(sys.argv[1:], alone=True)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


def run(words: list[str], *, alone: bool = False) -> int:
    """Run one command and return its exit code. ``alone``: nothing else runs in this process, nor will."""
    signal.signal(signal.SIGTERM, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")  # the same bytes under every locale
    warnings.showwarning = partial(_remark, quiet=not {"-q", "--quiet"}.isdisjoint(words))
    try:
        first = words[0] if words else ""
        if {"-h", "--help", "--version"}.isdisjoint(words):
            check_address_space()
            if alone and first in READING:
                spare_pandas()
        outcome = application(first)(args=words, prog_name="indistinct", standalone_mode=False)
        code = outcome if isinstance(outcome, int) else 0
        if code == Cancelled.exit_code:  # Typer swallows the interruption and returns its code
            code = _answer(KeyboardInterrupt(), words)
        with suppress(BrokenPipeError):  # a reader that went away, as head does, is no error
            sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001  # the last place that can turn an error into a sentence
        code = _answer(error, words)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code


def _remark(message: Warning | str, *_where: object, quiet: bool) -> None:
    """Show a warning of a library as a sentence; its place in the source helps nobody here."""
    if not quiet:
        print(visible(f"warning: {message}", lines=True), file=sys.stderr)  # noqa: T201  # where remarks go


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
        trace = "".join(traceback.format_exception(error))
        print(visible(trace, lines=True), file=sys.stderr, end="")  # noqa: T201  # where errors go
    if "--json" in words:
        print_json({"error": _described(error, words)})
    else:
        message = str(error) if isinstance(error, IndistinctError) else _described(error, words)["message"]
        named = message if message.startswith("Usage: ") else f"error: {message}"  # without a command the help answers
        print(visible(named, lines=True), file=sys.stderr)  # noqa: T201  # where errors go
    return error.exit_code if isinstance(error, IndistinctError) else 2


def _described(error: BaseException, words: list[str]) -> dict[str, Any]:
    """Describe an error for a document. Documents are kept: they name the place, not values of the table."""
    if isinstance(error, IndistinctError):
        return {"kind": error.kind, "message": error.public_message, "where": dict(error.where)}
    if hasattr(error, "format_message"):  # what Typer raises for wrong words; its class has no public name
        kind, message = "usage", str(error.format_message())
    elif isinstance(error, MemoryError):
        kind, message = "data", "there is not enough memory for this table"
    elif isinstance(error, OSError) and error.strerror:
        kind, message = "data", f"the operating system refuses: {error.strerror.lower()}"
    else:
        fault = f"{type(error).__name__}: {error}" if "--debug" in words else type(error).__name__
        remedy = "nothing was delivered; run again with --debug and report it"
        kind, message = "internal", f"indistinct failed unexpectedly ({fault}); {remedy}"
    return {"kind": kind, "message": message, "where": {}}
