"""How many persons of a population are unique in it, estimated from a sample of its rows.

Known are the sizes of the classes of the sample (n rows, u classes, s_j of size j) and the size N of the
population; wanted is the share of the population that is alone in its class there. The definitions, their
sources and a worked example stand in ``docs/estimators.md``. Results are estimates, not bounds: each model
assumes a law of class sizes that no table obeys exactly.

Every function takes ``sizes`` int64[.] (distinct class sizes >= 1, ascending) and ``numbers`` int64[.]
(how many classes have each size), as ``size_counts`` makes them, and ``population`` = N >= n. It returns a
share in [0, 1], or None where its equations have no solution. A sample that is the whole population (N = n)
gives s_1 / n exactly; a sample without uniques gives 0.

>>> sizes, numbers = size_counts(np.array([1, 2, 1]))
>>> round(zayatz(sizes, numbers, 8), 6)  # 7/22
0.318182
>>> estimate("dankar", sizes, numbers, 8)
Estimate(share=0.3181..., model='zayatz')
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isfinite, lgamma, log, log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import PolicyError

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]

ESTIMATORS = ("pitman", "zayatz", "snb", "dankar")

# up to this sampling fraction Dankar's rule takes Pitman's estimate
_SMALL_FRACTION = 0.1
# below this discount a difference of nearly equal sums loses digits; it is summed term by term
_SMALL_DISCOUNT = 1e-3
_STEPS = 2000
# classes of one that are suppressed one by one in search of the fewest; equal steps beyond
SCANNED, STEPS_UP = 5_000, 1_000
BLOCK = 64  # of them looked at together at first
MARGIN = 1e-6  # more than rounding can do to an estimate


@dataclass(frozen=True, slots=True)
class Estimate:
    """Share of the population that is unique, and the model that it comes from."""

    share: float
    model: str


def size_counts(sizes: Int64) -> tuple[Int64, Int64]:
    """Count the classes of each size.

    >>> size_counts(np.array([3, 1, 1]))
    (array([1, 3]), array([2, 1]))
    """
    distinct, numbers = np.unique(np.asarray(sizes, np.int64), return_counts=True)
    return distinct, numbers.astype(np.int64)


def estimate(estimator: str, sizes: Int64, numbers: Int64, population: int) -> Estimate | None:
    """Estimate the share of the population that is unique by one of ``ESTIMATORS``.

    Raises PolicyError when the population is smaller than the sample; ValueError for another name.
    """
    rows = int((sizes * numbers).sum())
    if population < rows:
        raise PolicyError(
            f"population_size is {population}, but the table has {rows} rows; a population holds its sample"
        )
    if estimator == "dankar":
        return _dankar(sizes, numbers, population)
    functions: dict[str, Callable[[Int64, Int64, int], float | None]] = {"pitman": pitman, "zayatz": zayatz, "snb": snb}
    if estimator not in functions:
        message = f"{estimator} is no estimator of uniqueness; there are {', '.join(ESTIMATORS)}"
        raise ValueError(message)
    share = functions[estimator](sizes, numbers, population)
    return None if share is None else Estimate(share, estimator)


def least_suppressed(
    estimator: str, sizes: Int64, numbers: Int64, population: int, threshold: Fraction
) -> tuple[int, bool]:
    """Fewest classes of one row to suppress so that the estimate is at most ``threshold``, and whether no fewer do.

    The rows of the sample fall with each, the population stays. After all of them have gone the estimate is 0, so some
    number does; where no other rows are left it is all of them. Zayatz's estimate never rises on the way, so bisection
    is exact. The others may: they are looked at one by one up to 5,000 classes, beyond that in 1,000 equal steps and
    then within the step; the number is then one that does, perhaps not the least.

    >>> from fractions import Fraction
    >>> least_suppressed("zayatz", *size_counts(np.array([1, 1, 1, 1, 2, 2, 3])), 24, Fraction(1, 10))
    (2, True)
    """
    alone = int(numbers[0]) if len(sizes) and sizes[0] == 1 else 0

    def holds(gone: int) -> bool:
        left = numbers.copy()
        left[:1] -= gone
        positive = left > 0
        if gone == alone or not positive.any():
            return True
        found = estimate(estimator, sizes[positive], left[positive], population)
        return found is not None and found.share <= threshold

    if alone == 0 or holds(0):
        return 0, True
    if estimator == "zayatz":
        low, high = 0, alone  # does not hold, holds
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(middle) else (middle, high)
        return high, True

    def first(stops: Int64) -> int:
        """Place of the first number that holds; the last one does, or all of them."""
        begin, some = 0, BLOCK
        while True:  # few first: they may do
            block = stops[begin : begin + some]
            open_ones = np.flatnonzero(~_too_high(estimator, sizes, numbers, alone - block, population, threshold))
            found = next((place for place in open_ones.tolist() if holds(int(block[place]))), None)
            if found is not None:
                return begin + found
            begin, some = begin + some, 4 * some

    if alone <= SCANNED:
        return 1 + first(np.arange(1, alone + 1)), True
    stops = np.arange(STEPS_UP + 1) * alone // STEPS_UP
    low = int(stops[first(stops[1:])])
    return low + 1 + first(np.arange(low + 1, alone + 1)), False


def _too_high(
    estimator: str, sizes: Int64, numbers: Int64, alone: Int64, population: int, threshold: Fraction
) -> NDArray[np.bool_]:
    """For which numbers of classes of one the estimate is above the threshold beyond doubt; bool[m].

    Told of Pitman's estimate, which is slow to find one by one.
    """
    from indistinct.models.pitman_shares import pitman_shares

    rows = int((sizes[1:] * numbers[1:]).sum()) + alone
    by_pitman = alone > 0
    if estimator != "pitman":
        by_pitman &= (estimator == "dankar") & (rows <= _SMALL_FRACTION * population)
    found = np.zeros(len(alone), np.bool_)
    if by_pitman.any():
        shares = pitman_shares(sizes, numbers, alone[by_pitman], population)
        found[by_pitman] = shares > float(threshold) * (1 + MARGIN) + MARGIN**2  # False for NaN
    return found


def _dankar(sizes: Int64, numbers: Int64, population: int) -> Estimate:
    """Choose by the sampling fraction; Zayatz's estimate always exists and stands in for a missing one."""
    rows = int((sizes * numbers).sum())
    equivalence = Estimate(zayatz(sizes, numbers, population), "zayatz")
    if rows <= _SMALL_FRACTION * population:
        share = pitman(sizes, numbers, population)
        return equivalence if share is None else Estimate(share, "pitman")
    share = snb(sizes, numbers, population)
    if share is None or equivalence.share <= share:
        return equivalence
    return Estimate(share, "snb")


