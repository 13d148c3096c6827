"""Numbering the distinct values of one column, batch by batch, in order of arrival."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from indistinct.errors import UnsupportedError
from indistinct.tables.arrow import text_array, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]


def texts_of(array: Any, column: str) -> list[str | None]:
    """Write each value of an Arrow array as its canonical text (``as_text``); nulls and NaN become None.

    Raises UnsupportedError for nested and binary values.
    """
    kind = array.type
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise UnsupportedError(
            f'column "{column}" holds values of type {kind}, which cannot be compared or published; '
            "turn it into text or leave it out",
            column=column,
        )
    return list(as_text(array).to_pylist())


def as_text(values: Any) -> Any:
    """Write each value of an Arrow array as text, in one way whatever its neighbours; NaN is missing.

    Whole floats have no fraction and zero no sign; moments and times no zeros at the end of a fraction; a moment
    without a zone is written as its date at midnight, one with a zone as its clock showed it, with the offset.

    >>> import datetime as dt, pyarrow as pa
    >>> as_text(pa.array([dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 1, 10, 30)])).to_pylist()
    ['2024-03-01', '2024-03-01 10:30:00']
    """
    kind = values.type
    if pa.types.is_floating(kind):
        values = pc.add(values, pa.scalar(0, kind))
        return pc.if_else(pc.is_nan(values), pa.nulls(1, pa.string())[0], values.cast(pa.string()))
    texts = values.cast(pa.string())
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        texts = pc.replace_substring_regex(texts, r"(Z|[+-]\d\d)(\d\d)?$", r"\1:\2")
        texts = pc.replace_substring_regex(texts, r"(\+00:00|Z:)$", "Z")
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        texts = pc.replace_substring_regex(texts, r"(\.\d*?)0+(Z|[+-]\d\d:\d\d)?$", r"\1\2")
        texts = pc.replace_substring_regex(texts, r"\.(Z|[+-]\d\d:\d\d)?$", r"\1")
    return pc.replace_substring_regex(texts, " 00:00:00$", "") if pa.types.is_timestamp(kind) else texts


def from_text(texts: Sequence[str | None], kind: Any) -> Any:
    """Make an Arrow array of a type from the canonical texts of its values (``as_text``).

    >>> import pyarrow as pa
    >>> from_text(["10:30:00.5", None], pa.time32("ms")).to_pylist()
    [datetime.time(10, 30, 0, 500000), None]
    """
    if pa.types.is_time(kind):
        digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[kind.unit]
        numbers = [None if text is None else _time_of_day(text, digits) for text in texts]
        return pa.array(numbers, pa.int32() if pa.types.is_time32(kind) else pa.int64()).cast(kind)
    array = text_array(texts)
    return array.cast(pa.int64()).cast(kind) if pa.types.is_duration(kind) else array.cast(kind)


def _time_of_day(text: str, digits: int) -> int:
    """Units of 10^-digits seconds since midnight."""
    whole, _, fraction = text.partition(".")
    hours, minutes, seconds = map(int, whole.split(":"))
    return int(f"{hours * 3600 + minutes * 60 + seconds}{fraction.ljust(digits, '0')}")


class Dictionary:
    """Gives every distinct value of a column the next number 0, 1, ...; a missing value is numbered like the others.

    >>> import pyarrow as pa
    >>> numbers = Dictionary("ward")
    >>> numbers.encode(pa.array(["A", None, "A"])).tolist(), numbers.texts
    ([0, 1, 0], ['A', None])
    """

    def __init__(self, column: str) -> None:
        self.column = column
        self.numbers: dict[str | None, int] = {}
        self._last: Any = None
        self._translation: Int32 = np.zeros(0, np.int32)

    @property
    def texts(self) -> list[str | None]:
        """The distinct values in order of arrival."""
        return list(self.numbers)

    def encode(self, array: Any) -> Int32:
        """Return the number of each value: int32[len(array)]."""
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        if self._last is None or not array.dictionary.equals(self._last):
            self._translation = np.array(
                [self.number(text) for text in texts_of(array.dictionary, self.column)], np.int32
            )
            self._last = array.dictionary
        indices = array.indices
        if indices.null_count:
            # the last entry stands for index -1
            codes: Int32 = np.append(self._translation, np.int32(self.number(None)))[whole_numbers(indices)]
            return codes
        if not len(indices):
            return np.zeros(0, np.int32)
        return np.ascontiguousarray(self._translation[whole_numbers(indices)], dtype=np.int32)

    def texts_used(self, numbers: Int32) -> list[str | None]:
        """Return the distinct values that occur among ``numbers``."""
        texts = self.texts
        return [texts[number] for number in np.unique(numbers).tolist()]

    def number(self, text: str | None) -> int:
        """Return the number of a value, a new one if need be."""
        return self.numbers.setdefault(text, len(self.numbers))
