"""The values of a numeric attribute as exact places, and windows of values in the classes.

Places are integers in a common unit (int64, or Python integers where those are too small), so every comparison is
exact; windows are found by binary search over the distinct values of the column, once for each value, and counted
in the classes by prefix sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import DataError
from indistinct.hierarchies.hierarchy import Fractions
from indistinct.hierarchies.values import LARGE, times
from indistinct.models.histograms import owners

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.tables.records import Histogram, Reference

    Int64 = NDArray[np.int64]
    Integers = NDArray[Any]


@dataclass(frozen=True)
class Numbers:
    """The distinct numbers of a column, ascending.

    Number r stands at ``places[r] / unit`` and occurs in ``counts[r]`` rows of the reference table (int64[m]).
    ``rank`` int64[.] says which number each code is, -1 for a missing value.
    """

    attribute: str
    places: Integers
    unit: int
    counts: Int64
    rank: Int64

    def __len__(self) -> int:
        """Return the number of distinct numbers."""
        return len(self.places)

    def at(self, rank: int) -> Fraction:
        """Return one number."""
        return Fraction(int(self.places[rank]), self.unit)

    def floats(self) -> NDArray[np.float64]:
        """float64[m]: the numbers, for display."""
        return np.asarray(self.places / self.unit, np.float64)

    def scaled(self, *numbers: Fraction) -> tuple[Integers, int, list[int]]:
        """Places in a unit in which the given numbers are whole too, that unit, and the numbers in it."""
        unit = lcm(self.unit, *(number.denominator for number in numbers))
        whole = [number.numerator * (unit // number.denominator) for number in numbers]
        places = times(self.places, unit // self.unit)
        if any(abs(number) >= LARGE for number in whole):
            places = places.astype(object)
        return places, unit, whole


def numbers_of(reference: Reference) -> Numbers:
    """Bring the values of a numeric attribute into order.

    Raises DataError when the attribute holds no numbers or dates. Missing values are left out here; ``series_of``
    refuses them where a class has one.
    """
    hierarchy = reference.hierarchy
    present = hierarchy.size - (hierarchy.missing >= 0)
    numerators, unit = _numerators(hierarchy.positions)
    if len(numerators) != present:
        raise _no_numbers(hierarchy)
    places, rank = np.unique(numerators, return_inverse=True)
    rank = rank.reshape(-1).astype(np.int64)
    counts = np.zeros(len(places), np.int64)
    np.add.at(counts, rank, reference.counts[:present])
    return Numbers(hierarchy.attribute, places, unit, counts, np.append(rank, -np.ones(hierarchy.size - present, int)))


def _numerators(positions: Sequence[Fraction]) -> tuple[Integers, int]:
    if isinstance(positions, Fractions):
        return positions.numerators, positions.denominator
    unit = lcm(*(position.denominator for position in positions))
    whole = [int(position * unit) for position in positions]
    return np.array(whole, np.int64 if max(map(abs, whole), default=0) < LARGE else object), unit


def _no_numbers(hierarchy: Hierarchy) -> DataError:
    return DataError(
        f'"{hierarchy.attribute}" holds no numbers or dates; declare its type as integer, decimal or date',
        column=hierarchy.attribute,
    )


@dataclass(frozen=True)
class Series:
    """The numbers of each class: ``count[i]`` rows of class ``owner[i]`` have number ``rank[i]``.

    Sorted by class and number, each pair once; entries of class j are ``start[j]:start[j + 1]`` (int64 arrays).
    """

    start: Int64
    owner: Int64
    rank: Int64
    count: Int64
    numbers: int

    def between(self, low: Int64, high: Int64) -> Int64:
        """int64[.]: for each entry the rows of its class with a number in ``low[i]..high[i]`` (ranks, closed)."""
        key = self.owner * self.numbers + self.rank
        sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.count)])
        first = np.searchsorted(key, self.owner * self.numbers + low, side="left")
        last = np.searchsorted(key, self.owner * self.numbers + high, side="right")
        found: Int64 = sums[last] - sums[first]
        return found

    @property
    def distinct(self) -> Int64:
        """int64[g]: number of different numbers of each class."""
        return np.diff(self.start)


def series_of(histogram: Histogram, numbers: Numbers) -> Series:
    """Sort the values of every class as numbers.

    Raises DataError when a class has a missing value: it is no number, and no guess is made.
    """
    rank, owner, count = numbers.rank[histogram.value], owners(histogram), histogram.count
    if (rank < 0).any():
        raise missing_refused(numbers.attribute)
    if len(rank) and ((np.diff(rank) <= 0) & (np.diff(owner) == 0)).any():  # codes in the order of a hierarchy file
        order = np.lexsort((rank, owner))
        rank, owner, count = rank[order], owner[order], count[order]
        first = np.flatnonzero(np.r_[True, (np.diff(rank) != 0) | (np.diff(owner) != 0)])
        rank, owner, count = rank[first], owner[first], np.add.reduceat(count, first)
    start = np.searchsorted(owner, np.arange(len(histogram.start))).astype(np.int64)
    return Series(start, owner.astype(np.int64), rank, count, len(numbers))


def missing_refused(attribute: str) -> DataError:
    """Build the error for missing values, which are no numbers."""
    return DataError(
        f'"{attribute}" has missing values, and a model for numbers has no place for them; '
        f'say missing = "drop" under [attributes.{attribute}]',
        column=attribute,
    )


def windows(places: Integers, lower: Integers, upper: Integers) -> tuple[Int64, Int64]:
    """Ranks of the first and the last place inside each closed window ``lower[i]..upper[i]``, exactly."""
    low = np.searchsorted(places, lower, side="left").astype(np.int64)
    return low, np.searchsorted(places, upper, side="right").astype(np.int64) - 1


def largest(values: NDArray[Any], series: Series) -> NDArray[Any]:
    """Largest of the values of the entries of each class."""
    return np.maximum.reduceat(values, series.start[:-1])
