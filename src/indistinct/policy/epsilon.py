"""Budgets of differential privacy as a policy writes them, added and compared exactly."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

from indistinct.policy.parameters import exact

LARGEST = 20
_DIGITS = 60
_DOUBT = Fraction(1, 10**50)


@dataclass(frozen=True)
class Epsilon:
    """The number ``plain + ln base``, base >= 1.

    >>> two = Epsilon.read("ln 2")
    >>> str(two + two), str(two + Epsilon.read(0.5)), two.is_below(Epsilon.read("0.7"))
    ('ln 4', '0.5 + ln 2', True)
    """

    plain: Fraction = Fraction(0)
    base: Fraction = Fraction(1)

    @classmethod
    def read(cls, value: object) -> Epsilon:
        """Read a number above 0 and at most ``LARGEST``, or ``ln x`` with x above 1; raises ValueError."""
        message = 'must be a number above 0, or a text such as "ln 2"'
        logarithm = re.fullmatch(r"\s*ln\s+(\S+)\s*", value) if isinstance(value, str) else None
        try:
            number = exact(logarithm[1] if logarithm else value)
        except ValueError:
            raise ValueError(message) from None
        if number <= (1 if logarithm else 0):
            raise ValueError(message)
        if logarithm:
            return cls(base=number)
        if number > LARGEST:
            raise ValueError(f"must be at most {LARGEST}: more is no protection")
        return cls(number)

    def __add__(self, other: Epsilon) -> Epsilon:
        """Spend both: budgets of steps on one table add up."""
        return Epsilon(self.plain + other.plain, self.base * other.base)

    def is_below(self, other: Epsilon) -> bool:
        """Whether it is less for sure; in doubt (closer than 10^-50) it is not."""
        return self._above(other) < 0

    def is_within(self, other: Epsilon) -> bool:
        """Whether it is at most the other for sure."""
        return self._above(other) <= 0

    def _above(self, other: Epsilon) -> Fraction:
        """An upper bound of the difference, exact where no logarithm has to be computed."""
        difference, ratio = self.plain - other.plain, self.base / other.base
        if ratio == 1:
            return difference
        if difference == 0:
            return ratio - 1  # of the same sign
        with localcontext() as context:
            context.prec = _DIGITS
            return difference + Fraction((Decimal(ratio.numerator) / ratio.denominator).ln()) + _DOUBT

    def __str__(self) -> str:
        """Write it so that no digit is lost: ``0.5``, ``1/3``, ``ln 2`` or ``0.5 + ln 2``."""
        plain = str(self.plain)
        if 10**25 % self.plain.denominator == 0:
            plain = format(Decimal(self.plain.numerator) / self.plain.denominator, "f")
        terms = [plain] if self.plain or self.base == 1 else []
        return " + ".join([*terms, *([f"ln {self.base}"] if self.base != 1 else [])])
