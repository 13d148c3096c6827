"""Entropy l-diversity with Grassberger's estimate of the entropy: the ``estimator`` of ``entropy_l``.

Definition: H_G = G(n_E) - (1 / n_E) sum_v c_v G(c_v) >= ln l, and at least ceil(l) distinct values, with G(1) =
-gamma - ln 2 and G(2j) = G(2j + 1) = G(1) + sum_{i=1}^{j} 2 / (2i - 1). The constant G(1) cancels, because
the c_v add up to n_E: H_G is rational, and never equal to ln l for rational l > 1.

Grassberger has ln n_E in place of G(n_E); then a class of one row would get 1.27 and not 0. Without the second
condition two rows of two values would be 7.39-diverse: H_G = 2.

Closure. **Not merge-closed**: (1,1) and (1,1) hold for l = 2, their even union (2,2) has H_G = 2/3 < ln 2. So
nothing is pruned on it, and a search without suppression may fail where finer classes would hold. Not absorbing.
Suppressing another class leaves E alone.

Source: P. Grassberger, arXiv:physics/0307138, 2003; S. Stammler, S. Katzenbeisser, K. Hamacher, PSD 2016,
doi:10.1007/978-3-319-45381-1_11.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models.contract import Evaluation
from indistinct.models.exact import subject
from indistinct.models.histograms import add_up, distinct

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from indistinct.policy.privacy import EntropyL
    from indistinct.tables.records import Classes

    Float64 = NDArray[np.float64]

_BAND = 1e-9


def measure(classes: Classes, attribute: str) -> Float64:
    """float64[g]: H_G of each class."""
    histogram = classes.histograms[attribute]
    terms = _terms(int(classes.rows.max()))
    weighted = add_up(histogram.count * terms[histogram.count], histogram)
    found: Float64 = terms[classes.rows] - weighted / classes.rows
    return found


def _terms(largest: int) -> Float64:
    """float64[largest + 1]: G(c) - G(1) for c = 0, 1, ..., ``largest``."""
    steps = 2.0 / (2.0 * np.arange(1, largest // 2 + 1) - 1.0)
    sums = np.concatenate([[0.0], np.cumsum(steps)])
    found: Float64 = sums[np.arange(largest + 1) // 2]
    return found


def holds(counts: list[int], length: Fraction) -> bool:
    """Decide H_G >= ln l for one class, exactly; ``counts`` >= 1.

    >>> from fractions import Fraction
    >>> holds([1, 1], Fraction(2)), holds([2, 2], Fraction(2)), holds([3], Fraction(1))
    (True, False, True)
    """
    if length == 1:  # H_G >= 0, since G grows
        return True
    rows, digits = sum(counts), 50
    while True:
        with localcontext() as context:
            context.prec = digits
            sums = [Decimal(0)]
            for i in range(1, rows // 2 + 1):
                sums.append(sums[-1] + Decimal(2) / (2 * i - 1))
            estimate = sums[rows // 2] - sum((c * sums[c // 2] for c in counts), Decimal(0)) / rows
            wanted = Decimal(length.numerator).ln() - Decimal(length.denominator).ln()
            scale = 2 * sums[rows // 2] + Decimal(length.numerator).ln() + Decimal(length.denominator).ln() + 1
            difference = estimate - wanted
            if abs(difference) > scale * (rows + len(counts) + 8) * Decimal(10) ** (1 - digits):
                return difference > 0
        digits *= 2


def evaluate(privacy: EntropyL, classes: Classes) -> Evaluation:
    """Compare H_G of every class with ln l, and its distinct values with l."""
    histogram, length = classes.histograms[privacy.attribute], privacy.l
    estimates, values = measure(classes, privacy.attribute), distinct(histogram)
    difference = estimates - log(length)
    satisfied = (difference >= 0) & (values >= length.__ceil__())
    known: dict[tuple[int, ...], bool] = {}
    near = (np.abs(difference) < _BAND * (1 + np.log(classes.rows))) & (values >= length.__ceil__())
    for number in np.flatnonzero(near).tolist():
        counts = tuple(sorted(histogram.count[histogram.start[number] : histogram.start[number + 1]].tolist()))
        if counts not in known:
            known[counts] = holds(list(counts), length)
        satisfied[number] = known[counts]
    best = achieved(classes, privacy.attribute)
    smallest = f"the smallest l is {best['l']['decimal']:.4g}"
    if satisfied.all():
        sentence = f"every class has an estimated entropy of at least ln {length} and as many values; {smallest}"
    else:
        has = subject(satisfied, "has", "have")
        sentence = f"{has} an estimated entropy below ln {length}, or fewer values; {smallest}"
    return Evaluation(satisfied, np.minimum(np.exp(estimates), values), best, sentence)


def achieved(classes: Classes, attribute: str) -> dict[str, Any]:
    """Largest l that the classes satisfy: the smallest of exp(H_G) and of the numbers of values."""
    values = distinct(classes.histograms[attribute])
    return {"l": {"decimal": float(np.minimum(np.exp(measure(classes, attribute)), values).min())}}
