"""The value or ``*``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.errors import HierarchyError
from indistinct.hierarchies.hierarchy import Hierarchy, assemble
from indistinct.hierarchies.values import scale

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = "*"


def build(
    attribute: str,
    texts: Sequence[str | None],
    *,
    type: str = "text",
    decimal: str = ".",
    format: str | None = None,
    order: Sequence[str] | None = None,
) -> Hierarchy:
    """Build the hierarchy of height 1 whose root ``*`` costs 1 (0 where the column has one value).

    Raises HierarchyError when ``*`` is itself a value beside others, and what ``values.scale`` raises.

    >>> build("sex", ["m", "f"]).levels[1].labels
    ('*',)
    """
    found = scale(attribute, texts, type, decimal=decimal, format=format, order=order)
    refuse_root_as_value(attribute, found.texts, missing=found.missing)
    return assemble(
        attribute,
        "suppress",
        found.texts,
        missing=found.missing,
        wide=len(found.texts) > 1,
        positions=found.fractions,
        spellings=found.spellings,
    )


def refuse_root_as_value(attribute: str, texts: Sequence[str], *, missing: bool) -> None:
    """Raise HierarchyError when ``*`` would stand for itself and for everything."""
    if ROOT in texts and len(texts) + missing > 1:
        raise HierarchyError(
            f'column "{attribute}" holds the value "{ROOT}", which is also the label of everything; '
            "if it marks cells that are suppressed already, make the release from the source; if it is a real value, "
            "give the column a hierarchy file with another name for everything",
            column=attribute,
        )
