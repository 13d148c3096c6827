"""What kernels take of numba beyond its promises: that it is there, and that nothing but time is lost without it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import indistinct
from indistinct.kernels import internals

KERNELS = """
import numpy as np
from indistinct.kernels import kernel, lean, step

@step
def add(total, i, x):
    total[i] += x

@lean
def totals(values, total):
    for i in range(len(values)):
        add(total, 0, values[i])
        add(total, 1, values[i] * values[i])

@kernel
def both(values):
    total = np.zeros(2, np.int64)
    totals(values, total)
    return total

print(both(np.arange(5)).tolist())
"""

# what a newer numba might have done
FORGET = "delattr(next(c for c in numba.core.cpu.CPUTargetOptions.__mro__ if {0!r} in vars(c)), {0!r})"
CHANGES = {
    "nothing": "",
    "an option is gone": FORGET.format("_nrt"),
    "a wrapper option is gone": FORGET.format("no_cpython_wrapper"),
    "a class is gone": "del numba.core.caching.FunctionCache",
    "a module is gone": "sys.modules['numba.core.registry'] = None",
    "functions are made in another way": "numba.core.registry.CPUDispatcher.__init__ = lambda self: None",
}


def run(folder, script):
    """Run a script that keeps what it compiles in ``folder``."""
    (folder / "script.py").write_text(script, encoding="utf-8")
    variables = {**os.environ, "NUMBA_DISABLE_JIT": "0", "NUMBA_CACHE_DIR": str(folder / "kept")}
    command = [sys.executable, "-W", "error::RuntimeWarning", "script.py"]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=200, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_numba_accepts_what_kernels_ask_for():
    """Fails with a numba that does not; everything still works then, but searches take up to twice as long."""
    for options in internals.OPTIONS.values():
        assert internals.accepted({**internals.OPTIONS["step"], **options})
    assert not internals.accepted({"no_such_option": True})
    assert not internals.accepted({})  # references are counted


@pytest.mark.slow
@pytest.mark.parametrize("change", ["nothing", "an option is gone"])
def test_kernels_compile_without_what_numba_does_not_promise(tmp_path, change):
    report = "print(sys.modules['indistinct.kernels.compiled'].extended)\n"
    lines = run(tmp_path, f"import sys, numba, numba.core.cpu\n{CHANGES[change]}\n{KERNELS}\n{report}")
    assert lines == ["[10, 30]", str(change == "nothing")]
    assert list((tmp_path / "kept").rglob("*.nbi"))  # kept all the same


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_what_is_missing_is_noticed_before_anything_is_compiled(tmp_path, change):
    script = f"import sys, numba, numba.core.cpu\n{CHANGES[change]}\nimport indistinct.kernels\n"
    assert run(tmp_path, f"{script}print(sys.modules['indistinct.kernels.compiled'].extended)\n") == [
        str(change == "nothing")
    ]


def test_no_other_file_names_what_numba_does_not_promise():
    private = re.compile(r"numba\.core|\b_nrt\b|no_cpython_wrapper|no_cfunc_wrapper|\.py_func\b")
    sources = Path(indistinct.__path__[0]).rglob("*.py")
    naming = {path.name for path in sources if private.search(path.read_text(encoding="utf-8"))}
    assert naming == {"internals.py"}


# --- SciPy hidden while numba is imported -----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_import_of_kernels_leaves_scipy_alone_and_usable(tmp_path):
    script = """
import sys
import indistinct.kernels
print("scipy.linalg" in sys.modules, "scipy.linalg.cython_blas" in sys.modules)
import scipy.linalg.cython_blas
import numba, numpy as np
print(numba.njit(lambda a: a @ a)(np.eye(2)).tolist())  # numba finds it when it is asked for
"""
    assert run(tmp_path, script) == ["False False", "[[1.0, 0.0], [0.0, 1.0]]"]


@pytest.mark.slow
def test_what_is_imported_already_is_not_hidden(tmp_path):
    script = """
import sys
import scipy.linalg.cython_blas as blas
import indistinct.kernels
print(sys.modules["scipy.linalg.cython_blas"] is blas)
"""
    assert run(tmp_path, script) == ["True"]
