"""Where the machine gives little: address space, and folders that can be written."""

import json
import os
import resource
import subprocess
import sys

import pytest

from cli_bench import POLICY, TABLE
from indistinct.limits import ADDRESS_SPACE

MAIN = "from indistinct.cli.app import main; main()"
PYTHON = """
import indistinct as ind, sys
try:
    ind.audit
except ind.UnsupportedError as error:
    print(error, sorted({"numpy", "pyarrow", "duckdb", "numba"} & set(sys.modules)))
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def limited(kilobytes, code, *words, cwd, hard=resource.RLIM_INFINITY):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (kilobytes * 1024, hard))

    return subprocess.run(
        [sys.executable, "-c", code, *words], preexec_fn=limit, cwd=cwd, capture_output=True, text=True, timeout=100,
        check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kilobytes", [400_000, 1_000_000, 2_000_000, ADDRESS_SPACE - 1])
@pytest.mark.parametrize(
    "words",
    [
        ("audit", "table.csv", "-p", "policy.toml"),
        ("anonymize", "table.csv", "-p", "policy.toml", "-o", "out.csv"),
        ("profile", "table.csv"),
    ],
)
def test_too_little_address_space_is_a_sentence(folder, words, kilobytes):
    done = limited(kilobytes, MAIN, *words, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: this process may use {kilobytes * 1024 / 1e9:.1f} GB of address space (ulimit -v {kilobytes}), and the"
        ' libraries of indistinct reserve about 3 GB even for a small table (ulimit -v 3000000); raise it by "ulimit -v'
        ' 3000000"\n'
    )
    assert sorted(path.name for path in folder.iterdir()) == ["policy.toml", "table.csv"]


@pytest.mark.slow
def test_a_hard_limit_names_no_remedy_that_cannot_work(folder):
    small = 1_000_000
    done = limited(small, MAIN, "audit", "table.csv", "-p", "policy.toml", "--json", cwd=folder, hard=small * 1024)
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["kind"]) == (2, "unsupported")
    assert error["message"].endswith("; whoever set it has to raise it")


def test_python_says_it_before_anything_heavy_is_loaded(folder):
    done = limited(1_000_000, PYTHON, cwd=folder)
    assert done.stdout.startswith("this process may use 1.0 GB")
    assert done.stdout.endswith("[]\n")


@pytest.mark.slow
def test_help_needs_little(folder):
    done = limited(400_000, MAIN, "audit", "--help", cwd=folder)
    assert (done.returncode, done.stdout[:23]) == (0, "Usage: indistinct audit")


@pytest.mark.slow
def test_the_stated_need_is_enough(folder):
    done = limited(ADDRESS_SPACE, MAIN, "audit", "table.csv", "-p", "policy.toml", "--json", cwd=folder)
    assert done.returncode in {0, 1}, done.stderr
    assert json.loads(done.stdout)["rows"] == 120


# --- where compiled functions are kept -----------------------------------------------------------------------

KERNEL = """
from indistinct.kernels import kernel, step

@step
def half(x):
    return x // 2

@kernel
def quarter(x):
    return half(half(x))

print(quarter(9))
"""


def kernel_run(folder, **variables):
    """Run two small kernels where numba may write to no folder but the one that the variable names."""
    (folder / "small.py").write_text(KERNEL, encoding="utf-8")
    only = {"NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator", "NUMBA_DISABLE_JIT": "0"}
    rest = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "small.py"], cwd=folder, env={**rest, **only, **variables}, capture_output=True, text=True,
        timeout=100, check=False,
    )  # fmt: skip
    remarks = [line.partition("Warning: ")[2] for line in done.stderr.splitlines() if "Warning: " in line]
    return done.returncode, done.stdout, remarks


def kept(folder):
    return sorted({path.suffix for path in folder.rglob("*.nb?")})


REMEDY = "set NUMBA_CACHE_DIR to a folder of yours that can be written"


@pytest.mark.slow
def test_the_temporary_folder_takes_what_no_other_folder_can(tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    own = temporary / f"indistinct-{os.getuid()}"
    for _ in range(2):
        code, out, remarks = kernel_run(tmp_path, TMPDIR=str(temporary))
        assert (code, out) == (0, "2\n")
        assert len(remarks) == 1
        assert remarks[0].endswith(f"cannot be written: compiled functions are kept in {own}; {REMEDY}")
    assert own.stat().st_mode & 0o777 == 0o700
    assert kept(own) == [".nbc", ".nbi"]


@pytest.mark.slow
def test_the_variable_names_the_folder(tmp_path):
    code, out, remarks = kernel_run(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "mine"), TMPDIR=str(tmp_path))
    assert (code, out, remarks) == (0, "2\n", [])
    assert kept(tmp_path / "mine") == [".nbc", ".nbi"]
    assert not (tmp_path / f"indistinct-{os.getuid()}").exists()


@pytest.mark.slow
@pytest.mark.parametrize("trap", ["open to all", "a link", "a file"])
def test_a_folder_that_somebody_else_may_write_is_not_used(tmp_path, trap):
    """What lies in the folder is executed: a folder that others made, or can write, is no place for it."""
    own, other = tmp_path / f"indistinct-{os.getuid()}", tmp_path / "other"
    other.mkdir(mode=0o700)
    if trap == "open to all":
        own.mkdir()
        own.chmod(0o777)
    elif trap == "a link":
        own.symlink_to(other)
    else:
        own.write_text("", encoding="utf-8")
    code, out, remarks = kernel_run(tmp_path, TMPDIR=str(tmp_path))
    assert (code, out) == (0, "2\n")
    assert remarks == [f"compiled functions can be kept nowhere, so every run compiles for up to a minute; {REMEDY}"]
    assert kept(tmp_path) == []


@pytest.mark.slow
def test_a_full_disk_is_said_once_and_stops_nothing(tmp_path):
    (tmp_path / "small.py").write_text(KERNEL, encoding="utf-8")
    full = """
import errno, os, runpy
from numba.core.caching import IndexDataCacheFile
def save(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
IndexDataCacheFile._save_index = save
runpy.run_path("small.py")
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "mine"), "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run(
        [sys.executable, "-c", full], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "2\n")
    assert done.stderr.count("(No space left on device)") == 1


@pytest.mark.slow
def test_the_command_line_says_it_as_a_sentence(folder):
    code = """
import sys, warnings
from indistinct.cli.app import main
sys.modules["indistinct.cli.app"].application = lambda _: lambda **_: warnings.warn("as it is", stacklevel=1)
main()
"""
    for words, said in ((["audit"], "warning: as it is\n"), (["audit", "--quiet"], "")):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stderr) == (0, said)
