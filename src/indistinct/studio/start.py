"""Starting the studio: a port of this machine, a secret, a server, and the browser."""

from __future__ import annotations

import secrets
import socket
import tempfile
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from indistinct.errors import DataError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

HOST = "127.0.0.1"
PACKAGES = ("starlette", "uvicorn", "multipart")


def require_packages() -> None:
    """Raise UnsupportedError where what the extra ``studio`` brings is not installed."""
    from importlib.util import find_spec

    absent = [name for name in PACKAGES if find_spec(name) is None]
    if absent:
        raise UnsupportedError(
            f"the studio needs {', '.join(absent)}; install it with: pip install 'indistinct[studio]'"
        )


def serve(
    place: str | None,
    *,
    port: int = 0,
    browser: bool = True,
    example: Path | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the studio on this machine until it is interrupted.

    ``place`` is a table, or a policy (``.toml``); ``port`` 0 takes any that is free.

    Raises UnsupportedError without the extra, DataError for a place that is not there or a port that is taken.
    """
    require_packages()
    import uvicorn

    from indistinct.studio.app import application

    given = None if place is None else Path(place)
    if given is not None and "://" not in str(place) and not given.exists():
        raise DataError(f"there is no file {given.name}; check the path", file=given.name)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener, tempfile.TemporaryDirectory() as folder:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError as error:
            raise DataError(f"the port {port} cannot be used ({error.strerror}); give another one: --port") from None
        listener.listen(128)  # who asks before the server answers waits
        token, port = secrets.token_urlsafe(24), listener.getsockname()[1]
        is_policy = given is not None and given.suffix == ".toml"
        table = "" if given is None or is_policy else place if "://" in str(place) else str(given.resolve())
        app = application(
            token,
            port,
            table=str(table),
            policy=str(given.resolve()) if given is not None and is_policy else None,
            example="" if example is None else str(example),
            uploads=Path(folder),
        )
        address = f"http://{HOST}:{port}/?token={token}"
        say(f"The studio is at {address}\nIt is for this machine only; end it with Ctrl-C.")
        if browser:
            webbrowser.open(address)
        config = uvicorn.Config(
            app, log_level="critical", access_log=False, server_header=False, date_header=False,
            timeout_graceful_shutdown=1, lifespan="on", ws="none", http="h11",
        )  # fmt: skip
        uvicorn.Server(config).run(sockets=[listener])
