"""Places on a scale as people write them: numbers, days, ranks."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from indistinct.hierarchies.values import EPOCH

if TYPE_CHECKING:
    from indistinct.losses.axes import Axis


def place_text(axis: Axis, place: float) -> str:
    """Write a place of an ordered axis.

    >>> from indistinct.losses.axes import axis_of
    >>> day = axis_of("day", ["1970-01-03"], ["1970"], "date")
    >>> place_text(day, 2.0), place_text(axis_of("x", ["1.5"], [], "decimal"), 1.5)
    ('1970-01-03', '1.5')
    """
    if axis.type == "date":
        return date.fromordinal(int(place) + EPOCH).isoformat()
    if axis.type == "ordinal":
        texts = {float(at): text for at, text in zip(axis.at if axis.at is not None else (), axis.before, strict=False)}
        return str(texts.get(place, int(place)))
    return str(int(place)) if place == int(place) else f"{place:.6g}"
