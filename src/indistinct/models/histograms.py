"""Sums over the sparse histograms of the classes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.tables.records import CoveredPopulation, Detail, Histogram, Holdings, ItemSets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.tables.records import Classes, Recoding, Reference

    Int64 = NDArray[np.int64]


def owners(histogram: Histogram) -> Int64:
    """int64[.]: the class of each entry of a histogram."""
    return np.repeat(np.arange(len(histogram.start) - 1), np.diff(histogram.start))


def only(classes: Classes, chosen: NDArray[np.bool_]) -> Classes:
    """Classes without those that are not ``chosen`` (bool[g]), renumbered in order."""
    number = np.cumsum(chosen) - 1
    cells = chosen[classes.cell_class]
    histograms = {}
    for name, histogram in classes.histograms.items():
        entries = chosen[owners(histogram)]
        lengths = np.diff(histogram.start)[chosen]
        start = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        histograms[name] = Histogram(start, histogram.value[entries], histogram.count[entries])
    sets = {}
    for name, own in classes.sets.items():
        lengths = np.diff(own.start)
        start = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[chosen])])
        sets[name] = ItemSets(start, own.item[np.repeat(chosen, lengths)], own.items)
    population, recoding = classes.population, classes.recoding
    if population is not None:
        gone = int(population.rows[~chosen].sum())
        population = CoveredPopulation(
            population.rows[chosen], min(population.outside + gone, population.total), population.total
        )
    return replace(
        classes,
        rows=classes.rows[chosen],
        persons=None if classes.persons is None else classes.persons[chosen],
        histograms=histograms,
        cell_class=number[classes.cell_class[cells]].astype(np.int32),
        cell_codes=classes.cell_codes[cells],
        cell_rows=classes.cell_rows[cells],
        population=population,
        sets=sets,
        recoding=None if recoding is None else _of_classes(recoding, chosen),
        detail=None if classes.detail is None else Detail(classes.detail.covered[chosen], classes.detail.sizes),
        holdings=None if classes.holdings is None else _held_by(classes.holdings, chosen, number),
    )


def _held_by(held: Holdings, chosen: NDArray[np.bool_], number: Int64) -> Holdings:
    """Holdings in the classes that are kept, with their new numbers."""
    left = chosen[held.owner]
    return Holdings(number[held.owner[left]], held.person[left], held.codes[left], held.rows[left])


def _of_classes(recoding: Recoding, chosen: NDArray[np.bool_]) -> Recoding:
    held = {position: words[chosen] for position, words in recoding.held.items()}
    return replace(recoding, lo=recoding.lo[chosen], hi=recoding.hi[chosen], held=held)


def distinct(histogram: Histogram) -> Int64:
    """int64[g]: number of distinct values in each class."""
    return np.diff(histogram.start)


def add_up(values: NDArray[Any], histogram: Histogram) -> NDArray[Any]:
    """Sum an array over the entries of each class."""
    return np.add.reduceat(values, histogram.start[:-1])


def is_constant(reference: Reference) -> bool:
    """Whether at most one value occurs in the reference table."""
    return int(np.count_nonzero(reference.counts)) <= 1


def amount(number: int, classes: Classes) -> str:
    """Write a size with what it counts."""
    unit = "row" if classes.persons is None else "person"
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def share_of(count: int, root: Classes) -> str:
    """Write a count of a value in the class of the whole table with what it is a share of, rows or persons.

    Weights are written as the persons that they make up: the 4 of HIV and 1/3 of flu of five persons.
    """
    return f"{weight_of(count, root)} of {_everybody(root)} {root.unit}"


def weight_of(count: int, root: Classes) -> Fraction:
    """Return the rows, or the persons weighing 1, that a count of the class of the whole table makes up."""
    return Fraction(int(count) * _everybody(root), int(root.rows[0]))


def _everybody(root: Classes) -> int:
    return int(root.rows[0]) if root.unit == "rows" else int(root.sizes[0])


def named(reference: Reference, code: int) -> str:
    """Name a value in a sentence."""
    text = reference.hierarchy.texts[code]
    return "the missing value" if text is None else f"the value '{text}'"
