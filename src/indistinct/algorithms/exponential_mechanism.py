"""The exponential mechanism: choose one of several candidates, each with a probability that grows with its score.

    P(i) = exp(t_i) / sum over j of exp(t_j),    t_j = epsilon score_j / sensitivity, exact fractions

The draw is exact, not merely close: a uniform number U in [0, 1) is drawn bit by bit, the cumulative probabilities are
enclosed by whole numbers, and both are made finer until U lies in the interval of one candidate for certain. Doubles
would make some candidates impossible and others too likely, and the guarantee with them.

Where adding a row raises no score by more than the sensitivity and lowers none, or the other way round, the choice is
epsilon-differentially private: exp(t_i) and the sum both grow by a factor from 1 to e^epsilon. (For scores that move
either way t_j would need half of that.)

Worked example: t = 0 and ln 3, the second rounded to a fraction: U < 1/4 takes the first.

Source: F. McSherry, K. Talwar, Mechanism design via differential privacy, FOCS 2007, doi:10.1109/FOCS.2007.66; C.
Dwork, A. Roth, The algorithmic foundations of differential privacy, 2014, doi:10.1561/0400000042, section 3.4. On
doubles: C. Ilvento, CCS 2020, arXiv:1912.04222.
"""

from __future__ import annotations

from bisect import bisect_right
from decimal import ROUND_FLOOR, Decimal, localcontext
from itertools import accumulate
from secrets import randbits
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    # so many random bits as a whole number
    Bits = Callable[[int], int]

WORD = 64


def exponential_mechanism(exponents: Sequence[Fraction], bits: Bits = randbits) -> int:
    """Return the place of one exponent t_i, drawn with probability exp(t_i) / sum of exp(t_j).

    ``exponents`` is not empty. Needs one exponential of each for every 64 bits drawn, almost always once. Not checked:
    the sensitivity of what stands behind them.

    >>> from fractions import Fraction
    >>> [exponential_mechanism([Fraction(0), Fraction(0)], lambda n: first << (n - 1)) for first in (0, 1)]
    [0, 1]
    """
    most = max(exponents)
    drawn, number = 0, 0
    while True:
        drawn, number = drawn + WORD, number << WORD | bits(WORD)
        bounds = [_weight(exponent - most, drawn + WORD) for exponent in exponents]
        low = [0, *accumulate(least for least, _ in bounds)]
        high = [0, *accumulate(greatest for _, greatest in bounds)]
        near = bisect_right(low, number * low[-1] >> drawn) - 1
        for place in range(max(near - 1, 0), min(near + 2, len(exponents))):
            # U = [number, number + 1) / 2^drawn lies above the greatest start and below the least end of the interval
            start = number * (high[place] + low[-1] - low[place]) >= high[place] << drawn
            end = (number + 1) * (low[place + 1] + high[-1] - high[place + 1]) <= low[place + 1] << drawn
            if start and end:
                return place


def _weight(exponent: Fraction, scale: int) -> tuple[int, int]:
    """Enclose 2^scale exp(exponent), exponent <= 0, by two whole numbers at most 3 apart."""
    if exponent == 0:
        return 1 << scale, 1 << scale
    if exponent < -scale:
        return 0, 1
    with localcontext() as context:
        # the errors of the quotient, of exp (correctly rounded) and of the product stay below 1 together
        context.prec = scale * 31 // 100 + len(str(scale)) + 4
        power = (Decimal(exponent.numerator) / exponent.denominator).exp() * (1 << scale)
        below = int(power.to_integral_value(ROUND_FLOOR))
    return max(below - 1, 0), below + 2
