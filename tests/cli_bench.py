"""A small table, its policy, and the command line: what the tests of the commands share."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import warnings
from typing import NamedTuple

from indistinct.cli import app

TABLE = "age;ward;ill\n" + "".join(f"{20 + i % 30};{'AB'[i % 2]};{'xyz'[i % 3]}\n" for i in range(120))
POLICY = """
[attributes.age]
role = "qi"
type = "integer"
hierarchy = { kind = "intervals", widths = [5, 10, 30] }
[attributes.ward]
role = "qi"
hierarchy = { kind = "suppress" }
[attributes.ill]
role = "sensitive"
[[privacy]]
model = "k_anonymity"
k = 5
[[privacy]]
model = "distinct_l"
attribute = "ill"
l = 2
[recoding]
algorithm = "optimal"
"""


class Answer(NamedTuple):
    """What a command answers, named as in ``subprocess``."""

    returncode: int
    stdout: str
    stderr: str


def run(*words, cwd=None):
    """Run a command in this process, as ``main`` does."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with (
            contextlib.chdir(cwd or "."),
            contextlib.redirect_stdout(streams[0]),
            contextlib.redirect_stderr(streams[1]),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("default")
            code = app.run(list(map(str, words)))
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for stream in streams:
        stream.flush()
    return Answer(code, *(stream.buffer.getvalue().decode() for stream in streams))


def run_as_process(*words, cwd=None, env=None):
    """Run a command in a process of its own: for what depends on the start or the environment."""
    done = subprocess.run(
        [sys.executable, "-m", "indistinct", *map(str, words)],
        capture_output=True, cwd=cwd, env={**os.environ, **(env or {})}, timeout=200, check=False,
    )  # fmt: skip
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())
