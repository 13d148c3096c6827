"""Ends of many labels at once: what ``labels`` reads one by one is cut and cast here by columns, where it is plain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.formats.arrow import text_array, text_scalar, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]
    Cut = tuple[Int64, Int64, Int64, int]

LONGEST = 17
"""Digits of a number that is cut out of a label; it fits int64."""


def cut_numbers(labels: Sequence[str | None]) -> Cut | None:
    """Cut labels like ``[20, 30)`` into their ends, all at once; None where one has too many digits.

    Both ends as whole multiples of 1 / unit, and what the brackets say: 1 where the lower end is left out, and 2 more
    where the upper one is taken in; -1 for labels that are written otherwise. Last the unit.

    >>> [part.tolist() for part in cut_numbers(["[20, 30)", "(-0.5, 1.25]", "*"])[:3]], cut_numbers(["[0, 2.5]"])[3]
    ([[2000, -50, 0], [3000, 125, 0], [0, 3, -1]], 10)
    """
    import pyarrow.compute as pc

    number = r"(?P<sign{0}>-?)(?P<whole{0}>\d{{1,17}})(?:\.(?P<part{0}>\d{{1,17}}))?"
    fields = _fields(labels, rf"{number.format(0)}, {number.format(1)}")
    if fields is None:
        return None
    digits, longest = (
        max(pc.max(pc.utf8_length(fields[f"{name}{end}"])).as_py() or 0 for end in (0, 1)) for name in ("part", "whole")
    )
    if digits + longest > LONGEST:
        return None
    ends = []
    for end in (0, 1):
        written = pc.binary_join_element_wise(
            fields[f"sign{end}"],
            fields[f"whole{end}"],
            pc.utf8_rpad(fields[f"part{end}"], digits, "0"),
            text_scalar(""),
        )
        ends.append(_integers(written))
    return ends[0], ends[1], _brackets(fields), 10**digits


def cut_dates(labels: Sequence[str | None]) -> Cut | None:
    """Cut labels like ``[2024-03-01, 2024-05-31]`` as ``cut_numbers`` does, in days since 1970-01-01.

    None where one of them is no day of the calendar.

    >>> [part.tolist() for part in cut_dates(["[1970-01-02, 1970-02-01)", "1970"])[:3]]
    [[1, 0], [31, 0], [0, -1]]
    """
    import pyarrow as pa

    day = r"(?P<day{0}>\d{{4}}-\d{{2}}-\d{{2}})"
    fields = _fields(labels, rf"{day.format(0)}, {day.format(1)}")
    if fields is None:
        return None
    try:
        days = [fields[f"day{end}"].cast(pa.date32()).cast(pa.int32()) for end in (0, 1)]
    except pa.ArrowInvalid:
        return None
    return _integers(days[0]), _integers(days[1]), _brackets(fields), 1


def _fields(labels: Sequence[str | None], between: str) -> dict[str, Any] | None:
    """Cut out the named groups of labels between brackets; all null where a label is no such; None where none is."""
    import pyarrow.compute as pc

    cut = pc.extract_regex(text_array(labels), rf"^(?P<opening>[\[(]){between}(?P<closing>[\])])$")
    if cut.null_count == len(cut):
        return None
    return {field.name: pc.struct_field(cut, field.name) for field in cut.type}


def _brackets(fields: Mapping[str, Any]) -> Int64:
    import pyarrow.compute as pc

    open_low = _integers(pc.equal(fields["opening"], text_scalar("(")))
    closed_high = _integers(pc.equal(fields["closing"], text_scalar("]")))
    return np.where(_integers(fields["opening"].is_valid()) == 1, open_low + 2 * closed_high, -1)


def _integers(array: Any) -> Int64:
    """Nulls are 0."""
    import pyarrow as pa

    return whole_numbers(array.cast(pa.int64()), absent=0).copy()
