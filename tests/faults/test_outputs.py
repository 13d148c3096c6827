"""No source is overwritten, no name is taken that is not free, and files that belong together come together."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

import indistinct as ind
from indistinct.cli.app import run
from indistinct.outputs import Output, publish, stage_bytes, write_bytes
from indistinct.reports.report import stage_report

HERE = Path(__file__).parent
B01, B07 = HERE / "b01-source-overwritten-by-write", HERE / "b07-manifest-place-is-a-folder"
TRANSFORM = """
[[transforms]]
method = "top_coding"
attribute = "age"
limit = 36
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(B01 / "input.csv", "copy.csv")
    shutil.copy(B01 / "policy.toml", "policy.toml")
    return tmp_path


def other_names(folder):
    (folder / "link.csv").symlink_to(folder / "copy.csv")
    os.link(folder / "copy.csv", folder / "hard.csv")
    (folder / "sub").mkdir()
    return ["copy.csv", str(folder / "copy.csv"), "link.csv", "hard.csv", "sub/../copy.csv"]


# --- sources ----------------------------------------------------------------------------------------------------


def test_b01_a_release_never_overwrites_its_source(folder):
    assert json.loads((B01 / "expected.json").read_text())["expect"] == {"source_intact": True, "error": "PolicyError"}
    release = ind.anonymize("copy.csv", "policy.toml")
    for name in other_names(folder):
        with pytest.raises(ind.PolicyError, match="never overwritten"):
            release.write(name, force=True)
    assert (folder / "copy.csv").read_bytes() == (B01 / "input.csv").read_bytes()


def test_a_source_that_was_renamed_since_is_known_again(folder):
    release = ind.anonymize("copy.csv", "policy.toml")
    (folder / "copy.csv").rename(folder / "backup.csv")
    with pytest.raises(ind.PolicyError, match=r"backup\.csv is the source"):
        release.write("backup.csv", force=True)


