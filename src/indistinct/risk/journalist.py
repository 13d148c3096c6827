"""Journalist risk: the attacker has a list of the population and does not know who of it is in the table."""

from __future__ import annotations

from fractions import Fraction
from math import fsum
from typing import TYPE_CHECKING

from indistinct.errors import DataError
from indistinct.models.size_risk import above
from indistinct.risk.figure import Figure, share, things

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]


def journalist(rows: Int64, sizes: Int64, population: Int64, threshold: Fraction) -> Figure:
    """Risk of a row: one over the number F_j of people in the population who share its quasi-identifiers.

    For classes with n_j ``rows``, f_j ``sizes`` and ``population`` F_j >= f_j, n = sum n_j::

        highest = 1 / min F_j      average = max( J / sum F_j , (1/n) sum_j n_j / F_j )
        at risk = rows of the classes with 1 / F_j > threshold

    J is the number of classes of the table. The average is the larger of what an attacker gains who draws from the
    population and who draws from the table. Exact: highest and rows at risk.

    Raises DataError when a class has more members than its population: the table is no sample of it.

    Source: as for prosecutor risk; K. El Emam, F. Dankar, JAMIA 15(5):627-637, 2008, doi:10.1197/jamia.M2716.
    """
    too_small = population < sizes
    if too_small.any():
        raise DataError(
            f"{things(int(rows[too_small].sum()), 'rows')} of the table have fewer look-alikes in the population than "
            "in the table itself: the population must contain everybody in the table, with equal spelling"
        )
    total, people = int(rows.sum()), int(population.sum())
    smallest = int(population.min())
    at_risk = int(rows[above(threshold, population)].sum())
    alone = int(rows[population == 1].sum())
    average = max(len(rows) / people, fsum((rows / population).tolist()) / total)
    first = (
        f"{things(alone, 'rows')} ({share(alone, total)}) have nobody like them in the population either"
        if alone
        else f"every row has at least {things(smallest - 1, 'others')} like it in the population"
    )
    values = {
        "highest": Fraction(1, smallest),
        "average": average,
        "rows_at_risk": at_risk,
        "share_at_risk": Fraction(at_risk, total),
        "population_in_classes": people,
    }
    sentence = f"{first}; {at_risk} of {total} rows are above the threshold {threshold}"
    return Figure("journalist", values, sentence, 1 / population)
