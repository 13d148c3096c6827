"""The server's end of the worker: asks, stops, and replaces a worker that died or does not answer."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from threading import Thread
from typing import TYPE_CHECKING, Any

from indistinct.studio.worker import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

PATIENCE = 10.0  # seconds that a job may go on after it was told to stop; then its worker is replaced


class WorkerLost(Exception):  # noqa: N818  # what happened, not a mistake of somebody
    """The worker died, or did not answer and was ended; a new one is there."""


class Failed(Exception):  # noqa: N818  # as above
    """A question has an error as its answer; ``error`` says kind, message, where and nearest."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.error = error


class Stopped(Exception):  # noqa: N818  # as above
    """A question was stopped, by a newer one or by a person."""


@dataclass
class Question:
    """A question that waits for its answer, and who is told of progress."""

    answer: asyncio.Future[Any]
    report: Callable[[str, int, int], None]


class Channel:
    """One worker process behind a pipe; answers arrive in the loop of the server."""

    def __init__(self) -> None:
        self._questions: dict[int, Question] = {}
        self._number = 0
        self._pipe: Connection | None = None
        self.on_lost: Callable[[], None] = lambda: None
        self.process: SpawnProcess | None = None

    def start(self) -> None:
        """Start a worker; called in the loop of the server."""
        loop = asyncio.get_running_loop()
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(target=main, args=(theirs,), daemon=True, name="indistinct-studio-worker")
        self.process.start()
        theirs.close()
        Thread(target=self._read, args=(self._pipe, loop), daemon=True).start()

    async def ask(
        self, kind: str, given: dict[str, Any], report: Callable[[str, int, int], None] = lambda *_: None
    ) -> Any:
        """Ask, and wait for the answer; a caller that is cancelled stops the job.

        Raises Failed, Stopped and WorkerLost.
        """
        self._number += 1
        number = self._number
        answer = asyncio.get_running_loop().create_future()
        self._questions[number] = Question(answer, report)
        self._send(number, kind, given)
        try:
            return await answer
        except asyncio.CancelledError:
            self._stop(number)
            raise

    def _stop(self, number: int) -> None:
        """Tell a job to stop, and end its worker if it does not."""
        if self._questions.pop(number, None) is None:
            return
        self._questions[-number] = Question(asyncio.get_running_loop().create_future(), lambda *_: None)
        self._send(0, "stop", {"number": number})
        process = self.process

        def check() -> None:
            if -number in self._questions and process is self.process and process is not None:
                process.kill()

        asyncio.get_running_loop().call_later(PATIENCE, check)

    def _send(self, number: int, kind: str, given: dict[str, Any]) -> None:
        with suppress(OSError):  # a dead worker is met by the thread that reads
            if self._pipe is not None:
                self._pipe.send((number, kind, given))

    def _read(self, pipe: Connection, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError):  # the loop is closed
            while True:
                try:
                    message = pipe.recv()
                except (EOFError, OSError):
                    loop.call_soon_threadsafe(self._lost, pipe)
                    return
                loop.call_soon_threadsafe(self._arrived, *message)

    def _arrived(self, number: int, what: str, content: Any) -> None:
        if what == "progress":
            if number in self._questions:
                self._questions[number].report(*content)
            return
        self._questions.pop(-number, None)  # it was told to stop, and did
        question = self._questions.pop(number, None)
        if question is None or question.answer.done():
            return
        if what == "done":
            question.answer.set_result(content)
        else:
            question.answer.set_exception(Stopped() if what == "stopped" else Failed(content))

    def _lost(self, pipe: Connection) -> None:
        if pipe is not self._pipe:
            return
        question, self._questions = self._questions, {}
        self._pipe = None
        self.start()
        for own in question.values():
            if not own.answer.done():
                own.answer.set_exception(WorkerLost())
                own.answer.exception()  # whether somebody waits or not
        self.on_lost()

    def close(self) -> None:
        """End the worker; what it had not delivered is gone."""
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.close()
        if self.process is not None:
            self.process.join(0.5)
            if self.process.is_alive():
                self.process.kill()
                self.process.join(2)