@pytest.mark.parametrize(
    "lazy",
    [
        lambda pl, _: pl.scan_csv("copy.csv"),
        lambda pl, _: pl.scan_csv(["other.csv", str(Path("copy.csv").resolve())]).with_row_index("n").drop("n"),
        lambda _, duckdb: duckdb.sql("select * from 'copy.csv'"),
        lambda _, duckdb: duckdb.read_csv(["other.csv", "copy.csv"]),
        lambda _, duckdb: duckdb.sql("select * from read_csv('cop*.csv')"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_a_lazy_frame_or_a_relation_reads_is_a_source(lazy):
    pl, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    before = Path("copy.csv").read_bytes()
    Path("other.csv").write_bytes(before)
    release = ind.anonymize(lazy(pl, duckdb), "policy.toml")
    with pytest.raises(ind.PolicyError, match="never overwritten"):
        release.write("copy.csv", force=True)
    assert Path("copy.csv").read_bytes() == before


def test_a_transformed_table_never_overwrites_its_source(folder):
    (folder / "policy.toml").write_text((B01 / "policy.toml").read_text() + TRANSFORM)
    table = ind.transform("copy.csv", "policy.toml")
    release = ind.anonymize(table, "policy.toml")
    for name in other_names(folder):
        for made in (table, release):
            with pytest.raises(ind.PolicyError, match="never overwritten"):
                made.write(name, force=True)
    assert (folder / "copy.csv").read_bytes() == (B01 / "input.csv").read_bytes()


def test_documents_of_a_release_overwrite_neither_what_was_read_nor_the_release(folder):
    (folder / "tree.md").write_text("flu;*\ncold;*\n")
    text = (folder / "policy.toml").read_text()
    (folder / "policy.toml").write_text(text.replace('"sensitive"', '"qi"\nhierarchy = { file = "tree.md" }'))
    release = ind.anonymize("copy.csv", "policy.toml", output="out.csv")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for write in (ind.report, ind.dictionary):
        for name, what in (("tree.md", 'the hierarchy of "ill"'), ("out.csv.manifest.json", "a file of this release")):
            with pytest.raises(ind.PolicyError, match=what):
                write(release, name, force=True)
    assert before == {path: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    "words",
    [
        ["anonymize", "copy.csv", "-p", "policy.toml", "-o", "out.csv", "--report", "tree.json"],
        ["anonymize", "copy.csv", "-p", "policy.toml", "-o", "tree.csv"],
        ["compare", "copy.csv", "-p", "policy.toml", "--algorithms", "optimal", "--svg", "policy.toml"],
        ["risk", "copy.csv", "-p", "policy.toml", "--rows", "tree.csv"],
        ["risk", "copy.csv", "--qi", "age", "--published", "tree.csv", "--rows", "tree.csv"],
    ],
)
def test_no_command_overwrites_any_file_that_it_reads(folder, capsys, words):
    tree = next((word for word in words[1:] if word.startswith("tree.")), "tree.csv")
    (folder / tree).write_text("flu;*\ncold;*\n")
    text = (folder / "policy.toml").read_text()
    (folder / "policy.toml").write_text(text.replace('"sensitive"', f'"qi"\nhierarchy = {{ file = "{tree}" }}'))
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert run([*words, "--force"]) == 2
    assert "never overwritten" in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in folder.iterdir()}


def test_a_comparison_never_overwrites_a_table_of_its_folder(folder):
    (folder / "runs").mkdir()
    source = folder / "runs" / "compare.csv"
    shutil.copy("copy.csv", source)
    with pytest.raises(ind.PolicyError, match=r"compare\.csv is the source"):
        ind.compare(source, "policy.toml", algorithms=["optimal"], output="runs")
    with pytest.raises(ind.PolicyError, match=r"compare\.csv exists"):
        ind.compare("copy.csv", "policy.toml", algorithms=["optimal"], output="runs")
    assert source.read_bytes() == (B01 / "input.csv").read_bytes()


def test_the_file_of_a_database_is_a_source(folder, capsys):
    import sqlite3

    with sqlite3.connect("people.db") as connection:
        connection.execute("CREATE TABLE people (age INTEGER)")
        connection.executemany("INSERT INTO people VALUES (?)", [(31,), (33,)])
    connection.close()
    before = (folder / "people.db").read_bytes()
    words = [
        "hierarchy",
        "build",
        "sqlite:///people.db",
        "--table",
        "people",
        "-c",
        "age",
        "-o",
        "people.db",
        "--force",
    ]
    assert run(words) == 2
    assert "is the source" in capsys.readouterr().err
    assert (folder / "people.db").read_bytes() == before


def test_a_policy_is_not_saved_over_a_file_that_it_names(folder):
    (folder / "key.toml").write_text("# sixteen bytes or more of a secret\n")
    policy = ind.Policy(
        attributes={
            "age": {"role": "qi", "hierarchy": {"kind": "suppress"}},
            "name": {"role": "identifying", "action": "pseudonym", "key_file": "key.toml"},
        }
    )
    with pytest.raises(ind.PolicyError, match='the key of "name"'):
        policy.save("key.toml")
    assert (folder / "key.toml").read_text() == "# sixteen bytes or more of a secret\n"


# --- names ------------------------------------------------------------------------------------------------------


def test_b07_a_folder_at_the_place_of_the_manifest_is_a_sentence(tmp_path, monkeypatch):
    assert json.loads((B07 / "expected.json").read_text())["expect"] == {"error": "IndistinctError"}
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out.csv.manifest.json").mkdir()
    release = ind.anonymize(B07 / "input.csv", B07 / "policy.toml")
    with pytest.raises(ind.PolicyError, match=r"manifest out\.csv\.manifest\.json is a directory"):
        release.write("out.csv", force=True)
    assert names(tmp_path) == ["out.csv.manifest.json"]


@pytest.mark.parametrize("force", [False, True])
def test_companions_are_checked_before_anything_is_read(tmp_path, force):
    (tmp_path / "out.csv.manifest.json").mkdir()
    (tmp_path / "new.csv.transform.json").mkdir()
    with pytest.raises(ind.PolicyError, match="is a directory"):
        ind.anonymize("there-is-no-table.csv", B07 / "policy.toml", output=tmp_path / "out.csv", force=force)
    policy = ind.Policy.load((B01 / "policy.toml").read_text() + TRANSFORM)
    with pytest.raises(ind.PolicyError, match="is a directory"):
        ind.transform("there-is-no-table.csv", policy, output=tmp_path / "new.csv", force=force)


def test_an_existing_manifest_is_not_replaced_without_force(tmp_path):
    manifest = tmp_path / "out.csv.manifest.json"
    manifest.write_text("mine")
    with pytest.raises(ind.PolicyError, match=r"manifest out\.csv\.manifest\.json exists"):
        ind.anonymize(B07 / "input.csv", B07 / "policy.toml", output=tmp_path / "out.csv")
    assert (names(tmp_path), manifest.read_text()) == (["out.csv.manifest.json"], "mine")
    ind.anonymize(B07 / "input.csv", B07 / "policy.toml", output=tmp_path / "out.csv", force=True)
    assert ind.verify(B07 / "input.csv", tmp_path / "out.csv", B07 / "policy.toml").document["hash"] == "match"


def test_a_name_that_is_taken_meanwhile_is_not_taken_again(tmp_path):
    def beside(release):
        (tmp_path / "r.json").write_text("of another run")
        yield stage_report(release, tmp_path / "r.json")

    with pytest.raises(ind.PolicyError, match=r"report r\.json exists"):
        ind.anonymize(B07 / "input.csv", B07 / "policy.toml", output=tmp_path / "out.csv", beside=beside)
    assert (names(tmp_path), (tmp_path / "r.json").read_text()) == (["r.json"], "of another run")


def test_what_was_replaced_stands_again_when_another_file_fails(tmp_path, monkeypatch):
    one, two = Output(tmp_path / "one"), Output(tmp_path / "two")
    for output in (one, two):
        write_bytes(output, b"old")
    replace = Path.replace

    def refuse(self, target):
        if target == two.path and self.read_bytes() == b"new":
            raise PermissionError(13, "no")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(ind.DataError, match="two was not written"):
        publish([stage_bytes(one, b"new"), stage_bytes(two, b"new")], force=True)
    assert (names(tmp_path), one.path.read_bytes(), two.path.read_bytes()) == (["one", "two"], b"old", b"old")


RACE = """
import sys
import indistinct as ind
table, policy, output, report = sys.argv[1:]
release = ind.anonymize(table, policy)
print("ready", flush=True)
sys.stdin.readline()
try:
    release.write(output)
    print("written", flush=True)
except ind.PolicyError as error:
    print(error, flush=True)
"""


@pytest.mark.slow
def test_of_two_runs_on_one_new_output_one_gets_it(tmp_path):
    script = tmp_path / "race.py"
    script.write_text(RACE)
    words = [sys.executable, script, B07 / "input.csv", B07 / "policy.toml", tmp_path / "out.csv", "-"]
    runs = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for one in runs:
        assert one.stdout.readline() == "ready\n"
    for one in runs:
        one.stdin.write("\n")
        one.stdin.flush()
    said = sorted(one.communicate()[0] for one in runs)
    assert [text == "written\n" for text in said].count(True) == 1
    assert "exists" in said[0] + said[1]
    assert names(tmp_path) == ["out.csv", "out.csv.manifest.json", "race.py"]
    assert ind.verify(B07 / "input.csv", tmp_path / "out.csv", B07 / "policy.toml").document["hash"] == "match"


@pytest.mark.slow
def test_runs_in_one_folder_do_not_take_newborn_files_for_leftovers(tmp_path):
    def write(run):
        for number in range(100):
            write_bytes(Output(tmp_path / f"{run}-{number}"), b"whole")

    with ThreadPoolExecutor(4) as runs:
        list(runs.map(write, range(4)))
    assert len(names(tmp_path)) == 400
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"whole"}


@pytest.mark.parametrize("links", [True, False])
def test_a_claim_never_replaces_even_where_there_are_no_links(tmp_path, monkeypatch, links):
    if not links:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(PermissionError(1, "no links")))
    output = Output(tmp_path / "x.txt")
    staged = [stage_bytes(output, text) for text in (b"first", b"second")]
    staged[0].publish()
    with pytest.raises(ind.PolicyError, match="exists"):
        staged[1].publish()
    write_bytes(Output(tmp_path / "y.txt"), b"free")
    assert (names(tmp_path), output.path.read_bytes()) == (["x.txt", "y.txt"], b"first")


