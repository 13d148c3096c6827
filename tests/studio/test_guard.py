"""The guard: who does not come from the studio's own page in the browser that started it gets nothing at all."""

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from indistinct.studio.guard import Guard

TOKEN = "secret-of-this-run"  # noqa: S105  # that of the tests
HOME = "http://127.0.0.1:8123"
OWN = {"X-Indistinct-Studio": "1"}
PLACES = ["/", "/columns", "/events", "/files/table", "/policy.toml", "/static/studio.js", "/nothing"]


async def told(request):
    return PlainTextResponse(f"{request.method} {request.url.path}")


async def stream(_request):
    return StreamingResponse(iter(["event: state\n\n"]), media_type="text/event-stream")


async def socket(_socket):
    raise AssertionError("the guard lets no socket through")


@pytest.fixture
def client():
    routes = [
        Route("/events", stream),
        WebSocketRoute("/socket", socket),
        Route("/{path:path}", told, methods=["GET", "POST", "PUT", "DELETE", "OPTIONS"]),
    ]
    with TestClient(Guard(Starlette(routes=routes), TOKEN, 8123), base_url=HOME, follow_redirects=False) as found:
        yield found


@pytest.fixture
def inside(client):
    assert client.get(f"/?token={TOKEN}").status_code == 303
    return client


@pytest.mark.parametrize("place", PLACES)
def test_without_the_secret_nothing_is_answered(client, place):
    answer = client.get(place)
    assert (answer.status_code, "printed" in answer.text) == (403, True)
    assert client.post(place, headers=OWN).status_code == 403
    assert client.get(place, headers={"Cookie": "indistinct-8123=guess"}).status_code == 403
    assert client.get(f"{place}?token=guess").status_code == 403


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("host", ["evil.example", "evil.example:8123", "127.0.0.1", "127.0.0.1:80", "0.0.0.0:8123", ""])
def test_another_address_is_refused_even_with_the_secret(inside, place, host):
    assert inside.get(place, headers={"Host": host}).status_code == 421
    assert inside.post(place, headers={"Host": host, **OWN}).status_code == 421


def test_the_start_address_gives_a_cookie_that_no_script_reads_and_no_other_site_sends(client):
    answer = client.get(f"/?token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert client.get("/columns").text == "GET /columns"
    assert client.get("/events").text == "event: state\n\n"


def test_the_secret_opens_the_front_door_only(client):
    assert client.get(f"/policy.toml?token={TOKEN}").status_code == 403
    assert client.post(f"/?token={TOKEN}", headers=OWN).status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_writing_needs_the_header_that_a_foreign_page_cannot_set(inside, method):
    assert inside.request(method, "/do/edit").status_code == 403
    assert inside.request(method, "/do/edit", headers={"X-Indistinct-Studio": "0"}).status_code == 403
    assert inside.request(method, "/do/edit", headers={**OWN, "Origin": "http://evil.example"}).status_code == 403
    assert inside.request(method, "/do/edit", headers={**OWN, "Origin": "null"}).status_code == 403
    assert inside.request(method, "/do/edit", headers=OWN).status_code == 200
    assert inside.request(method, "/do/edit", headers={**OWN, "Origin": HOME}).status_code == 200


@pytest.mark.parametrize("place", PLACES)
def test_every_answer_says_what_the_browser_may_do(client, place):
    for answer in (
        client.get(place),
        client.get(f"/?token={TOKEN}"),
        client.get(place),
        client.get("/", headers={"Host": "x"}),
    ):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_there_is_no_socket(inside):
    with pytest.raises(WebSocketDisconnect), inside.websocket_connect("/socket"):
        pass


def test_a_cookie_that_cannot_be_read_is_none(client):
    assert client.get("/", headers={"Cookie": "a\x01b=;;;=,"}).status_code == 403
