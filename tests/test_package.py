"""What an outsider's tools find: types, version, the module as a command."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import indistinct as ind

ROOT = Path(__file__).resolve().parents[1]


def test_lint_reads_what_an_outsider_writes_and_asks_for_the_errors_in_it():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert settings["strict"]  # an "ignore" without its error is one
    assert "tests/outsider.py" in settings["files"]
    asked = re.findall(r"type: ignore\[(.*?)\]", (ROOT / "tests" / "outsider.py").read_text(encoding="utf-8"))
    assert asked == ["call-arg", "attr-defined", "attr-defined"]


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
