"""Whether the cells of a table can be read as its policy says: as values, or as labels that a release put there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.algorithms import declared
from indistinct.errors import DataError, HierarchyError
from indistinct.hierarchies import build_hierarchy
from indistinct.hierarchies.labels import Interval, parse
from indistinct.hierarchies.suppression import ROOT
from indistinct.hierarchies.taxonomy import read_taxonomy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indistinct.policy import Policy


def require_readable(policy: Policy, name: str, texts: Sequence[str | None], reading: Mapping[str, Any]) -> None:
    """Refuse the cells of a quasi-identifier that ``anonymize`` refuses, unless they are labels of a release.

    An audit judges a table as it stands, and a published one holds labels: they are left aside, and what remains must
    be values of the declared type that the hierarchy has. Where a release publishes means or modes nothing is refused.

    Raises DataError and HierarchyError as reading the column for a release does.
    """
    attribute = policy.attributes[name]
    if name in policy.item_columns or declared(policy) == "perturbing":
        return
    settings: dict[str, Any] = {"spec": attribute.spec, "domain": attribute.ends, "base": policy.base, **reading}
    try:
        build_hierarchy(name, texts, **settings)
    except (DataError, HierarchyError):
        names = _names(policy, name)
        values = [
            text for text in texts if text is None or not (text in names or _is_label(text, policy, name, reading))
        ]
        if len(values) == len(texts):
            raise
        build_hierarchy(name, values, **settings)


def _names(policy: Policy, name: str) -> set[str]:
    """Labels that are names: the token, the root, the nodes of a hierarchy file above its leaves."""
    spec = policy.attributes[name].spec or {}
    rows = read_taxonomy(policy.locate(spec["file"])) if "file" in spec else ()
    return {policy.output.suppressed_token, ROOT, *(label for row in rows for label in row[1:])}


def _is_label(text: str, policy: Policy, name: str, reading: Mapping[str, Any]) -> bool:
    """Whether a text describes a set of values; a lone number is a value, whatever its type."""
    spec = policy.attributes[name].spec or {}
    if "file" in spec and not (text.startswith("{") and text.endswith("}")):
        return False
    found = parse(text, character=spec.get("character") or "*", **reading)
    return found is not None and not (isinstance(found, Interval) and found.low == found.high)
