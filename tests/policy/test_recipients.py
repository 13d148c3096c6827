"""Starting values for a recipient: in the draft with reason and source, and refused for one that is unknown."""

import json

import pytest

from cli_bench import run
from indistinct.policy import Policy

# chances of a correct guess that published guidance names: 0.09 to the public, 0.33 the highest precedent
STARTS = {"public": (11, "0.05"), "partners": (10, "0.02"), "researchers": (5, "0.02"), "internal": (3, "0.01")}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("recipients") / "t.csv"
    rows = [f"{20 + i % 50},{'fm'[i % 2]},{('flu', 'ulcer', 'none')[i % 3]}" for i in range(60)]
    path.write_text("\n".join(["age,sex,disease", *rows, "-,m,flu"]) + "\n")
    return path


@pytest.mark.parametrize("recipient", STARTS)
def test_a_recipient_sets_where_the_draft_starts(table, recipient):
    answer = run("policy", "draft", table, "--recipient", recipient)
    assert answer.returncode == 0, answer.stderr
    policy = Policy.load(answer.stdout)
    k, limit = STARTS[recipient]
    assert policy.privacy[0].k == k
    assert (
        policy.suppression.limit
        == Policy(attributes={"a": {"role": "qi"}}, suppression={"limit": limit}).suppression.limit
    )
    assert f"recipient {recipient}" in answer.stdout
    assert "# Source of k: " in answer.stdout
    assert "custom, not theorems" in answer.stdout
    assert ("t_closeness" in {model.model for model in policy.privacy}) == (recipient == "public")
    assert len(policy.open_marks) == answer.stdout.count("# CONFIRM: ")


def test_without_a_recipient_nothing_is_said_of_one(table):
    text = run("policy", "draft", table).stdout
    assert Policy.load(text).privacy[0].k == 5
    assert "# Starting values" not in text


def test_an_unknown_recipient_is_refused_by_name(table):
    answer = run("policy", "draft", table, "--recipient", "everybody", "--json")
    assert answer.returncode == 2
    assert "public, partners, researchers, internal" in json.loads(answer.stdout)["error"]["message"]


def test_tokens_of_missing_values_are_read_and_written(table):
    text = run("policy", "draft", table, "--missing", "-", "--missing", "").stdout
    policy = Policy.load(text)
    assert policy.table.missing == ("-", "")
    assert policy.attributes["age"].missing_values == ()
    assert Policy.load(run("policy", "draft", table).stdout).attributes["age"].missing_values == ("-",)