def _known(sizes: Int64, numbers: Int64, population: int) -> tuple[int, int, int, float | None]:
    """n, u and s_1, and the answer where no model is needed."""
    rows, classes = int((sizes * numbers).sum()), int(numbers.sum())
    uniques = int(numbers[0]) if sizes[0] == 1 else 0
    known = uniques / rows if population == rows or uniques == 0 else None
    return rows, classes, uniques, known


def zayatz(sizes: Int64, numbers: Int64, population: int) -> float:
    """Equivalence class model: P(F = 1 | f = 1) by Bayes' rule, times s_1 / n.

    P(F = j) is the share of sample classes of size j, and f given F = j is hypergeometric.
    """
    rows, _, uniques, known = _known(sizes, numbers, population)
    if known is not None:
        return known
    # P(f = 1 | F = j) = j C(N - j, n - 1) / C(N, n)
    weights = []
    for size, number in zip(sizes.tolist(), numbers.tolist(), strict=True):
        if population - size < rows - 1:
            continue
        chosen = lgamma(population - size + 1) - lgamma(population - size - rows + 2) - lgamma(rows)
        everything = lgamma(population + 1) - lgamma(population - rows + 1) - lgamma(rows + 1)
        weights.append(number * size * exp(chosen - everything))
    share = uniques * (uniques * rows / population) / sum(weights) / rows
    return float(min(1.0, share))


def pitman(sizes: Int64, numbers: Int64, population: int) -> float | None:
    """Pitman's sampling formula with parameters of greatest likelihood; None where none is greatest.

    S_1 = N Gamma(theta + 1) Gamma(theta + alpha + N - 1) / (Gamma(theta + alpha) Gamma(theta + N)).
    """
    from scipy.special import betaln, gammaln

    rows, classes, _, known = _known(sizes, numbers, population)
    if known is not None:
        return known
    if classes in (1, rows):  # one class only, or all rows unique: the likelihood grows to the border
        return None
    found = pitman_parameters(sizes, numbers)
    if found is None:
        return None
    theta, alpha = found
    ratio = betaln(theta + alpha + population - 1, 1 - alpha) - gammaln(1 - alpha)
    share = float(np.exp(gammaln(theta + 1) - gammaln(theta + alpha) + ratio))
    return min(1.0, share) if isfinite(share) else None


