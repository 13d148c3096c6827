"""SafePub: differential privacy by sampling, a recoding fixed beforehand, and dropping small classes.

Mechanism: every row is kept with probability beta, recoded at levels that do not depend on the data, and every class
with fewer than k sampled rows is dropped. It is (epsilon, delta)-differentially private (one row added or removed) for

    beta = 1 - e^-epsilon (the largest allowed),   gamma = (e^epsilon - 1 + beta) / e^epsilon,
    a_n = P[Bin(n, beta) > gamma n],   delta(k) = max over n >= n_m of a_n,   n_m = ceil(k / gamma - 1),

and the smallest k with delta(k) <= delta. a_n is not monotone; but a_n <= c_n = exp(-n (gamma ln(gamma / beta) -
(gamma - beta))), which falls, so the search ends at the first n with c_n <= delta.

Exact: for epsilon = ln x all numbers are fractions. For a decimal epsilon e^epsilon is enclosed by two fractions 1e-60
apart, beta is rounded down, and gamma n is rounded so that the tail has the doubtful term and n_m is the smaller one:
k may be larger than needed, never smaller. The sample is drawn with exactly the probability beta of the calculation.

With ``search_epsilon`` a part of epsilon is spent on choosing the levels (``algorithms.safepub_scheme``) and the rest
on the mechanism: with levels from a search_epsilon-private choice the whole is (epsilon, delta)-private, because the
budgets of two steps on one table add up.

What it protects is one row, against everything else in the table, in one release: budgets of several releases add up.
A file cannot show how it was made: ``evaluate`` tests that the classes have k rows, which only together with the
mechanism means anything; ``audit`` and ``verify`` refuse it.

Closure: not asked for, the scheme is fixed. Size k is merge-closed and absorbing.

Source: N. Li, W. Qardaji, D. Su, ASIACCS 2012, arXiv:1101.2604; R. Bild, K. Kuhn, F. Prasser, PoPETs 2018(1):67-87,
doi:10.1515/popets-2018-0004.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil, comb, floor
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models import k_anonymity
from indistinct.models.contract import MECHANISM, Context, Criterion, Evaluation, Model, needing, no_number, reason_of
from indistinct.policy.privacy import Safepub

if TYPE_CHECKING:
    from indistinct.tables.records import Classes

_DIGITS = 60
_BETA_DIGITS = 40


@dataclass(frozen=True, slots=True)
class Mechanism:
    """Numbers of one mechanism: ``beta`` exact, ``gamma`` enclosed by ``low`` and ``high``."""

    beta: Fraction
    low: Fraction
    high: Fraction

    def tail(self, n: int) -> Fraction | Decimal:
        """P[Bin(n, beta) > gamma n], the doubtful term included; a Decimal is right to 50 digits."""
        least = floor(self.low * n) + 1
        if self.low == self.high:
            p, q = self.beta.numerator, self.beta.denominator
            return Fraction(sum(comb(n, j) * p**j * (q - p) ** (n - j) for j in range(least, n + 1)), q**n)
        with localcontext() as context:
            context.prec = _DIGITS
            sampled = Decimal(self.beta.numerator) / Decimal(self.beta.denominator)
            return sum((comb(n, j) * sampled**j * (1 - sampled) ** (n - j) for j in range(least, n + 1)), Decimal(0))

    def exceeds(self, n: int, delta: Fraction) -> bool:
        """Whether a_n > delta; in doubt it does."""
        tail = self.tail(n)
        if isinstance(tail, Fraction):
            return tail > delta
        with localcontext() as context:
            context.prec = _DIGITS
            bound = Decimal(delta.numerator) / Decimal(delta.denominator)
            return tail > bound * (1 - Decimal(10) ** -_BETA_DIGITS)

    def chernoff(self) -> Decimal:
        """Rate r of the bound a_n <= exp(-n r), rounded down."""
        with localcontext() as context:
            context.prec = _DIGITS
            gamma, beta = _decimal(self.low), _decimal(self.beta)
            return (gamma * (gamma / beta).ln() - (gamma - beta)) * (1 - Decimal(10) ** -_BETA_DIGITS)


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def mechanism(epsilon: str, search: Fraction | None = None) -> Mechanism:
    """Compute beta and gamma for an epsilon as a policy states it, a decimal or ``ln x``, less what a search spends.

    >>> mechanism("ln 2")
    Mechanism(beta=Fraction(1, 2), low=Fraction(3, 4), high=Fraction(3, 4))
    """
    whole = Fraction(epsilon.removeprefix("ln ")) if epsilon.startswith("ln ") else Fraction(1)
    if epsilon.startswith("ln ") and not search:
        beta = 1 - 1 / whole
        gamma = 1 - (1 - beta) / whole
        return Mechanism(beta, gamma, gamma)
    rest = (Fraction(0) if epsilon.startswith("ln ") else Fraction(epsilon)) - (search or 0)
    with localcontext() as context:
        context.prec = 2 * _DIGITS
        power = whole * Fraction(_decimal(rest).exp())
    margin = power / 10**_DIGITS
    low, high = power - margin, power + margin
    beta = Fraction(floor((1 - 1 / low) * 10**_BETA_DIGITS), 10**_BETA_DIGITS)
    return Mechanism(beta, 1 - (1 - beta) / low, 1 - (1 - beta) / high)


def least_k(found: Mechanism, delta: Fraction) -> int:
    """Return the smallest k with delta(k) <= delta.

    >>> least_k(mechanism("ln 2"), Fraction(1, 1000))
    29
    """
    with localcontext() as context:
        context.prec = _DIGITS
        last = int(-_decimal(delta).ln() / found.chernoff()) + 2
    worst = next((n for n in range(last, 0, -1) if found.exceeds(n, delta)), 0)
    # the least k for which ceil(k / gamma - 1) is above the worst n
    k = max(1, floor(found.high * worst))
    while ceil(k / found.high - 1) <= worst:
        k += 1
    return k


def delta_at(found: Mechanism, k: int) -> float:
    """Return delta(k), for display."""
    first = ceil(k / found.high - 1)
    rate, largest, n = found.chernoff(), 0.0, max(first, 1)
    while True:
        largest = max(largest, float(found.tail(n)))
        n += 1
        if largest >= float((-n * rate).exp()):
            return largest


def budget(privacy: Safepub) -> dict[str, str]:
    """Say what a release spends, as texts that keep every digit: in all, and where levels are searched in parts.

    >>> from indistinct.policy.privacy import Safepub
    >>> budget(Safepub("1", "1e-5", search_epsilon="0.2"))
    {'epsilon': '1', 'delta': '1/100000', 'epsilon_search': '1/5', 'epsilon_anonymization': '4/5'}
    """
    found = {"epsilon": privacy.epsilon, "delta": str(privacy.delta)}
    if privacy.search_epsilon is None:
        return found
    search, is_logarithm = privacy.search_epsilon, privacy.epsilon.startswith("ln ")
    rest = f"{privacy.epsilon} - {search}" if is_logarithm else str(Fraction(privacy.epsilon) - search)
    return {**found, "epsilon_search": str(search), "epsilon_anonymization": rest}


def _k(privacy: Safepub) -> int:
    return least_k(mechanism(privacy.epsilon, privacy.search_epsilon), privacy.delta)


def evaluate(privacy: Safepub, classes: Classes, context: Context) -> Evaluation:  # noqa: ARG001  # the contract's
    """Compare the size of every class with k. That the mechanism made the classes is not checked, and cannot be."""
    k = _k(privacy)
    sizes = classes.sizes
    spent = f", {float(privacy.search_epsilon):g} of it for the levels," if privacy.search_epsilon else ""
    sentence = (
        f"epsilon = {privacy.epsilon}{spent} and delta = {float(privacy.delta):g} ask for classes of at least {k} "
        f"sampled rows; {k_anonymity.reason(k, classes)}; the guarantee comes from how the table was made"
    )
    return Evaluation(sizes >= k, sizes.astype(np.float64), k_anonymity.achieved(classes), sentence)


def achieved(classes: Classes, *_: Any) -> dict[str, Any]:
    """Largest k that the classes satisfy; it says nothing about a mechanism."""
    return k_anonymity.achieved(classes)


def criteria(privacy: Safepub, context: Context) -> tuple[Criterion, ...]:  # noqa: ARG001  # the contract's
    """Compile the size condition."""
    return k_anonymity.size_criterion(_k(privacy))


MODEL = Model(
    Safepub,
    title="SafePub, differential privacy",
    scope="mechanism",
    looks_at="mechanism",
    merge_closed=True,
    absorbing=True,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=reason_of(evaluate),
    promises=no_number,
    needs=needing(MECHANISM),
)
