"""Compiled functions: arrays in, arrays out, no Python objects.

Arrays are contiguous; codes are int32, counts int64, measures float64. Import a kernel inside the function
that calls it: importing this package imports numba, which costs half a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

from indistinct.kernels.compiled import compiled

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` on first use, keep the result on disk and release the GIL while it runs."""
    return compiled(function)


def lean(function: Callable[P, R]) -> Callable[P, R]:
    """Compile as ``kernel`` does, without counting references: for functions that allocate no arrays.

    Counting costs a searching kernel half of its time, wherever rows of arrays are handed to other functions.
    """
    return compiled(function, "lean")


def step(function: Callable[P, R]) -> Callable[P, R]:
    """Compile as ``lean`` does, for kernels only, which takes less time; a call from Python raises TypeError."""
    return compiled(function, "step")


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile as ``step`` does, into every function that calls it: for what a loop asks about every row or class.

    Left to itself the compiler stops doing so where a function grows by a branch, and searches take half as long again.
    """
    return compiled(function, "inlined")
