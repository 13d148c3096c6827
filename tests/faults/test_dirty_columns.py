"""All columns that cannot be read are named in one round, each with the line of the policy that mends it."""

import csv
import json

import pytest

from cli_bench import run

POLICY = """
version = 1

[person]
key = "id"

[attributes.born]
role = "quasi_identifying"
type = "date"
format = "%d.%m.%Y"
hierarchy = { kind = "range", bounds = "snapped" }

[attributes."body weight"]
role = "quasi_identifying"
type = "integer"
hierarchy = { kind = "range" }

[attributes.ward]
role = "quasi_identifying"
type = "ordinal"
order = ["A", "B"]
hierarchy = { kind = "range" }

[[privacy]]
model = "k_anonymity"
k = 2
"""
LINES = (
    'missing_values = ["00.00.0000", "unbek."] under [attributes.born]',
    'missing_values = ["k.A."] under [attributes."body weight"]',
    'missing_values = ["?"] under [attributes.ward]',
)


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        ["id", "born", "body weight", "ward"],
        *([f"p{i}", "31.12.1980", str(60 + i), "AB"[i % 2]] for i in range(20)),
    ]
    rows[3][1], rows[4][1], rows[5][2], rows[6][3] = "00.00.0000", "unbek.", "k.A.", "?"
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    (tmp_path / "policy.toml").write_text(POLICY.replace("version = 1", 'version = 1\n[table]\nsource = "t.csv"'))
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("anonymize", "-p", "policy.toml", "-o", "out.csv"),
        ("audit", "t.csv", "--policy", "policy.toml"),
        ("policy", "check", "policy.toml"),
    ],
)
def test_every_dirty_column_is_named_with_its_line(table, words):
    answer = run(*words)
    assert answer.returncode == 2
    assert "3 columns cannot be read as the policy says" in answer.stderr
    assert [line for line in LINES if line not in answer.stderr] == []
    assert not (table / "out.csv").exists()


def test_the_lines_mend_them(table):
    policy = table / "policy.toml"
    text = policy.read_text()
    for line in LINES:
        setting, _, section = line.partition(" under ")
        text = text.replace(section, f"{section}\n{setting}")
    policy.write_text(text)
    answer = run("anonymize", "-p", "policy.toml", "-o", "out.csv")
    assert answer.returncode == 0, answer.stderr


def test_one_dirty_column_is_an_error_of_its_own_and_rows_without_a_person_are_named_with_it(table):
    only = (table / "t.csv").read_text().replace("k.A.", "65").replace("?", "A")
    (table / "t.csv").write_text(only)
    answer = run("policy", "check", "policy.toml", "--json")
    assert json.loads(answer.stdout)["error"]["where"]["column"] == "born"
    assert "columns cannot be read" not in answer.stdout
    (table / "t.csv").write_text(only.replace("p7,", ","))
    answer = run("policy", "check", "policy.toml")
    assert '1 of 20 rows have no value in the person key "id"' in answer.stderr
    assert LINES[0] in answer.stderr
