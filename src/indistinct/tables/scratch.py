"""A folder for what does not fit into memory: it may hold rows of a table, and is gone when its run is over.

A run that is killed leaves its folder without a lock; the next run that works in the same place removes it.
"""

from __future__ import annotations

import re
import secrets
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from indistinct.errors import DataError
from indistinct.outputs import claim

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NAME = re.compile(r"\.indistinct\.[0-9a-f]{16}\.scratch")
_LOCK = "lock"


@contextmanager
def scratch(place: Path) -> Iterator[Path]:
    """Make a folder of the run's own below ``place``, readable by its owner only, and remove it whatever happens.

    Raises DataError where no folder can be made.
    """
    _clear(place)
    folder = place / f".indistinct.{secrets.token_hex(8)}.scratch"
    try:
        folder.mkdir(mode=0o700)
        held = (folder / _LOCK).open("xb")
        claim(held, wait=True)
        if not (folder / _LOCK).exists():  # another run took the newborn folder for a leftover
            folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(
            f"no folder for temporary files can be made in {place.name or place}: {reason}; name another with "
            "temp_dir under [run]"
        ) from None
    try:
        with held:
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _clear(place: Path) -> None:
    """Remove the folders of runs that were killed."""
    with suppress(OSError):
        for folder in place.iterdir():
            if not _NAME.fullmatch(folder.name) or folder.is_symlink():
                continue
            with suppress(OSError), (folder / _LOCK).open("rb") as held:
                if claim(held):
                    shutil.rmtree(folder, ignore_errors=True)
