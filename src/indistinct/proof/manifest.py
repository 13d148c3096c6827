"""The public document beside a published file, as a reader finds it; ``publish.manifest`` writes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from indistinct.formats.digest import sha256

if TYPE_CHECKING:
    from pathlib import Path

SUFFIX = ".manifest.json"


def manifest_path(output: Path) -> Path:
    """Return the place of the manifest of a published file."""
    return output.with_name(output.name + SUFFIX)


def hash_status(output: Path, *others: Path, place: Path | None = None) -> str:
    """Compare published files with their manifest: ``match``, ``differs`` or ``absent`` (no readable manifest).

    The manifest stands beside the first file, or beside ``place``.
    """
    known = (read_manifest(output if place is None else place) or {}).get("sha256")
    files = (output, *others)
    if not isinstance(known, dict) or any(file.name not in known for file in files):
        return "absent"
    return "match" if all(known[file.name] == sha256(file) for file in files) else "differs"


def read_manifest(output: Path) -> dict[str, Any] | None:
    """Return the manifest beside a published file, or None where there is no readable one."""
    try:
        found = json.loads(manifest_path(output).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
