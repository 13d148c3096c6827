"""What a command loads: each library or room that a run does not need is a wait that everybody pays."""

import subprocess
import sys

import pytest

RUN = """
import sys
from indistinct.cli.app import run
names = {*sys.argv.pop().split()}
code = run(sys.argv[1:])
print(sorted(names & {*sys.modules}))
sys.exit(code)
"""
NEVER = "pandas polars narwhals sqlalchemy scipy.sparse scipy.stats jinja2"
POLICY = """
version = 1

[attributes.age]
role = "quasi_identifying"
type = "integer"
hierarchy = { kind = "range", bounds = "members" }

[attributes.born]
role = "quasi_identifying"
type = "date"
hierarchy = { kind = "range" }

[attributes.work]
role = "quasi_identifying"
hierarchy = { kind = "set" }

[attributes.illness]
role = "sensitive"

[[privacy]]
model = "k_anonymity"
k = 2
"""
TABLE = "age,born,work,illness\n" + "".join(
    f"{20 + place},19{60 + place}-01-01,{'abc'[place % 3]},{'xy'[place % 2]}\n" for place in range(12)
)


def loaded(folder, names, *words):
    """Which of the modules a process has loaded that ran a command."""
    call = [sys.executable, "-c", RUN, *words, names]
    done = subprocess.run(call, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("start")
    (folder / "table.csv").write_text(TABLE, encoding="utf-8")
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_anonymize_loads_no_library_that_it_does_not_need(folder):
    rooms = f"{NEVER} indistinct.attacks.registry indistinct.reports.dataset indistinct.studio"
    words = ("anonymize", "table.csv", "--policy", "policy.toml", "--output", "out.csv", "--quiet")
    assert loaded(folder, rooms, *words) == "[]"


@pytest.mark.slow
def test_audit_loads_no_library_that_it_does_not_need(folder):
    assert loaded(folder, f"{NEVER} duckdb", "audit", "table.csv", "--qi", "age,work") == "[]"


@pytest.mark.slow
def test_help_loads_nothing_that_counts(folder):
    assert loaded(folder, f"{NEVER} duckdb numba numpy pyarrow pydantic", "--help") == "[]"
