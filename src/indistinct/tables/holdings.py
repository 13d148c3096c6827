"""Shares of persons: each person of a class weighs 1, spread over the values of their rows in it.

With P the persons of a class, N of them, r_p the rows of p in it and r_pv those with value v,

    s_v = (1 / N) * sum over p in P of r_pv / r_p          h_v = |{p in P : r_pv > 0}| / N

s_v is written over the common denominator N * lcm(r_p): integers of 62 bits where that fits, else Python integers. So a
class weighed by persons is a class like any other, with other counts, and every model of shares reads it as it is.
"""

from __future__ import annotations

from dataclasses import replace
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.tables.order import run_starts
from indistinct.tables.records import Classes, Histogram, Holdings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from indistinct.tables.records import Frequencies, Reference

    Int64 = NDArray[np.int64]
    Integers = NDArray[Any]

# as in ``models.exact``: sums and products of int64 below this cannot overflow
SAFE = 2**62


def holdings_of(frequencies: Frequencies, class_of_tuple: Int64) -> Holdings | None:
    """Say who has which rows of classes made of whole tuples (-1: in none); None where rows say as much."""
    persons = frequencies.persons
    if persons is None or not frequencies.weighs_persons:
        return None
    owner = class_of_tuple[frequencies.tuple_of[persons.cell]]
    owned = owner >= 0
    codes = frequencies.codes[persons.cell[owned], len(frequencies.quasi) :]
    return Holdings.sort(
        owner[owned].astype(np.int64), persons.person[owned].astype(np.int64), codes, persons.rows[owned]
    )


def person_references(frequencies: Frequencies) -> Mapping[str, Reference]:
    """Add to each reference distribution that of the persons of the whole input."""
    persons = frequencies.persons
    if persons is None:
        return frequencies.references
    everything = np.zeros(len(persons.cell), np.int64)
    codes = frequencies.codes[persons.cell, len(frequencies.quasi) :]
    held = Holdings.sort(everything, persons.person.astype(np.int64), codes, persons.rows)
    found = {}
    for position, hierarchy in enumerate(frequencies.sensitive):
        rows, own = weights(held, position, hierarchy.size)
        counts = np.zeros(hierarchy.size, own.count.dtype)
        counts[own.value] = own.count
        reference = frequencies.references[hierarchy.attribute]
        found[hierarchy.attribute] = replace(reference, person_counts=counts, person_total=int(rows[0]))
    return found


