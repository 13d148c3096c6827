"""What ``explain`` says of a release in groups: why groups are as they are, and which value stands in the way.

The sentences count rows and never show a sensitive value.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.algorithms import algorithm_of
from indistinct.decision.decide import grouped_attribute
from indistinct.policy import DistinctL
from indistinct.sentences.results import counted
from indistinct.tables.classes import groups_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from indistinct.policy import Policy
    from indistinct.tables.records import Assignment, Frequencies

    Say = Callable[[str, str], None]


def most_frequent(frequencies: Frequencies, policy: Policy, say: Say) -> dict[str, Any]:
    """Count the rows of the most frequent sensitive value: no two of them may share a group whose values differ."""
    attribute = grouped_attribute(policy)
    most, total = int(frequencies.references[attribute].counts.max()), frequencies.total
    text = (
        f'the most frequent value of "{attribute}" has {counted(most, "rows")} of {total} '
        f"({100 * most / total:.1f} %): it needs {counted(most, 'group')} if none shall hold it twice"
    )
    if any(isinstance(model, DistinctL) for model in policy.privacy):
        text += f", so no l above {total // most} can be had"
    say("what blocks", text)
    return {"column": attribute, "rows": most, "largest_l": total // most}


def sizes(frequencies: Frequencies, assignment: Assignment, policy: Policy, mean: Fraction, say: Say) -> dict[str, Any]:
    """Sizes of the groups and how many different values they have; ``mean`` is the LM."""
    attribute = grouped_attribute(policy)
    groups = groups_of(frequencies, assignment)
    distinct = np.diff(groups.histograms[attribute].start)
    gone = Fraction(frequencies.total - int(groups.rows.sum()), frequencies.total)  # a suppressed row costs 1
    how = "generalized as each class needs" if mean > gone else "exact"
    say(
        "groups",
        f"{int(groups.rows.sum())} rows stand in {counted(len(groups), 'group')} of {_span(groups.rows)} rows with "
        f'{_span(distinct)} different values of "{attribute}"; quasi-identifiers are {how}, and which value of a group '
        "belongs to which of its rows is not told",
    )
    low, high = int(groups.rows.min()), int(groups.rows.max())
    many = counted(int((groups.rows == high).sum()), "group")
    text = f"all groups have {high} rows"
    if low < high:
        text = f"the most rows, {high}, are in {many}"
        if algorithm_of(policy).deals:
            text += ": rows that were left when no further group could be formed joined groups that could take them"
    say("groups", text)
    return {
        "groups": len(groups),
        "rows": {"least": low, "most": high},
        "values": {"least": int(distinct.min()), "most": int(distinct.max())},
    }


def left_over(rows: int, assignment: Assignment, say: Say) -> None:
    """Say how many rows are suppressed, and what the algorithm says about them."""
    many = f"{counted(rows, 'rows')} {'is' if rows == 1 else 'are'} suppressed: no group could take them"
    say("suppressed rows", many if rows else "no row is suppressed")
    for note in assignment.notes if rows else ():
        say("suppressed rows", note)


def _span(numbers: np.ndarray[Any, Any]) -> str:
    low, high = int(numbers.min()), int(numbers.max())
    return str(low) if low == high else f"{low} to {high}"
