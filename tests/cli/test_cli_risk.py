"""The commands profile, risk and releases, by subprocess."""

import json

import pytest

from cli_bench import run

TABLE = "id;age;ward;ill;home;w\n" + "".join(
    f"p{i};{20 + i % 30};{'AB'[i % 2]};{'xyz'[i % 3]};h{i // 3};{2 + i % 3}\n" for i in range(120)
)
POLICY = """
[person]
key = "id"
[table]
unlisted = "insensitive"
[attributes.age]
role = "qi"
type = "integer"
hierarchy = { kind = "intervals", widths = [5, 10, 30] }
[attributes.ward]
role = "qi"
hierarchy = { kind = "suppress" }
[attributes.ill]
role = "sensitive"
[attributes.home]
role = "identifying"
[attributes.w]
role = "insensitive"
confirmed = true
[[privacy]]
model = "k_anonymity"
k = 5
[[privacy]]
model = "distinct_l"
attribute = "ill"
l = 2
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


@pytest.mark.slow
def test_risk_before_and_after(folder):
    code, _, err = run("anonymize", "table.csv", "--policy", "policy.toml", "--output", "out.csv", "-q", cwd=folder)
    assert (code, err) == (0, "")
    words = ["risk", "table.csv", "--policy", "policy.toml", "--published", "out.csv", "--suda", "2", "--rows", "r.csv",
             "--weights", "w", "--household", "home"]  # fmt: skip
    code, out, err = run(*words, "--json", cwd=folder)
    assert (code, err) == (0, "")
    document = json.loads(out)
    names = [entry["measure"] for entry in document["measures"]]
    assert names == ["prosecutor", "marketer", "sample_uniqueness", "individual", "household", "suda2"]
    assert all(entry["sentence"] for entry in document["measures"])
    assert document["published"]["measures"][0]["highest"]["decimal"] <= 0.2
    lines = (folder / "r.csv").read_text().splitlines()
    assert lines[0] == "row,class_size,prosecutor,individual,household,suda_score"
    assert len(lines) == 121
    assert (folder / "r.csv").stat().st_mode & 0o777 == 0o600
    code, out, err = run(*words, cwd=folder)
    assert (code, out) == (2, "")
    assert "r.csv exists" in err
    code, out, _ = run("risk", "table.csv", "--qi", "age,ward", "--fail-above", "0.2", cwd=folder)
    assert code == 1
    assert "prosecutor: highest" in out


@pytest.mark.slow
def test_profile_and_its_draft(folder):
    code, out, err = run("profile", "table.csv", "--draft", "draft.toml", "--json", cwd=folder)
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["rows"] == 120
    assert document["unique_sets"]["sets"][0] == ["id"]
    assert run("policy", "check", "draft.toml", cwd=folder)[0] == 0
    code, out, _ = run("profile", "table.csv", cwd=folder)
    assert code == 0
    assert "suggested quasi-identifiers: " in out


@pytest.mark.slow
def test_the_ledger_by_command(folder):
    (folder / "book").mkdir()
    ledger = ["--ledger", "book/ledger.sqlite", "--policy", "policy.toml"]
    keyed = [*ledger, "--key-file", "key"]
    run("anonymize", "table.csv", "--policy", "policy.toml", "--output", "one.csv", "-q", cwd=folder)
    assert run("releases", "key", "key", cwd=folder)[0] == 0
    code, out, err = run("releases", "add", "table.csv", "one.csv", *keyed, "--json", cwd=folder)
    assert (code, err) == (0, "")
    assert json.loads(out)["satisfied"] is True
    # the same people, other values, one person more: what the classes show no longer fits together
    rows = TABLE.splitlines()
    changed = [rows[0], *(row.replace(";x;", ";y;") if i % 2 else row for i, row in enumerate(rows[1:]))]
    (folder / "later.csv").write_text("\n".join([*changed, "p120;49;B;z;h40;2"]) + "\n")
    run("anonymize", "later.csv", "--policy", "policy.toml", "--output", "two.csv", "-q", cwd=folder)
    code, out, _ = run("releases", "check", "later.csv", "two.csv", *keyed, "--m", "2", "--json", cwd=folder)
    document = json.loads(out)
    assert (code, document["satisfied"]) == (1, False)
    assert document["persons"]["in_earlier_too"] == 120
    assert document["persons"]["new"] == 1
    code, out, err = run("releases", "add", "later.csv", "two.csv", *keyed, "--m", "2", cwd=folder)
    assert (code, out) == (1, "")
    assert err.startswith("error: the release was not entered: ")
    code, out, _ = run("releases", "check", "later.csv", "two.csv", *ledger, "--json", cwd=folder)
    assert (code, json.loads(out)["satisfied"]) == (1, None)
    code, out, _ = run("releases", "list", "--ledger", "book/ledger.sqlite", "--json", cwd=folder)
    assert [release["name"] for release in json.loads(out)["releases"]] == ["one.csv"]
    assert run("releases", "forget", "one.csv", "--ledger", "book/ledger.sqlite", cwd=folder)[0] == 0
    code, out, _ = run("releases", "list", "--ledger", "book/ledger.sqlite", cwd=folder)
    assert (code, out) == (0, "0 releases\n")
