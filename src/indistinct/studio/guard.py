"""One guard around the whole application: who may ask, and what a browser may do with the answer.

The app listens on this machine alone, but every page that is open in the browser could send requests there. So the
address that is asked must be ours (else 421, against names that are pointed at 127.0.0.1), a secret must come along
(else 403): the token of the start address, once, and then a cookie that no script reads and no other site sends; and
what writes needs a header that a foreign page cannot set without being asked first (else 403).
"""

from __future__ import annotations

from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

OWN_HEADER = "x-indistinct-studio"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
READING = frozenset({"GET", "HEAD"})


class Guard:
    """Lets through to ``app`` what comes from the browser that was given the ``token``, at the address of ``port``."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app, self._token = app, token
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._origins = {f"http://{host}" for host in self._hosts}
        self.cookie = f"indistinct-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it before the application sees anything of it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # there is no socket here
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                own = [(name.encode(), text.encode()) for name, text in HEADERS.items() if name.encode() not in given]
                message = {**message, "headers": [*message["headers"], *own]}
            await send(message)

        if headers.get("host") not in self._hosts:
            await _refuse(sealed, 421, "This address is not that of the studio.")
        elif self._is_start(scope):
            await _redirect(sealed, f"{self.cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict")
        elif not self._is_known(headers.get("cookie", "")):
            await _refuse(sealed, 403, "Open the studio by the address that it printed when it started.")
        elif scope["method"] not in READING and not self._may_write(headers):
            await _refuse(sealed, 403, "Only the studio's own page may change anything.")
        else:
            await self._app(scope, receive, sealed)

    def _is_start(self, scope: Scope) -> bool:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        is_start = scope["method"] == "GET" and scope["path"] == "/"
        return is_start and compare_digest(given.encode(), self._token.encode())

    def _is_known(self, header: str) -> bool:
        try:
            found = SimpleCookie(header).get(self.cookie)
        except CookieError:
            return False
        return found is not None and compare_digest(found.value.encode(), self._token.encode())

    def _may_write(self, headers: dict[str, str]) -> bool:
        return headers.get(OWN_HEADER) == "1" and headers.get("origin", next(iter(self._origins))) in self._origins


async def _refuse(send: Send, status: int, text: str) -> None:
    body = text.encode()
    kind = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": kind})
    await send({"type": "http.response.body", "body": body})


async def _redirect(send: Send, cookie: str) -> None:
    """Take the token out of the address and give it as a cookie."""
    headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
