"""Individual risk: how likely the person of a row is found in a population known by sampling weights only."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import DataError
from indistinct.risk.figure import Figure, about, things

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

SERIES, TERMS = 20, 60


def individual_risk(frequency: Int64, weight: Float64) -> Float64:
    """Benedetti-Franconi risk of each class, ``r = E[1/F | f]``; float64[g].

    ``frequency`` f >= 1 rows of the class in the sample, ``weight`` the sum of their sampling weights, at least f. With
    p = f / weight and q = 1 - p, F given f is negative binomial, ``P(F = h) = C(h-1, f-1) p^f q^(h-f)`` for h >= f::

        r = sum_{h >= f} P(F = h) / h = integral_0^1 y^(f-1) / (1 + (q/p) y) dy = (p/f) 2F1(1, 1; f+1; q)

    f = 1 gives (p/q) ln(1/p), f = 2 gives p/q - (p/q)^2 ln(1/p); p = 1 gives 1/f. The last form has positive terms
    only, so nothing cancels.

    Raises DataError where a weight sum is below the frequency or not finite.

    Source: R. Benedetti, L. Franconi, Proc. NTTS 1998, vol. 1, 398-402; L. Franconi, S. Polettini, PSD 2004, LNCS
    3050, 262-272, doi:10.1007/978-3-540-25955-8_20. Worked example: docs/risk.md.

    >>> individual_risk(np.array([1, 2, 3]), np.array([10.0, 30.0, 3.0])).round(6).tolist()
    [0.255843, 0.057612, 0.333333]
    """
    from scipy.special import hyp2f1

    if not np.isfinite(weight).all() or (weight < frequency * (1 - 1e-12)).any():
        raise DataError(
            "the sampling weights of some rows add up to less than the number of rows, or are no numbers; a weight "
            "says how many people of the population a row stands for and is at least 1"
        )
    p = np.minimum(frequency / weight, 1.0)
    q = 1.0 - p
    with np.errstate(divide="ignore", invalid="ignore"):
        single = np.where(q > 1e-12, -p * np.log(p) / q, 1.0)
        few = p / frequency * hyp2f1(1.0, 1.0, np.minimum(frequency, SERIES) + 1.0, q)
    # from 20 rows on the terms k! f! / (f+k)! q^k of the series fall below 1e-16 within 40; hyp2f1 overflows there
    total, term = np.ones(len(q)), np.ones(len(q))
    for k in range(TERMS):
        term = term * q * (k + 1) / (frequency + 1 + k)
        total += term
    several = np.where(frequency < SERIES, few, p / frequency * total)
    found: Float64 = np.where(frequency == 1, single, several)
    return found


def individual(rows: Int64, weight: Float64, threshold: Fraction, *, of_weights: bool) -> Figure:
    """Summarise the individual risk of all rows.

    ``expected_matches`` is the sum of the risks over the rows, the expected number of correct matches; ``share`` is
    that over n (the global risk). Floats; the threshold is compared in doubles, for this is an estimate.
    """
    risk = individual_risk(rows, weight)
    total = int(rows.sum())
    expected = fsum((rows * risk).tolist())
    at_risk = int(rows[risk > float(threshold)].sum())
    people = fsum(weight.tolist())
    basis = "by their sampling weights" if of_weights else "by the size of the population alone"
    values = {
        "highest": float(risk.max()),
        "expected_matches": expected,
        "share": expected / total,
        "rows_at_risk": at_risk,
        "estimated_population": people,
        "weights": "column" if of_weights else "constant",
    }
    sentence = (
        f"{things(total, 'rows')} stand for about {about(people)} people {basis}; an attacker with a list of all of "
        f"them would match about {about(expected)} rows rightly; {at_risk} rows are above the threshold {threshold}"
    )
    return Figure("individual", values, sentence, risk)
