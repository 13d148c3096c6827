"""Releases in groups: quasi-identifiers and sensitive values in two tables, or permuted inside each group in one.

QIT holds the quasi-identifiers, the other columns and ``group``; ST holds ``group``, the sensitive attribute and
``count``. Groups are numbered 1..g by their first row in the sorted QIT, and where equal rows belong to several
groups, at random: a number says nothing about how the groups came about.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from math import lcm
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from indistinct.errors import SchemaError
from indistinct.tables.apply import sensitive_column, sorted_units, units_of
from indistinct.tables.classes import groups_of
from indistinct.tables.order import lexicographic_order, secret_words
from indistinct.tables.published import Published, PublishedColumn, typed_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.formats.source import Source
    from indistinct.tables.apply import Layout, Units
    from indistinct.tables.count import Counted
    from indistinct.tables.records import Assignment, Histogram, Recoding, Reference

    Int64 = NDArray[np.int64]

GROUP, COUNT = "group", "count"
TOTALS = ("min", "max", "sum", COUNT)
MOST_DIGITS = 38


class TwoTables(NamedTuple):
    """A release of two tables: ``qit`` with the quasi-identifiers, ``st`` with the sensitive values, tied by group."""

    qit: Any
    st: Any


@dataclass(frozen=True)
class PublishedPair:
    """Both tables as they will be written."""

    qit: Published
    st: Published


def check_names(columns: Sequence[str], attribute: str, *, permuted: bool) -> None:
    """Raise SchemaError when a column bears a name that a release in groups needs for its own.

    >>> check_names(["age", "group"], "cost", permuted=False)
    Traceback (most recent call last):
    indistinct.errors.SchemaError: a release in groups has a column "group" of its own; rename that of the table
    """
    own = {GROUP, *TOTALS} if permuted else {GROUP}
    taken = [name for name in columns if name in own]
    if not permuted and attribute == COUNT:
        taken.append(COUNT)
    if taken:
        raise SchemaError(
            f'a release in groups has a column "{taken[0]}" of its own; rename that of the table', column=taken[0]
        )


def is_qit(columns: Sequence[str], sensitive: Sequence[str]) -> bool:
    """Whether a table is the first of two: it has groups and none of the sensitive columns.

    >>> is_qit(["age", "group"], ["cost"]), is_qit(["age", "group", "cost"], ["cost"])
    (True, False)
    """
    return GROUP in columns and bool(sensitive) and not any(name in columns for name in sensitive)


def publish_pair(
    source: Source,
    counted: Counted,
    assignment: Assignment,
    recoding: Recoding,
    layout: Layout,
    attribute: str,
) -> PublishedPair:
    """Apply an assignment with groups: the table of quasi-identifiers and that of sensitive values."""
    units = units_of(source, counted, assignment, recoding, layout)
    columns = [units.columns[name] for name in layout.columns if name != attribute]
    number = _numbers(columns, units, assignment)
    group = _whole_numbers(GROUP, number[_group_of(assignment, units)])
    qit = sorted_units([*columns, group], units.repeat, merge=units.distinct, order=layout.order)
    return PublishedPair(qit, _sensitive_table(source, counted, assignment, attribute, number))


def publish_permuted(
    source: Source,
    counted: Counted,
    assignment: Assignment,
    recoding: Recoding,
    layout: Layout,
    attribute: str,
    *,
    summed: bool,
) -> Published:
    """Apply an assignment with groups: one table, the sensitive values of every group in random order.

    Beside the group stand least and greatest value, sum (if ``summed``) and number of rows of the group.
    """
    units = units_of(source, counted, assignment, recoding, layout)
    columns = [units.columns[name] for name in layout.columns if name != attribute]
    number = _numbers(columns, units, assignment)
    groups = _group_of(assignment, units)
    histogram = groups_of(counted.frequencies, assignment).histograms[attribute]
    rows = np.repeat(np.arange(len(groups)), units.repeat)
    # rows of a group in random order meet its values in ascending order: every pairing is equally likely
    rows = rows[np.lexsort([secret_words(len(rows)), groups[rows]])]
    values = np.repeat(histogram.value, histogram.count)
    everything = {column.name: column.reduced(rows) for column in columns}
    everything[attribute] = sensitive_column(source, counted, attribute, values)
    totals = _totals(source, counted, attribute, histogram, groups[rows], summed=summed)
    ordered = [*(everything[name] for name in layout.columns), _whole_numbers(GROUP, number[groups[rows]]), *totals]
    return sorted_units(ordered, np.ones(len(rows), np.int64), merge=True, order=layout.order)


def _group_of(assignment: Assignment, units: Units) -> Int64:
    if assignment.group_of is None:
        message = "the assignment has no groups"
        raise ValueError(message)
    return assignment.group_of[units.part].astype(np.int64)


def _numbers(columns: Sequence[PublishedColumn], units: Units, assignment: Assignment) -> Int64:
    """int64[groups]: the published number of each group, from 1."""
    group = _group_of(assignment, units)
    chance = np.argsort(np.argsort(secret_words(assignment.groups), kind="stable"), kind="stable")
    ranks = np.column_stack([*(column.codes + 1 for column in columns), chance[group].astype(np.int32)])
    order = lexicographic_order(ranks, [*(len(column.values) + 1 for column in columns), max(1, assignment.groups)])
    found, first = np.unique(group[order], return_index=True)
    number = np.zeros(assignment.groups, np.int64)
    number[found[np.argsort(first)]] = np.arange(1, assignment.groups + 1)
    return number


def _sensitive_table(
    source: Source, counted: Counted, assignment: Assignment, attribute: str, number: Int64
) -> Published:
    histogram = groups_of(counted.frequencies, assignment).histograms[attribute]
    owner = np.repeat(np.arange(assignment.groups), np.diff(histogram.start))
    columns = [
        _whole_numbers(GROUP, number[owner]),
        sensitive_column(source, counted, attribute, histogram.value),
        _whole_numbers(COUNT, histogram.count),
    ]
    return sorted_units(columns, np.ones(len(owner), np.int64), merge=False, order="sorted")


def _whole_numbers(name: str, numbers: Int64) -> PublishedColumn:
    return typed_column(name, pa.array(numbers))


def _totals(
    source: Source, counted: Counted, attribute: str, histogram: Histogram, group: Int64, *, summed: bool
) -> list[PublishedColumn]:
    """Least and greatest value, sum and number of rows of the group of each row."""
    reference = counted.frequencies.references[attribute]
    least, greatest = histogram.value[histogram.start[:-1]], histogram.value[histogram.start[1:] - 1]
    columns = [
        sensitive_column(source, counted, attribute, ends[group], name)
        for name, ends in zip(TOTALS[:2], (least, greatest), strict=True)
    ]
    if summed:
        sum_column = typed_column(TOTALS[2], sums_of(reference, histogram))
        columns.append(PublishedColumn(sum_column.name, sum_column.values, sum_column.codes[group]))
    sizes = np.add.reduceat(histogram.count, histogram.start[:-1])
    return [*columns, _whole_numbers(COUNT, sizes[group])]


def sums_of(reference: Reference, histogram: Histogram) -> Any:
    """Arrow array[groups]: the exact sum of the values of each group, whole or decimal; text beyond 38 digits."""
    positions = [*reference.hierarchy.positions]
    owner = np.repeat(np.arange(len(histogram.start) - 1), np.diff(histogram.start))
    unit = lcm(*(position.denominator for position in positions))
    scaled = np.array([int(position * unit) for position in positions], object)
    sums = np.zeros(len(histogram.start) - 1, object)
    np.add.at(sums, owner, scaled[histogram.value] * histogram.count)
    if unit == 1 and max(map(abs, sums), default=0) < 1 << 62:
        return pa.array([int(number) for number in sums], pa.int64())
    with localcontext() as context:
        context.prec = 1000
        decimals = [Decimal(int(number)) / Decimal(unit) for number in sums]
    scale = max(-int(number.as_tuple().exponent) for number in decimals)
    if any(len(number.as_tuple().digits) + scale > MOST_DIGITS for number in decimals):
        return pa.array([format(number, "f") for number in decimals], pa.string())
    return pa.array(decimals, pa.decimal128(MOST_DIGITS, max(0, scale)))
