"""The record beside a transformed table, and what it means for the release that is made of that table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from indistinct.errors import PolicyError
from indistinct.formats.digest import sha256
from indistinct.formats.source import path_of
from indistinct.policy.public import public_transforms

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from indistinct.policy import Policy

SUFFIX = ".transform.json"


def record_path(output: Path) -> Path:
    """Return the place of the record of a transformed file."""
    return output.with_name(output.name + SUFFIX)


def record_of(table: Any) -> dict[str, Any] | None:
    """Return the record beside a file, None where there is none or the file is not the one that it describes."""
    path = path_of(table)
    if path is None or not path.is_file():
        return None
    try:
        found = json.loads(record_path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    hashes = found.get("sha256") if isinstance(found, dict) else None
    return found if isinstance(hashes, dict) and hashes.get(path.name) == sha256(path) else None


def done_before(table: Any, policy: Policy) -> dict[str, Any] | None:
    """Return the record of a file to which the transforms of the policy were applied, or that a policy without has.

    None: there is nothing beside the file, and the transforms are still to be applied. Raises PolicyError for a record
    of other transforms, or of a file that changed since.
    """
    record, path = record_of(table), path_of(table)
    if not policy.transforms:
        return record
    if record is None:
        if path is not None and record_path(path).exists():
            raise PolicyError(
                f"{path.name} is not the file that {record_path(path).name} describes any more: transform the original "
                "again, or remove the record if this is the original",
                file=path.name,
            )
        return None
    require_same_transforms(record, policy)
    return record


def require_same_transforms(record: Mapping[str, Any], policy: Policy) -> None:
    """Refuse a table to which other transforms than those of the policy were applied; raises PolicyError."""
    if record.get("asked") != public_transforms(policy):
        raise PolicyError(
            "the transforms of the policy are others than those applied to this table: anonymize the original, or take "
            "[[transforms]] out of the policy",
            key="transforms",
        )


def entries_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Say in the document of a release what was done to its table before.

    Raises PolicyError for a table that was made with a seed.
    """
    if record.get("seeded"):
        raise PolicyError("the table was transformed with a seed, for a test: transform it again without one")
    found: dict[str, Any] = {"transformed": [entry["method"] for entry in record["transforms"]]}
    if record["declares"] == "perturbing":
        found["declares"] = "perturbing"
    return found
