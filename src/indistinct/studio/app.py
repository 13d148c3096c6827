"""The application: pages, edits, downloads and the stream of what changes."""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from indistinct.reports.catalogue import LANGUAGES
from indistinct.studio.channel import Channel
from indistinct.studio.guard import Guard
from indistinct.studio.pages import THEMES, page, static
from indistinct.studio.state import STEPS, Studio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from starlette.requests import Request

    Deed = Callable[[Request, dict[str, str], object], Awaitable[Response | None]]

KINDS = {
    "studio.css": "text/css; charset=utf-8",
    "studio.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
HEARD = 64  # events that wait for a page that does not read; what it misses, the next event makes good
PULSE = 15.0  # seconds after which a silent stream says that it is alive
UPLOAD_BYTES = 1 << 30


def application(
    token: str,
    port: int,
    *,
    table: str = "",
    policy: str | None = None,
    example: str = "",
    uploads: Path | None = None,
    language: str = "en",
) -> Guard:
    """Return the guarded application; ``table`` or ``policy`` are opened when it starts."""
    studio = Studio(Channel(), example)

    @asynccontextmanager
    async def living(_app: Starlette) -> AsyncIterator[None]:
        studio.start()
        if table or policy:
            studio.open(table, policy)
        yield
        studio.close()

    routes = [
        Route("/", _home),
        Route("/events", _events),
        Route("/policy.toml", _policy),
        Route("/files/{kind}", _file),
        Route("/static/{name}", _static),
        Route("/do/{what}", _do, methods=["POST"]),
        Route("/{step}", _page),
    ]
    app = Starlette(routes=routes, lifespan=living, exception_handlers={Exception: _fault})
    app.state.studio, app.state.uploads, app.state.language = studio, uploads, language
    return Guard(app, token, port)


def _studio(request: Request) -> Studio:
    found: Studio = request.app.state.studio
    return found


def _fault(_request: Request, error: Exception) -> Response:
    """Say that something failed here; the places in the code go to the terminal, what was at work there does not."""
    traceback.print_tb(error.__traceback__)
    print(f"the studio failed: {type(error).__name__}", file=sys.stderr)  # noqa: T201  # where faults go
    return PlainTextResponse("The studio failed; the terminal says where.", 500)


async def _home(request: Request) -> Response:
    return _drawn(request, "columns" if _studio(request).state.table is not None else "open")


async def _page(request: Request) -> Response:
    studio, step = _studio(request), request.path_params["step"]
    if step not in STEPS:
        return PlainTextResponse("There is no such page.", 404)
    if STEPS.index(step) >= studio.state.reached:
        return RedirectResponse(f"/{STEPS[studio.state.reached - 1]}", 303)
    return _drawn(request, step)


def _drawn(request: Request, step: str) -> HTMLResponse:
    language, theme = _choice(request, "language", LANGUAGES), _choice(request, "theme", THEMES)
    return HTMLResponse(page(_studio(request), step, language, theme))


def _choice(request: Request, name: str, known: tuple[str, ...]) -> str:
    """Take what the page chose, which its cookie remembers; a language else from the browser."""
    found = request.cookies.get(f"indistinct-{name}", "")
    if found in known:
        return found
    if name == "language":
        wanted = request.headers.get("accept-language", "").lower()
        return "zh-CN" if wanted.startswith("zh") else str(request.app.state.language)
    return known[0]


async def _do(request: Request) -> Response:
    """Do what a form of the page asks for, and answer with the page as it is then."""
    studio, deed = _studio(request), request.path_params["what"]
    if deed not in DEEDS:
        return PlainTextResponse("There is nothing of this name to do.", 404)
    async with request.form(max_part_size=UPLOAD_BYTES) as form:
        given = {name: value for name, value in form.items() if isinstance(value, str)}
        step = given.pop("step", "open")
        if step not in STEPS:
            return PlainTextResponse("There is no such page.", 404)
        busy = studio.is_publishing and deed not in WHILE_PUBLISHING
        answer = None if busy else await DEEDS[deed](request, given, form.get("file"))
    return answer or _drawn(request, STEPS[min(STEPS.index(step), studio.state.reached - 1)])


async def _edit(request: Request, given: dict[str, str], _file: object) -> None:
    await _studio(request).edit(given.pop("what", ""), given)


async def _open(request: Request, given: dict[str, str], _file: object) -> None:
    _studio(request).open(given.get("place", "").strip(), **_reading(given))


async def _example(request: Request, _given: dict[str, str], _file: object) -> None:
    if _studio(request).example:
        _studio(request).open(_studio(request).example)


async def _upload(request: Request, _given: dict[str, str], file: object) -> None:
    place = await _received(request, file)
    if place is not None:
        _studio(request).open(str(place))


async def _publish(request: Request, given: dict[str, str], _file: object) -> None:
    language = _choice(request, "language", LANGUAGES)
    by, force = given.get("decided_by", ""), given.get("force") == "1"
    _studio(request).publish(given.get("output", ""), by, language, force=force)


async def _curve(request: Request, given: dict[str, str], _file: object) -> None:
    _studio(request).ask_curve(_number(given.get("model")))


async def _try(request: Request, given: dict[str, str], _file: object) -> None:
    _studio(request).back_to(_number(given.get("number")))


def _number(text: str | None) -> int:
    """Read a number that the page itself wrote; anything else is none of the things that there are."""
    return int(text) if text and text.isdecimal() else -1


def _simple(name: str) -> Deed:
    """Return the deed that is a method of the studio."""

    async def deed(request: Request, _given: dict[str, str], _file: object) -> None:
        getattr(_studio(request), name)()

    return deed


def _chosen(name: str, known: tuple[str, ...]) -> Deed:
    """Return the deed that remembers a choice of the page in a cookie."""

    async def deed(_request: Request, given: dict[str, str], _file: object) -> Response:
        answer = Response(status_code=204)
        if given.get(name) in known:
            answer.set_cookie(f"indistinct-{name}", given[name], httponly=True, samesite="strict")
        return answer

    return deed


DEEDS: Mapping[str, Deed] = {
    "edit": _edit,
    "open": _open,
    "example": _example,
    "upload": _upload,
    "publish": _publish,
    "curve": _curve,
    "blocks": _simple("ask_blocks"),
    "try": _try,
    "undo": _simple("undo"),
    "redo": _simple("redo"),
    "prove": _simple("ask_proof"),
    "stop": _simple("stop"),
    "dismiss": _simple("dismiss"),
    "language": _chosen("language", LANGUAGES),
    "theme": _chosen("theme", THEMES),
}

# a release under way is ended by a person who says so, not by the next press of a key
WHILE_PUBLISHING = ("stop", "dismiss", "language", "theme")


def _reading(given: dict[str, str]) -> dict[str, str | None]:
    """How a table is read, where the page says it; a policy is opened by its suffix."""
    found: dict[str, str | None] = {name: given[name] for name in ("delimiter", "encoding") if given.get(name)}
    if given.get("place", "").strip().endswith(".toml"):
        return {"policy": given["place"].strip()}
    return found


async def _received(request: Request, file: object) -> Path | None:
    """Keep an uploaded table in the studio's own folder, readable by its owner alone, until the studio ends."""
    folder: Path | None = request.app.state.uploads
    name = Path(str(getattr(file, "filename", "") or "")).name
    if folder is None or not name or name.startswith(".") or not hasattr(file, "read"):
        return None
    place = folder / name
    with place.open("wb") as target:
        while chunk := await file.read(1 << 20):
            target.write(chunk)
    return place


async def _policy(request: Request) -> Response:
    state = _studio(request).state
    name = Path(state.table["name"]).stem if state.table else "policy"
    return PlainTextResponse(
        state.text, media_type="application/toml", headers={"content-disposition": _attached(f"{name}.policy.toml")}
    )


def _attached(name: str) -> str:
    from urllib.parse import quote

    return f"attachment; filename*=UTF-8''{quote(name)}"


async def _file(request: Request) -> Response:
    """Hand out a file of the release that was verified, and no other."""
    published = _studio(request).state.published
    place = None if published is None else published["files"].get(request.path_params["kind"])
    if place is None or not Path(place).is_file():  # noqa: ASYNC240  # a question to the local disk
        return PlainTextResponse("There is no such file.", 404)
    return FileResponse(place, headers={"content-disposition": _attached(Path(place).name)})


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in KINDS:
        return PlainTextResponse("There is no such file.", 404)
    return Response(static(name), media_type=KINDS[name])


async def _events(request: Request) -> Response:
    """Tell a page what changes, as long as it listens."""
    studio = _studio(request)
    hearer: asyncio.Queue[dict[str, object]] = asyncio.Queue(HEARD)
    hearer.put_nowait({"event": "state", "version": studio.version})
    studio.hearers.add(hearer)

    async def told() -> AsyncIterator[str]:
        try:
            while True:
                try:
                    what = await asyncio.wait_for(hearer.get(), PULSE)
                except TimeoutError:
                    yield ": alive\n\n"
                    continue
                if what["event"] == "end":
                    return
                yield f"event: {what['event']}\ndata: {json.dumps(what)}\n\n"
        finally:
            studio.hearers.discard(hearer)

    return StreamingResponse(told(), media_type="text/event-stream")
