"""What the public document leaves out because a suppressed or unpublished value could be worked out from it.

Loss is measured against the domain of each column. A domain that was observed in the table shrinks or grows with rows
that were suppressed, and with extreme values that ranges on a grid do not show; so the exact loss is public only where
the domain is: declared in the policy, fixed by the file of a hierarchy, or readable in the published labels. What was
reached against the distribution of the input tells of suppressed rows in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.hierarchies.ranges import DEFAULT_BOUNDS
from indistinct.policy.generalization import Range, Set, Taxonomy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indistinct.policy import Attribute
    from indistinct.releases.decision import Decision

# models that compare classes with the distribution of the whole input
AGAINST_INPUT = ("t_closeness", "n_t_closeness", "beta_likeness", "delta_disclosure")
HELD = "holds; how closely is measured against the whole input, suppressed rows included, and is not public"


def loss_is_public(decision: Decision) -> bool:
    """Whether nobody can work out an unpublished value from the exact loss."""
    whole = decision.suppressed == 0 and decision.prepared.counted.left_out == 0
    for name in (hierarchy.attribute for hierarchy in decision.frequencies.quasi):
        attribute = decision.policy.attributes.get(name)
        if attribute is not None and _has_known_domain(attribute):
            continue
        if not whole or (attribute is not None and _is_on_grid(attribute)):
            return False
    return True


def _has_known_domain(attribute: Attribute) -> bool:
    spec = attribute.hierarchy
    if isinstance(spec, Set):  # one that lists numbers does not look at ``domain``
        return spec.file is not None or spec.values is not None or attribute.order is not None
    return attribute.domain is not None or isinstance(spec, Taxonomy)


def _is_on_grid(attribute: Attribute) -> bool:
    spec = attribute.hierarchy
    return isinstance(spec, Range) and (spec.bounds or DEFAULT_BOUNDS.get(attribute.type)) != "members"


def withheld(document: Mapping[str, Any], decision: Decision) -> dict[str, Any]:
    """Replace what is not public in the internal answer of ``anonymize``."""
    public = dict(document)
    if not loss_is_public(decision):
        public["loss"] = None
    if document["suppressed_rows"] or document["left_out_rows"]:
        public["models"] = [
            {**entry, "achieved": None, "reason": HELD} if entry["model"] in AGAINST_INPUT else entry
            for entry in document["models"]
        ]
    return public