def weights(held: Holdings, position: int, values: int) -> tuple[Integers, Histogram]:
    """Weigh the values of one attribute in each class: what all weigh together, and each value (s_v is the ratio).

    Every class 0, 1, ... has a holding. The numbers of a class have no common divisor.
    """
    owner, person = held.owner, held.person
    new = np.ones(len(owner), np.bool_)
    new[1:] = (owner[1:] != owner[:-1]) | (person[1:] != person[:-1])
    first = np.flatnonzero(new)
    own = np.add.reduceat(held.rows, first)  # r_p
    begin = np.flatnonzero(np.diff(owner[first], prepend=-1))  # first person of each class
    people = np.diff(begin, append=len(first))
    common = lcm(*np.unique(own).tolist())
    kind = np.int64 if common * int(people.max()) < SAFE else object
    scale = np.lcm.reduceat(own.astype(kind), begin)
    person_of = np.cumsum(new) - 1
    weight = held.rows.astype(kind) * (scale[owner] // own.astype(kind)[person_of])
    order, at = _by_value(held, position, values)
    value, count = held.codes[order[at], position], np.add.reduceat(weight[order], at)
    start = np.searchsorted(owner[order[at]], np.arange(len(begin) + 1)).astype(np.int64)
    divisor = np.gcd.reduceat(count, start[:-1])
    count = count // np.repeat(divisor, np.diff(start))
    rows = people.astype(kind) * scale // divisor
    if kind is object and int(rows.max()) < SAFE:
        rows, count = rows.astype(np.int64), count.astype(np.int64)
    return rows, Histogram(start, np.ascontiguousarray(value, dtype=np.int32), count)


def persons_with(held: Holdings, position: int, values: int) -> Histogram:
    """Count the persons of each class who have a value: h_v N."""
    order, at = _by_value(held, position, values)
    owner, person = held.owner[order], held.person[order]
    new = np.ones(len(order), np.int64)
    same = (owner[1:] == owner[:-1]) & (person[1:] == person[:-1])
    new[1:] = ~(same & (held.codes[order[1:], position] == held.codes[order[:-1], position]))
    classes = int(held.owner[-1]) + 1 if len(held.owner) else 0
    start = np.searchsorted(owner[at], np.arange(classes + 1)).astype(np.int64)
    value = np.ascontiguousarray(held.codes[order[at], position], dtype=np.int32)
    return Histogram(start, value, np.add.reduceat(new, at))


def matched(classes: Classes, attribute: str) -> Int64:
    """int64[g]: most pairs of a person and a value of theirs in which no person and no value occurs twice."""
    from indistinct.kernels.pairing import largest_matching

    held, position = _held(classes), classes.sensitive.index(attribute)
    order, at = _by_value(held, position, int(held.codes[:, position].max(initial=0)) + 1)
    owner, person = held.owner[order], held.person[order]
    first = np.zeros(len(order), np.bool_)
    first[at] = True
    first[1:] |= person[1:] != person[:-1]  # a person once for each value
    begin = np.searchsorted(np.flatnonzero(first), np.append(at, len(order))).astype(np.int64)
    start = np.searchsorted(owner[at], np.arange(len(classes) + 1)).astype(np.int64)
    widest = int(np.diff(start).max(initial=0))
    _, number = np.unique(person[first], return_inverse=True)
    nodes = np.zeros(len(at), np.int64)
    return largest_matching(
        start, nodes, begin, number.reshape(-1).astype(np.int64), widest, int(number.max(initial=0)) + 1
    )


def _by_value(held: Holdings, position: int, values: int) -> tuple[Int64, Int64]:
    """Order of the entries by class and value (persons stay in order), and where each pair begins."""
    key = held.owner * values + held.codes[:, position]
    order = np.argsort(key, kind="stable")
    return order, np.flatnonzero(run_starts(key[order].reshape(-1, 1)))


def weighed(classes: Classes, attribute: str) -> Classes:
    """Return the same classes with each person weighing 1: rows and histogram of the attribute are weights.

    Not checked: that the classes have holdings.
    """
    found = classes.weighed.get(attribute)
    if found is None:
        held = _held(classes)
        position = classes.sensitive.index(attribute)
        rows, histogram = weights(held, position, int(held.codes[:, position].max(initial=0)) + 1)
        found = classes.weighed[attribute] = _with(classes, rows, attribute, histogram)
    return found


def counted_persons(classes: Classes, attribute: str) -> Classes:
    """Return the same classes with persons counted once for each value that they have (h_v)."""
    held = _held(classes)
    position = classes.sensitive.index(attribute)
    histogram = persons_with(held, position, int(held.codes[:, position].max(initial=0)) + 1)
    return _with(classes, people_of(held, len(classes)), attribute, histogram)


def people_of(held: Holdings, classes: int) -> Int64:
    """int64[g]: distinct persons of each class."""
    new = np.ones(len(held.owner), np.bool_)
    new[1:] = (held.owner[1:] != held.owner[:-1]) | (held.person[1:] != held.person[:-1])
    return np.bincount(held.owner[new], minlength=classes).astype(np.int64)


def _held(classes: Classes) -> Holdings:
    if classes.holdings is None:
        message = "the classes do not say whose a row is"
        raise ValueError(message)
    return classes.holdings


def _with(classes: Classes, rows: Integers, attribute: str, histogram: Histogram) -> Classes:
    return Classes(
        rows,
        people_of(_held(classes), len(classes)),
        (attribute,),
        {attribute: histogram},
        np.zeros(0, np.int32),
        np.zeros((0, 1), np.int32),
        np.zeros(0, np.int64),
        unit="persons",
    )
