"""Exact arithmetic that the models share, and how its results are written.

Counts are int64 arrays; thresholds are fractions. A comparison of a count with a rational function of
another count is turned into integer bounds, computed in Python integers once per distinct argument: a table
of n rows has at most sqrt(2 n) distinct class sizes.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

# sums and products of int64 below this cannot overflow, even when two are added
SAFE = 2**62


def bounds(arguments: Int64, bound: Callable[[int], int]) -> Int64:
    """Evaluate an exact integer function at every element, once per distinct value.

    The results are clipped to +-2^62: to compare them with int64 counts below that is exact.

    >>> bounds(np.array([4, 9, 4]), lambda n: n // 3)
    array([1, 3, 1])
    """
    top = int(arguments.max(initial=0))
    if top <= 16 * len(arguments) + 1024:  # a look-up table is cheaper than sorting
        seen = np.zeros(top + 1, np.bool_)
        seen[arguments] = True
        distinct = np.flatnonzero(seen)
        table = np.zeros(top + 1, np.int64)
        table[distinct] = [max(-SAFE, min(SAFE, bound(value))) for value in distinct.tolist()]
        return table[arguments]
    distinct, inverse = np.unique(arguments, return_inverse=True)
    values = [max(-SAFE, min(SAFE, bound(value))) for value in distinct.tolist()]
    return np.array(values, np.int64)[inverse]


def largest_ratio(numerators: NDArray[Any], denominators: NDArray[Any]) -> Fraction:
    """Exact largest of ``numerators / denominators`` (integers >= 0 over integers > 0); doubles only preselect.

    >>> largest_ratio(np.array([1, 2, 1]), np.array([3, 5, 2]))
    Fraction(1, 2)
    """
    ratios = numerators.astype(np.float64) / denominators.astype(np.float64)
    top = ratios.max()
    near = np.flatnonzero(ratios >= top - 1e-9 * abs(top))
    distinct, inverse = np.unique(denominators[near], return_inverse=True)
    best = np.zeros(len(distinct), numerators.dtype)
    np.maximum.at(best, inverse, numerators[near])
    return max(map(Fraction, best.tolist(), distinct.tolist()))


def at_most(numerators: NDArray[Any], denominators: NDArray[Any], bound: Fraction) -> NDArray[np.bool_]:
    """Whether each ratio of integers (>= 0 over > 0) is at most ``bound``; doubles decide away from it only.

    >>> at_most(np.array([1, 2]), np.array([3, 3]), Fraction(1, 3)).tolist()
    [True, False]
    """
    ratios, limit = numerators.astype(np.float64) / denominators.astype(np.float64), float(bound)
    found: NDArray[np.bool_] = ratios <= limit
    near = np.flatnonzero(np.abs(ratios - limit) <= 1e-9 * np.maximum(np.abs(ratios), abs(limit)))
    for number in near.tolist():
        found[number] = int(numerators[number]) * bound.denominator <= bound.numerator * int(denominators[number])
    return found


def log_sign(ratio: Fraction, bound: Fraction, base: int | None = None) -> int:
    """Sign of log(ratio) - bound, exact; the logarithm has base 2 or (None) e. ``ratio`` > 0.

    The logarithm of a rational is rational only for 1 and, to base 2, for powers of 2; all others differ from the
    bound, and digits are added until it shows.

    >>> log_sign(Fraction(1, 2), Fraction(-1), 2), log_sign(Fraction(3), Fraction("1.0986"))
    (0, 1)
    """
    if ratio == 1:
        return (bound < 0) - (bound > 0)
    if base is not None:
        power = ratio.numerator.bit_length() - ratio.denominator.bit_length()
        if ratio == Fraction(2) ** power:
            return (power > bound) - (power < bound)
    digits = 50
    while True:
        with localcontext() as context:
            context.prec = digits
            logarithm = Decimal(ratio.numerator).ln() - Decimal(ratio.denominator).ln()
            wanted = Decimal(bound.numerator) / Decimal(bound.denominator)
            if base is not None:
                wanted *= Decimal(base).ln()
            scale = Decimal(ratio.numerator).ln() + Decimal(ratio.denominator).ln() + abs(wanted) + 1
            difference = logarithm - wanted
            if abs(difference) > scale * 16 * Decimal(10) ** (1 - digits):
                return 1 if difference > 0 else -1
        digits *= 2


def wide(largest: int) -> type[Any]:
    """Element type for exact arithmetic with values up to ``largest``: int64, else Python integers."""
    return np.int64 if largest < SAFE else object


def entropy_sign(counts: Mapping[int, int], length: Fraction) -> int:
    """Sign of H - ln l for a class in which ``counts[c]`` values have c rows each; exact.

    Compares n^n b^n with a^n prod c^c for l = a / b: logarithms of 50 digits first; if they do not separate
    the sides, the exponents over a common coprime base decide equality; if that fails, more digits.

    >>> entropy_sign({4: 1, 1: 4}, Fraction(4)), entropy_sign({2: 1, 1: 2}, Fraction("2.8284271247461900976"))
    (0, 1)
    """
    rows = sum(count * number for count, number in counts.items())
    powers: dict[int, int] = {}
    factors = [(rows, rows), (length.denominator, rows), (length.numerator, -rows)]
    for base, exponent in [*factors, *((count, -count * number) for count, number in counts.items())]:
        powers[base] = powers.get(base, 0) + exponent
    return power_sign(powers)


def power_sign(powers: Mapping[int, int]) -> int:
    """Sign of the logarithm of the product of base^exponent, bases >= 1; exact, as in ``entropy_sign``.

    >>> power_sign({4: 1, 2: -2}), power_sign({10: 3, 2: -10})
    (0, -1)
    """
    digits = 50
    while True:
        with localcontext() as context:
            context.prec = digits
            terms = [exponent * Decimal(base).ln() for base, exponent in powers.items()]
            total, scale = sum(terms, Decimal(0)), sum((abs(term) for term in terms), Decimal(0))
            # each logarithm, product and sum is rounded once, to one unit in the last digit
            if abs(total) > scale * 4 * len(terms) * Decimal(10) ** (1 - digits):
                return 1 if total > 0 else -1
        if digits == 50 and _is_one(powers):
            return 0
        digits *= 2


def _is_one(powers: Mapping[int, int]) -> bool:
    """Whether the product of base^exponent is 1: the exponents cancel over a pairwise coprime base."""
    for element in _coprime_base(powers):
        total = 0
        for base, exponent in powers.items():
            left = base
            while left % element == 0:
                left //= element
                total += exponent
        if total:
            return False
    return True


def _coprime_base(numbers: Iterable[int]) -> list[int]:
    """Pairwise coprime integers > 1 of which every given number is a product (no factoring needed)."""
    base: list[int] = []
    waiting = list(numbers)
    while waiting:
        number = waiting.pop()
        if number == 1:
            continue
        for i, element in enumerate(base):
            common = gcd(number, element)
            if common > 1:
                del base[i]
                waiting += [number // common, element // common, common]
                break
        else:
            base.append(number)
    return base


def rational(number: Fraction) -> dict[str, Any]:
    """Write a fraction as it stands in the JSON documents.

    >>> rational(Fraction(3, 10))
    {'fraction': '3/10', 'decimal': 0.3}
    """
    return {"fraction": f"{number.numerator}/{number.denominator}", "decimal": float(number)}


def subject(satisfied: NDArray[np.bool_], one: str, many: str) -> str:
    """Begin a sentence about the violating classes, with the verb for one and for several.

    >>> subject(np.array([True, False]), "has", "have"), subject(np.array([False]), "has", "have")
    ('1 of 2 classes has', 'the only class has')
    """
    total = len(satisfied)
    bad = total - int(np.count_nonzero(satisfied))
    if total == 1:
        return f"the only class {one}"
    return f"{bad} of {total} classes {one if bad == 1 else many}"
