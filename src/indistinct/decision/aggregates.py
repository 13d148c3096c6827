"""Classes published by one value that stands for all members: a mean, a median or a mode. Perturbing, not truthful.

For a class E and a quasi-identifier, over the members whose value is not missing:

- ``mean``: (1 / |E|) sum of x, rounded half to even: numbers to two decimals more than the column has, dates to the
  day. Ordinal values publish the median instead, texts the mode.
- ``median``: the lower median ``s[(n - 1) // 2]`` of the sorted values; texts publish the mode instead.
- ``mode``: the most frequent value, missing being one; ties: the first in the order of the domain.

A class of missing values only publishes a missing value. A column without a hierarchy is never changed. Classes whose
values agree in all columns merge in the release.

Worked example: 1, 2, 2, 9 give the mean 3.5, the median 2 and the mode 2; 1, 2, 2 the mean 1.67.

Source: J. Domingo-Ferrer, J. M. Mateo-Sanz, Practical data-oriented microaggregation for statistical disclosure
control, IEEE TKDE 14(1), 2002, doi:10.1109/69.979982 (means); V. Torra, PSD 2004, doi:10.1007/978-3-540-25955-8_13
(medians and modes of ordinal and nominal values). The rounding is this project's choice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from indistinct.hierarchies.hierarchy import Fractions
from indistinct.hierarchies.values import iso_date, moment_text, number_text
from indistinct.policy.recoding import option
from indistinct.session.prepare import reading_of
from indistinct.tables.records import SUPPRESSED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.records import Assignment, Frequencies, Recoding

    Int64 = NDArray[np.int64]

MORE_DECIMALS = 2
EPOCH = iso_date("1970-01-01")


def aggregated(prepared: Prepared, assignment: Assignment, recoding: Recoding) -> Recoding:
    """Replace the labels of a recoding by the aggregates that the policy asks for; ``range`` changes nothing."""
    how = option(prepared.policy.recoding, "aggregate")
    if how == "range":
        return recoding
    frequencies = prepared.counted.frequencies
    found = []
    for position, hierarchy in enumerate(frequencies.quasi):
        members = _members(frequencies, assignment, position)
        reading = reading_of(prepared.policy, prepared.source, hierarchy.attribute)
        kind = kind_of(hierarchy, how, reading["type"])
        if kind == "mean":
            texts = _means(hierarchy, *members, assignment.classes, reading["type"], reading["decimal"])
        else:
            codes = (_medians if kind == "median" else _modes)(hierarchy, *members, assignment.classes)
            texts = [hierarchy.texts[code] for code in codes.tolist()]
        number: dict[str | None, int] = {}
        places = np.array([number.setdefault(text, len(number)) for text in texts], np.int64)
        found.append((tuple(number), places))
    return replace(recoding, aggregates=tuple(found))


def kind_of(hierarchy: Hierarchy, how: str, type: str) -> str:
    """Which aggregate a column can have: a mean needs numbers or dates, a median an order."""
    if hierarchy.is_fixed or not hierarchy.is_ordered:
        return "mode"
    return "median" if how == "mean" and type == "ordinal" else how


def _members(frequencies: Frequencies, assignment: Assignment, position: int) -> tuple[Int64, Int64, Int64]:
    """Classes, codes and rows: how often each code occurs in each class, sorted."""
    published = assignment.class_of != SUPPRESSED
    size = frequencies.quasi[position].size
    code = frequencies.codes[assignment.cell[published], position]
    pair, place = np.unique(assignment.class_of[published].astype(np.int64) * size + code, return_inverse=True)
    rows = np.zeros(len(pair), np.int64)
    np.add.at(rows, place.reshape(-1), assignment.count[published])
    return pair // size, pair % size, rows


def _modes(hierarchy: Hierarchy, class_of: Int64, code: Int64, rows: Int64, classes: int) -> Int64:  # noqa: ARG001
    order = np.lexsort((code, -rows, class_of))
    first = np.searchsorted(class_of[order], np.arange(classes))
    return code[order][first]


def _medians(hierarchy: Hierarchy, class_of: Int64, code: Int64, rows: Int64, classes: int) -> Int64:
    present = code != hierarchy.missing
    owner, upto = class_of[present], np.cumsum(rows[present])
    total = np.bincount(owner, weights=rows[present], minlength=classes).astype(np.int64)
    before = np.cumsum(total) - total
    at = np.searchsorted(upto, before + np.maximum(total - 1, 0) // 2, side="right")
    found = np.full(classes, hierarchy.missing, np.int64)
    some = total > 0
    found[some] = code[present][at[some]]
    return found


def _means(
    hierarchy: Hierarchy,
    class_of: Int64,
    code: Int64,
    rows: Int64,
    classes: int,
    type: str,
    decimal: str,
) -> list[str | None]:
    numerators, unit = _scale(hierarchy)
    digits = _digits(unit, type)
    present = code != hierarchy.missing
    totals, counts = [0] * classes, [0] * classes
    only: list[set[int]] = [set() for _ in range(classes)]
    for owner, value, count in zip(
        class_of[present].tolist(), code[present].tolist(), rows[present].tolist(), strict=True
    ):
        totals[owner] += count * numerators[value]
        counts[owner] += count
        only[owner].add(value)
    texts: list[str | None] = []
    for total, count, values in zip(totals, counts, only, strict=True):
        if count == 0:
            texts.append(None)
        elif len(values) == 1:  # its own spelling
            texts.append(hierarchy.texts[values.pop()])
        else:
            rounded = round(Fraction(total * 10**digits, count * unit))
            texts.append(moment_text(rounded, 1) if type == "date" else number_text(rounded, 10**digits, decimal))
    return texts


def _scale(hierarchy: Hierarchy) -> tuple[list[int], int]:
    """Places of the values as whole numbers, and how many of them make one."""
    if isinstance(hierarchy.positions, Fractions):
        return hierarchy.positions.numerators.tolist(), hierarchy.positions.denominator
    unit = lcm(*(place.denominator for place in hierarchy.positions)) if len(hierarchy.positions) else 1
    return [int(place * unit) for place in hierarchy.positions], unit


def _digits(unit: int, type: str) -> int:
    """Decimals of a mean."""
    if type == "date":
        return 0
    digits = 0
    while 10**digits % unit and digits < unit.bit_length():
        digits += 1
    return digits + MORE_DECIMALS


def deviating(prepared: Prepared, assignment: Assignment, recoding: Recoding) -> list[str]:
    """Names of columns in which some class does not publish the declared aggregate of its members.

    Works from the definition, on values and texts, and shares nothing with their computation: a published mean may
    differ from the exact one by half a unit of its last decimal, or half a day.
    """
    frequencies, failing = prepared.counted.frequencies, []
    for position, hierarchy in enumerate(frequencies.quasi):
        reading = reading_of(prepared.policy, prepared.source, hierarchy.attribute)
        kind = kind_of(hierarchy, option(prepared.policy.recoding, "aggregate"), reading["type"])
        members: defaultdict[int, Counter[int]] = defaultdict(Counter)
        for cell, count, owner in zip(
            assignment.cell.tolist(), assignment.count.tolist(), assignment.class_of.tolist(), strict=True
        ):
            if owner != SUPPRESSED:
                members[owner][int(frequencies.codes[cell, position])] += count
        texts, text_of = recoding.labels(position)
        if not all(
            _stands_for(texts[text_of[owner]], own, hierarchy, kind, reading["type"], reading["decimal"])
            for owner, own in members.items()
        ):
            failing.append(hierarchy.attribute)
    return failing


def _stands_for(
    text: str | None,
    members: Counter[int],
    hierarchy: Hierarchy,
    kind: str,
    type: str,
    decimal: str,
) -> bool:
    """Whether a published text is the aggregate of some codes."""
    most = max(members.values())
    if kind == "mode":
        return text == hierarchy.texts[min(code for code, count in members.items() if count == most)]
    values = sorted(code for code in members if code != hierarchy.missing)
    if not values:
        return text is None
    if kind == "median":
        rows = [code for code in values for _ in range(members[code])]
        return text == hierarchy.texts[rows[(len(rows) - 1) // 2]]
    if text is None or len(values) == 1:
        return text == hierarchy.texts[values[0]]
    count = sum(members[code] for code in values)
    mean = sum((members[code] * hierarchy.positions[code] for code in values), Fraction(0)) / count
    if type == "date":
        day = iso_date(text)
        return day is not None and EPOCH is not None and 2 * abs((day - EPOCH).days - mean) <= 1
    digits = _digits(_scale(hierarchy)[1], type)
    return bool(2 * abs(Fraction(text.replace(decimal, ".")) - mean) * 10**digits <= 1)
