"""``indistinct studio``: the whole job in a browser, on this machine."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from indistinct.cli.common import Debug, tell
from indistinct.cli.demo import example_folder
from indistinct.errors import DataError


def studio(
    place: Annotated[
        str | None, typer.Argument(metavar="[TABLE | POLICY.toml]", help="A table, or the policy of one.")
    ] = None,
    *,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port of this machine; 0 takes a free one.")
    ] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
    debug: Debug = False,  # noqa: ARG001  # read by the entry point
) -> int:
    """Open a local web app: decide column by column, see what each choice costs, publish and verify."""
    from indistinct.studio.start import serve

    example = None
    with suppress(DataError):
        example = example_folder() / "discharges.csv"
    serve(place, port=port, browser=browser, example=example, say=tell)
    return 0
