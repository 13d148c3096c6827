"""The answer of append as short readable text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.plain import for_people
from indistinct.sentences.results import counted

if TYPE_CHECKING:
    from collections.abc import Mapping


@for_people
def append_text(document: Mapping[str, Any]) -> str:
    """Write where the new rows went, and what the difference of the two releases shows."""
    where = (
        f"{counted(document['placed_rows'], 'rows')} placed: in {counted(document['joined_classes'], 'class')} of the "
        f"earlier release and {counted(document['new_classes'], 'class')} of their own; "
        f"{counted(document['retained_rows'], 'rows')} kept back"
    )
    lines = [
        where,
        f"{counted(document['published_rows'], 'rows')} published in {counted(document['classes'], 'class')}",
    ]
    if document["left_out_rows"]:
        lines.append(f"{counted(document['left_out_rows'], 'rows')} left out for a missing sensitive value")
    lines.append("who has both releases sees which rows are new; those of each class satisfy the policy by themselves")
    return "\n".join(lines)
