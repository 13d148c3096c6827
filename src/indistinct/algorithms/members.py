"""Rows and members of groups of tuples, for algorithms that group them in numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.tables.order import distinct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.tables.records import Frequencies

    Int64 = NDArray[np.int64]


def members(frequencies: Frequencies, tuples: Int64, group_of: Int64, groups: int) -> tuple[Int64, Int64]:
    """Count the rows and the members of the groups 0..``groups``-1 that some tuples make up: int64[groups] each.

    Members are distinct persons where there are persons, else rows.
    """
    rows = np.bincount(group_of, frequencies.tuple_rows[tuples], minlength=groups).astype(np.int64)
    persons = frequencies.persons
    if persons is None:
        return rows, rows
    sizes = np.bincount(group_of, persons.single[tuples], minlength=groups).astype(np.int64)
    lengths = np.diff(persons.start)[tuples]
    if int(lengths.sum()):
        at = np.repeat(persons.start[tuples] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        pairs = distinct(np.repeat(group_of, lengths) * persons.spanning + persons.ids[at], groups * persons.spanning)
        sizes += np.bincount(pairs // persons.spanning, minlength=groups)
    return rows, sizes
