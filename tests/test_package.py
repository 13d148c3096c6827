"""What an outsider's tools find: types, version, the module as a command."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import indistinct as ind

GOOD = """
import indistinct as ind

audit: ind.Audit = ind.audit("table.csv", "policy.toml")
release: ind.Release = ind.anonymize("table.csv", ind.Policy.load("policy.toml"), output="out.csv", force=True)
text: str = ind.__version__
"""


def mypy(tmp_path, code):
    (tmp_path / "outside.py").write_text(code, encoding="utf-8")
    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", tmp_path / "outside.py"]
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)


@pytest.mark.slow
def test_an_outsiders_mypy_knows_the_public_names_and_finds_misspelt_ones(tmp_path):
    code = GOOD + "ind.anonymize('t.csv', 'p.toml', ouput='x.csv')\nind.anonimize('t.csv', 'p.toml')\n"
    answer = mypy(tmp_path, code)
    faults = [line for line in answer.stdout.splitlines() if "error:" in line]
    assert len(faults) == 2, answer.stdout
    assert 'Unexpected keyword argument "ouput"' in faults[0]
    assert 'has no attribute "anonimize"' in faults[1]


def test_types_travel_with_the_package():
    assert (Path(ind.__file__).parent / "py.typed").is_file()


def said(word):
    words = [sys.executable, "-m", "indistinct", word]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_version_is_that_of_the_installation_everywhere():
    assert ind.__version__ == version("indistinct")
    assert said("--version") == f"indistinct {ind.__version__}\n"


@pytest.mark.slow
def test_the_command_line_offers_shell_completion():
    assert "--install-completion" in said("--help")
