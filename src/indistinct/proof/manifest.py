"""The public document beside a published file, as a reader finds it; ``publish.manifest`` writes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from indistinct.formats.digest import sha256
from indistinct.notices import Notice, Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence
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
        found = json.loads(manifest_path(output).read_text(encoding="utf-8"), object_pairs_hook=_once)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def manifest_notices(outputs: Sequence[Path], place: Path) -> list[Notice]:
    """Say that a manifest stands beside files, but says nothing that could be compared of them, or of one."""
    manifest, own = read_manifest(place), manifest_path(place)
    if manifest is None:
        message = Sentence("{file} is no readable manifest: nothing was compared with it", file=own.name)
        return [Notice("manifest", None, message)] if own.exists() else []
    hashes = manifest.get("sha256")
    others = [output.name for output in outputs if not isinstance(hashes, dict) or output.name not in hashes]
    message = Sentence(
        "{file} has no hash of {name}, so that one was not compared: it is the manifest of another file, or one was "
        "renamed",
        file=own.name,
        name=", ".join(others),
    )
    return [Notice("manifest", None, message)] if others else []


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that stands twice: of what readers find there, one would be compared and another believed."""
    found = dict(pairs)
    if len(found) < len(pairs):
        message = "a key stands twice"
        raise ValueError(message)
    return found
