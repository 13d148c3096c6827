"""Calls from Python of what only compiled code may call."""

import os
import subprocess
import sys

import pytest

CALL_ALL = """
import importlib, pkgutil
import numpy as np
from indistinct import kernels
from indistinct.kernels.internals import Inner

found = set()
for module in pkgutil.iter_modules(kernels.__path__):
    for name, thing in vars(importlib.import_module(f"indistinct.kernels.{module.name}")).items():
        if isinstance(thing, Inner):
            found.add(thing)
            rows = np.zeros(3, np.int64)
            for arguments in ((), (1,), (rows,) * thing.py_func.__code__.co_argcount, ("text", None)):
                try:
                    thing(*arguments)
                except TypeError as error:
                    assert str(error).startswith(f"{thing.py_func.__name__} is a step of a kernel"), error
                else:
                    raise AssertionError(name)
print(len(found))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="nothing is compiled")
def test_a_step_called_from_python_raises_and_the_interpreter_goes_on():
    done = subprocess.run([sys.executable, "-c", CALL_ALL], capture_output=True, text=True, timeout=200, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) >= 40
