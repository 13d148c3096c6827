"""Paths that stand for several files."""

from __future__ import annotations

from pathlib import Path

from indistinct.errors import DataError


def is_pattern(path: Path) -> bool:
    """Whether a path stands for several files: it has ``*``, ``?`` or ``[`` and is no file itself.

    >>> is_pattern(Path("data/2024-*.csv")), is_pattern(Path("people.csv"))
    (True, False)
    """
    return any(sign in str(path) for sign in "*?[") and not path.exists()


def matching(path: Path) -> list[Path]:
    """Return the files that a pattern names, by name; raises DataError where there is none."""
    root = Path(path.anchor) if path.anchor else Path()
    found = sorted(file for file in root.glob(str(path.relative_to(root))) if file.is_file())
    if not found:
        raise DataError(f"no file is called {path.name}; check the pattern", file=path.name)
    return found
