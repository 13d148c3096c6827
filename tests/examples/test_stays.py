"""Tables as they arrive, in three languages: from the draft to the release with nothing but confirmations."""

import csv
import json
from pathlib import Path

import pytest

import indistinct as ind
from cli_bench import run
from scripts import load

STAYS = Path(__file__).resolve().parents[2] / "examples" / "stays"
ROWS = 600
# what a steward would say of each column: role, type, and tokens that stand for nothing
WANTED = (
    ("person", "text", set()),
    ("identifying", "text", set()),
    ("quasi_identifying", "date", {"{no date}"}),
    ("quasi_identifying", "text", set()),
    ("quasi_identifying", "text", set()),
    ("quasi_identifying", "date", {"{unknown}"}),
    ("quasi_identifying", "text", {" "}),
    ("sensitive", "text", set()),
    ("quasi_identifying", "decimal", set()),
    ("quasi_identifying", "integer", {"{unknown}", "999"}),
    ("identifying", "text", set()),
)


@pytest.fixture(scope="module")
def generate():
    return load(STAYS / "generate.py")


@pytest.fixture(scope="module")
def folder(generate, tmp_path_factory):
    place = tmp_path_factory.mktemp("stays")
    generate.write(place, ROWS)
    return place


def drafted(folder, language):
    encoding = ("--encoding", "cp1252") if language == "de" else ()
    draft = folder / f"{language}.toml"
    answer = run("policy", "draft", folder / f"stays_{language}.csv", "-o", draft, "--force", *encoding)
    assert answer.returncode == 0, answer.stderr
    return draft


@pytest.mark.parametrize("language", ["de", "en", "zh"])
def test_a_draft_of_a_dirty_table_needs_no_hand(folder, generate, language):
    policy = ind.Policy.load(drafted(folder, language))
    tokens = {"{no date}": generate.NO_DATE[language], "{unknown}": generate.UNKNOWN[language]}
    for name, (role, kind, missing) in zip(generate.HEADERS[language], WANTED, strict=True):
        if role == "person":
            assert policy.person.key == name
            continue
        attribute = policy.attributes[name]
        found = (attribute.role, attribute.type, set(attribute.missing_values))
        assert found == (role, kind, {tokens.get(token, token) for token in missing}), name


@pytest.mark.slow
@pytest.mark.parametrize("language", ["de", "en", "zh"])
def test_what_nobody_decided_is_published_only_in_somebodys_name(folder, language):
    draft, output = drafted(folder, language), folder / f"out_{language}.csv"
    checked = run("policy", "check", draft, "--json")
    marks = json.loads(checked.stdout)["open"]
    assert len(marks) == draft.read_text(encoding="utf-8").count("# CONFIRM: ")
    refused = run("anonymize", "-p", draft, "-o", output)
    assert (refused.returncode, output.exists()) == (2, False)
    assert f"{len(marks)} settings are suggestions of a draft and not decided" in refused.stderr
    done = run("anonymize", "-p", draft, "-o", output, "--accept-draft", "A. Steward", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["accepted_draft"] == "A. Steward"
    assert json.loads(output.with_name(output.name + ".manifest.json").read_text())["accepted_draft"] == "A. Steward"
    assert run("verify", folder / f"stays_{language}.csv", output, "-p", draft).returncode == 0
    encoding = "cp1252" if language == "de" else "utf-8"
    with (folder / f"stays_{language}.csv").open(encoding=encoding, newline="") as file:
        head, *original = csv.reader(file, delimiter=";" if language == "de" else ",")
    with output.open(encoding=encoding, newline="") as file:
        published, *rows = csv.reader(file, delimiter=";" if language == "de" else ",")
    assert not {head[0], head[1], head[10]} & set(published)
    cells = {cell for row in rows for cell in row}
    assert not cells & {row[position] for row in original for position in (0, 1, 10) if row[position]}


def test_a_name_of_blanks_accepts_nothing(folder):
    answer = run("anonymize", "-p", drafted(folder, "en"), "-o", folder / "no.csv", "--accept-draft", " ")
    assert (answer.returncode, "give the name of who answers for it" in answer.stderr) == (2, True)
