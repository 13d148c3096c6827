"""The public document beside a published file: what was promised, what was verified, and the hash of each output.

It holds nothing from which a suppressed or unpublished value could be worked out: no hash or path of the input, no
timings, no distribution of the original. It is written last; a file without a valid manifest is not a release.
"""

from __future__ import annotations

import hashlib
import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indistinct.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

INTERNAL = ("phases", "seconds", "report", "warnings")
SUFFIX = ".manifest.json"


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal text."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def manifest_path(output: Path) -> Path:
    """Return the place of the manifest of a published file."""
    return output.with_name(output.name + SUFFIX)


def write_manifest(document: Mapping[str, Any], outputs: Sequence[Path], policy_hash: str) -> Path:
    """Write the manifest of published files atomically and return its path.

    ``document`` is the internal answer of ``anonymize``; what is internal is left out here.
    """
    public = {key: value for key, value in document.items() if key not in INTERNAL}
    public["outputs"] = [output.name for output in outputs]
    public["manifest"] = manifest_path(outputs[0]).name
    public["sha256"] = {output.name: sha256(output) for output in outputs}
    public["policy_sha256"] = policy_hash
    public["versions"] = {name: version(name) for name in ("indistinct", "numpy", "pyarrow", "duckdb")}
    path = manifest_path(outputs[0])
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_text(json.dumps(public, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise DataError(
            f'the manifest "{path.name}" cannot be written: {error.strerror}', file=path.name
        ) from error
    return path


def hash_status(output: Path) -> str:
    """Compare a published file with its manifest: ``match``, ``differs`` or ``absent`` (no readable manifest)."""
    recorded = read_manifest(output)
    if recorded is None or output.name not in recorded.get("sha256", {}):
        return "absent"
    return "match" if recorded["sha256"][output.name] == sha256(output) else "differs"


def read_manifest(output: Path) -> dict[str, Any] | None:
    """Return the manifest beside a published file, or None where there is no readable one."""
    try:
        found = json.loads(manifest_path(output).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def earlier_releases(output: Path) -> int:
    """Count the other releases in the folder of an output."""
    own = manifest_path(output).name
    return sum(path.name != own for path in output.parent.glob(f"*{SUFFIX}"))
