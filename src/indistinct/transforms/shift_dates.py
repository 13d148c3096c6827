"""All dates of one person moved by one secret number of days, so that the time between two events stays.

Definition, source and worked example: docs/transforms.md.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import DataError
from indistinct.notices import Sentence
from indistinct.transforms.columns import PERSON, Outcome, numbers_of, written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from indistinct.policy.transforms import ShiftDates
    from indistinct.transforms.chance import Chance
    from indistinct.transforms.columns import Column

    Int64 = NDArray[np.int64]


# ends of the calendar, in days since 1970
FIRST, LAST = (end.toordinal() - date(1970, 1, 1).toordinal() for end in (date.min, date.max))


def shift_dates(request: ShiftDates, columns: Mapping[str, Column], chance: Chance) -> Outcome:
    """Draw an offset for each person and move all dates of the columns by it; a row without a key is a person.

    Raises DataError for a date that could leave the calendar, whatever is drawn.
    """
    offset = _offsets(columns[PERSON].codes.astype(np.int64), request.days, chance)
    changed, moved = {}, np.zeros(len(offset), np.bool_)
    for name in request.attributes:
        column = columns[name]
        before, unit = numbers_of(column)
        if (np.floor(before) - request.days < FIRST).any() or (np.floor(before) + request.days > LAST).any():
            message = (
                f'"{name}" has dates that {request.days} days more or less could take out of the calendar (years 1 to '
                "9999); list those that stand for nothing among its missing_values"
            )
            raise DataError(message, column=name)
        changed[name] = written(column, before + offset, unit)
        moved |= ~np.isnan(before)
    away = np.abs(offset[moved])
    loss = {"rows_moved": int(moved.sum()), "mean_days": float(away.mean()) if len(away) else 0.0}
    sentence = Sentence(
        "the dates of each person are moved by one secret number of days, up to {days} either way, so that the time "
        "between two of them stays; who knows one of these dates of a person knows all, and intervals that others know "
        "may still tell who it is",
        days=request.days,
    )
    return Outcome(changed, loss, sentence)


def _offsets(person: Int64, days: int, chance: Chance) -> Int64:
    """int64[rows] in -days..days, uniform and independent by person; -1 is nobody in particular."""
    nobody = person < 0
    owner = np.where(nobody, person.max(initial=-1) + np.cumsum(nobody), person)
    _, place = np.unique(owner, return_inverse=True)
    found: Int64 = chance.below(2 * days + 1, int(place.max(initial=-1)) + 1)[place.reshape(-1)] - days
    return found
