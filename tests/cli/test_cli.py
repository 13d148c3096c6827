"""The command line, by subprocess: exit codes, JSON, errors as sentences, nothing left behind."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli_bench import POLICY, TABLE, run, run_as_process


def only_inputs(folder):
    return sorted(path.name for path in folder.iterdir()) == ["policy.toml", "table.csv"]


@pytest.mark.parametrize("words", [(), ("policy",), ("releases",)])
def test_without_a_command_the_help_answers(words):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith(" ".join(["Usage: indistinct", *words]))


@pytest.mark.slow
def test_help_answers_without_the_heavy_libraries():
    loaded = (
        "import sys; from indistinct.cli.app import run; run(['--help']); "
        "print([name for name in ('numba', 'pyarrow', 'duckdb', 'scipy', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error():
    words = [sys.executable, "-m", "indistinct", "policy", "schema"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        done.stdout.close()
        assert done.stderr.read() == b""
    assert done.returncode == 0


@pytest.mark.slow
def test_the_main_job_end_to_end(folder):
    code, out, err = run("anonymize", "table.csv", "--policy", "policy.toml", "--output", "out.csv", cwd=folder)
    assert (code, err) == (0, "")
    assert "verified from the written file: rows match, coverage proven" in out
    manifest = json.loads((folder / "out.csv.manifest.json").read_text())
    assert manifest["satisfied"] is True
    assert set(manifest["sha256"]) == {"out.csv"}
    assert not {"seconds", "phases", "warnings", "report"} & set(manifest)
    code, out, _ = run("verify", "table.csv", "out.csv", "--policy", "policy.toml", "--json", cwd=folder)
    answer = json.loads(out)
    assert (code, answer["satisfied"], answer["coverage"]["status"], answer["hash"]) == (0, True, "proven", "match")
    code, out, _ = run("audit", "out.csv", "--policy", "policy.toml", "--reference", "table.csv", "--json", cwd=folder)
    assert (code, json.loads(out)["satisfied"]) == (0, True)


def test_verify_names_row_and_column_of_a_changed_cell(folder):
    run("anonymize", "table.csv", "--policy", "policy.toml", "--output", "out.csv", cwd=folder)
    lines = (folder / "out.csv").read_text().splitlines()
    cells = lines[7].split(";")
    cells[0] = "[999, 1000]"
    lines[7] = ";".join(cells)
    (folder / "out.csv").write_text("\n".join(lines) + "\n")
    code, out, _ = run("verify", "table.csv", "out.csv", "--policy", "policy.toml", "--json", cwd=folder)
    answer = json.loads(out)
    assert code == 1
    assert answer["coverage"] == {
        "status": "refuted",
        "violations": [{"row": 7, "column": "age", "reason": "what stands in age covers no original"}],
        "reason": "some published labels cover no value of the original column",
    }  # fmt: skip
    assert answer["hash"] == "differs"


@pytest.mark.slow
def test_an_existing_output_is_refused_without_force(folder):
    (folder / "out.csv").write_text("precious")
    code, _, err = run("anonymize", "table.csv", "--policy", "policy.toml", "--output", "out.csv", cwd=folder)
    assert code == 2
    assert "exists" in err
    assert (folder / "out.csv").read_text() == "precious"
    assert run("anonymize", "table.csv", "--policy", "policy.toml", "-o", "out.csv", "--force", cwd=folder)[0] == 0


def test_infeasible_writes_nothing_and_exits_with_1(folder):
    text = POLICY.replace("k = 5", "k = 500")
    (folder / "policy.toml").write_text(text)
    code, out, err = run("anonymize", "table.csv", "--policy", "policy.toml", "-o", "out.csv", "--json", cwd=folder)
    assert (code, err) == (1, "")
    error = json.loads(out)["error"]
    assert error["kind"] == "infeasible"
    assert "500" in error["message"]
    assert "120" in error["message"]
    assert only_inputs(folder)


@pytest.mark.parametrize(
    ("content", "fragment"),
    [
        (b"", "empty"),
        (b"age;ward;ill\n", "no rows"),
        (bytes(range(256)) * 40, ""),
        (b"age;ward;ill\n20;A\n", "line 2"),
        (b'age;ward;ill\n20;"A;x\n', "line 2"),
        (b"age;ward;ill\n20;\xff;x\n", "line 2"),
        (b"age;ward;ill\nold;A;x\n", "old"),
    ],
)
def test_bad_tables_give_one_sentence_and_no_file(folder, content, fragment):
    (folder / "table.csv").write_bytes(content)
    code, out, err = run("anonymize", "table.csv", "--policy", "policy.toml", "-o", "out.csv", cwd=folder)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert fragment in err
    assert "Traceback" not in err
    assert only_inputs(folder)


@pytest.mark.parametrize(
    ("change", "fragment"),
    [
        (("k = 5", "k = 0"), "k >= 1"),
        (("l = 2", "l = 2\nextra = 1"), "extra"),
        (("[recoding]", "[recording]"), "recording"),
        (('role = "qi"\nhierarchy', 'role = "quasy"\nhierarchy'), "quasy"),
    ],
)  # fmt: skip
def test_bad_policies_name_place_and_remedy(folder, change, fragment):
    (folder / "policy.toml").write_text(POLICY.replace(*change))
    code, _, err = run("anonymize", "table.csv", "--policy", "policy.toml", "-o", "out.csv", cwd=folder)
    assert code == 2
    assert fragment in err
    assert "Traceback" not in err
    assert only_inputs(folder)


@pytest.mark.parametrize("output", [".", "nowhere/out.csv", "out.unknown", "table.csv"])
def test_impossible_outputs_are_refused(folder, output):
    code, _, err = run("anonymize", "table.csv", "--policy", "policy.toml", "-o", output, "--force", cwd=folder)
    assert code == 2
    assert err.startswith("error: ")
    assert (folder / "table.csv").read_text() == TABLE
    assert only_inputs(folder)


def test_a_line_longer_than_allowed(folder):
    (folder / "table.csv").write_text(TABLE + "20;" + "A" * 5000 + ";x\n")
    (folder / "policy.toml").write_text("[table]\nmax_line_bytes = 1000\n" + POLICY)
    code, _, err = run("anonymize", "table.csv", "--policy", "policy.toml", "-o", "out.csv", cwd=folder)
    assert code == 2
    assert "max_line_bytes" in err


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_a_sentence():
    words = [sys.executable, "-m", "indistinct", "policy", "schema"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "error: the operating system refuses: no space left on device\n")


def test_usage_errors_are_json_too(folder):
    code, out, err = run("audit", "table.csv", "--json", "--no-such-option", cwd=folder)
    assert (code, err) == (2, "")
    assert json.loads(out)["error"]["kind"] == "usage"


def test_audit_by_flags(folder):
    code, out, _ = run("audit", "table.csv", "--qi", "age", "--k", "3", "--json", cwd=folder)
    answer = json.loads(out)
    assert (code, answer["satisfied"], answer["smallest_class"]) == (0, True, 4)
    assert [w["column"] for w in answer["warnings"] if w["kind"] == "undeclared"] == ["ward", "ill"]
    assert run("audit", "table.csv", "--qi", "age", "--k", "5", "--quiet", cwd=folder) == (1, "", "")
    code, _, err = run("audit", "table.csv", "--policy", "policy.toml", "--delimiter", ";", cwd=folder)
    assert code == 2
    assert "given are delimiter" in err


@pytest.mark.slow
def test_the_same_bytes_under_every_locale(folder):
    (folder / "table.csv").write_text("town\nŁódź\nŁódź\nKraków\nKraków\n", encoding="utf-8")
    (folder / "policy.toml").write_text(
        '[attributes.town]\nrole = "qi"\nhierarchy = { kind = "suppress" }\n[[privacy]]\nmodel = "k_anonymity"\nk = 2\n'
        '[recoding]\nalgorithm = "optimal"\n'
    )
    written = []
    for number, locale in enumerate(("C", "C.UTF-8")):
        name = f"out{number}.csv"
        code, _, err = run_as_process(
            "anonymize",
            "table.csv",
            "--policy",
            "policy.toml",
            "-o",
            name,
            cwd=folder,
            env={"LC_ALL": locale, "LANG": locale},
        )
        assert (code, err) == (0, "")
        written.append((folder / name).read_bytes())
    assert written[0] == written[1] == "town\nKraków\nKraków\nŁódź\nŁódź\n".encode()


def test_hierarchy_commands(folder):
    assert run("hierarchy", "build", "table.csv", "-c", "age", "--type", "integer", "-o", "age.csv", cwd=folder)[0] == 0
    code, out, _ = run("hierarchy", "check", "age.csv", "--for", "table.csv", "-c", "age", "--json", cwd=folder)
    assert (code, json.loads(out)["valid"]) == (0, True)
    code, out, _ = run("hierarchy", "show", "table.csv", "-c", "age", "--file", "age.csv", "--json", cwd=folder)
    levels = json.loads(out)["levels"]
    assert (levels[0]["classes"], levels[0]["smallest_class"], levels[-1]["classes"]) == (30, 4, 1)


GERMAN = "day;age\n31.12.2024;23\n01.02.2023;31\n05.02.2023;35\n"


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ((), "--type date --format %d.%m.%Y, or --kind prefixes"),
        (("--type", "date"), "say how they are written: --format %d.%m.%Y"),
        (("--kind", "calendar"), "say how they are written: --format %d.%m.%Y"),
    ],
)
def test_a_hierarchy_of_dates_asks_how_they_are_written(folder, words, remedy):
    (folder / "days.csv").write_text(GERMAN)
    command = ("hierarchy", "build", "days.csv", "-c", "day", "-o", "days_h.csv")
    code, _, err = run(*command, *words, cwd=folder)
    assert (code, remedy in err, (folder / "days_h.csv").exists()) == (2, True, False)
    assert run(*command, "--type", "date", "--format", "%d.%m.%Y", cwd=folder)[0] == 0
    rows = (folder / "days_h.csv").read_text().splitlines()
    assert "31.12.2024;2024-12;2024-Q4;2024;2020s;*" in rows


def test_one_option_may_list_the_types_of_several_columns(folder):
    (folder / "days.csv").write_text(GERMAN)
    words = ("audit", "days.csv", "--qi", "day,age", "--type")
    assert run(*words, "day=date:%d.%m.%Y,age=integer", cwd=folder)[0] == 0
    code, _, err = run(*words, "day=date:%d.%m.%Y,age=whole", cwd=folder)
    assert (code, "whole" in err) == (2, True)


@pytest.mark.slow
def test_policy_commands(folder):
    code, out, _ = run("policy", "draft", "table.csv", "-o", "draft.toml", cwd=folder)
    assert code == 0
    assert "policy check" in out
    assert run("policy", "check", "draft.toml", cwd=folder)[0] == 0
    code, out, _ = run("policy", "schema", cwd=folder)
    assert (code, json.loads(out)["type"]) == (0, "object")


@pytest.mark.slow
def test_interruption_leaves_nothing(folder):
    rows = "".join(f"{20 + i % 70};{i % 977};{'xyz'[i % 3]}\n" for i in range(400_000))
    (folder / "table.csv").write_text("age;ward;ill\n" + rows)
    process = subprocess.Popen(
        [sys.executable, "-m", "indistinct", "anonymize", "table.csv", "-p", "policy.toml",
         "-o", "out.csv", "--json"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(0.9)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode in (0, 130, -signal.SIGINT)
    if process.returncode == 0:  # a fast machine was done before: then everything is there
        assert json.loads(out)["rows"] == 400_000
        assert (folder / "out.csv").is_file()
        return
    if process.returncode == 130:
        assert json.loads(out)["error"]["kind"] == "cancelled"
    assert only_inputs(folder)
