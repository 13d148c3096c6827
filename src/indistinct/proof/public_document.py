"""What may stand beside a published file: a function of the file, the public policy, versions and counts of rows.

Two inputs that give the same of these give the same document, byte for byte, so it tells nothing else: all figures are
read back from the published files, as anyone could. What a model reached stands only where the files tell it; never
where sizes count persons, whose key is not in the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from indistinct import transforms
from indistinct.algorithms import declared, form_of
from indistinct.hierarchies.taxonomy import read_taxonomy
from indistinct.losses import size_losses
from indistinct.losses.average_class_size import AVERAGE_CLASS_SIZE
from indistinct.models.safepub import budget
from indistinct.policy import Policy
from indistinct.policy.privacy import MInvariance, Safepub
from indistinct.policy.public import file_hash, fingerprint, public_form
from indistinct.proof.as_published import Counts, as_published
from indistinct.proof.groups import PROTECTS
from indistinct.proof.invariance import NO_CLAIM
from indistinct.proof.label_losses import label_losses

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indistinct.proof.as_published import AsPublished
    from indistinct.proof.files import Part

FORMAT = 2
HELD = "holds; how closely depends on more than the published file, and is not public"
# under a model of scope mechanism the number of rows that were dropped is itself protected
SECRET = ("rows", "suppressed_rows", "left_out_rows", "loss")
# what the files are called and hashed to, which programs wrote them, and who accepted a draft as it stood
OF_FILES = ("outputs", "manifest", "sha256", "versions", "accepted_draft")


@dataclass(frozen=True)
class PublicPolicy:
    """The public form of a policy; ``trees`` are the rows of its hierarchy files by the hash that stands in it."""

    form: Mapping[str, Any]
    trees: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)

    @property
    def policy(self) -> Policy:
        """The form as a policy; raises PolicyError where it is none."""
        return Policy(**self.form)

    @classmethod
    def of(cls, policy: Policy) -> PublicPolicy:
        """Take the public form of a policy and read its hierarchy files; raises HierarchyError where one is gone."""
        places = [
            spec["file"]
            for name, attribute in policy.attributes.items()
            if attribute.role == "quasi_identifying"
            and name not in policy.item_columns
            and "file" in (spec := attribute.spec or {})
        ]
        trees = {file_hash(policy, place): read_taxonomy(policy.locate(place)) for place in places}
        return cls(public_form(policy), trees)


def public_document(
    tables: Sequence[Part], files: Mapping[str, Any], public: PublicPolicy, counts: Counts
) -> dict[str, Any]:
    """Return the public document of a release; ``files`` has what is called ``OF_FILES``.

    Raises what reading the published files raises.
    """
    policy = public.policy
    stated = counts
    if any(isinstance(model, Safepub) for model in policy.privacy):
        stated = replace(counts, rows=0, left_out_rows=0, suppressed_rows=0)
    return document_of_file(as_published(tables, policy, stated), files, public, stated)


def document_of_file(
    found: AsPublished, files: Mapping[str, Any], public: PublicPolicy, counts: Counts
) -> dict[str, Any]:
    """Return the same of files that were read already."""
    policy = public.policy
    spending = [model for model in policy.privacy if isinstance(model, Safepub)]
    grouped = form_of(policy) != "one_table"
    adding = any(isinstance(model, MInvariance) for model in policy.privacy)
    before = _before(policy, counts.before)
    perturbing = before.get("declares") == "perturbing"
    document = {
        "format": FORMAT,
        "satisfied": True,
        "rows": counts.rows,
        "published_rows": found.rows,
        "suppressed_rows": counts.suppressed_rows,
        "suppressed": policy.suppression.rows,
        "left_out_rows": counts.left_out_rows,
        "classes": len(found.sizes),
        **({} if found.groups is None else {"groups": found.groups}),
        **({} if found.counterfeits is None else {"counterfeits": found.counterfeits}),
        "unit": "rows" if policy.person is None else "persons",
        "algorithm": policy.recoding.algorithm,
        "declares": "perturbing" if perturbing else declared(policy),
        "form": form_of(policy),
        **{key: value for key, value in before.items() if key != "declares"},
        **({} if policy.output.ranges == "label" else {"ranges": policy.output.ranges}),
        **({"protects": PROTECTS} if grouped else {}),
        **({"no_claim": NO_CLAIM} if adding else {}),
        "loss": _losses(found, public, policy, counts),
        **({"budget": budget(spending[0])} if spending else {}),
        "models": [_entry(entry, by_rows=policy.person is None) for entry in found.models],
        "verification": _verification(policy, before),
        "policy": dict(public.form),
        "policy_sha256": fingerprint(public.form),
        **files,
    }
    secret = SECRET if spending else ()
    return {key: value for key, value in document.items() if key not in secret}


def _before(policy: Policy, stated: Mapping[str, Any]) -> dict[str, Any]:
    """Say what was done to the table before: as the policy asks, else as the record of the table told."""
    said = stated.get("transformed")
    methods = [str(one.method) for one in policy.transforms]
    methods = methods or ([str(one) for one in said] if isinstance(said, list) else [])
    if not methods:
        return {}
    words = [stated.get("declares"), declared(policy), *(transforms.DECLARES.get(method) for method in methods)]
    return {"transformed": methods, "declares": "perturbing" if "perturbing" in words else declared(policy)}


def _entry(entry: Mapping[str, Any], *, by_rows: bool) -> dict[str, Any]:
    """Return the entry of a model that holds: no release gets out of which one does not."""
    held = {"satisfied": True, "violating_classes": 0, "violating_rows": 0}
    # what does not hold here holds by another reading, such as that of the whole input
    if by_rows and entry["satisfied"]:
        return {**entry, **held}
    return {**entry, **held, "achieved": None, "reason": HELD}


def _verification(policy: Policy, before: Mapping[str, Any]) -> dict[str, Any]:
    adding = any(isinstance(model, MInvariance) for model in policy.privacy)
    perturbing = declared(policy) == "perturbing"
    found: dict[str, Any] = {"rows_match": True, "coverage": "not proven" if adding or perturbing else "proven"}
    if perturbing:
        found["aggregates_match"] = True
    if adding:
        found["reason"] = NO_CLAIM
    if before.get("declares") == "perturbing":
        found["coverage_of_transformed"], found["coverage"] = found["coverage"], "not proven"
    return found


def _losses(found: AsPublished, public: PublicPolicy, policy: Policy, counts: Counts) -> dict[str, Any]:
    sizes = [int(size) for size in found.sizes.tolist()]
    losses: dict[str, Any] = dict(size_losses(sizes, counts.suppressed_rows))
    largest_k = max((model.k for model in policy.privacy if hasattr(model, "k")), default=None)
    if largest_k is not None:
        losses["normalised_class_size"] = {"k": largest_k, "value": losses[AVERAGE_CLASS_SIZE.name] / largest_k}
    gone = max(0, counts.rows - counts.left_out_rows - found.rows)
    return losses | label_losses(found.labels, policy, public.trees, gone=gone, whole=counts.whole)
