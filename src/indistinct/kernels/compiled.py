"""How kernels are compiled: by what numba promises, and by more of it where this numba has it (``internals``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from indistinct.loading import hidden

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")
Form = Literal["kernel", "lean", "step", "inlined"]


# numba looks for SciPy's BLAS to speed up convolutions. No kernel has one, numba offers no switch, and the search loads
# all of scipy.linalg: 0.2 of the 0.7 seconds of processor time that the import of numba takes then.
with hidden("scipy.linalg"):
    import numba
    import numba.np.arraymath

from indistinct.kernels.folders import cached_somewhere  # noqa: E402  # after numba

try:
    from indistinct.kernels import internals

    extended = internals.accepted()
except (ImportError, AttributeError):  # a numba that has moved them
    extended = False


def compiled(function: Callable[P, R], form: Form = "kernel") -> Callable[P, R]:
    """Compile ``function`` on first use and keep the result on disk.

    It stays as it is where NUMBA_DISABLE_JIT asks for that. The forms are those of ``indistinct.kernels``. They save
    time and change no result: a numba that does not know what they ask for compiles the function without.
    """
    made: Any
    if extended:
        made = numba.njit(nogil=True, **internals.OPTIONS[form])(function)
        if made is not function:
            made.__class__ = internals.Inner if form in ("step", "inlined") else internals.Dispatcher
            made.enable_caching()
    else:
        made = cached_somewhere(lambda: numba.njit(nogil=True, cache=True)(function))
        made = made or numba.njit(nogil=True)(function)
    result: Callable[P, R] = made
    return result