def pitman_parameters(sizes: Int64, numbers: Int64) -> tuple[float, float] | None:
    """Parameters (theta, alpha) of greatest likelihood, 0 <= alpha < 1 and theta > -alpha."""
    from scipy.optimize import brentq
    from scipy.special import digamma

    rows, classes = int((sizes * numbers).sum()), int(numbers.sum())

    def old(gap: float, alpha: float) -> float:
        """Sum of 1 / (theta + i alpha) for i = 1..u-1, with gap = theta + alpha."""
        return (classes - 1) / gap if alpha == 0 else harmonic(gap / alpha, classes - 1) / alpha

    def gap_of(alpha: float) -> float:
        """Solve d ln L / d theta = 0: positive at the lower end of theta, negative far out."""

        def by_theta(logarithm: float) -> float:
            gap = exp(logarithm)
            return old(gap, alpha) - harmonic(gap + 1 - alpha, rows - 1)

        return exp(float(brentq(by_theta, -40.0, 2 * log(rows) + 10.0, xtol=1e-13, rtol=1e-14)))

    def by_alpha(alpha: float) -> float:
        """Differentiate ln L by alpha at the best theta."""
        gap = gap_of(alpha)
        if alpha < _SMALL_DISCOUNT:
            places = np.arange(classes - 1)
            first = float(((places + 1) / (gap + alpha * places)).sum())
        else:
            first = (classes - 1 - (gap - alpha) * old(gap, alpha)) / alpha
        return first - float((numbers * (digamma(sizes - alpha) - digamma(1 - alpha))).sum())

    try:
        alpha = 0.0 if by_alpha(0.0) <= 0 else float(brentq(by_alpha, 0.0, 1 - 1e-9, xtol=1e-13, rtol=1e-14))
        return gap_of(alpha) - alpha, alpha
    except ValueError:  # no change of sign
        return None


def harmonic(x: float, terms: int) -> float:
    """Sum of 1 / (x + i) for i = 0..terms-1: a difference of digamma functions, without loss of digits.

    >>> harmonic(2.0, 2), harmonic(1e15, 1)
    (0.8333333333333..., 1e-15)
    """
    from scipy.special import digamma

    if x < 1000:
        return float(digamma(x + terms) - digamma(x))
    end = x + terms
    return log1p(terms / x) + terms / (2 * x * end) + terms * (x + end) / (12 * x**2 * end**2)


def snb(sizes: Int64, numbers: Int64, population: int) -> float | None:
    """Slide negative binomial model: S_1 = K b^a, K by Shlosser's estimator, a and b from s_1 and s_2.

    F = 1 + X with P(X = x) = C(x + a - 1, x) b^a (1 - b)^x, and f is binomial given F. Of several solutions
    the one with most uniques counts.
    """
    rows, _, uniques, known = _known(sizes, numbers, population)
    if known is not None:
        return known
    pairs = int(numbers[sizes == 2].sum())
    if pairs == 0:
        return None  # without classes of two rows the equations have no solution with X > 0
    classes = shlosser(sizes, numbers, rows / population)
    if not isfinite(classes):
        return None
    solutions = snb_parameters(classes, uniques, pairs, rows / population)
    if not solutions:
        return None
    return min(1.0, max(classes * exp(a * log(b)) for a, b in solutions) / population)


def shlosser(sizes: Int64, numbers: Int64, fraction: float) -> float:
    """Number K of classes in the population: Shlosser's estimator as modified by Haas and Stokes."""
    j, q = sizes.astype(np.float64), fraction
    seen = (j * q**2 * (1 - q**2) ** (j - 1) * numbers).sum()
    # (1 - q)^j ((1 + q)^j - 1), written so that no power grows: (1 + q)^j is no double any more from j = 1,750 on
    both = (((1 - q**2) ** j - (1 - q) ** j) * numbers).sum()
    unseen = ((1 - q) ** j * numbers).sum()
    once = (j * q * (1 - q) ** (j - 1) * numbers).sum()
    uniques = numbers[sizes == 1].sum()
    if both == 0 or once == 0:
        return float("nan")
    return float(numbers.sum() + uniques * seen / both * (unseen / once) ** 2)


def snb_parameters(classes: float, uniques: int, pairs: int, fraction: float) -> list[tuple[float, float]]:
    """All (a, b), 0 < b < 1 and a > 0, for which the expected s_1 and s_2 are those of the sample.

    For given b the ratio of the two expectations grows with a, so a is the positive root of a quadratic; b
    is then a root of the first equation, sought on a grid with bisection.
    """
    from scipy.optimize import brentq

    def a_of(b: Any) -> Any:
        w = (1 - fraction) * (1 - b)
        ratio = 2 * pairs / uniques * (1 - w) / (fraction * (1 - b))
        middle, last = 2 - w - ratio * w, ratio * (1 - w)
        # w a^2 + middle a - last = 0, written so that neither root is a difference of equal numbers
        root = np.sqrt(middle * middle + 4 * w * last)
        return np.where(middle > 0, 2 * last / (np.abs(middle) + root), (root + np.abs(middle)) / (2 * w))

    def surplus(b: Any) -> Any:
        w, a = (1 - fraction) * (1 - b), a_of(b)
        logarithm = log(classes * fraction) + a * (np.log(b) - np.log(1 - w)) + np.log(1 + a * w / (1 - w))
        return logarithm - log(uniques)

    grid = 1 / (1 + np.exp(-np.linspace(-30, 30, _STEPS)))
    values = surplus(grid)
    found = []
    for place in np.flatnonzero((values[:-1] * values[1:] < 0) | (values[:-1] == 0)).tolist():
        low, high = float(grid[place]), float(grid[place + 1])
        b = low if values[place] == 0 else float(brentq(surplus, low, high, xtol=1e-16, rtol=1e-14))
        found.append((float(a_of(b)), b))
    return found
