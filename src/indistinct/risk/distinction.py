"""Distinction and separation: how well a set of columns tells rows apart."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]


def distinction(counts: Int64) -> Fraction:
    """Share of distinct value combinations: ``J / n`` for J combinations in n rows. Exact.

    ``counts`` int64[J] >= 1: rows of each combination. 1 means a key.

    Source: R. Motwani, Y. Xu, Efficient algorithms for masking and finding quasi-identifiers, SIAM workshop on
    practical privacy-preserving data mining, 2008.

    >>> import numpy as np
    >>> distinction(np.array([2, 1, 1]))
    Fraction(3, 4)
    """
    return Fraction(len(counts), int(counts.sum()))


def separation(counts: Int64) -> Fraction:
    """Share of the pairs of rows that differ: ``1 - sum c (c-1) / (n (n-1))``; 1 for a single row. Exact.

    Source: as for distinction.

    >>> import numpy as np
    >>> separation(np.array([2, 1, 1]))  # of 6 pairs one is equal
    Fraction(5, 6)
    """
    rows = int(counts.sum())
    if rows < 2:
        return Fraction(1)
    # counts below 2^31 square within int64, their sum may not: added up in Python where it matters
    equal = sum((counts * (counts - 1)).tolist()) if rows > 2**30 else int((counts * (counts - 1)).sum())
    return 1 - Fraction(equal, rows * (rows - 1))
