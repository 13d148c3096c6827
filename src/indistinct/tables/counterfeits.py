"""Releases with counterfeits: one table of groups, in which some rows are nobody's.

Beside quasi-identifiers and the sensitive attribute stand ``group`` and ``counterfeits``, the number of rows of the
group that are nobody's. Which ones these are is not told: a counterfeit has the labels of its group and a value of its
own, as every row has. Groups are numbered 1..g by what they publish, so a number says nothing more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from indistinct.errors import SchemaError
from indistinct.tables.apply import quasi_columns, sensitive_column, sorted_units
from indistinct.tables.order import lexicographic_order
from indistinct.tables.published import typed_column
from indistinct.tables.records import SUPPRESSED
from indistinct.tables.two_tables import GROUP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.formats.source import Source
    from indistinct.tables.apply import Layout
    from indistinct.tables.count import Counted
    from indistinct.tables.published import Published, PublishedColumn
    from indistinct.tables.records import Assignment, Frequencies, Recoding

    Int64 = NDArray[np.int64]

COUNTERFEITS = "counterfeits"


def check_columns(columns: Sequence[str]) -> None:
    """Raise SchemaError when a column bears a name that such a release needs for its own.

    >>> check_columns(["age", "group"])
    Traceback (most recent call last):
    indistinct.errors.SchemaError: m_invariance publishes a column "group" of its own; rename that of the table
    """
    for name in columns:
        if name in (GROUP, COUNTERFEITS):
            raise SchemaError(
                f'm_invariance publishes a column "{name}" of its own; rename that of the table', column=name
            )


def group_values(frequencies: Frequencies, assignment: Assignment, attribute: str) -> tuple[Int64, Int64]:
    """Return class and sensitive code of every published row, counterfeits included, sorted: int64[rows] each."""
    published = assignment.class_of != SUPPRESSED
    count = assignment.count[published]
    owner = np.repeat(assignment.class_of[published].astype(np.int64), count)
    value = np.repeat(frequencies.sensitive_codes(attribute)[assignment.cell[published]].astype(np.int64), count)
    if assignment.counterfeits is not None:
        owner = np.concatenate([owner, assignment.counterfeits[:, 0]])
        value = np.concatenate([value, assignment.counterfeits[:, 1]])
    order = np.lexsort([value, owner])
    return owner[order], value[order]


def counterfeits_of(assignment: Assignment) -> Int64:
    """int64[g]: rows of nobody in each class."""
    added = np.zeros(0, np.int64) if assignment.counterfeits is None else assignment.counterfeits[:, 0]
    return np.bincount(added, minlength=assignment.classes).astype(np.int64)


def publish_with_counterfeits(
    source: Source, counted: Counted, assignment: Assignment, recoding: Recoding, layout: Layout, attribute: str
) -> Published:
    """Apply an assignment with counterfeits: a row for every value of every group."""
    owner, value = group_values(counted.frequencies, assignment, attribute)
    columns = quasi_columns(source, counted.frequencies, recoding, layout, owner)
    columns[attribute] = sensitive_column(source, counted, attribute, value.astype(np.int32))
    number = group_numbers(source, counted, assignment, recoding, layout, attribute)
    ordered: list[PublishedColumn] = [columns[name] for name in layout.columns]
    ordered.append(typed_column(GROUP, pa.array(number[owner])))
    ordered.append(typed_column(COUNTERFEITS, pa.array(counterfeits_of(assignment)[owner])))
    return sorted_units(ordered, np.ones(len(owner), np.int64), merge=True, order=layout.order)


def group_numbers(
    source: Source, counted: Counted, assignment: Assignment, recoding: Recoding, layout: Layout, attribute: str
) -> Int64:
    """int64[g]: the published number of each class, from 1: by labels, then values, then number of counterfeits."""
    owner, value = group_values(counted.frequencies, assignment, attribute)
    classes = np.arange(assignment.classes)
    columns = quasi_columns(source, counted.frequencies, recoding, layout, classes)
    labels = [columns[name] for name in layout.columns if name in columns]
    sizes = np.bincount(owner, minlength=assignment.classes)
    most = int(sizes.max(initial=0))
    place = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    values = np.zeros((assignment.classes, most), np.int64)
    values[owner, place] = value + 1
    fakes = counterfeits_of(assignment)
    ranks = np.column_stack([*(column.codes + 1 for column in labels), values, fakes]).astype(np.int32)
    bounds = [int(own.max(initial=0)) + 1 for own in ranks.T]
    number = np.empty(assignment.classes, np.int64)
    number[lexicographic_order(ranks, bounds)] = np.arange(1, assignment.classes + 1)
    return number
