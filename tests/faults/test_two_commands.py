"""What one command refuses, the others do not call good: cells, dates, hierarchies, masks, nearly unique columns."""

import json
import shutil
from pathlib import Path

import pytest

import indistinct as ind
from indistinct.cli.app import run

CASES = Path(__file__).parent
AGE = '[attributes.age]\nrole = "qi"\ntype = "integer"\nhierarchy = { kind = "range", bounds = "members" }\n'
K2 = '[[privacy]]\nmodel = "k_anonymity"\nk = 2\n'
COMPARE = ["compare", "t.csv", "--algorithms", "local"]
SOURCE = '[table]\nsource = "t.csv"\n'


@pytest.fixture
def case(tmp_path, monkeypatch):
    def enter(name):
        shutil.copytree(CASES / name, tmp_path / name)
        monkeypatch.chdir(tmp_path / name)
        return json.loads(Path("expected.json").read_text())["expect"]

    return enter


# table, attributes, what the message names
REFUSED = {
    "a letter in a number": ("age\n34\n34\n4e\n4e\n", AGE, '"4e"'),
    "a decimal in an integer": ("age\n34\n34\n34.5\n34.5\n", AGE, '"34.5"'),
    "dates in another format": (
        "day\n31.01.2024\n31.01.2024\n",
        '[attributes.day]\nrole = "qi"\ntype = "date"\nhierarchy = { kind = "dates", levels = ["month"] }\n',
        '"31.01.2024"',
    ),
    "a value that the hierarchy lacks": (
        "ward\nA\nA\nC\nC\n",
        '[attributes.ward]\nrole = "qi"\nhierarchy = { file = "h.csv" }\n',
        '"C"',
    ),
    "a value outside the breaks": (
        "age\n5\n5\n99\n99\n",
        '[attributes.age]\nrole = "qi"\ntype = "integer"\nhierarchy = { kind = "intervals", breaks = [[0, 10, 50]] }\n',
        '"age"',
    ),
    "a value out of order": (
        "mark\nlow\nlow\nhuge\nhuge\n",
        (
            '[attributes.mark]\nrole = "qi"\ntype = "ordinal"\norder = ["low", "high"]\n'
            'hierarchy = { kind = "ordinal", sizes = [2] }\n'
        ),
        '"huge"',
    ),
}


@pytest.mark.parametrize(
    "words",
    [
        ["audit", "t.csv"],
        ["risk", "t.csv"],
        ["explain"],
        ["policy", "check"],
        COMPARE,
        ["anonymize"],
    ],
)
@pytest.mark.parametrize("name", REFUSED)
def test_what_anonymize_refuses_all_refuse(name, words, tmp_path, monkeypatch, capfd):
    table, attributes, named = REFUSED[name]
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(table)
    Path("h.csv").write_text("A;x;*\nB;x;*\n")
    Path("p.toml").write_text(SOURCE + attributes + K2)
    asked = ["p.toml"] if words[0] == "policy" else ["--policy", "p.toml"]
    output = ["--output", "o.csv"] if words == ["anonymize"] else []
    assert run([*words, *asked, *output]) == 2
    told = capfd.readouterr()
    assert named in told.err
    assert told.out == ""


def test_the_case_of_broken_cells(case, capfd):
    expected = case("21-audit-passes-broken-cells")
    assert run(["audit", "input.csv", "--policy", "policy.toml"]) == expected["audit_exit_code"]
    assert "age" in capfd.readouterr().err


