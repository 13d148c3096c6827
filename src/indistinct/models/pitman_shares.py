"""Pitman's estimate of many samples at once, which differ in the number of their unique rows only.

Of the sum in the derivative by alpha, over classes of j rows, ``s_j (psi(j - a) - psi(1 - a))``, the unique rows have
no share. So it is one function of alpha for all these samples: ``c / (1 - a)``, c the classes of two rows and more,
and a rest without poles below 2, which a polynomial gives to the last digit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial.chebyshev import Chebyshev

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

DEGREE = 24  # of the polynomial: an ellipse up to the pole at 2 gives 5.8^-24
CERTAIN = 1e-3  # below it differences of nearly equal numbers lose digits


def pitman_shares(sizes: Int64, numbers: Int64, alone: Int64, population: int) -> Float64:
    """Pitman's estimate for each number of classes of one in ``alone`` int64[m], the larger classes staying.

    NaN where this way has no answer, or not all its digits: near alpha = 0, and where the likelihood has no maximum;
    ``estimators.pitman`` says what holds there.
    """
    from scipy.optimize.elementwise import find_root
    from scipy.special import betaln, digamma, gammaln

    large = sizes > 1
    sizes, numbers = sizes[large], numbers[large]
    others = float(numbers.sum())
    rows: Float64 = alone + np.float64((sizes * numbers).sum())
    classes: Float64 = alone + np.float64(others)

    def rest(alpha: Float64) -> Float64:
        found: Float64 = (numbers * (digamma(sizes - alpha[:, None]) - digamma(2 - alpha[:, None]))).sum(axis=1)
        return found

    smooth = Chebyshev.interpolate(rest, DEGREE, domain=[0, 1])

    def by_theta(logarithm: Float64, alpha: Float64, classes: Float64, rows: Float64) -> Float64:
        gap = np.exp(logarithm)
        found: Float64 = _harmonics(gap / alpha, classes - 1) / alpha - _harmonics(gap + 1 - alpha, rows - 1)
        return found

    def gap_of(alpha: Float64, classes: Float64, rows: Float64) -> Float64:
        ends = np.full(alpha.shape, -40.0), 2 * np.log(rows) + 10.0
        found: Float64 = np.exp(find_root(by_theta, ends, args=(alpha, classes, rows)).x)
        return found

    def by_alpha(alpha: Float64, classes: Float64, rows: Float64) -> Float64:
        gap = gap_of(alpha, classes, rows)
        first = (classes - 1 - (gap - alpha) * _harmonics(gap / alpha, classes - 1) / alpha) / alpha
        found: Float64 = first - smooth(alpha) - others / (1 - alpha)
        return found

    with np.errstate(all="ignore"):
        ends = np.full(len(alone), CERTAIN), np.full(len(alone), 1 - 1e-9)
        alpha = find_root(by_alpha, ends, args=(classes, rows)).x
        theta = gap_of(alpha, classes, rows) - alpha
        ratio = betaln(theta + alpha + population - 1, 1 - alpha) - gammaln(1 - alpha)
        shares: Float64 = np.minimum(1.0, np.exp(gammaln(theta + 1) - gammaln(theta + alpha) + ratio))
    return shares


def _harmonics(x: Float64, terms: Float64) -> Any:
    """Sums of 1 / (x + i) for i = 0..terms-1, as ``estimators.harmonic`` has them."""
    from scipy.special import digamma

    end = x + terms
    far = np.log1p(terms / x) + terms / (2 * x * end) + terms * (x + end) / (12 * x**2 * end**2)
    return np.where(x < 1000, digamma(end) - digamma(x), far)
