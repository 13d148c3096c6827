"""Control characters of cells never act: escaped in all that is printed for people, kept in JSON and written tables."""

import csv
import json
from pathlib import Path

import pytest

import indistinct as ind
from indistinct.cli import demo as demo_module
from indistinct.cli.app import run
from indistinct.errors import DataError, SchemaError
from indistinct.plain import shown, visible

CASES = Path(__file__).parent
RED, TITLE, TURNED, LINE = "\x1b[31mRED\x1b[0m", "\x1b]0;title\x07", "a\u202eb", "x\nall models hold"
COLUMN = "war\x9bd"  # the control sequence introducer as one character
ACTING = "\x1b\x07\x9b\u202e\u2066\u2028\r\t"
POLICY = """
[attributes."war\\u009bd"]
role = "qi"
hierarchy = { kind = "suppress" }
[attributes.age]
role = "qi"
type = "integer"
hierarchy = { kind = "intervals", widths = [10, 50] }
[attributes.ill]
role = "sensitive"
[[privacy]]
model = "k_anonymity"
k = 2
[[privacy]]
model = "distinct_l"
attribute = "ill"
l = 2
[suppression]
limit = 0.5
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wards, ills = (RED, TITLE, TURNED, LINE), (RED, LINE, "flu")
    rows = [(wards[i % 4], str(20 + i % 23), ills[i % 3]) for i in range(36)]
    with Path("t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([(COLUMN, "age", "ill"), *rows])
    with Path("h.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=";").writerows(
            [(ward, f"half {at // 2}{RED}", "*") for at, ward in enumerate(wards)]
        )
    Path("p.toml").write_text(POLICY)
    return tmp_path


def harmless(text, lines=()):
    acting = sorted({repr(sign) for sign in text if sign in ACTING})
    assert not acting, f"{acting} in {text!r}"
    assert "all models hold" not in text.splitlines(), "a cell wrote a line of its own"
    for line in lines:
        assert line in text


COMMANDS = {
    "audit": "audit t.csv --qi war\x9bd,age --sensitive ill",
    "audit policy": "audit t.csv --policy p.toml",
    "profile": "profile t.csv",
    "risk": "risk t.csv --policy p.toml --suda 2",
    "explain": "explain t.csv --policy p.toml --loss 0.9",
    "policy check": "policy check p.toml",
    "policy draft": "policy draft t.csv",
    "hierarchy show": "hierarchy show t.csv --column war\x9bd --file h.csv",
    "hierarchy check": "hierarchy check h.csv --for t.csv --column war\x9bd",
    "anonymize": "anonymize t.csv --policy p.toml --output o.csv --report r.md --public-report q.html",
    "verify": "verify t.csv o.csv --policy p.toml",
    "attack": "attack o.csv --policy p.toml --original t.csv --reveal",
    "utility": "utility t.csv o.csv --policy p.toml",
    "compare": "compare t.csv --policy p.toml --algorithms local,optimal",
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_a_control_character_of_a_cell(command, folder, capfd):
    words = COMMANDS[command].split()
    if command in ("verify", "attack", "utility"):
        assert run(COMMANDS["anonymize"].split()) == 0, capfd.readouterr()
        capfd.readouterr()
    code = run(words)
    told = capfd.readouterr()
    assert code in (0, 1), told
    assert told.out
    harmless(told.out + told.err)
    if command == "anonymize":
        for page in ("r.md", "q.html"):
            harmless((folder / page).read_text(encoding="utf-8"))


def test_the_demo_prints_no_control_character(folder, capfd, monkeypatch):
    Path("t.csv").rename("discharges.csv")
    Path("p.toml").rename("policy.toml")
    monkeypatch.setattr(demo_module, "example_folder", lambda: folder)
    assert run(["demo", "--output", f"out{RED}"]) == 0
    told = capfd.readouterr()
    harmless(told.out + told.err, [r"out\x1b[31mRED\x1b[0m/published.csv"])


@pytest.mark.slow
def test_json_and_written_tables_keep_them(folder, capfd):
    assert run([*COMMANDS["audit"].split(), "--json"]) in (0, 1)
    classes = [entry["class"] for entry in json.loads(capfd.readouterr().out)["worst"]]
    assert {ward for named in classes for ward in [named[COLUMN]]} <= {RED, TITLE, TURNED, LINE}
    assert run(COMMANDS["anonymize"].split()) == 0
    with (folder / "o.csv").open(newline="", encoding="utf-8") as file:
        written = list(csv.DictReader(file))
    assert {row["ill"] for row in written} == {RED, LINE, "flu"}
    assert COLUMN in written[0]


def test_the_case(capfd, monkeypatch):
    case = CASES / "b08-escape-sequences-on-the-console"
    expected = json.loads((case / "expected.json").read_text())
    monkeypatch.chdir(case)
    assert expected["expect"]["raw_escape_in_text"] is False
    assert run(["audit", "input.csv", "--qi", "a", "--sensitive", "b"]) in (0, 1)
    out = capfd.readouterr().out
    assert "\x1b" not in out
    assert "\\x1b[31mRED\\x1b[0m" in out
    answer = ind.audit("input.csv", qi=["a"], sensitive=["b"])
    assert "\x1b" not in repr(answer)
    assert "\x1b" not in answer._repr_html_()
    assert any("\x1b" in value for worst in answer.document["worst"] for value in worst["class"].values())


def test_errors_for_people_are_of_their_own_lines():
    error = DataError(f'"age" has {RED} and {LINE}')
    assert str(error) == '"age" has \\x1b[31mRED\\x1b[0m and x\\nall models hold'
    assert error.message == f'"age" has {RED} and {LINE}'
    several = SchemaError("the table lacks 2 columns:").listing("a\nb", "c")
    assert str(several) == "the table lacks 2 columns:\n  a\\nb\n  c"
    assert several.message == "the table lacks 2 columns:\n  a\nb\n  c"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("debug", [[], ["--debug"]])
def test_an_error_that_names_a_cell_escapes_it(debug, capfd):
    Path("t.csv").write_text(f"{COLUMN},age,ill\na,4{TURNED},x\na,30,y\n", encoding="utf-8")
    assert run(["anonymize", "t.csv", "--policy", "p.toml", "--output", "o.csv", *debug]) == 2
    told = capfd.readouterr().err
    harmless(told, ["error: ", "4a\\u202eb"])


@pytest.mark.usefixtures("folder")
def test_reprs_of_answers_escape_them():
    policy = ind.Policy.load(Path("p.toml"))
    release = ind.anonymize("t.csv", policy)
    for answer in (
        release,
        ind.audit("t.csv", policy),
        ind.risk("t.csv", policy),
        ind.explain("t.csv", policy),
        ind.profile("t.csv"),
    ):
        harmless(repr(answer))
        harmless(answer._repr_html_())


def test_which_characters():
    assert visible("a\x1b\x7f\x85\u200e\u202e\u2066\u2028\ufeff\U000e0041b") == (
        "a\\x1b\\x7f\\u0085\\u200e\\u202e\\u2066\\u2028\\ufeff\\U000e0041b"
    )
    kept = "Zürich 北京 क्\u200dष 👩\u200d⚕ \\x1b"  # letters, joiners, and what only looks like an escape
    assert visible(kept) == kept
    assert visible("a\nb\rc", lines=True) == "a\nb\\rc"
    assert shown({"a\x1b": ["\n", ("\t", None, 1.5)]}) == {"a\\x1b": ["\\n", ("\\t", None, 1.5)]}


TRANSFORM = """
[[transforms]]
method = "top_coding"
attribute = "age"
limit = 30
"""
OTHERS = {
    "transform": [["transform", "t.csv", "-p", "p.toml", "-o", "new.csv"]],
    "releases": [
        ["anonymize", "t.csv", "-p", "p.toml", "-o", "out.csv"],
        ["releases", "add", "t.csv", "out.csv", "-p", "p.toml", "--ledger", "l.db", "--name", f"a{TITLE}{LINE}"],
        ["releases", "list", "--ledger", "l.db"],
        ["releases", "check", "t.csv", "out.csv", "-p", "p.toml", "--ledger", "l.db"],
        ["releases", "forget", f"none{TITLE}", "--ledger", "l.db"],
        ["releases", "forget", f"a{TITLE}{LINE}", "--ledger", "l.db"],
    ],
    "hierarchy build": [
        ["hierarchy", "build", "t.csv", "-c", COLUMN, "-o", "new.csv"],
        ["hierarchy", "build", "t.csv", "-c", f"no{COLUMN}{TITLE}", "-o", "other.csv"],
        ["hierarchy", "check", "h.csv", "--for", "t.csv", "--column", COLUMN],
    ],
    "utility": [
        ["anonymize", "t.csv", "-p", "p.toml", "-o", "out.csv"],
        ["utility", "t.csv", "out.csv", "-p", "p.toml"],
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.usefixtures("folder")
def test_further_commands_print_no_control_character(name, capfd):
    if name == "transform":
        Path("p.toml").write_text(POLICY + TRANSFORM)
    for words in OTHERS[name]:
        assert run(words) in (0, 1, 2)
        told = capfd.readouterr()
        assert told.out or told.err
        harmless(told.out)
        harmless(told.err)
