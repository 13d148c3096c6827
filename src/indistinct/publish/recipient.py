"""What a recipient can check: a published file against its manifest, without the original and the policy's file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.errors import DataError, PolicyError
from indistinct.formats.registry import open_source
from indistinct.formats.source import path_of
from indistinct.losses import of_domains
from indistinct.notices import Notice, Sentence
from indistinct.policy.generalization import Taxonomy
from indistinct.proof.as_published import Counts, as_published
from indistinct.proof.claims import before_of, differences
from indistinct.proof.files import tables_of
from indistinct.proof.groups import place_of_manifest
from indistinct.proof.manifest import hash_status, manifest_path, read_manifest
from indistinct.proof.public_document import FORMAT, PublicPolicy, document_of_file
from indistinct.proof.verify import Verification

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from indistinct.policy import Policy
    from indistinct.proof.as_published import AsPublished

NOT_PROVEN = "only the original shows whether the labels are true of its rows"


def verify_public(published: Any, st: Any = None) -> Verification:
    """Check a published file against the manifest beside it, as a recipient can who has nothing else.

    The hash; the models, judged on the file and the public form of the policy that the manifest holds; and every claim
    of the manifest that the file shows: rows, classes, what was reached, losses, and that no more rows are missing than
    the policy lets go. ``satisfied`` means that nothing contradicts the manifest. It is no proof that the release is
    true: whether labels cover the originals, and what compares with rows that are not published, only ``verify`` with
    the original tells; ``not_checked`` names such models. With a person key models are judged by rows: what fails so
    fails by persons too, what holds may still fail.

    A release of two tables is given as both files.

    Parameters
    ----------
    published
        The published file, beside its manifest.
    st
        The second file of a release of two tables, by group.

    Returns
    -------
    Verification
        What was found; typed fields and the document.

    Raises
    ------
    DataError
        For a table that is no file, without a manifest that holds a policy, and what reading the files raises.

    Examples
    --------
    >>> import tempfile, pathlib, pyarrow as pa
    >>> from indistinct import Policy, anonymize
    >>> policy = Policy(
    ...     attributes={"age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}}},
    ...     privacy=[{"model": "k_anonymity", "k": 2}],
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = anonymize(pa.table({"age": [20, 22, 40, 41]}), policy).write(pathlib.Path(folder) / "out.csv")
    ...     verify_public(path).satisfied
    True
    """
    tables = tables_of(published, st)
    paths = [path for part in tables if (path := path_of(part.table)) is not None]
    if not paths:
        raise DataError("a recipient's check is of files: give the path of the published file, beside its manifest")
    place = place_of_manifest(paths[0]) if len(set(paths)) == 2 else paths[0]
    manifest = read_manifest(place)
    public = _public_policy(manifest, place)
    assert manifest is not None  # noqa: S101  # it holds the policy
    policy = public.policy
    status = hash_status(*dict.fromkeys(paths), place=place)
    rows, left_out, suppressed = (_claimed(manifest, key) for key in ("rows", "left_out_rows", "suppressed_rows"))
    counts = Counts(rows, left_out, suppressed, before_of(manifest))
    found = as_published(tables, policy, counts)
    unknown = of_domains() if _has_trees(policy) and "lm" in (manifest.get("loss") or {}) else ()
    claims = [*differences(manifest, document_of_file(found, {}, public, counts), unknown=unknown)]
    missed, faults = _missing(found, policy, counts, stated="rows" in manifest)
    columns = {name for part in tables for name in open_source(part.table).columns}
    leaked = [
        name
        for name, own in policy.attributes.items()
        if own.role == "identifying" and own.action not in ("mask", "pseudonym") and name in columns
    ]
    failing = [entry for entry in found.models if entry["satisfied"] is False]
    unchecked = list(dict.fromkeys(entry["model"] for entry in found.models if entry["satisfied"] is None))
    return Verification(
        {
            "satisfied": status == "match" and not (claims or faults or leaked or failing),
            "coverage": {"status": "not proven", "violations": [], "reason": NOT_PROVEN},
            "hash": "differs" if claims else status,
            "false_claims": claims,
            "faults": faults,
            **missed,
            "leaked_columns": leaked,
            "models": found.models,
            "not_checked": unchecked,
            "rows": found.rows,
            "starred_rows": found.starred if policy.suppression.rows == "exempt" else 0,
            "original_rows": manifest.get("rows"),
            "persons": None,
            "unit": "rows",
            "classes": len(found.sizes),
            **({} if found.groups is None else {"groups": found.groups}),
            **({} if found.counterfeits is None else {"counterfeits": found.counterfeits}),
            "reference": "published",
            "warnings": [notice.document() for notice in _notices(policy, unchecked, unknown)],
        }
    )


def _public_policy(manifest: Mapping[str, Any] | None, place: Path) -> PublicPolicy:
    """Take the public form of the policy from a manifest; raises DataError where there is none."""
    name = manifest_path(place).name
    if manifest is None:
        raise DataError(
            f"there is no readable {name} beside the file, and a recipient's check is against it: ask for it, or "
            "verify with the original and the policy",
            file=name,
        )
    form = manifest.get("policy")
    if not isinstance(form, dict):
        raise DataError(
            f"{name} holds no policy (manifests do from format {FORMAT} on): verify with the original and the policy",
            file=name,
        )
    public = PublicPolicy(form)
    try:
        public.policy.require_models()
    except (PolicyError, TypeError) as error:
        raise DataError(f"the policy in {name} is none: {error}", file=name) from error
    return public


def _claimed(manifest: Mapping[str, Any], key: str) -> int:
    said = manifest.get(key)
    return said if isinstance(said, int) and not isinstance(said, bool) and said >= 0 else 0


def _has_trees(policy: Policy) -> bool:
    """Whether losses are measured against hierarchy files, of which the manifest holds the hash alone."""
    return any(
        own.role == "quasi_identifying" and isinstance(own.hierarchy, Taxonomy) for own in policy.attributes.values()
    )


def _missing(
    found: AsPublished, policy: Policy, counts: Counts, *, stated: bool
) -> tuple[dict[str, int | None], list[str]]:
    """Compare the rows of the file with the counts of its manifest, and those with the limit of the policy."""
    if not stated:  # the number of dropped rows is protected
        return {"missing_rows": None, "allowed_rows": None}, []
    total = counts.rows - counts.left_out_rows
    missing, allowed = total - found.rows + (found.counterfeits or 0), policy.suppression.allowed(total)
    faults = []
    if not max(missing, 0) <= counts.suppressed_rows <= max(missing, 0) + found.starred or missing < 0:
        faults.append(
            f"the manifest says that of {total} rows {counts.suppressed_rows} are suppressed; {missing} are missing "
            f"and {found.starred} hold {policy.output.suppressed_token} in every quasi-identifier"
        )
    if counts.suppressed_rows > allowed or missing > allowed:
        gone = max(counts.suppressed_rows, missing)
        faults.append(f"of {total} rows {gone} are missing; the policy lets {allowed} rows go")
    return {"missing_rows": missing, "allowed_rows": allowed}, faults


def _notices(policy: Policy, unchecked: list[str], unknown: Sequence[str]) -> list[Notice]:
    notices = []
    if policy.person is not None:
        message = Sentence(
            "the file does not say whose a row is: models were judged by rows, and may still fail by persons"
        )
        notices.append(Notice("persons", None, message))
    if unchecked:
        message = Sentence("not checked without the original: {what}", what=tuple(unchecked))
        notices.append(Notice("not-checked", None, message))
    if unknown:
        message = Sentence("losses are measured against hierarchy files, which are not at hand; they were not compared")
        notices.append(Notice("not-checked", None, message))
    return notices