@pytest.mark.parametrize("name", ["n" * 250 + ".csv", "nul\0.csv"])
def test_a_name_that_no_file_can_have_is_a_sentence(tmp_path, name):
    table, policy = pa.table({"name": list("ab"), "age": [31, 33], "ill": ["x", "y"]}), B07 / "policy.toml"
    with pytest.raises(ind.DataError, match="cannot be written"):
        ind.anonymize(table, policy, output=tmp_path / name)
    assert names(tmp_path) == []


# --- what a killed run leaves -----------------------------------------------------------------------------------

KILLED = """
import sys, time
from pathlib import Path
from indistinct.outputs import Output, stage_bytes
staged = stage_bytes(Output(Path(sys.argv[1]) / "out.csv"), b"name,age\\n")
print(staged.path.name, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs locks that end with their process")
def test_the_next_run_removes_what_a_killed_one_left_and_nothing_of_a_living_one(tmp_path):
    words = [sys.executable, "-c", KILLED, tmp_path]
    runs = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        killed, living = (one.stdout.readline().strip() for one in runs)
        assert [(tmp_path / name).stat().st_mode & 0o777 for name in (killed, living)] == [0o600, 0o600]
        runs[0].send_signal(signal.SIGKILL)
        runs[0].wait()
        assert names(tmp_path) == sorted([killed, living])
        (tmp_path / ".indistinct.notes").write_text("of a person")
        ind.anonymize(B07 / "input.csv", B07 / "policy.toml", output=tmp_path / "out.csv")
        assert names(tmp_path) == sorted([living, ".indistinct.notes", "out.csv", "out.csv.manifest.json"])
        assert (tmp_path / "out.csv").stat().st_mode & 0o777 == (tmp_path / ".indistinct.notes").stat().st_mode & 0o777
    finally:
        for one in runs:
            one.kill()
            one.communicate()


@pytest.mark.parametrize("name", [".out.csv.0123456789abcdef", ".out.0123456789abcdef.csv"])
def test_leftovers_of_earlier_versions_are_named_and_stay(tmp_path, name):
    (tmp_path / name).write_text("of a killed run")
    (tmp_path / ".other.0123456789abcdef.csv").write_text("of another place")
    with pytest.warns(RuntimeWarning, match=re.escape(f"{name} beside out.csv may be left from a run that was killed")):
        write_bytes(Output(tmp_path / "out.csv"), b"whole")
    assert names(tmp_path) == sorted([name, ".other.0123456789abcdef.csv", "out.csv"])


def test_a_leftover_that_cannot_be_removed_is_named(tmp_path, monkeypatch):
    left = tmp_path / ".indistinct.0123456789abcdef.csv"
    left.write_text("of a killed run")
    unlink = Path.unlink

    def refuse(self, **words):
        if self == left:
            raise PermissionError(13, "no")
        unlink(self, **words)

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.warns(RuntimeWarning, match=re.escape(f"{left.name} beside out.csv may be left")) as told:
        write_bytes(Output(tmp_path / "out.csv"), b"whole")
    assert (len(told), names(tmp_path)) == (1, [left.name, "out.csv"])


@pytest.mark.skipif(os.name != "posix", reason="takes the locks of the system away")
def test_without_locks_leftovers_are_named_and_files_of_this_run_are_not(tmp_path, monkeypatch):
    import fcntl

    def none(*_):
        raise OSError(95, "not supported")

    monkeypatch.setattr(fcntl, "flock", none)
    publish([stage_bytes(Output(tmp_path / name), b"whole") for name in ("one", "two")])
    (tmp_path / ".indistinct.0123456789abcdef.csv").write_text("of whatever run")
    with pytest.warns(RuntimeWarning, match=r"0123456789abcdef\.csv beside three may be left") as told:
        publish([stage_bytes(Output(tmp_path / name), b"whole") for name in ("three",)])
    assert (len(told), names(tmp_path)) == (1, [".indistinct.0123456789abcdef.csv", "one", "three", "two"])


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs locks that end with their process")
def test_the_command_says_once_what_a_killed_run_left(folder):
    (folder / ".out.csv.0123456789abcdef").write_text("of a killed run")
    words = [sys.executable, "-m", "indistinct", "anonymize", "copy.csv", "-p", "policy.toml", "-o", "out.csv"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stderr
    assert said.count("warning: .out.csv.0123456789abcdef beside out.csv may be left from a run that was killed") == 1


# --- the ledger -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["copy.csv", "policy.toml", "out.csv", "hard.csv"])
def test_no_file_of_a_release_becomes_its_ledger(folder, capsys, name):
    assert run(["anonymize", "copy.csv", "-p", "policy.toml", "-o", "out.csv", "-q"]) == 0
    os.link("copy.csv", "hard.csv")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert run(["releases", "add", "copy.csv", "out.csv", "-p", "policy.toml", "--ledger", name]) == 2
    assert "is never overwritten" in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("words", [["add", "copy.csv", "out.csv", "-p", "policy.toml"], ["forget", "r"], ["list"]])
@pytest.mark.usefixtures("folder")
def test_the_database_of_something_else_is_no_ledger(capsys, words):
    import sqlite3

    assert run(["anonymize", "copy.csv", "-p", "policy.toml", "-o", "out.csv", "-q"]) == 0
    connection = sqlite3.connect("app.db")
    connection.executescript("CREATE TABLE users (name TEXT); INSERT INTO users VALUES ('x');")
    connection.close()
    Path("app.db").chmod(0o600)
    before = Path("app.db").read_bytes()
    assert run(["releases", *words, "--ledger", "app.db"]) == 2
    assert "app.db is the database of something else, not a ledger" in capsys.readouterr().err
    assert Path("app.db").read_bytes() == before
