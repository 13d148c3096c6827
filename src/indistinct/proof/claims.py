"""Whether a published file is what the policy and its manifest say: how many rows may be missing, and every claim.

Starred rows stay a matter of reading, since a hierarchy may end in the token; missing rows cannot be explained so.
"""

from __future__ import annotations

from importlib.metadata import version
from math import isclose
from typing import TYPE_CHECKING, Any

from indistinct.errors import IndistinctError
from indistinct.notices import Notice, Sentence
from indistinct.policy.public import fingerprint
from indistinct.proof.as_published import Counts
from indistinct.proof.public_document import OF_FILES, PublicPolicy, public_document

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from indistinct.policy import Policy
    from indistinct.proof.files import Part
    from indistinct.session.prepare import Prepared

OLDER = Notice("manifest", None, Sentence("the manifest is of an older form: its losses and classes were not compared"))
# what tells the entries of one model apart
TELLING = ("model", "attribute", "attributes", "distance", "kind", "absent", "estimator")


def missing_rows(prepared: Prepared, rows: int, stars: int = 0) -> tuple[dict[str, int], list[str], list[Notice]]:
    """Count the rows that are not in the file: the figures, the fault if the policy lets fewer go, and warnings.

    Rows that the policy itself leaves out (``missing = "drop"``) are not missed. ``stars`` are rows with the token in
    every quasi-identifier: with them the limit may be passed, which is a warning.
    """
    policy, total = prepared.policy, prepared.counted.frequencies.total
    allowed, missing = policy.suppression.allowed(total), max(0, total - rows)
    figures = {"missing_rows": missing, "allowed_rows": allowed}
    if missing > allowed:
        return figures, [f"of {total} rows {missing} are missing; the policy lets {allowed} rows go"], []
    if missing + stars <= allowed:
        return figures, [], []
    message = Sentence(
        "of {rows} rows {missing} are missing and {stars} hold {token} in every quasi-identifier; the policy lets "
        "{allowed} rows go",
        rows=total,
        missing=missing,
        stars=stars,
        token=policy.output.suppressed_token,
        allowed=allowed,
    )
    return figures, [], [Notice("suppression", None, message)]


def false_claims(
    manifest: Mapping[str, Any] | None,
    policy: Policy,
    models: Sequence[Mapping[str, Any]],
    counts: Mapping[str, tuple[int, int]],
    tables: Sequence[Part],
    before: Mapping[str, Any],
) -> tuple[list[str], list[Notice]]:
    """Name what a manifest says of the files ``tables`` and is not so; of what it does not say, nothing is said.

    ``models`` are the entries as judged against the original, ``counts`` the least and the largest true number under
    each key, ``before`` what is known of transforms before the release, nothing where the manifest alone can tell. The
    public document of the same files, policy and counts is made anew, and every key of the manifest must be there and
    the same. A manifest of before, without ``format``, holds figures of the search: a notice says that its losses are
    not compared.
    """
    if manifest is None:
        return [], []
    if "format" not in manifest:
        return [*_older(manifest, policy, models, counts)], [OLDER]
    found = [*false_counts(manifest, counts)]
    failing = [_named(entry) for entry in models if not entry["satisfied"]]
    found += [f"the manifest says that {name} holds" for name in failing]
    rows, left_out, suppressed = (
        _number(manifest, key, counts) for key in ("rows", "left_out_rows", "suppressed_rows")
    )
    stated = Counts(rows, left_out, suppressed, before or before_of(manifest))
    try:
        expected = public_document(tables, {}, PublicPolicy.of(policy), stated)
    except IndistinctError as error:
        return [*found, f"what the manifest says cannot be compared with the file: {error}"], []
    return [*found, *differences(manifest, expected, [key for key in counts if key in manifest])], []


