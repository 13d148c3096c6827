"""What would stop downcoding of a column, given how it is published now: never a setting that is in use already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.hierarchies.ranges import DEFAULT_BOUNDS

if TYPE_CHECKING:
    from indistinct.attacks.context import AttackContext

FIXED = "fixed intervals"


def of_ranges(context: AttackContext, name: str, grid: int) -> tuple[str, ...]:
    """What takes the ends of a column's ranges away from its members, where they lie on a ``grid`` of whole steps."""
    attribute = context.policy.attributes.get(name)
    spec = (attribute.spec if attribute is not None else None) or {"kind": "range"}
    if spec["kind"] == "intervals":
        return ("wider intervals",)
    if spec["kind"] != "range":
        return (f"coarser levels of {name}",)
    default = "members" if attribute is None else DEFAULT_BOUNDS.get(attribute.type, "members")
    if (spec.get("bounds") or default) == "snapped" or grid > 1:
        return (f"a step of {name} above {grid}", FIXED)
    return (f'bounds = "snapped" of {name}', FIXED)


def of_labels(context: AttackContext, name: str, *, sets: bool, nodes: bool) -> tuple[str, ...]:
    """What hides whether a listed value, or a branch under a node, occurs."""
    attribute = context.policy.attributes.get(name)
    spec = (attribute.spec if attribute is not None else None) or {}
    fewer = f"a most of {name} below {spec['most']}" if "most" in spec else f"a tree in place of sets for {name}"
    return (*((fewer,) if sets else ()), *((f"a min_level of {name}",) if nodes else ()))
