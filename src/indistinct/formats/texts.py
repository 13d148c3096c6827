"""The one text of each value of an Arrow array, and the value of each text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from indistinct.formats.arrow import text_array

if TYPE_CHECKING:
    from collections.abc import Sequence


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
