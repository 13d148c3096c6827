"""What the README tells people to type does what it says."""

import csv
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMAND = Path(sys.executable).with_name("indistinct")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.fixture
def patients(tmp_path):
    """A steward's folder: 600 of the invented stays, one for each patient."""
    with (ROOT / "examples" / "hospital" / "discharges.csv").open(encoding="utf-8", newline="") as file:
        stays = {stay["patient_id"]: stay for stay in csv.DictReader(file, delimiter=";")}
    names = ("birth_date", "sex", "zip", "diagnosis")
    with (tmp_path / "patients.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(list(stays.values())[:600])
    return tmp_path


def run(folder, *words):
    done = subprocess.run([COMMAND, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def test_the_ten_minutes(patients, monkeypatch):
    typed = [line.partition("#")[0] for block in blocks("sh") for line in block.splitlines()]
    commands = [shlex.split(line)[1:] for line in typed if line.startswith("indistinct")]
    assert [words[0] for words in commands] == ["audit", "policy", "policy", "anonymize", "verify"]
    answers = [run(patients, *words) for words in commands]
    assert "k-anonymity" in answers[0]
    assert (patients / "published.csv.manifest.json").exists()

    # and the same from Python, with the policy that was drafted
    (patients / "published.csv").unlink()
    (patients / "published.csv.manifest.json").unlink()
    monkeypatch.chdir(patients)
    (example,) = blocks("python")
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102  # the README is ours
    assert (patients / "published.csv").exists()


def test_links_lead_somewhere():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").rglob("*.md")]
    for page in pages:
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            assert link.startswith("http") or (page.parent / link).exists(), f"{page.name}: {link}"


def test_make_explains_itself():
    make = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True, env={**os.environ, "MAKEFLAGS": ""}
    )
    for target in ("demo", "test", "lint", "check", "bench"):
        assert f"make {target}" in make.stdout
