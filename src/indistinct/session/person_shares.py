"""How much of a class a sensitive value makes up when persons count: for the steward, never public.

The largest s_v says what one random row of a random person of a class shows; the largest h_v, how many persons of a
class have the same value in some row. Both are needed: with l = 2, {a: flu; b: flu, gout} has s = 3/4, and everybody
has flu.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.models.exact import largest_ratio, rational
from indistinct.models.histograms import owners
from indistinct.tables.holdings import counted_persons, weighed

if TYPE_CHECKING:
    from indistinct.tables.records import Classes


def person_shares(classes: Classes) -> list[dict[str, Any]]:
    """Report for each sensitive attribute the largest share of persons, s_v, and of persons with a value, h_v."""
    if classes.holdings is None or not len(classes):
        return []
    return [
        {
            "attribute": name,
            "largest_share": rational(_largest(weighed(classes, name), name)),
            "largest_with": rational(_largest(counted_persons(classes, name), name)),
        }
        for name in classes.sensitive
    ]


def _largest(classes: Classes, attribute: str) -> Any:
    histogram = classes.histograms[attribute]
    return largest_ratio(histogram.count, classes.rows[owners(histogram)])
