"""Where compiled functions are kept: a folder that can be written, and what is said where there is none.

The code is kept beside the sources, else in the user's folder of caches: what numba does by itself, or in the folder
that the variable ``NUMBA_CACHE_DIR`` names. Where neither can be written, a folder of the user's own in the temporary
folder takes it, and where that fails too, nothing is kept: every run then compiles what it needs. A full disk is no
reason to stop either. Each of these is said once, as a warning.
"""

from __future__ import annotations

import os
import stat
import tempfile
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numba

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

REMEDY = "set NUMBA_CACHE_DIR to a folder of yours that can be written"


@cache  # each sentence once
def say(sentence: str) -> None:
    """Warn of what makes every run compile."""
    warnings.warn(sentence, RuntimeWarning, stacklevel=2)


@cache
def own_folder() -> Path | None:
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


def cached_somewhere(keep: Callable[[], T]) -> T | None:
    """Call ``keep``, which asks numba for a cache of a function, with the first folder that it can write; else None."""
    with suppress(RuntimeError):  # numba found no folder that it can write
        return keep()
    folder = own_folder()
    with suppress(RuntimeError):
        if folder is not None:
            numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
            made = keep()
            where = f"compiled functions are kept in {folder}"
            say(f"the installation and the folder of caches cannot be written: {where}; {REMEDY}")
            return made
    say(f"compiled functions can be kept nowhere, so every run compiles for up to a minute; {REMEDY}")
    return None
