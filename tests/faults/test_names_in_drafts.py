"""Headers that name people are identifying in a draft, whatever the language, also where the column is empty."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from indistinct.policy import facts_of, suggest

NAMES = Path(__file__).resolve().parent / "22-first-and-last-names-in-draft"


def command(*words):
    return subprocess.run(
        [sys.executable, "-m", "indistinct", *map(str, words)], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_first_and_last_names_are_identifying_in_a_draft(tmp_path):
    answer = command("policy", "draft", NAMES / "input.csv", "--output", tmp_path / "policy.toml")
    assert answer.returncode == 0, answer.stderr
    attributes = tomllib.loads((tmp_path / "policy.toml").read_text(encoding="utf-8"))["attributes"]
    expected = json.loads((NAMES / "expected.json").read_text(encoding="utf-8"))["expect"]["role"]
    assert {name: attributes[name]["role"] for name in expected} == expected
    assert attributes["MAIDEN"]["role"] == "identifying"


@pytest.mark.parametrize(
    "header",
    ["First", "LAST_", "Vorname", "Geburtsname", "Prénom", "apellidos", "姓名", "Führerschein", "middle", "VIN"],
)
def test_a_header_that_names_a_person_is_identifying(header):
    assert suggest(facts_of(header, ["a", "b"], [60, 40])).role == "identifying"


@pytest.mark.parametrize("header", ["first visit date", "last admission", "given birth year", "Aufnahmedatum"])
def test_the_word_inside_another_header_is_not(header):
    assert suggest(facts_of(header, ["a", "b"], [60, 40])).role == "quasi_identifying"


def test_a_table_of_questions_gets_sensitive_columns():
    for header in ("alcohol_use", "depression score", "smoking", "Befund", "疾病名称"):
        assert suggest(facts_of(header, ["a", "b"], [60, 40])).role == "sensitive", header
