"""The record beside a transformed table, and what it means for the release that is made of that table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from indistinct.errors import PolicyError
from indistinct.notices import Notice
from indistinct.releases.manifest import sha256
from indistinct.tables.source import path_of

if TYPE_CHECKING:
    from pathlib import Path

    from indistinct.policy import Policy

SUFFIX = ".transform.json"


def record_path(output: Path) -> Path:
    """Return the place of the record of a transformed file."""
    return output.with_name(output.name + SUFFIX)


def asked(policy: Policy) -> list[dict[str, Any]]:
    """Return the transforms of a policy as they stand in a record."""
    found: list[dict[str, Any]] = json.loads(json.dumps(policy.plain().get("transforms", []), default=str))
    return found


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


def transformed_before(table: Any, policy: Policy) -> tuple[dict[str, Any], list[Notice]]:
    """Say what was done to a table before it is anonymized: entries for the document of the release, and warnings.

    Raises PolicyError for a policy whose transforms were not applied to the file, and for a table made with a seed.
    """
    record = record_of(table)
    if record is not None and record.get("seeded"):
        raise PolicyError("the table was transformed with a seed, for a test: transform it again without one")
    if policy.transforms and path_of(table) is None:
        message = "the transforms of the policy are a step of their own and are not applied here; transform the table"
        return {}, [Notice("not-applied", None, f"{message} first if that was not done")]
    if policy.transforms and (record is None or record.get("asked") != asked(policy)):
        what = "were not applied to this table" if record is None else "are others than those applied to this table"
        raise PolicyError(
            f"the transforms of the policy {what}: run indistinct transform and anonymize its output, or take "
            "[[transforms]] out of the policy",
            key="transforms",
        )
    if record is None:
        return {}, []
    methods = [entry["method"] for entry in record["transforms"]]
    found: dict[str, Any] = {"transformed": methods}
    if record["declares"] == "perturbing":
        found["declares"] = "perturbing"
    message = (
        f"the table was transformed before ({', '.join(methods)}): the release is verified against the transformed "
        "table, not against the original"
    )
    return found, [Notice("transformed", None, message)]


def qualify(document: dict[str, Any]) -> None:
    """Claim no coverage of the original in the document of a release that was made of a perturbed table."""
    if "transformed" in document and document["declares"] == "perturbing":
        proof = document["verification"]
        proof["coverage_of_transformed"], proof["coverage"] = proof["coverage"], "not proven"
