"""``indistinct compare`` from the outside."""

from __future__ import annotations

import json

import pytest

from cli_bench import run

POLICY = """
[attributes.age]
role = "qi"
type = "integer"
hierarchy = { kind = "intervals", widths = [10, 20], origin = 0 }

[[privacy]]
model = "k_anonymity"
k = 2
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    ages = [20, 21, 34, 35, 47, 48, 59, 52]
    (tmp_path / "ages.csv").write_text("age\n" + "".join(f"{age}\n" for age in ages), encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_compares_saves_and_draws(files):
    words = ("compare", files / "ages.csv", "--policy", files / "policy.toml", "--algorithms", "optimal,flash")
    more = ("--k", "2,4", "--output", files / "runs", "--svg", files / "frontier.svg")
    done = run(*words, *more, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [(r["k_asked"], r["algorithm"]) for r in document["runs"]] == [
        (2, "optimal"), (2, "flash"), (4, "optimal"), (4, "flash"),
    ]  # fmt: skip
    assert document["runs"][0]["loss"] == document["runs"][1]["loss"]
    assert (files / "frontier.svg").read_text(encoding="utf-8").startswith("<svg")
    assert (files / "runs" / "compare.csv").exists()
    again = run(*words, *more)
    assert again.returncode == 2
    assert "--force" in again.stderr
    again = run(*words, *more, "--force")
    assert again.returncode == 0
    assert "*  a optimal" in again.stdout
    assert again.stderr == ""


def test_the_table_is_never_overwritten(files):
    before = (files / "ages.csv").read_bytes()
    done = run("compare", files / "ages.csv", "-p", files / "policy.toml", "--svg", files / "ages.csv", "--force")
    assert done.returncode == 2
    assert (files / "ages.csv").read_bytes() == before


def test_nothing_reached_is_exit_code_1(files):
    done = run("compare", files / "ages.csv", "-p", files / "policy.toml", "--algorithms", "optimal", "--k", "9")
    assert done.returncode == 1
    assert "k=9" in done.stdout


@pytest.mark.slow
def test_a_budget_lets_samples_take_part(files):
    safepub = 'model = "safepub"\nepsilon = 1\ndelta = "1e-5"\nlevels = { age = 2 }'
    model = POLICY.replace('model = "k_anonymity"\nk = 2', safepub)
    (files / "policy.toml").write_text(model + "\n[suppression]\nlimit = 1\n", encoding="utf-8")
    (files / "ages.csv").write_text("age\n" + "".join(f"{20 + n % 15}\n" for n in range(300)), encoding="utf-8")
    words = ("compare", files / "ages.csv", "-p", files / "policy.toml", "--algorithms", "safepub")
    done = run(*words)
    assert done.returncode == 1
    assert "spends privacy" in done.stdout
    done = run(*words, "--epsilon-budget", "ln 3", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["budget"] == {"epsilon": "1", "delta": "1/100000", "limit": "ln 3", "runs": 1}
    done = run(*words, "--epsilon-budget", "much")
    assert done.returncode == 2
    assert "must be a number above 0" in done.stderr


def test_wrong_words_are_refused(files):
    done = run("compare", files / "ages.csv", "-p", files / "policy.toml", "--k", "two")
    assert done.returncode == 2
    assert "whole numbers" in done.stderr
    done = run("compare", files / "ages.csv", "-p", files / "policy.toml", "--algorithms", "best", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["kind"] == "policy"
