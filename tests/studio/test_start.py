"""Starting the studio: what is refused before anything is served."""

import socket
from importlib import util

import pytest

from cli_bench import run
from indistinct.studio import start


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(util, "find_spec", lambda name: None if name == "starlette" else object())
    answer = run("studio", "--no-browser")
    assert answer.returncode == 2
    assert answer.stderr == "error: the studio needs starlette; install it with: pip install 'indistinct[studio]'\n"


def test_a_table_that_is_not_there_is_refused(tmp_path):
    answer = run("studio", "--no-browser", tmp_path / "nowhere.csv")
    assert (answer.returncode, "there is no file nowhere.csv" in answer.stderr) == (2, True)


def test_a_port_that_is_taken_is_refused():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        answer = run("studio", "--no-browser", "--port", str(taken.getsockname()[1]))
    assert answer.returncode == 2
    assert "give another one: --port" in answer.stderr


@pytest.fixture
def served(monkeypatch):
    """What would be served, and said."""
    found = {}

    class Server:
        def __init__(self, config):
            found["app"] = config.app

        def run(self, sockets):
            found["address"] = sockets[0].getsockname()

    import uvicorn

    monkeypatch.setattr(uvicorn, "Server", Server)
    return found


def test_it_listens_on_this_machine_alone_and_every_run_has_another_secret(served):
    said = []
    for _ in range(2):
        start.serve(None, browser=False, say=said.append)
        assert served["address"][0] == "127.0.0.1"
    secrets = [text.split("token=")[1].split("\n")[0] for text in said]
    assert secrets[0] != secrets[1]
    assert min(map(len, secrets)) >= 32
