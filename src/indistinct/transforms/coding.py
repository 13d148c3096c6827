"""Top and bottom coding: values beyond a limit become the limit, or their mean.

Definition, source and worked example: docs/transforms.md.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import InfeasibleError, PolicyError
from indistinct.hierarchies.values import place
from indistinct.notices import Sentence
from indistinct.transforms.columns import Outcome, places_of, spelled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indistinct.policy.transforms import BottomCoding, TopCoding
    from indistinct.transforms.chance import Chance
    from indistinct.transforms.columns import Column

FEWEST = 3  # of two rows, each could work out the other from their mean


def top_coding(request: TopCoding, columns: Mapping[str, Column], chance: Chance) -> Outcome:  # noqa: ARG001
    """Replace every value above the limit."""
    return _coded(request, columns[request.attribute], 1)


def bottom_coding(request: BottomCoding, columns: Mapping[str, Column], chance: Chance) -> Outcome:  # noqa: ARG001
    """Replace every value below the limit."""
    return _coded(request, columns[request.attribute], -1)


def _coded(request: TopCoding | BottomCoding, column: Column, side: int) -> Outcome:
    """Replace the values on one side of the limit, 1 above and -1 below; decided in whole numbers.

    Raises PolicyError for a limit that is no value of the type, DataError for texts that are none, InfeasibleError for
    a mean of one or two rows.
    """
    at, found = places_of(column)
    settings = {key: value for key, value in column.reading.items() if key != "type"}
    limit = place(column.name, request.limit, found, "limit", **settings)
    if column.reading["type"] == "integer" and limit.denominator > 1:
        message = f'the limit of "{column.name}" must be a whole number, as the column is'
        raise PolicyError(message, key="transforms")
    places, unit, (whole,) = found.aligned(limit)
    beyond = np.array([side * (int(position) - whole) > 0 for position in places.tolist()], np.bool_)
    outside = np.append(beyond, np.False_)[at]
    rows = int(outside.sum())
    loss = {"replaced": rows, "share": rows / len(at), "sum_change": 0.0}
    word = Sentence("above") if side > 0 else Sentence("below")
    sentence = Sentence(
        '{n} of {rows} rows had a value of "{name}" {word} the limit',
        n=rows,
        rows=len(at),
        name=column.name,
        word=word,
    )
    if not rows:
        return Outcome({}, loss, sentence)
    if request.replacement == "mean" and rows < FEWEST:
        reason = f'only {rows} rows have a value of "{column.name}" {word} the limit, and their mean would tell them'
        raise InfeasibleError(reason, f'move the limit so that at least {FEWEST} have, or take replacement = "limit"')
    counts = np.bincount(at[outside], minlength=len(beyond)).tolist()
    total = sum((count * Fraction(int(places[p]), unit) for p, count in enumerate(counts) if count), Fraction(0))
    value = limit if request.replacement == "limit" else Fraction(round(total / rows * found.unit), found.unit)
    loss["sum_change"] = float(value * rows - total)
    if column.reading["type"] == "ordinal":
        text = column.reading["order"][int(value)]
    else:
        own = lcm(found.unit, value.denominator)
        text = spelled(column, int(value * own), own)
    inside = np.unique(column.codes[~outside & (column.codes >= 0)])
    texts = tuple(column.texts[number] for number in inside.tolist())
    new = texts.index(text) if text in texts else len(texts)
    codes = np.where(outside, new, np.where(column.codes < 0, -1, np.searchsorted(inside, column.codes)))
    changed = column.changed(texts if new < len(texts) else (*texts, text), codes)
    return Outcome({column.name: changed}, loss, sentence)
