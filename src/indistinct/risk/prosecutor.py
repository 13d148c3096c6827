"""Prosecutor risk: the attacker knows that the victim is in the table."""

from __future__ import annotations

from fractions import Fraction
from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from indistinct.models.size_risk import above
from indistinct.risk.figure import Figure, share, things

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]


def prosecutor(rows: Int64, sizes: Int64, threshold: Fraction, unit: str = "rows") -> Figure:
    """Risk of a row: one over the number of rows (of persons, with a person key) that share its quasi-identifiers.

    For classes with ``rows`` n_j and ``sizes`` f_j (f_j = n_j without a person key), n = sum n_j::

        highest = 1 / min f_j      lowest = 1 / max f_j      average = (1/n) sum_j n_j / f_j
        at risk = rows of the classes with 1 / f_j > threshold

    Without a person key the average is (number of classes) / n. Exact: highest, lowest, rows at risk, and the average
    without a person key. Not checked: that sizes are positive.

    Source: K. El Emam, Guide to the De-Identification of Personal Health Information, CRC Press 2013, ch. 16;
    F. Dankar, K. El Emam, PAIS 2010, doi:10.1145/1754239.1754271.

    >>> prosecutor(np.array([1, 3]), np.array([1, 3]), Fraction(1, 2)).document()["average"]
    {'fraction': '1/2', 'decimal': 0.5}
    """
    total = int(rows.sum())
    smallest = int(sizes.min())
    at_risk = int(rows[above(threshold, sizes)].sum())
    alone = int(rows[sizes == 1].sum())
    average = (
        Fraction(len(rows), total) if np.array_equal(rows, sizes) else fsum((rows / sizes).tolist()) / total
    )  # a sum of thousands of different fractions is no use to anybody
    in_smallest = int(rows[sizes == smallest].sum())
    whom = "are the only ones of their kind" if alone != 1 else "is the only one of its kind"
    first = (
        f"{things(alone, 'rows')} ({share(alone, total)}) {whom}: who knows their quasi-identifiers finds them for sure"
        if alone
        else f"the smallest class has {things(smallest, unit)} ({things(in_smallest, 'rows')} are in such classes): "
        f"a guess is right 1 time in {smallest}"
    )
    needed = smallest_size(threshold)
    second = (
        f"{at_risk} of {total} rows are above the threshold {threshold}"
        + (f"; k-anonymity with k = {needed} would leave none" if at_risk and needed else "")
        if total
        else ""
    )
    values = {
        "highest": Fraction(1, smallest),
        "lowest": Fraction(1, int(sizes.max())),
        "average": average,
        "rows_at_risk": at_risk,
        "share_at_risk": Fraction(at_risk, total),
    }
    return Figure("prosecutor", values, f"{first}; {second}", 1 / sizes)


def smallest_size(threshold: Fraction) -> int | None:
    """Return the least class size whose risk is within the threshold, None where there is none.

    >>> smallest_size(Fraction(1, 5)), smallest_size(Fraction(2, 5)), smallest_size(Fraction(0))
    (5, 3, None)
    """
    return -(-threshold.denominator // threshold.numerator) if threshold else None
