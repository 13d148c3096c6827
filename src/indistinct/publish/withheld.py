"""What the public document leaves out because a suppressed or unpublished value could be worked out from it.

Every public figure is a function of the published file, the public form of the policy and the counts of rows. What a
model reached is public only where its record says that it looks at the published classes, or at an input of which no
row is gone; with a person key never, for the key is not in the file. Of the losses those stay that sizes of published
classes tell; those that are measured against the domain of each column only where every domain is public.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.hierarchies.ranges import DEFAULT_BOUNDS
from indistinct.losses import of_domains, size_losses
from indistinct.losses.average_class_size import of_sizes
from indistinct.models.registry import MODELS
from indistinct.policy.generalization import Range, Taxonomy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from indistinct.decision.decide import Decision
    from indistinct.policy import Attribute

HELD = "holds; how closely depends on more than the published file, and is not public"
OF_PERSONS = ("persons", "persons_in_several_classes")


def loss_is_public(decision: Decision) -> bool:
    """Whether the domain of every quasi-identifier is public, or stands in the file, so that its loss tells nothing."""
    whole = _is_whole(decision)
    return all(
        _has_public_loss(decision.policy.attributes.get(hierarchy.attribute), whole=whole)
        for hierarchy in decision.frequencies.quasi
    )


def _has_public_loss(attribute: Attribute | None, *, whole: bool) -> bool:
    if attribute is None or attribute.hierarchy is None:
        return whole  # published as it is
    if isinstance(attribute.hierarchy, Taxonomy):
        return True  # the file is public: its hash is
    if attribute.public_domain and (attribute.domain is not None or attribute.order is not None):
        return True
    return whole and attribute.domain is None and _has_ends_of_members(attribute)


def _has_ends_of_members(attribute: Attribute) -> bool:
    spec = attribute.hierarchy
    return isinstance(spec, Range) and (spec.bounds or DEFAULT_BOUNDS.get(attribute.type)) == "members"


def _is_whole(decision: Decision) -> bool:
    return decision.suppressed == 0 and decision.prepared.counted.left_out == 0


def class_sizes(decision: Decision) -> NDArray[np.int64]:
    """Sizes in rows of the classes of equal published quasi-identifiers, as anyone can count them in the file.

    Rows with the token in every quasi-identifier are no class where the policy exempts them.
    """
    published, policy = decision.published, decision.policy
    quasi = [hierarchy.attribute for hierarchy in decision.frequencies.quasi]
    columns_of = [column for column in published.columns if column.name in quasi]
    codes = np.column_stack([column.codes for column in columns_of])
    if policy.suppression.rows == "exempt":
        token = policy.output.suppressed_token
        stars = [np.array([text == token for text in (*c.values.to_pylist(), None)], np.bool_) for c in columns_of]
        kept = ~np.logical_and.reduce([star[c.codes] for star, c in zip(stars, columns_of, strict=True)])
        codes, repeat = codes[kept], published.repeat[kept]
    else:
        repeat = published.repeat
    number = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)
    return np.bincount(number, repeat).astype(np.int64)


def withheld(document: Mapping[str, Any], decision: Decision) -> dict[str, Any]:
    """Replace what is not public in the internal answer of ``anonymize``."""
    policy, public = decision.policy, dict(document)
    if policy.person is not None:
        public = {key: value for key, value in public.items() if key not in OF_PERSONS}
    sizes = class_sizes(decision)
    public["classes"] = len(sizes)
    public["loss"] = _public_loss(document["loss"], sizes.tolist(), decision)
    public["models"] = [_public_entry(entry, decision) for entry in document["models"]]
    return public


def _public_loss(loss: Mapping[str, Any], sizes: list[int], decision: Decision) -> dict[str, Any]:
    found: dict[str, Any] = dict(size_losses(sizes, decision.suppressed))
    if "normalised_class_size" in loss:
        k = loss["normalised_class_size"]["k"]
        found["normalised_class_size"] = {"k": k, "value": of_sizes(sizes) / k}
    if loss_is_public(decision):
        found |= {name: loss[name] for name in of_domains()}
    return found


def _public_entry(entry: Mapping[str, Any], decision: Decision) -> dict[str, Any]:
    looks_at = MODELS[entry["model"]].looks_at
    attribute = decision.policy.attributes.get(entry.get("attribute") or "")
    # an order or a domain that is not public decides what is reached
    hidden = attribute is not None and not attribute.public_domain and bool(attribute.order or attribute.domain)
    told = looks_at == "published" or (looks_at == "input" and _is_whole(decision) and not hidden)
    if told and decision.policy.person is None:
        return dict(entry)
    # which reading, by rows or by persons, came out worse tells of persons too
    return {**{key: value for key, value in entry.items() if key != "unit"}, "achieved": None, "reason": HELD}
