"""Notices of published ages over 89, which the Safe Harbor list of HIPAA lets stand as one class only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.hierarchies.labels import Interval, Members, parse
from indistinct.notices import Notice, Sentence
from indistinct.policy.suggest import POOLED, is_age
from indistinct.policy.transforms import TopCoding

if TYPE_CHECKING:
    from indistinct.policy import Policy
    from indistinct.policy.transforms import Transform
    from indistinct.tables.published import Published


def age_notices(table: Published, policy: Policy) -> list[Notice]:
    """Name the columns of ages whose published cells tell more of an age over 89 than that it is 90 or older.

    Columns are known by their headers, whatever their role; an example is given of those that are not sensitive. Cells
    of a column that top coding, as its last transform, made one class of tell no more than that.
    """
    last = {name: transform for transform in policy.transforms for name in transform.names}
    notices = []
    for column in table.columns:
        name = column.name
        if not is_age(name) or _is_one_class(last.get(name)):
            continue
        labels = [str(value) for value in column.values.to_pylist()]
        old = np.array([tells_old_age(label, policy.table.decimal) for label in labels], np.bool_)
        if not old.any():
            continue
        # the last flag is that of a missing value, code -1
        cells = int(table.repeat[np.append(old, np.False_)[column.codes]].sum())
        count: int | Sentence = cells
        if name not in policy.sensitive_attributes:
            count = Sentence('{n}, such as "{example}"', n=cells, example=labels[int(old.argmax())])
        message = Sentence(
            'cells of "{name}" name a number over 89 ({count}): ages over 89 stand in the Safe Harbor list of HIPAA, '
            "which takes them as one class only, 90 or older; intervals with top = 90 or top_coding at 90 make it",
            name=name,
            count=count,
        )
        notices.append(Notice("ages-over-89", name, message))
    return notices


def _is_one_class(transform: Transform | None) -> bool:
    """Whether a transform writes all ages over 89 alike."""
    if not isinstance(transform, TopCoding) or isinstance(transform.limit, str):
        return False
    return transform.limit <= (POOLED if transform.replacement == "limit" else POOLED - 1)


def tells_old_age(label: str, decimal: str = ".") -> bool:
    """Whether a label tells more of an age over 89 than that it is one: a value, an end of a range, 91 or older.

    >>> [tells_old_age(label) for label in ("93", "[85, 93]", "{88, 91}", "95+")]
    [True, True, True, True]
    >>> [tells_old_age(label) for label in ("89", "[85, 90)", "90+", ">89", "*")]
    [False, False, False, False, False]
    """
    found = parse(label, "integer", decimal=decimal)
    if isinstance(found, Members):
        return any(tells_old_age(text, decimal) for text in (*found.texts, *found.quoted))
    if not isinstance(found, Interval):
        return False
    ends_above = found.high is not None and (found.high > POOLED or (found.high == POOLED and found.high_closed))
    begins_above = found.low is not None and (found.low > POOLED or (found.low == POOLED and not found.low_closed))
    return ends_above or begins_above