LABELS = {
    "age": (["[20, 29]", "30-39", "*", "41", "<20", "90+"], {"type": "integer", "hierarchy": {"kind": "range"}}),
    "day": (
        ["2024-02", "2024-Q1", "2024", "2024-03-05"],
        {"type": "date", "hierarchy": {"kind": "dates", "levels": ["month"]}},
    ),
    "zip": (["021**", "02139", "*****"], {"hierarchy": {"kind": "masking"}}),
    "sex": (["f", "*", "f", "m"], {"hierarchy": {"kind": "suppress"}}),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_of_a_release_are_no_broken_cells(name):
    import pyarrow as pa

    labels, attribute = LABELS[name]
    own = ind.Policy(attributes={name: {"role": "qi", **attribute}}, privacy=[ind.KAnonymity(2)])
    assert ind.audit(pa.table({name: labels * 2}), own).document["rows"] == 2 * len(labels)
    assert ind.risk(pa.table({name: labels * 2}), own).document["rows"] == 2 * len(labels)


def test_labels_beside_a_broken_cell_do_not_hide_it():
    import pyarrow as pa

    own = ind.Policy(attributes={"age": {"role": "qi", **LABELS["age"][1]}}, privacy=[ind.KAnonymity(2)])
    with pytest.raises(ind.DataError, match='"4e" is not a whole number'):
        ind.audit(pa.table({"age": ["[20, 29]", "4e"]}), own)


# -- nearly unique columns ----------------------------------------------------------------------------------------


def test_the_case_of_a_small_table(case, capfd):
    expected = case("16-near-unique-in-a-small-table")
    assert run(["anonymize", "--policy", "policy.toml", "--output", "out.csv"]) == expected["exit_code"]
    out = capfd.readouterr().out
    assert all(f'6 of 6 rows hold a value of "{name}" that occurs once' in out for name in expected["warning_names"])


@pytest.mark.parametrize(("rows", "code"), [(100, 0), (101, 2)])
@pytest.mark.parametrize("words", [["explain"], ["policy", "check"], COMPARE, ["anonymize"], ["audit", "t.csv"]])
def test_the_bound_of_100_rows_is_the_same_everywhere(words, rows, code, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("age,bill\n" + "".join(f"30,{i}.5\n" for i in range(rows)))
    Path("p.toml").write_text(SOURCE + AGE + '[attributes.bill]\nrole = "insensitive"\n' + K2)
    asked = ["p.toml"] if words[0] == "policy" else ["--policy", "p.toml"]
    output = ["--output", "o.csv"] if words == ["anonymize"] else []
    # an audit publishes nothing: it warns in any case
    assert run([*words, *asked, *output]) == (0 if words[0] == "audit" else code)
    told = capfd.readouterr()
    assert f'{rows} of {rows} rows hold a value of "bill" that occurs once' in told.out + told.err


@pytest.mark.parametrize(("confirmed", "warned"), [("true", False), ('["unique"]', False), ('["restates"]', True)])
def test_a_confirmation_of_rare_values(confirmed, warned, case, capfd):
    case("16-near-unique-in-a-small-table")
    text = Path("policy.toml").read_text()
    Path("policy.toml").write_text(text.replace("[attributes.bill]", f"[attributes.bill]\nconfirmed = {confirmed}"))
    assert run(["anonymize", "--policy", "policy.toml", "--output", "out.csv"]) == 0
    assert ("that occurs once" in capfd.readouterr().out) == warned


@pytest.mark.parametrize("value", ["1", '"unique"', '["rare"]', "[true]"])
def test_what_is_no_confirmation(value):
    with pytest.raises(
        ind.PolicyError, match='true or false, or a list of what is confirmed, from "unique", "restates"'
    ):
        ind.Policy.load(f'[attributes.bill]\nrole = "insensitive"\nconfirmed = {value}\n')


# -- policy check -------------------------------------------------------------------------------------------------


def test_policy_check_says_what_it_read(case, capfd):
    case("16-near-unique-in-a-small-table")
    assert run(["policy", "check", "policy.toml", "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    assert answer["valid"] is True
    assert answer["table"] == {"rows": 6, "columns": 2}
    assert [one["column"] for one in answer["warnings"]] == ["bill"]


@pytest.mark.slow
def test_policy_check_without_its_table_says_so(case, capfd):
    case("16-near-unique-in-a-small-table")
    Path("input.csv").unlink()
    assert run(["policy", "check", "policy.toml"]) == 0
    assert "input.csv, which the policy names as its source, is not here" in capfd.readouterr().out
    Path("policy.toml").write_text('[attributes.age]\nrole = "qi"\n' + K2)
    assert run(["policy", "check", "policy.toml", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["table"] is None


def test_policy_check_finds_clashing_masks_and_columns_without_a_role(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    zips = '[attributes.zip]\nrole = "qi"\nhierarchy = { kind = "masking" }\n'
    Path("t.csv").write_text("zip\n0*\n01\n02\n03\n")  # 0* is a value, and the mask of the others
    Path("p.toml").write_text(SOURCE + zips + K2)
    assert run(["policy", "check", "p.toml"]) == run(["anonymize", "--policy", "p.toml", "--output", "o.csv"]) == 2
    first, second = capfd.readouterr().err.splitlines()
    assert first == second
    assert '"0*"' in first
    Path("t.csv").write_text("zip,note\n01,a\n02,b\n")
    assert run(["policy", "check", "p.toml"]) == 2
    assert '"note"' in capfd.readouterr().err
