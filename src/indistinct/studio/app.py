"""The application: pages, edits, downloads and the stream of what changes."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from indistinct.reports.catalogue import LANGUAGES
from indistinct.studio.channel import Channel
from indistinct.studio.guard import Guard
from indistinct.studio.pages import THEMES, page, static
from indistinct.studio.state import STEPS, Studio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

KINDS = {"studio.css": "text/css; charset=utf-8", "studio.js": "text/javascript; charset=utf-8"}
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
    app = Starlette(routes=routes, lifespan=living)
    app.state.studio, app.state.uploads, app.state.language = studio, uploads, language
    return Guard(app, token, port)


def _studio(request: Request) -> Studio:
    found: Studio = request.app.state.studio
    return found


async def _home(request: Request) -> Response:
    return RedirectResponse("/columns" if _studio(request).state.table is not None else "/open", 303)


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
        asked = request.headers.get("accept-language", "").lower()
        return "zh-CN" if asked.startswith("zh") else str(request.app.state.language)
    return known[0]


async def _do(request: Request) -> Response:
    """Do what a form of the page asks for, and answer with the page as it is then."""
    studio, what = _studio(request), request.path_params["what"]
    async with request.form(max_part_size=UPLOAD_BYTES) as form:
        given = {name: value for name, value in form.items() if isinstance(value, str)}
        step = given.pop("step", "open")
        if what == "edit":
            await studio.edit(given.pop("what", ""), given)
        elif what == "open":
            studio.open(given.get("place", "").strip(), **_reading(given))
        elif what == "example" and studio.example:
            studio.open(studio.example)
        elif what == "upload":
            place = await _received(request, form.get("file"))
            if place is not None:
                studio.open(str(place))
        elif what == "publish":
            studio.publish(
                given.get("output", ""),
                given.get("decided_by", ""),
                _choice(request, "language", LANGUAGES),
                force=given.get("force") == "1",
            )
        elif what == "curve":
            studio.ask_curve(int(given.get("model", "0")))
        elif what == "try":
            studio.back_to(int(given.get("number", "0")))
        elif what in ("undo", "redo", "stop", "dismiss", "blocks"):
            {"undo": studio.undo, "redo": studio.redo, "stop": studio.stop, "dismiss": studio.dismiss,
             "blocks": studio.ask_blocks}[what]()  # fmt: skip
        elif what not in ("language", "theme"):
            return PlainTextResponse("There is nothing of this name to do.", 404)
    if step not in STEPS:
        return PlainTextResponse("There is no such page.", 404)
    if what in ("language", "theme"):
        known = LANGUAGES if what == "language" else THEMES
        chosen = given.get(what, "")
        answer = Response(status_code=204)
        if chosen in known:
            answer.set_cookie(f"indistinct-{what}", chosen, httponly=True, samesite="strict")
        return answer
    return _drawn(request, STEPS[min(STEPS.index(step), studio.state.reached - 1)])


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
    if place is None or not Path(place).is_file():
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
