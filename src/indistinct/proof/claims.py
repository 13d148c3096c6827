"""Whether a published file is what the policy and its manifest say: how many rows may be missing, and every claim.

Starred rows stay a matter of reading, since a hierarchy may end in the token; missing rows cannot be explained so.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from indistinct.notices import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from indistinct.policy import Policy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.recount import Recount

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
    message = (
        f"of {total} rows {missing} are missing and {stars} hold {policy.output.suppressed_token} in every "
        f"quasi-identifier; the policy lets {allowed} rows go"
    )
    return figures, [], [Notice("suppression", None, message)]


def false_claims(
    manifest: Mapping[str, Any] | None,
    policy: Policy,
    models: Sequence[Mapping[str, Any]],
    counts: Mapping[str, tuple[int, int]],
    sizes: Sequence[int],
) -> list[str]:
    """Name what a manifest says and is not so; of what it does not say, nothing is said.

    ``models`` are the entries as judged on the file, ``counts`` the least and the largest true number under each key,
    ``sizes`` those of the published classes. A manifest of before holds the hash of the whole policy and figures of the
    search; a newer one the fingerprint of the public form and figures of the file, which are compared.
    """
    if manifest is None:
        return []
    found = []
    if "policy_sha256" in manifest and manifest["policy_sha256"] not in (policy.fingerprint(), policy.hash()):
        found.append("the manifest is of another policy")
    for key, (least, most) in counts.items():
        claimed = manifest.get(key)
        if claimed is not None and not (_is_number(claimed) and least <= claimed <= most):
            true = str(least) if least == most else f"{least} to {most}"
            found.append(f"the manifest says {key} = {claimed!r}; true is {true}")
    if "proven_optimal" not in manifest:
        if manifest.get("classes", len(sizes)) != len(sizes):
            found.append(f"the manifest says classes = {manifest['classes']!r}; true is {len(sizes)}")
        found += _false_losses(manifest, sizes)
    return [*found, *_false_models(manifest.get("models"), models, by_rows=policy.person is None)]


def published_sizes(found: Recount, quasi: Sequence[str], policy: Policy) -> list[int]:
    """Sizes in rows of the classes of equal published quasi-identifiers; exempt rows of tokens are no class."""
    columns = [found.column(name) for name in quasi if name in found.columns]
    sizes: Counter[tuple[str | None, ...]] = Counter()
    for position, number in enumerate(found.rows.tolist()):
        sizes[tuple(texts[codes[position]] for texts, codes in columns)] += number
    if policy.suppression.rows == "exempt":
        sizes.pop((policy.output.suppressed_token,) * len(columns), None)
    return list(sizes.values())


def size_losses(sizes: Sequence[int], suppressed: int) -> dict[str, float]:
    """Return the losses that are functions of the sizes of the published classes and of the suppressed rows.

    >>> size_losses([2, 3], 1)
    {'average_class_size': 2.5, 'discernibility': 19, 'discernibility_star': 14}
    """
    rows, squares = sum(sizes), sum(size * size for size in sizes)
    return {
        "average_class_size": rows / max(len(sizes), 1),
        "discernibility": squares + suppressed * (rows + suppressed),
        "discernibility_star": squares + suppressed**2,
    }


def _false_losses(manifest: Mapping[str, Any], sizes: Sequence[int]) -> list[str]:
    """Name the losses of a manifest that are not those of the published classes."""
    claimed = manifest.get("loss")
    suppressed: Any = manifest.get("suppressed_rows")
    if claimed is None or not _is_number(suppressed):
        return []
    if not isinstance(claimed, dict):
        return [f"the manifest says loss = {claimed!r}; it should be a table of figures"]
    return [
        f"the manifest says loss.{name} = {claimed[name]!r}; true is {true:g}"
        for name, true in size_losses(sizes, suppressed).items()
        if name in claimed and claimed[name] != true
    ]


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
