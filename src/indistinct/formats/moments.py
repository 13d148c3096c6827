"""Moments with a time zone, as Python objects: Arrow would put all of a column on the clock of the first one."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def several_offsets(values: Iterable[object]) -> bool:
    """Whether moments among the values lie in more than one time zone; a named zone is one in summer and winter.

    >>> import datetime as dt
    >>> berlin = dt.timezone(dt.timedelta(hours=2))
    >>> moment = dt.datetime(2024, 4, 1, 1, 30, tzinfo=berlin)
    >>> several_offsets([moment, None]), several_offsets([moment, moment.astimezone(dt.UTC)])
    (False, True)
    """
    zones = {value.tzinfo for value in values if isinstance(value, dt.datetime) and value.tzinfo is not None}
    return len(zones) > 1 and len({str(zone) for zone in zones}) > 1
