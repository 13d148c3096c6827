"""How kernels are compiled, where the result is kept, and what happens where it cannot be.

The code is kept beside the sources, else in the user's folder of caches: what numba does by itself, or in the folder
that the variable ``NUMBA_CACHE_DIR`` names. Where neither can be written, a folder of the user's own in the temporary
folder takes it, and where that fails too, nothing is kept: every run then compiles what it needs. A full disk is no
reason to stop either. Each of these is said once, as a warning.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

# numba looks for BLAS in SciPy to speed up convolutions; no kernel has one, and importing it takes a tenth of a second
BLAS = "scipy.linalg.cython_blas"
hidden = BLAS not in sys.modules
if hidden:
    sys.modules[BLAS] = None
try:
    import numba
    import numba.np.arraymath
    from numba.core.caching import FunctionCache
    from numba.core.registry import CPUDispatcher
finally:
    if hidden:
        del sys.modules[BLAS]

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

REMEDY = "set NUMBA_CACHE_DIR to a folder of yours that can be written"


@cache  # each sentence once
def _say(sentence: str) -> None:
    warnings.warn(sentence, RuntimeWarning, stacklevel=2)


@cache
def _own_folder() -> Path | None:
    """Return a folder in the temporary folder that nobody else can write, or None: what lies in it is executed."""
    try:
        path = Path(tempfile.gettempdir()) / f"indistinct-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
        tempfile.TemporaryFile(dir=path).close()
    except OSError:
        return None
    if hasattr(os, "getuid") and (
        not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077
    ):
        return None  # somebody else made it first, or a link
    return path


class Kept(FunctionCache):
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
            _say(f"compiled functions cannot be kept in {self.cache_path} ({error.strerror}); {REMEDY}")


class Dispatcher(CPUDispatcher):
    """A compiled function whose results are kept where that is possible."""

    def enable_caching(self) -> None:
        """Choose the folder; without any the function is compiled in every run."""
        with suppress(RuntimeError):  # numba found no folder that it can write
            self._cache = Kept(self.py_func)  # type: ignore[no-untyped-call]
            return
        folder = _own_folder()
        with suppress(RuntimeError):
            if folder is not None:
                numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
                self._cache = Kept(self.py_func)  # type: ignore[no-untyped-call]
                where = f"compiled functions are kept in {folder}"
                _say(f"the installation and the folder of caches cannot be written: {where}; {REMEDY}")
                return
        _say(f"compiled functions can be kept nowhere, so every run compiles for up to a minute; {REMEDY}")


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


def compiled(function: Callable[P, R], kind: type[Dispatcher], **options: bool) -> Callable[P, R]:
    """Compile ``function`` on first use; it stays as it is where NUMBA_DISABLE_JIT asks for that."""
    made: Any = numba.njit(nogil=True, **options)(function)
    if made is not function:
        made.__class__ = kind
        made.enable_caching()
    result: Callable[P, R] = made
    return result
