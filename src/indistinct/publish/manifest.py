"""The public document beside a published file: what was promised, what was verified, and the hash of each output.

It holds nothing from which a suppressed or unpublished value could be worked out: no hash or path of the input, no
timings, no distribution of the original. It is written last; a file without a valid manifest is not a release.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from indistinct.formats.digest import sha256
from indistinct.models import MODELS
from indistinct.outputs import Output, stage_bytes
from indistinct.proof.manifest import SUFFIX, manifest_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from indistinct.outputs import Staged

# what depends on the time, on the search or on rows that are not in the file
UNPUBLISHED = ("proven_optimal", "suppressed_because", "levels")
INTERNAL = (
    "phases",
    "seconds",
    "transforms",
    "report",
    "public_report",
    "dictionary",
    "warnings",
    "ledger",
    "person_shares",
)
# under a model of scope mechanism the number of rows that were dropped is itself protected
SECRET = ("rows", "persons", "suppressed_rows", "left_out_rows", "loss")


def stage_manifest(
    document: Mapping[str, Any], outputs: Sequence[Staged], fingerprint: str, place: Path | None = None
) -> Staged:
    """Write the manifest of staged files to a hidden file beside the first (or beside ``place``).

    ``document`` is the internal answer of ``anonymize`` with the hashes of the files; what is internal is left out.

    Raises DataError when the file system refuses; then nothing is left.
    """
    path = manifest_path(outputs[0].target if place is None else place)
    secret = SECRET if any(MODELS[entry["model"]].scope == "mechanism" for entry in document["models"]) else ()
    public = {key: value for key, value in document.items() if key not in (*INTERNAL, *UNPUBLISHED, *secret)}
    public["outputs"] = [output.target.name for output in outputs]
    public["manifest"] = path.name
    public["policy_sha256"] = fingerprint
    public["versions"] = {name: version(name) for name in ("indistinct", "numpy", "pyarrow", "duckdb")}
    text = json.dumps(public, indent=2, ensure_ascii=False) + "\n"
    return stage_bytes(Output(path, "manifest"), text.encode())


def hashes(outputs: Sequence[Staged]) -> dict[str, str]:
    """Return the SHA-256 of each staged file under the name that it will have."""
    return {output.target.name: sha256(output.path) for output in outputs}


def earlier_releases(output: Path) -> int:
    """Count the other releases in the folder of an output."""
    own = manifest_path(output).name
    return sum(path.name != own for path in output.parent.glob(f"*{SUFFIX}"))
