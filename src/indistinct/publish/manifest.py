"""The public document beside a published file: what was promised, what was verified, and the hash of each output.

It holds nothing from which a suppressed or unpublished value could be worked out: no hash or path of the input, no
timings, no distribution of the original. It is written last; a file without a valid manifest is not a release.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import TYPE_CHECKING

from indistinct.formats.digest import sha256
from indistinct.outputs import Output, stage_bytes
from indistinct.proof.files import tables_of
from indistinct.proof.manifest import SUFFIX, manifest_path
from indistinct.proof.public_document import public_document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from indistinct.outputs import Staged
    from indistinct.proof.as_published import Counts
    from indistinct.proof.files import Part
    from indistinct.proof.public_document import PublicPolicy


def stage_manifest(
    outputs: Sequence[Staged],
    public: PublicPolicy,
    counts: Counts,
    place: Path | None = None,
    *,
    accepted: str | None = None,
) -> Staged:
    """Write the manifest of staged files to a hidden file beside the first (or beside ``place``).

    It is made of nothing but the files, the public policy, the versions and the counts (``public_document``); and of
    the name of who ``accepted`` a draft as it stood.

    Raises DataError when the file system refuses; then nothing is left.
    """
    path = manifest_path(outputs[0].target if place is None else place)
    names = [output.target.name for output in outputs]
    tables = tables_of(*(output.path for output in outputs))
    return stage_manifest_of(tables, names, hashes(outputs), path, public, counts, accepted=accepted)


def stage_manifest_of(
    tables: Sequence[Part],
    names: Sequence[str],
    sha256_of: Mapping[str, str],
    path: Path,
    public: PublicPolicy,
    counts: Counts,
    *,
    accepted: str | None = None,
) -> Staged:
    """Write the manifest of a release that is called by these ``names``, wherever its ``tables`` lie, for ``path``."""
    files = {
        "outputs": list(names),
        "manifest": path.name,
        "sha256": dict(sha256_of),
        **({} if accepted is None else {"accepted_draft": accepted}),
        "versions": {name: version(name) for name in ("indistinct", "numpy", "pyarrow", "duckdb")},
    }
    text = json.dumps(public_document(tables, files, public, counts), indent=2, ensure_ascii=False) + "\n"
    return stage_bytes(Output(path, "manifest"), text.encode())


def hashes(outputs: Sequence[Staged]) -> dict[str, str]:
    """Return the SHA-256 of each staged file under the name that it will have."""
    return {output.target.name: sha256(output.path) for output in outputs}


def earlier_releases(output: Path) -> int:
    """Count the other releases in the folder of an output."""
    own = manifest_path(output).name
    return sum(path.name != own for path in output.parent.glob(f"*{SUFFIX}"))
