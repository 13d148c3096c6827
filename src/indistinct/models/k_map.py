"""k-map: every published class fits at least k people of the population.

Definition: N_E >= k for every class E, N_E the number of rows of a *population* table that the labels of E cover. The
population contains the table (it is an error if it does not), so N_E >= n_E and k-anonymity implies k-map.

Where the classes are boxes that may overlap, a population row counts for every box that contains it: each of them
could be its own.

Statistical form, without a population table: classes of at least k' rows, where k' is the least number for which a
Poisson variable X of mean k q (q the sampling fraction), or X given X >= 1 (*zero_truncated_poisson*), has P(X >= k')
<= significance; at most k, because k rows of the sample are k people. A class that large would be unlikely if its
population class had k members only. It is a bet on the sampling, not a guarantee.

Closure. Merge-closed and absorbing: the labels of a union cover what the labels of each part cover. Suppressing another
class leaves N_E alone.

Source: L. Sweeney, IJUFKS 10(5), 2002, doi:10.1142/S0218488502001648; K. El Emam, F. Dankar, JAMIA 15(5):627-637, 2008,
doi:10.1197/jamia.M2716 (the statistical form; the exact k' is derived here).
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models import k_anonymity
from indistinct.models.contract import Context, Criterion, Evaluation, Model, Promise, reason_of
from indistinct.models.exact import subject
from indistinct.models.populations import population_rows
from indistinct.policy.privacy import KMap

if TYPE_CHECKING:
    from fractions import Fraction

    from indistinct.tables.records import Classes


def sample_size(k: int, fraction: Fraction, significance: Fraction, *, truncated: bool) -> int:
    """Least k' with P(X >= k') <= significance for X ~ Poisson(k q), given X >= 1 where ``truncated``; at most k.

    Exact: e^(-k q) is irrational, so no probability ties with the significance, and digits are added until it shows.

    >>> from fractions import Fraction
    >>> sample_size(5, Fraction(1, 10), Fraction(1, 100), truncated=False)  # P(X >= 3) = 0.0144, P(X >= 4) = 0.0018
    4
    """
    digits = 50
    while True:
        with localcontext() as context:
            context.prec = digits
            mean = Decimal(k) * fraction.numerator / fraction.denominator
            level = Decimal(significance.numerator) / significance.denominator
            term = (-mean).exp()
            if truncated:
                level *= 1 - term
            above, number, close = 1 - term, 1, False  # above = P(X >= number)
            while number < k:
                close = abs(above - level) < Decimal(10) ** (10 - digits) * k
                if close or above <= level:
                    break
                term = term * mean / number
                above -= term
                number += 1
            if not close:
                return number
        digits *= 2


def _least(privacy: KMap) -> int:
    """Least number of rows of a class under the statistical form."""
    truncated = privacy.estimator == "zero_truncated_poisson"
    if privacy.sampling_fraction is None:  # refused by the policy
        return privacy.k
    return sample_size(privacy.k, privacy.sampling_fraction, privacy.significance, truncated=truncated)


def evaluate(privacy: KMap, classes: Classes, context: Context) -> Evaluation:  # noqa: ARG001  # the contract's
    """Compare the population of every class with k, or its size with k'.

    Raises UnsupportedError where the population of the classes is not known.
    """
    if privacy.estimator is not None:
        least = _least(privacy)
        found = k_anonymity.reason(least, classes)
        sentence = (
            f"k = {privacy.k} in the population asks for {least} rows in the table ({privacy.estimator}); {found}"
        )
        best = {"sample_k": int(classes.sizes.min())}
        return Evaluation(classes.sizes >= least, classes.sizes.astype(np.float64), best, sentence)
    members = population_rows(privacy, classes)
    satisfied = members >= privacy.k
    smallest = int(members.min())
    if satisfied.all():
        sentence = f"every class fits at least {privacy.k} rows of the population; the smallest fits {smallest}"
    else:
        sentence = f"{subject(satisfied, 'fits', 'fit')} fewer than {privacy.k} rows of the population"
        sentence += f"; the smallest fits {smallest}"
    return Evaluation(satisfied, members.astype(np.float64), {"k": smallest}, sentence)


def achieved(classes: Classes, *_: Any) -> dict[str, Any]:
    """Largest k that the classes satisfy; None where the population is not known."""
    population = classes.population
    return {"k": None if population is None else int(population.rows.min())}


def criteria(privacy: KMap, context: Context) -> tuple[Criterion, ...] | None:  # noqa: ARG001  # the contract's
    """Compile the statistical form: a size."""
    return None if privacy.estimator is None else k_anonymity.size_criterion(_least(privacy))


MODEL = Model(
    KMap,
    title="k-map",
    scope="class",
    looks_at="population",
    merge_closed=True,
    absorbing=True,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=reason_of(evaluate),
    promises=lambda privacy: Promise(candidates=privacy.k),
)
