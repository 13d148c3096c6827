"""Sums over the sparse histograms of the classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.tables.records import Classes, Histogram, Reference

    Int64 = NDArray[np.int64]


def owners(histogram: Histogram) -> Int64:
    """int64[.]: the class of each entry of a histogram."""
    return np.repeat(np.arange(len(histogram.start) - 1), np.diff(histogram.start))


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


def named(reference: Reference, code: int) -> str:
    """Name a value in a sentence."""
    text = reference.hierarchy.texts[code]
    return "the missing value" if text is None else f"the value '{text}'"
