"""Randomness that protects: from the operating system, so that nobody can predict or repeat it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.tables.order import secret_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float64 = NDArray[np.float64]
    Int64 = NDArray[np.int64]
    UInt64 = NDArray[np.uint64]

BELOW_ONE = 2.0**-53


class Chance:
    """Draws random numbers from the operating system; from a seed in tests only, and then nothing is protected.

    >>> Chance(seed=1).below(6, 1000).max() < 6
    np.True_
    """

    def __init__(self, seed: int | None = None) -> None:
        self.is_seeded = seed is not None
        self._generator = None if seed is None else np.random.default_rng(seed)

    def words(self, number: int) -> UInt64:
        """uint64[number], all values equally likely."""
        if self._generator is None:
            return secret_words(number)
        return self._generator.integers(0, 2**64, number, np.uint64)

    def below(self, limit: int, number: int) -> Int64:
        """int64[number] in 0..limit - 1, exactly equally likely: words beyond a whole multiple are drawn again.

        ``limit`` is at most 2^63 (not checked).
        """
        largest = 2**64 - 2**64 % limit - 1
        found = self.words(number)
        again = np.flatnonzero(found > np.uint64(largest))
        while len(again):
            found = found.copy()
            found[again] = self.words(len(again))
            again = again[found[again] > np.uint64(largest)]
        return (found % np.uint64(limit)).astype(np.int64)

    def normal(self, rows: int, columns: int) -> Float64:
        """float64[rows, columns] of independent standard normal numbers, by inversion of 53 random bits."""
        from scipy.special import ndtri

        uniform = ((self.words(rows * columns) >> np.uint64(11)).astype(np.float64) + 0.5) * BELOW_ONE
        found: Float64 = ndtri(uniform).reshape(rows, columns)
        return found

    def order(self, number: int) -> Int64:
        """int64[number]: 0..number - 1 in random order."""
        return np.argsort(self.words(number), kind="stable")
