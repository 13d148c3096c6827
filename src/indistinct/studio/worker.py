"""The worker process: answers questions one after the other; a newer one ends an older one.

A thread listens while the process works: it takes questions in, answers what takes no time (edits of a text) at once,
and tells the job under way to stop. A job notices at its next call of ``progress``.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from indistinct.errors import Cancelled, IndistinctError, InfeasibleError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from indistinct.studio.work import Work

EVERY = 0.1  # seconds between two reports of progress that are sent


@dataclass
class Mailbox:
    """What is asked and what is stopped; ``stopped`` are the numbers of questions that nobody waits for any more."""

    pipe: Connection
    waiting: SimpleQueue[tuple[int, str, dict[str, Any]] | None] = field(default_factory=SimpleQueue)
    stopped: set[int] = field(default_factory=set)
    sending: Lock = field(default_factory=Lock)

    def send(self, number: int, what: str, content: Any) -> None:
        """Send an answer, a report of progress, or a fault."""
        with self.sending:
            self.pipe.send((number, what, content))


def main(pipe: Connection) -> None:
    """Work until the other end of the pipe is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's, which ends this process in order
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # libraries show their own progress there
    from indistinct.studio.work import Work

    box, work = Mailbox(pipe), Work()
    Thread(target=_listen, args=(box, work), daemon=True).start()
    while (question := box.waiting.get()) is not None:
        number, kind, given = question
        _answer(box, number, lambda report, k=kind, g=given: getattr(work, k)(progress=report, **g))


def _listen(box: Mailbox, work: Work) -> None:
    """Take questions in; leave at once when nobody asks any more."""
    while True:
        try:
            number, kind, given = box.pipe.recv()
        except (EOFError, OSError):
            os._exit(0)  # a job under way is nobody's now; hidden files without a lock are removed by the next run
        if kind == "stop":
            box.stopped.add(given["number"])
        elif kind in work.AT_ONCE:
            _answer(box, number, lambda _report, k=kind, g=given: getattr(work, k)(**g))
        else:
            box.waiting.put((number, kind, given))


def _answer(box: Mailbox, number: int, job: Any) -> None:
    last = 0.0

    def report(phase: str, done: int, total: int) -> None:
        nonlocal last
        if number in box.stopped:
            raise Cancelled("stopped; nothing was written")
        now = monotonic()
        if now - last >= EVERY:
            last = now
            box.send(number, "progress", (phase, int(done), int(total)))

    try:
        report("begin", 0, 0)
        answer = job(report)
        box.send(number, "done", answer)
    except Cancelled:
        box.send(number, "stopped", None)
    except IndistinctError as error:
        box.send(number, "failed", described(error))
    except Exception as error:  # noqa: BLE001  # the page says it, and the worker goes on
        traceback.print_tb(error.__traceback__, file=sys.stderr)  # places in the code only: a message may hold values
        box.send(number, "failed", {"kind": "internal", "message": type(error).__name__, "where": {}, "nearest": ""})
    finally:
        box.stopped.discard(number)


def described(error: IndistinctError) -> dict[str, Any]:
    """Describe an error for the page, which is the steward's own: it may show values."""
    nearest = error.nearest if isinstance(error, InfeasibleError) else ""
    return {"kind": error.kind, "message": str(error), "where": dict(error.where), "nearest": nearest}
