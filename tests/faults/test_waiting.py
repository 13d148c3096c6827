"""Faults that are known and not mended yet: the right answers stand here, and a test that passes must be moved.

What a folder holds is said in its ``expected.json``.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import indistinct as ind

FAULTS = Path(__file__).resolve().parent
MINIMAL = FAULTS / "r01-minimality-in-a-small-table"
MIXED = FAULTS / "r02-one-class-where-two-hold"


def command(*words):
    return subprocess.run(
        [sys.executable, "-m", "indistinct", *map(str, words)], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.xfail(strict=True, reason="minimality is not enumerated on small tables")
def test_minimality_finds_the_one_table_that_gives_this_file(tmp_path):
    published = tmp_path / "out.csv"
    assert command("anonymize", MINIMAL / "input.csv", "-p", MINIMAL / "policy.toml", "-o", published).returncode == 0
    words = ("attack", published, "-p", MINIMAL / "policy.toml", "--identified", MINIMAL / "input.csv", "--json")
    answer = command(*words, "--attacks", "minimality")
    (found,) = (entry for entry in json.loads(answer.stdout)["attacks"] if entry["attack"] == "minimality")
    assert found["ran"]
    assert found["details"]["tables"] == 46
    assert found["details"]["tables_that_give_this_file"] == 1
    assert found["details"]["certain"] == 4  # the rows of 50, whose classes say 1/4 and 1/2


@pytest.mark.xfail(strict=True, reason="every tuple that holds alone is frozen")
def test_local_finds_classes_of_mixed_rows():
    release = ind.anonymize(str(MIXED / "input.csv"), str(MIXED / "policy.toml"))
    assert release.loss["lm"] <= 0.21  # the optimum over all partitions is 0.2058
