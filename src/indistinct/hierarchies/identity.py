"""No hierarchy: the values of an attribute in their canonical order; they are never changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.hierarchies.hierarchy import Hierarchy, assemble
from indistinct.hierarchies.values import scale

if TYPE_CHECKING:
    from collections.abc import Sequence


def build(
    attribute: str,
    texts: Sequence[str | None],
    *,
    type: str = "text",
    decimal: str = ".",
    format: str | None = None,
    order: Sequence[str] | None = None,
) -> Hierarchy:
    """Build the record of an attribute without hierarchy. Raises as ``values.scale`` does.

    >>> build("stage", ["II", "I", None], type="ordinal", order=["I", "II", "III"]).texts
    ('I', 'II', None)
    """
    found = scale(attribute, texts, type, decimal=decimal, format=format, order=order)
    return assemble(
        attribute,
        "identity",
        found.texts,
        missing=found.missing,
        add_root=False,
        positions=found.fractions,
        spellings=found.spellings,
    )
