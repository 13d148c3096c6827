"""Writing small text files (policies, hierarchies) whole or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indistinct.errors import DataError, PolicyError

if TYPE_CHECKING:
    from pathlib import Path


def check_text_output(path: Path, *, force: bool, source: object = None) -> None:
    """Refuse a text output that exists (unless ``force``), is a folder, or stands in a folder that does not exist.

    ``source`` is the table that is read: it is never overwritten, even with ``force``.
    """
    if path.is_dir():
        raise PolicyError(f"the output {path.name} is a directory; name a file in it", file=path.name)
    if source is not None and path.exists():
        from indistinct.tables.write import is_source

        if is_source(path, source):
            raise PolicyError(f"the output {path.name} is the source; a source is never overwritten, name another file")
    if path.exists() and not force:
        raise PolicyError(f"the output {path.name} exists; name another file or use --force", file=path.name)
    if not path.parent.is_dir():
        raise DataError(f"the directory of {path.name} does not exist; make it first", file=path.name)


def write_text(path: Path, text: str, *, force: bool = False) -> None:
    """Write a text beside its place and rename it, so that a failure leaves nothing behind."""
    check_text_output(path, force=force)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise DataError(f"{path.name} cannot be written: {error.strerror}", file=path.name) from error
    finally:
        beside.unlink(missing_ok=True)
