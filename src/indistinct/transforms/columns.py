"""What transforms work on and give back: columns of codes, and their losses."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import DataError
from indistinct.hierarchies.values import moment_text, number_text, scale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.hierarchies.values import Scale
    from indistinct.notices import Sentence

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]


PERSON = ""  # no column has this name: under it a transform finds the column that says whose a row is


@dataclass(frozen=True)
class Column:
    """One column of a table: ``codes`` int32[rows] point into ``texts``, -1 is a missing value.

    ``reading`` says how texts are read (``type``, ``format``, ``order``, ``decimal``); ``weight`` is the importance of
    the column; ``quasi`` whether it is a quasi-identifier; ``separator`` what parts the items of a set-valued column.
    """

    name: str
    texts: tuple[str, ...]
    codes: Int32
    reading: Mapping[str, Any] = field(default_factory=lambda: {"type": "text"})
    weight: Any = 1
    quasi: bool = False
    separator: str = ";"

    def changed(self, texts: Sequence[str], codes: NDArray[np.integer[Any]]) -> Column:
        """Return the column with other values."""
        return replace(self, texts=tuple(texts), codes=codes.astype(np.int32))

    def selected(self, rows: Int64) -> Column:
        """Return the column of some rows."""
        return replace(self, codes=self.codes[rows])

    @property
    def spelled(self) -> NDArray[np.object_]:
        """object[rows]: the text of each row, None where it is missing."""
        return np.array([*self.texts, None], object)[self.codes]


@dataclass(frozen=True)
class Outcome:
    """What a transform did: the columns it changed, the rows it keeps (None: all), its loss and a sentence on it."""

    columns: Mapping[str, Column]
    loss: Mapping[str, Any]
    sentence: Sentence
    rows: Int64 | None = None


def places_of(column: Column) -> tuple[Int64, Scale]:
    """Place of the value of each row on the scale of the column, -1 where it is missing, and the scale.

    Other spellings of a value take the place of the value. Raises DataError for texts that are none of the type.
    """
    found = scale(column.name, column.texts, **column.reading)
    place = {text: position for position, text in enumerate(found.texts)}
    of_code = [place[found.spellings.get(text, text)] for text in column.texts]
    return np.array([*of_code, -1], np.int64)[column.codes], found


def numbers_of(column: Column) -> tuple[NDArray[np.float64], int]:
    """float64[rows] of the numbers of a column (days for dates), NaN where one is missing; and its unit.

    Numbers are whole multiples of 1 / unit.
    """
    place, found = places_of(column)
    of_place = np.append(found.positions.astype(np.float64) / found.unit, np.nan)
    return of_place[place], found.unit


def written(column: Column, numbers: NDArray[np.float64], unit: int) -> Column:
    """Return the column with other numbers, rounded half to even to its unit and spelled as the policy reads them.

    Raises DataError for numbers beyond 2^62 units.
    """
    present = np.flatnonzero(~np.isnan(numbers))
    rounded = np.rint(numbers[present] * unit)
    if len(rounded) and float(np.abs(rounded).max()) >= 2**62:
        message = f'"{column.name}" has numbers that are too large for noise; leave the column out'
        raise DataError(message, column=column.name)
    distinct, code = np.unique(rounded.astype(np.int64), return_inverse=True)
    codes = np.full(len(numbers), -1, np.int32)
    codes[present] = code.reshape(-1)
    return column.changed([spelled(column, number, unit) for number in distinct.tolist()], codes)


def spelled(column: Column, number: int, unit: int) -> str:
    """Write ``number / unit`` as the column is read: a number with its decimal mark, or a date in its format."""
    if column.reading["type"] != "date":
        return number_text(number, unit, column.reading.get("decimal", "."))
    text = moment_text(number, unit)
    format = column.reading.get("format")
    if format is None:
        return text
    return (date.fromisoformat(text) if unit == 1 else datetime.fromisoformat(text)).strftime(format)
