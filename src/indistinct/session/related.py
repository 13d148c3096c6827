"""Columns of a table that say the same, before any policy: what restates, contains or follows from another.

The columns are measured as a draft reads them: dates in their format, numbers with their decimal mark, without the
texts that stand for nothing. ``indistinct.session.restates`` says what counts.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.formats.arrow import text_array
from indistinct.notices import Notice, Sentence, both
from indistinct.session.restates import Column, Hidden, Weight, notices_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indistinct.policy import ColumnFacts, Suggestion
    from indistinct.session.column_counts import Measured
    from indistinct.session.restates import Codes

LOOKED_AT = 200_000
"""Rows that are compared, the first of the table."""
ALIKE = 0.99  # of the rows
LEAST = 3  # columns of a one-hot set


def related_columns(found: Measured, suggestions: Sequence[Suggestion]) -> list[Notice]:
    """Name the columns that would tell a suggested quasi-identifier if it were generalized and they were not.

    Identifying columns are left out, as they are not published. ``found`` has the codes of the rows.
    """
    columns, hidden = [], []
    for facts, own, codes, texts in zip(found.facts, suggestions, found.codes, found.texts, strict=True):
        if own.role == "identifying" or own.is_person:
            continue
        columns.append(_column(facts, codes[:LOOKED_AT], texts))
        hidden += [columns[-1]] if own.role == "quasi_identifying" else []
    notices = [notice for column in hidden for notice in _notices_under_a_policy(column, columns)]
    return [*notices, *_components_of_dates(columns), *_one_hot(columns)]


def _column(facts: ColumnFacts, codes: Codes, texts: Sequence[str | None]) -> Column:
    """Take a column without its strays; missing values come last."""
    gone = {text for text, _ in facts.strays}
    known = [place for place, text in enumerate(texts) if text is not None and text not in gone]
    number = np.full(len(texts), len(known), np.int64)
    number[known] = np.arange(len(known))
    reading: dict[str, Any] = {"decimal": facts.decimal}
    if facts.format not in (None, "%Y-%m-%d") and not facts.unsettled:
        reading |= {"type": "date", "format": facts.format}
    return Column(facts.name, number[codes], text_array([texts[place] for place in known]), reading)


def _notices_under_a_policy(own: Column, columns: Sequence[Column]) -> list[Notice]:
    weight = Weight(np.ones(len(own.codes), np.int64), None)
    hidden = Hidden(own.name, own.codes, own.values, own.reading, None, np.zeros(len(own.codes), np.int64))
    others = [column for column in columns if column.name != own.name]
    found = []
    for notices, _ in notices_of(hidden, others, weight):
        message = Sentence(
            'under a policy that generalizes "{name}" and not the others: {what}', name=own.name, what=notices.message
        )
        found.append(replace(notices, message=message))
    return found


def _components_of_dates(columns: Sequence[Column]) -> list[Notice]:
    """Name the numbers that are year or month of a date, which grouping cannot show where every date is met once."""
    numbers = {own.name: own.measure[1] for own in columns if own.measure is not None and own.measure[0] == "number"}
    found = []
    for own in columns:
        if own.measure is None or own.measure[0] != "date":
            continue
        known = np.isfinite(own.measure[1])
        days = own.measure[1][known].astype("datetime64[D]")
        months = days.astype("datetime64[M]").astype(np.int64)
        for part, values in ((Sentence("year"), months // 12 + 1970), (Sentence("month"), months % 12 + 1)):
            if len(np.unique(values)) < 2:
                continue
            for name, column in numbers.items():
                if (column[known] == values).mean() >= ALIKE:
                    message = Sentence(
                        '"{name}" is the {part} of "{date}": generalize both, or leave one out',
                        name=name,
                        part=part,
                        date=own.name,
                    )
                    found.append(Notice("restates", name, message))
    return found


def _one_hot(columns: Sequence[Column]) -> list[Notice]:
    """Name neighbouring columns of 0 and 1 of which every row has exactly one 1: one variable in several columns."""
    found = []
    for binary, run in groupby(columns, key=_is_binary):
        members = list(run)
        if not binary or len(members) < LEAST:
            continue
        found += [Notice("one-hot", names[0], _as_one(names)) for names in _sets(members)]
    return found


def _is_binary(column: Column) -> bool:
    return sorted(column.values.to_pylist()) == ["0", "1"]


def _sets(members: Sequence[Column]) -> list[list[str]]:
    """Cut a run of columns into those sets, each begun as early and ended as soon as it adds up to one in every row."""
    ones: Mapping[str, Any] = {column.name: column.codes == column.values.to_pylist().index("1") for column in members}
    names, found, first = list(ones), [], 0
    while first < len(names):
        total = np.zeros(len(members[0].codes), np.int64)
        for last in range(first, len(names)):
            total += ones[names[last]]
            if total.max(initial=0) > 1:
                break
            if last - first + 1 >= LEAST and (total == 1).all():
                found.append(names[first : last + 1])
                first = last
                break
        first += 1
    return found


def _as_one(names: Sequence[str]) -> Sentence:
    quoted = [f'"{name}"' for name in names]
    return Sentence(
        "{names} are one value in several columns: every row has a 1 in exactly one of them; give them one role and "
        "one hierarchy, or make one column of them",
        names=both([", ".join(quoted[:-1]), quoted[-1]]),
    )
