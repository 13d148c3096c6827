"""What kernels take of numba beyond what it promises to keep: the one file that a new numba may break.

- ``CPUDispatcher`` and ``FunctionCache``, so that a folder or a disk that refuses stops nobody;
- ``_nrt=False``, no counting of references: half of the time of a search that hands rows of arrays to its steps;
- functions without entries for Python and C, which compile in less time.

``accepted`` asks numba for all of them; where one is missing, ``compiled`` takes none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from numba.core.caching import FunctionCache
from numba.core.compiler import Flags
from numba.core.cpu import CPUTargetOptions
from numba.core.registry import CPUDispatcher

from indistinct.kernels.folders import REMEDY, cached_somewhere, say

if TYPE_CHECKING:
    from collections.abc import Mapping

_LEAN = {"_nrt": False, "no_cfunc_wrapper": True}
_STEP = {**_LEAN, "no_cpython_wrapper": True}
# by the forms of ``indistinct.kernels``
OPTIONS: dict[str, dict[str, bool]] = {
    "kernel": {},
    "lean": _LEAN,
    "step": _STEP,
    "inlined": {**_STEP, "forceinline": True},
}


class Cache(FunctionCache):
    """The compiled forms of one function on disk; what cannot be read or written is compiled again."""

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Read one form, or None."""
        try:
            return super().load_overload(signature, target)  # type: ignore[no-untyped-call]
        except OSError:
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Write one form where that is possible."""
        try:
            super().save_overload(signature, result)  # type: ignore[no-untyped-call]
        except OSError as error:
            say(f"compiled functions cannot be kept in {self.cache_path} ({error.strerror}); {REMEDY}")


class Dispatcher(CPUDispatcher):
    """A compiled function whose results are kept where that is possible."""

    def enable_caching(self) -> None:
        """Choose the folder; without any the function is compiled in every run."""
        cache = cached_somewhere(lambda: Cache(self.py_func))  # type: ignore[no-untyped-call]
        if cache is not None:
            self._cache = cache


class Inner(Dispatcher):
    """A compiled function that only compiled functions call: it has no entry for Python.

    numba would jump to the entry all the same, at address 0, which ends the interpreter.
    """

    def __call__(self, *_arguments: Any, **_named: Any) -> NoReturn:
        """Raise TypeError: there is nothing that Python could call."""
        name = self.py_func.__name__
        raise TypeError(
            f"{name} is a step of a kernel and is called by compiled code only; .py_func is its Python form"
        )


def accepted(options: Mapping[str, bool] = OPTIONS["inlined"]) -> bool:
    """Whether this numba takes the options and makes functions as the classes above expect them.

    numba itself would say it at the first call of each function, in the middle of a run.
    """
    flags: Any = Flags()  # type: ignore[no-untyped-call]
    try:
        CPUTargetOptions.parse_as_flags(flags, dict(options))  # type: ignore[no-untyped-call]
        made: Any = CPUDispatcher(accepted)
    except (KeyError, TypeError):
        return False
    return type(made) is CPUDispatcher and hasattr(made, "_cache") and hasattr(made, "py_func") and not flags.nrt
