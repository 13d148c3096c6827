"""Compiled functions: arrays in, arrays out, no Python objects.

Arrays are contiguous; codes are int32, counts int64, measures float64. Import a kernel inside the function
that calls it: importing this package imports numba, which costs half a second.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, ParamSpec, TypeVar

# numba looks for BLAS in SciPy to speed up convolutions; no kernel has one, and importing it takes a tenth of a second
BLAS = "scipy.linalg.cython_blas"
hidden = BLAS not in sys.modules
if hidden:
    sys.modules[BLAS] = None
try:
    import numba
    import numba.np.arraymath
finally:
    if hidden:
        del sys.modules[BLAS]

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` on first use, cache the result on disk and release the GIL while it runs."""
    compiled: Callable[P, R] = numba.njit(cache=True, nogil=True)(function)
    return compiled


def lean(function: Callable[P, R]) -> Callable[P, R]:
    """Compile as ``kernel`` does, without counting references: for functions that allocate no arrays.

    Counting costs a searching kernel half of its time, wherever rows of arrays are handed to other functions.
    """
    compiled: Callable[P, R] = numba.njit(cache=True, nogil=True, _nrt=False, no_cfunc_wrapper=True)(function)
    return compiled


def step(function: Callable[P, R]) -> Callable[P, R]:
    """Compile as ``lean`` does, to be called by kernels only: that takes less time. A call from Python crashes."""
    options = {"cache": True, "nogil": True, "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiled: Callable[P, R] = numba.njit(**options)(function)
    return compiled
