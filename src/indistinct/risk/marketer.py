"""Marketer risk: the attacker matches everybody and does not mind some errors."""

from __future__ import annotations

from fractions import Fraction
from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from indistinct.risk.figure import Figure, about

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]


def marketer(rows: Int64, sizes: Int64, population: Int64 | None, threshold: Fraction) -> Figure:
    """Expected share of the rows that are matched with the right person when all are matched at once.

    With n_j ``rows`` and F_j members of class j in the attacker's list (``population``; without one the list is the
    table itself, F_j = f_j = ``sizes``)::

        expected matches = sum_j n_j / F_j        share = expected matches / n

    Without population and person key the expected matches are the number of classes (exact).

    Source: F. Dankar, K. El Emam, PAIS 2010, doi:10.1145/1754239.1754271.

    >>> marketer(np.array([1, 3]), np.array([1, 3]), None, Fraction(1, 5)).document()["share"]
    {'fraction': '1/2', 'decimal': 0.5}
    """
    total = int(rows.sum())
    of = sizes if population is None else population
    plain = population is None and np.array_equal(rows, sizes)
    matches = len(rows) if plain else fsum((rows / of).tolist())
    portion = Fraction(len(rows), total) if plain else float(matches) / total
    which = "the table itself" if population is None else "the population"
    listed = f"a list of {which}" if population is not None else "a list of exactly the people in the table"
    verdict = "above" if portion > threshold else "within"
    sentence = (
        f"who matches all rows with {listed} gets about {about(matches)} of {total} right, "
        f"{verdict} the threshold {threshold}"
    )
    return Figure("marketer", {"expected_matches": matches, "share": portion}, sentence)
