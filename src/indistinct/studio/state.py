"""What the studio knows: the policy as a text with its past, the last picture of it, and what is under way.

Plain data alone; a question goes to the worker, and a newer one ends the older. Pages are drawn from this record and
told by ``changed`` when it is another one.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

from indistinct.studio.channel import Channel, Failed, Stopped, WorkerLost

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

STEPS = ("open", "columns", "coarser", "promise", "result", "evidence")
TRIES = 8


@dataclass
class Busy:
    """A job under way: what it is, and how far."""

    kind: str
    phase: str = ""
    done: int = 0
    total: int = 0
    since: float = field(default_factory=monotonic)

    @property
    def share(self) -> float | None:
        """How much is done, None where that is not known."""
        return min(1.0, self.done / self.total) if self.total else None


@dataclass
class State:
    """One table, one policy; ``past`` and ``future`` are texts of it. ``seen`` is the text that ``picture`` is of."""

    place: str = ""
    file: str | None = None
    table: dict[str, Any] | None = None
    base: str = ""
    text: str = ""
    view: dict[str, Any] | None = None
    past: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    future: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    picture: dict[str, Any] | None = None
    seen: str = ""
    curve: dict[str, Any] | None = None
    blocks: dict[str, Any] | None = None
    tries: list[dict[str, Any]] = field(default_factory=list)
    published: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    lost: bool = False
    busy: Busy | None = None

    @property
    def is_current(self) -> bool:
        """Whether the picture is one of the policy as it stands."""
        return self.picture is not None and self.seen == self.text

    @property
    def reached(self) -> int:
        """How many steps may be entered: no way on while a column is open, or no table is."""
        if self.view is None:
            return 1
        return 2 if self.view["open"]["columns"] else len(STEPS)


class Studio:
    """The state with the worker behind it. All methods run in the loop of the server."""

    def __init__(self, channel: Channel, example: str = "") -> None:
        self.state, self.example = State(), example
        self.version = 0
        self.hearers: set[asyncio.Queue[dict[str, Any]]] = set()
        self._channel = channel
        self._task: asyncio.Task[None] | None = None
        self._editing = asyncio.Lock()
        channel.on_lost = self._worker_lost

    def start(self) -> None:
        """Start the worker, which loads what it needs while the first page is read."""
        self._channel.start()

    # --- what a person does ------------------------------------------------------------------------------------

    def open(self, place: str, policy: str | None = None, **reading: str | None) -> None:
        """Open a table, or the policy of one; what was there is left."""
        self.state = State(place=place, file=policy)
        given = {"place": place, "policy": policy, **reading}
        self._begin("open", given, self._opened)

    async def edit(self, what: str, given: Mapping[str, str]) -> None:
        """Change the policy; the picture follows."""
        state = self.state
        state.error = None
        if state.busy is not None and state.busy.kind == "open":
            return
        async with self._editing:  # each edit is one of the text that the one before left
            try:
                answer = await self._channel.ask("edit", {"text": state.text, "what": what, "given": dict(given)})
            except Failed as failed:
                self._failed(failed, "edit")
            except (Stopped, WorkerLost):
                pass
            else:
                self._turn(answer["text"], answer["view"], state.past, forget=True, same=what in ("record", "accept"))

    def undo(self) -> None:
        """Go back to the policy before the last edit."""
        if self.state.past:
            self.state.future.append((self.state.text, self.state.view or {}))
            self._turn(*self.state.past.pop(), None)

    def redo(self) -> None:
        """Take an undone edit again."""
        if self.state.future:
            self.state.past.append((self.state.text, self.state.view or {}))
            self._turn(*self.state.future.pop(), None)

    def back_to(self, number: int) -> None:
        """Take the policy of an earlier try again; undo leads back."""
        found = [own for own in self.state.tries if own["number"] == number]
        if found:
            self._turn(found[0]["text"], found[0]["view"], self.state.past, forget=True)

    def ask_curve(self, place: int) -> None:
        """Ask what other numbers of a promise would cost."""
        models = (self.state.view or {}).get("models", [])
        if 0 <= place < len(models) and models[place]["kind"]:
            given = {"text": self.state.text, "parameter": models[place]["kind"], "place": place}
            self._begin("curve", given, self._curve_came)

    def ask_blocks(self) -> None:
        """Ask what would help."""
        picture = (self.state.picture or {}).get("picture", {})
        columns = sorted(picture.get("columns", []), key=lambda own: -own["lm"])
        names = [own["column"] for own in columns] or [
            own["name"] for own in (self.state.view or {}).get("columns", []) if own["role"] == "quasi_identifying"
        ]
        lm = picture["loss"]["lm"] if picture.get("feasible") else None
        self._begin("blocks", {"text": self.state.text, "lm": lm, "columns": names}, self._blocks_came)

    def publish(self, output: str, by: str, language: str, *, force: bool) -> None:
        """Write, verify and name the release."""
        given = {"text": self.state.text, "output": output, "by": by, "language": language, "force": force}
        self._begin("publish", given, self._was_published)

    def ask_proof(self) -> None:
        """Read what was published once more, and prove it against the original."""
        published = self.state.published
        if published is not None:
            places = [place for kind, place in published["files"].items() if kind.startswith("table")]
            self._begin("prove", {"text": published["text"], "places": places}, self._was_proved)

    @property
    def is_publishing(self) -> bool:
        """Whether a release is being written: nothing but ending it is done then."""
        return self.state.busy is not None and self.state.busy.kind == "publish"

    def stop(self) -> None:
        """End what is under way; nothing of it stays."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self.state.busy = None
        self.changed()

    def dismiss(self) -> None:
        """Take a message away."""
        self.state.error, self.state.lost = None, False
        self.changed()

    def changed(self) -> None:
        """Tell every open page that there is something new."""
        self.version += 1
        self._tell({"event": "state", "version": self.version})

    def close(self) -> None:
        """End what is under way, and the pages that listen."""
        self.stop()
        self._tell({"event": "end"})
        self._channel.close()

    # --- what the worker answers -------------------------------------------------------------------------------

    def _turn(
        self,
        text: str,
        view: dict[str, Any],
        past: list[tuple[str, dict[str, Any]]] | None,
        *,
        forget: bool = False,
        same: bool = False,
    ) -> None:
        """Make a text the policy, and look at it; ``same``: it decides what the one before did, in other comments."""
        state = self.state
        current = same and state.is_current
        if past is not None and text != state.text and state.view is not None:
            past.append((state.text, state.view))
        if forget:
            state.future.clear()
        state.text, state.view = text, view
        state.published = state.error = None
        if current:
            for own in state.tries:
                own["text"] = text if own["text"] == state.seen else own["text"]
            state.seen = text
            self.changed()
            return
        state.curve = state.blocks = None
        self.look()

    def look(self) -> None:
        """Ask for the picture of the policy, once every column is decided."""
        state = self.state
        if state.view is None or state.view["open"]["columns"]:
            self.stop()
            return
        self._begin("look", {"text": state.text}, self._looked)

    def _begin(self, kind: str, given: dict[str, Any], then: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
        """Ask the worker; the job before is stopped, and what it would have answered is not waited for."""
        if self._task is not None:
            self._task.cancel()
        busy = self.state.busy = Busy(kind)
        self.state.error = None
        self._task = asyncio.create_task(self._run(kind, given, then, busy))
        self.changed()

    async def _run(
        self, kind: str, given: dict[str, Any], then: Callable[[dict[str, Any], dict[str, Any]], None], busy: Busy
    ) -> None:
        def report(phase: str, done: int, total: int) -> None:
            busy.phase, busy.done, busy.total = phase, done, total
            self._tell({"event": "progress", "kind": kind, "phase": phase, "share": busy.share})

        try:
            answer = await self._channel.ask(kind, given, report)
        except Failed as failed:
            self._failed(failed, kind)
        except (Stopped, WorkerLost):
            pass
        else:
            then(given, answer)
        if self.state.busy is busy:
            self.state.busy = None
            self.changed()

    def _failed(self, failed: Failed, kind: str) -> None:
        self.state.error = {**failed.error, "of": kind}
        if kind == "look":
            self.state.picture, self.state.seen = None, ""
        self.changed()

    def _opened(self, _given: dict[str, Any], answer: dict[str, Any]) -> None:
        state = self.state
        state.text, state.view, state.base = answer.pop("text"), answer.pop("view"), answer.pop("base")
        state.table, state.place = answer, answer["table"]
        self.state.busy = None
        asyncio.get_running_loop().call_soon(self.look)

    def _looked(self, given: dict[str, Any], answer: dict[str, Any]) -> None:
        state = self.state
        state.picture, state.seen = answer, given["text"]
        picture = answer["picture"]
        if not picture["satisfied"] or any(own["text"] == given["text"] for own in state.tries):
            return
        number = 1 + max((own["number"] for own in state.tries), default=0)
        figures = {
            "lm": picture["loss"]["lm"],
            "smallest": picture["smallest_class"],
            "left_out": picture["suppressed_rows"],
        }
        state.tries.append({"number": number, "text": given["text"], "view": state.view, **figures})
        del state.tries[:-TRIES]

    def _curve_came(self, _given: dict[str, Any], answer: dict[str, Any]) -> None:
        self.state.curve = answer

    def _blocks_came(self, _given: dict[str, Any], answer: dict[str, Any]) -> None:
        self.state.blocks = answer

    def _was_published(self, given: dict[str, Any], answer: dict[str, Any]) -> None:
        """Remember the release, and prove it once more: as a job of its own, for a release stays if that is ended."""
        self.state.published = {**answer, "text": given["text"], "proof": None}
        self.state.busy = Busy("prove")
        asyncio.get_running_loop().call_soon(self.ask_proof)

    def _was_proved(self, given: dict[str, Any], answer: dict[str, Any]) -> None:
        if self.state.published is not None and self.state.published["text"] == given["text"]:
            self.state.published["proof"] = answer

    def _worker_lost(self) -> None:
        """Open the table again in the new worker; only the job under way is lost."""
        state = self.state
        if self._task is not None:
            self._task.cancel()
            self._task = None
        state.lost, state.busy = True, None
        if state.table is None:
            self.changed()
            return
        reading = {"delimiter": state.table["delimiter"], "encoding": state.table["encoding"]}
        given = {"place": state.place, "policy": state.file, **({} if state.file else reading)}

        def again(_given: dict[str, Any], answer: dict[str, Any]) -> None:
            state.table = {key: value for key, value in answer.items() if key not in ("text", "view", "base")}
            asyncio.get_running_loop().call_soon(self.look)

        self._begin("open", given, again)

    def _tell(self, what: dict[str, Any]) -> None:
        for hearer in self.hearers:
            with suppress(asyncio.QueueFull):
                hearer.put_nowait(what)
