"""``indistinct attack``: exit codes, JSON without values, the gate."""

import json

import pytest

from cli_bench import run

RELEASE = "age;zip;ill\n[20, 40[;021*;flu\n[20, 40[;021*;flu\n[40, 60[;022*;hiv\n[40, 60[;022*;flu\n"
VOTERS = "name,age,zip\nAnn Weld,23,0213\nBob Jones,41,0221\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "release.csv").write_text(RELEASE, encoding="utf-8")
    (tmp_path / "voters.csv").write_text(VOTERS, encoding="utf-8")
    return tmp_path


def attack(folder, *words):
    return run("attack", "release.csv", *words, cwd=folder)


def test_gate_document_and_reveal(folder):
    flags = ("--qi", "age,zip", "--sensitive", "ill", "--identified", "voters.csv")
    done = attack(folder, *flags, "--json", "--fail-above", "0.1")
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert document["satisfied"] is False
    assert {case["attack"] for case in document["broken"]} >= {"linkage", "homogeneity"}
    for value in ("Ann", "flu", "hiv", "021*", "0213"):
        assert value not in done.stdout
    shown = attack(folder, *flags, "--reveal", "--attacks", "linkage")
    assert shown.returncode == 0, shown.stderr
    assert "Ann Weld" in shown.stdout
    hidden = attack(folder, *flags, "--attacks", "linkage", "--fail-above", "1")
    assert hidden.returncode == 0
    assert "Ann" not in hidden.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--qi", "age", "--fail-above", "20"), "did you mean 0.2"),
        (("--qi", "age", "--json", "--reveal"), "never in a document"),
        (("--qi", "age", "--bound", "0"), "must be above 0"),
        (("--qi", "size"), "none of the quasi-identifiers"),
        (("--qi", "age", "--attacks", "magic"), "there is no attack"),
        (("--qi", "age", "--policy", "p.toml"), "not both"),
    ],
)
def test_wrong_use(folder, words, sentence):
    done = attack(folder, *words)
    assert done.returncode == 2
    assert sentence in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
