"""Jobs: variables, the container recipe, and a run that may write nothing but its folder and reach no network."""

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from cli_bench import POLICY, TABLE, run

ROOT = Path(__file__).parents[2]
RECIPE = (ROOT / "Containerfile").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "p.toml").write_text(POLICY)
    return tmp_path


@pytest.mark.slow
def test_policy_and_language_may_come_from_variables(folder, monkeypatch):
    monkeypatch.setenv("INDISTINCT_POLICY", "p.toml")
    monkeypatch.setenv("INDISTINCT_LANGUAGE", "zh-CN")
    answer = run("anonymize", "t.csv", "-o", "o.csv", "--report", "r.md", cwd=folder)
    assert answer.returncode == 0, answer.stderr
    assert "承诺" in (folder / "r.md").read_text(encoding="utf-8")
    words = ("anonymize", "t.csv", "-o", "o2.csv", "--report", "r2.md", "--language", "en")
    assert run(*words, cwd=folder).returncode == 0
    assert "承诺" not in (folder / "r2.md").read_text(encoding="utf-8")


def test_a_language_for_reports_is_no_error_where_there_is_no_report(folder, monkeypatch):
    monkeypatch.setenv("INDISTINCT_LANGUAGE", "zh-CN")
    assert run("anonymize", "t.csv", "--policy", "p.toml", "-o", "o.csv", cwd=folder).returncode == 0
    words = ("anonymize", "t.csv", "--policy", "p.toml", "-o", "o2.csv", "--language", "zh-CN")
    monkeypatch.delenv("INDISTINCT_LANGUAGE")
    assert run(*words, cwd=folder).returncode == 2  # asked for on the command line, it would be ignored


@pytest.mark.slow
def test_no_command_reaches_the_network(folder, monkeypatch):
    def refuse(*_):
        pytest.fail("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for words in (
        ("anonymize", "t.csv", "--policy", "p.toml", "-o", "o.csv", "--report", "r.html", "--dataset", "d.json"),
        ("verify", "t.csv", "o.csv", "--policy", "p.toml"),
        ("plan", "t.csv", "p.toml", "--k", "2", "--l", "2"),
    ):
        answer = run(*words, cwd=folder)
        assert answer.returncode == 0, answer.stderr


def test_a_run_leaves_nothing_but_its_files(folder):
    before = {path.name for path in folder.iterdir()}
    assert run("anonymize", "t.csv", "--policy", "p.toml", "-o", "o.csv", cwd=folder).returncode == 0
    assert {path.name for path in folder.iterdir()} - before == {"o.csv", "o.csv.manifest.json"}


def test_the_container_is_nobody_and_fetches_nothing_but_packages():
    last = RECIPE.rpartition("\nFROM ")[2]
    (user,) = re.findall(r"^USER (\d+):(\d+)$", last, re.MULTILINE)
    assert "0" not in user
    assert last.index("\nUSER ") < last.index("\nENTRYPOINT ")
    assert json.loads(re.search(r"^ENTRYPOINT (.*)$", last, re.MULTILINE)[1]) == ["indistinct"]
    assert not re.search(r"^ADD |curl|wget|https?://", RECIPE, re.MULTILINE)
    assert "RUN" not in last.partition("\nUSER ")[2]  # nothing is done as nobody that would need to write
    for name in re.findall(r"^COPY (?!--from)(.*) \S+$", RECIPE, re.MULTILINE):
        for path in name.split():
            assert (ROOT / path).exists(), path


def test_the_recipe_and_the_page_say_the_same_command():
    page = (ROOT / "docs" / "howto" / "jobs.md").read_text(encoding="utf-8")
    for word in ("--read-only", "--network none", "--tmpfs /tmp", "--cap-drop all", "--userns keep-id"):
        assert word in page
        assert word in RECIPE


STREAM = ("anonymize", "t.csv", "--policy", "p.toml", "-o", "-", "--manifest", "o.csv.manifest.json")


def test_standard_output_takes_the_verified_table_and_nothing_else(folder):
    assert run("anonymize", "t.csv", "--policy", "p.toml", "-o", "plain.csv", cwd=folder).returncode == 0
    answer = run(*STREAM, cwd=folder)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == (folder / "plain.csv").read_text()
    assert "verified from the written file" in answer.stderr
    assert {path.name for path in folder.glob("o.csv*")} == {"o.csv.manifest.json"}
    (folder / "o.csv").write_text(answer.stdout)
    assert run("verify", "t.csv", "o.csv", "--policy", "p.toml", cwd=folder).returncode == 0
    assert run("verify", "--public", "o.csv", cwd=folder).returncode == 0


def test_a_table_that_is_not_taken_whole_is_no_release(folder):
    with Path("/dev/full").open("wb") as full:
        answer = subprocess.run(
            [sys.executable, "-m", "indistinct", *STREAM, "--report", "r.html"], cwd=folder, stdout=full,
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert answer.returncode == 2
    assert "did not take the whole table (No space left on device)" in answer.stderr
    assert {path.name for path in folder.iterdir()} == {"t.csv", "p.toml"}


@pytest.mark.parametrize(("words", "why"), [
    (STREAM[:-2], "needs a file for its manifest"),
    ((*STREAM[:-1], "manifest.json"), "needs a file for its manifest"),
    ((*STREAM, "--json"), "either the table or the JSON document"),
    ((*STREAM[:5], "o.csv", *STREAM[6:]), "a file has its manifest beside it"),
])  # fmt: skip
def test_what_standard_output_cannot_be_is_said(folder, words, why):
    answer = run(*words, cwd=folder)
    assert answer.returncode == 2
    assert why in answer.stdout + answer.stderr
    assert {path.name for path in folder.iterdir()} == {"t.csv", "p.toml"}


def test_a_manifest_that_exists_is_not_replaced(folder):
    (folder / "o.csv.manifest.json").write_text("{}")
    answer = run(*STREAM, cwd=folder)
    assert answer.returncode == 2
    assert "--force" in answer.stderr
    assert (folder / "o.csv.manifest.json").read_text() == "{}"


@pytest.mark.parametrize("words", [
    ("transform", "t.csv", "--policy", "p.toml", "--output", "-"),
    ("policy", "draft", "t.csv", "--output", "-"),
    ("hierarchy", "build", "t.csv", "--column", "age", "--output", "-"),
    ("append", "t.csv", "t.csv", "t.csv", "--policy", "p.toml", "--output", "-"),
    ("anonymize", "t.csv", "--policy", "p.toml", "--output", "o.csv", "--report", "-"),
])  # fmt: skip
def test_other_outputs_make_no_file_of_this_name(folder, words):
    answer = run(*words, cwd=folder)
    assert answer.returncode == 2, answer.stdout
    assert {path.name for path in folder.iterdir()} == {"t.csv", "p.toml"}
