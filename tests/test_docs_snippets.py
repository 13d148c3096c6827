"""Every command and every Python example of README and docs is run, as a newcomer would type them.

A block of ``sh`` or ``python`` is run in the order of its page, in a folder of its own that holds ``patients.csv`` and
``examples/hospital``. Three HTML comments, each on the line above a block, steer this:

- ``<!-- file: NAME -->``: the block is written into the folder under that name;
- ``<!-- not run: REASON -->``: the block is not run, for the reason that readers of the page's source see;
- ``<!-- exit 1 -->``: its last command must end with this code, as the page says.

Every line of a ``text`` block that follows a command must stand in what that command printed.
"""

import contextlib
import csv
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from cli_bench import run as run_command
from engine_bench import postgres

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"(?:<!-- (?P<word>file|not run|exit):? (?P<what>[^>]*?) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)```", re.DOTALL
)
RUN = ("sh", "python")


def blocks(page):
    return [match.groupdict() for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def is_run(block):
    return block["language"] in RUN and block["word"] != "not run"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with 300 of the invented stays, one for each patient, and the bundled example."""
    hospital = ROOT / "examples" / "hospital"
    shutil.copytree(hospital, tmp_path / "examples" / "hospital")
    with (hospital / "discharges.csv").open(encoding="utf-8", newline="") as file:
        stays = {stay["patient_id"]: stay for stay in csv.DictReader(file, delimiter=";")}
    with (tmp_path / "patients.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ("birth_date", "sex", "zip", "diagnosis"), extrasaction="ignore")
        writer.writeheader()
        writer.writerows(list(stays.values())[:300])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def shell(line):
    words = shlex.split(line, comments=True)
    if words[:1] == ["indistinct"] and not set(words) & {"|", ">"}:
        answer = run_command(*words[1:])
        return answer.returncode, answer.stdout + answer.stderr
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def python(text, names):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "example", "exec"), names)  # noqa: S102  # the pages are ours
    return out.getvalue()


def run(block, names):
    """What a block prints; all its commands must succeed, but that the last may end as the page says."""
    if block["language"] == "python":
        return python(block["text"], names)
    lines = [line for line in block["text"].replace("\\\n", " ").splitlines() if line.split("#")[0].strip()]
    expected = [0] * (len(lines) - 1) + [int(block["what"]) if block["word"] == "exit" else 0]
    printed = []
    for line, code in zip(lines, expected, strict=True):
        got, answer = shell(line)
        assert got == code, f"{line}\n{answer}"
        printed.append(answer)
    return "".join(printed)


# pages whose commands need more than this package
DATABASE = ROOT / "docs" / "howto" / "postgresql.md"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(map(is_run, blocks(page))) and page != DATABASE],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_what_a_page_tells_people_to_type_works(page, folder):
    type_page(page, folder)


@pytest.mark.engine
def test_what_the_page_of_postgresql_tells_people_to_type_works(folder, monkeypatch):
    with postgres() as place:
        for name, value in {
            "PGHOST": place.partition("host=")[2],
            "PGUSER": "tester",
            "PGDATABASE": "postgres",
        }.items():
            monkeypatch.setenv(name, value)
        type_page(DATABASE, folder)


def type_page(page, folder):
    names, printed = {"__name__": "example"}, None
    for block in blocks(page):
        if block["word"] == "file":
            (folder / block["what"]).parent.mkdir(parents=True, exist_ok=True)
            (folder / block["what"]).write_text(block["text"], encoding="utf-8")
        elif is_run(block):
            printed = run(block, names)
        elif block["language"] == "text" and block["word"] != "not run":
            assert printed is not None, block["text"]
            missing = [line for line in block["text"].splitlines() if line.strip() not in printed]
            assert not missing, f"{missing} not in:\n{printed}"


def test_every_block_is_run_or_says_why_not():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert sum(text.count(f"```{language}\n") for language in RUN) == sum(
            block["language"] in RUN for block in blocks(page)
        )
        assert text.count("<!-- not run") == sum(block["word"] == "not run" for block in blocks(page)), page
        assert all(len(block["what"]) > 10 for block in blocks(page) if block["word"] == "not run")
        for before, after in pairwise(blocks(page)):
            if after["language"] == "text" and after["word"] is None:
                assert is_run(before), f"{page.name}: output without a command: {after['text']}"