def false_counts(manifest: Mapping[str, Any], counts: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """Name the counts of a manifest that lie outside what is true."""
    for key, (least, most) in counts.items():
        claimed = manifest.get(key)
        if claimed is not None and not (_is_number(claimed) and least <= claimed <= most):
            true = str(least) if least == most else f"{least} to {most}"
            yield f"the manifest says {key} = {claimed!r}; true is {true}"


def before_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a manifest says of the transforms before the release."""
    return {key: manifest[key] for key in ("transformed", "declares") if "transformed" in manifest and key in manifest}


def differences(
    manifest: Mapping[str, Any], expected: Mapping[str, Any], known: Sequence[str] = (), unknown: Sequence[str] = ()
) -> Iterator[str]:
    """Name what a manifest says otherwise than it should, but for keys that are ``known`` to be true or ``unknown``."""
    if manifest.get("format") != expected["format"]:
        yield f"the manifest has format = {manifest.get('format')!r}; this version knows {expected['format']}"
        return
    if manifest.get("policy") != expected["policy"] or manifest.get("policy_sha256") != expected["policy_sha256"]:
        yield from _of_policy(manifest, expected)
        return
    yield from _of_files(manifest)
    ours = _made_by(manifest) == version("indistinct")
    for key in [*expected, *(key for key in manifest if key not in expected)]:
        if key in (*OF_FILES, "policy", "policy_sha256", *known, *unknown):
            continue
        if key == "loss":
            yield from _false_losses(manifest.get(key), expected[key], unknown)
        elif key == "models":
            yield from _false_entries(manifest.get(key), expected[key], prose=ours)
        elif key not in expected:
            yield f"the manifest says {key} = {manifest[key]!r}, which nothing tells"
        elif manifest.get(key) != expected[key]:
            yield f"the manifest says {key} = {manifest.get(key)!r}; true is {expected[key]!r}"


def _of_files(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Name what a manifest does not say of the files that it is of, whatever they are called by now."""
    hashes, outputs = manifest.get("sha256"), manifest.get("outputs")
    if not isinstance(hashes, dict) or not hashes:
        yield "the manifest has no hash of any file"
    elif outputs != [*hashes]:
        yield f"the manifest says outputs = {outputs!r}; its hashes are of {', '.join(hashes)}"
    if _made_by(manifest) is None:
        yield "the manifest does not say which version of indistinct made it"


def _made_by(manifest: Mapping[str, Any]) -> str | None:
    versions = manifest.get("versions")
    found = versions.get("indistinct") if isinstance(versions, dict) else None
    return found if isinstance(found, str) else None


def _of_policy(manifest: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    said, true = manifest.get("policy"), expected["policy"]
    said = said if isinstance(said, dict) else {}
    if fingerprint(said) != manifest.get("policy_sha256"):
        yield "the manifest was changed or is of another policy: its fingerprint is not that of the policy it holds"
    sections = sorted(key for key in {*said, *true} if said.get(key) != true.get(key))
    if sections:
        yield f"the manifest is of another policy: {', '.join(sections)} differ"


def _false_losses(said: Any, true: Mapping[str, Any], unknown: Sequence[str]) -> Iterator[str]:
    if not isinstance(said, dict):
        yield f"the manifest says loss = {said!r}; it should be a table of figures"
        return
    for name in dict.fromkeys([*true, *said]):
        if name not in unknown and not _close(said.get(name), true.get(name)):
            yield f"the manifest says loss.{name} = {said.get(name)!r}; true is {true.get(name)!r}"


def _false_entries(said: Any, true: Sequence[Mapping[str, Any]], *, prose: bool) -> Iterator[str]:
    """Compare the entries of models; their sentences too (``prose``) where the same version wrote both."""
    if not isinstance(said, list) or not all(isinstance(entry, dict) for entry in said):
        yield "the manifest's models are no list of entries"
        return
    if len(said) != len(true):
        names = ", ".join(_named(entry) for entry in true)
        yield f"the manifest names {len(said)} models; the policy asks for {len(true)}: {names}"
        return
    for one, entry in zip(said, true, strict=True):
        for key in dict.fromkeys([*entry, *one]):
            if (prose or key != "reason") and one.get(key) != entry.get(key):
                yield f"the manifest says of {_named(entry)}: {key} = {one.get(key)!r}; true is {entry.get(key)!r}"


def _close(one: Any, other: Any) -> bool:
    """Whether figures agree up to the rounding of doubles, which may differ between machines."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_close(one[key], other[key]) for key in one)
    if isinstance(one, int | float) and isinstance(other, int | float):
        return isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return bool(one == other)


def _number(manifest: Mapping[str, Any], key: str, counts: Mapping[str, tuple[int, int]]) -> int:
    """Return a count as the manifest says it if that may be true, else the least that may."""
    least, most = counts.get(key, (0, 0))
    said = manifest.get(key)
    return int(said) if said is not None and _is_number(said) and least <= said <= most else least


def _older(
    manifest: Mapping[str, Any],
    policy: Policy,
    models: Sequence[Mapping[str, Any]],
    counts: Mapping[str, tuple[int, int]],
) -> Iterator[str]:
    if "policy_sha256" in manifest and manifest["policy_sha256"] != policy.hash():
        yield "the manifest is of another policy"
    yield from false_counts(manifest, counts)
    yield from _false_models(manifest.get("models"), models, by_rows=policy.person is None)


def _false_models(claimed: Any, models: Sequence[Mapping[str, Any]], *, by_rows: bool) -> Iterator[str]:
    if claimed is None:
        return
    if not isinstance(claimed, list) or not all(isinstance(entry, dict) for entry in claimed):
        yield "the manifest's models are no list of entries"
        return
    left = list(claimed)
    for entry in models:
        named = _named(entry)
        alike = [one for one in left if _key(one) == _key(entry) and one.get("required") == entry["required"]]
        said = alike[0] if alike else None
        if said is None:
            yield f"the manifest does not say that {named} holds as the policy asks"
            continue
        left.remove(said)
        if said.get("satisfied") != entry["satisfied"]:
            yield f"the manifest says that {named} {'holds' if said.get('satisfied') else 'does not hold'}"
        elif by_rows and said.get("achieved") is not None and said["achieved"] != entry["achieved"]:
            yield f"the manifest says that {named} reaches {said['achieved']}; true is {entry['achieved']}"
    for one in left:
        yield f"the manifest says that {_named(one)} holds with {one.get('required')}, which the policy does not ask"


def _key(entry: Mapping[str, Any]) -> list[Any]:
    return [entry.get(name) or None for name in TELLING]


def _named(entry: Mapping[str, Any]) -> str:
    about = entry.get("attribute")
    return str(entry.get("model")) + (f" of {about}" if about else "")


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
