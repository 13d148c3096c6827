"""Profitability: an attacker who counts costs does not attack, or publishing pays although he does.

With m = n_E (*prosecutor*: the attacker knows that the person is in the table; persons where there is a person key) or
m = N_E (*journalist*: rows of the population that the labels of E cover), an attack on a row of E succeeds with 1 / m.
Its payoff is gain / m - cost; an attack happens when that is above 0.

- attack = false: gain / m < cost for every class E, strict. That is k-anonymity, or k-map, with k = floor(gain / cost)
  + 1; k = 1 for gain 0; out of reach for cost 0 and a gain.
- attack = true: the publisher's payoff of a row is above 0 in every class E:
  benefit (1 - IL) - (loss / m where an attack happens, else 0) > 0.

IL in [0, 1] is the entropy-based loss of a row of E: 1 + ln(prod_i share_i) / ln(prod_i size_i), share_i the share of
the values of quasi-identifier i that its cell covers and size_i the number of these values; 0 where all sizes are 1.

At payoff 0 there is no attack in the second form, but the first form refuses it; so the literature and ARX have it.

Closure. attack = false: merge-closed and absorbing, as sizes are. attack = true: neither; larger classes are attacked
less but lose detail. Suppressing another class leaves E alone.

Exact test: 1 - IL is a ratio of logarithms of integers; doubles decide outside a band of 1e-9, inside it products of
powers are compared (``exact.power_sign``).

Source: Z. Wan and others, PLoS ONE 10(3):e0120592, 2015, doi:10.1371/journal.pone.0120592; F. Prasser and others,
"An open source tool for game theoretic health data de-identification", AMIA 2017 (the entropy-based loss).
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import UnsupportedError
from indistinct.models import k_anonymity
from indistinct.models.contract import LEVELS, Context, Criterion, Evaluation, K, Model, no_number, reason_of
from indistinct.models.exact import SAFE, power_sign, subject
from indistinct.models.populations import population_rows
from indistinct.policy.privacy import Profitability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.tables.records import Classes, Detail

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]
    Bool = NDArray[np.bool_]

_BAND = 1e-9


def least_size(gain: Fraction, cost: Fraction) -> int | None:
    """Least m with gain / m < cost; None where there is none.

    >>> least_size(Fraction(300), Fraction(4)), least_size(Fraction(0), Fraction(0))
    (76, 1)
    """
    if gain == 0:
        return 1
    return None if cost == 0 else int(gain / cost) + 1


def payoffs(privacy: Profitability, members: int, loss: Fraction) -> tuple[Fraction, Fraction]:
    """Payoffs of attacker and publisher for a row whose class has ``members`` and which lost ``loss`` (IL).

    >>> from indistinct.policy.privacy import Profitability
    >>> payoffs(Profitability(gain=300, cost=4, loss=300, benefit=1200), 75, Fraction(1, 2))
    (Fraction(0, 1), Fraction(600, 1))
    """
    attacker = privacy.gain / members - privacy.cost
    publisher = (privacy.benefit or 0) * (1 - loss)
    if attacker > 0:
        publisher -= (privacy.loss or 0) / Fraction(members)
    return attacker, Fraction(publisher)


def measure(detail: Detail) -> Float64:
    """float64[g]: 1 - IL of each class."""
    whole = float(np.log(detail.sizes).sum())
    if whole == 0:
        return np.ones(len(detail.covered))
    found: Float64 = (np.log(detail.sizes) - np.log(detail.covered)).sum(axis=1) / whole
    return found


def _members(privacy: Profitability, classes: Classes) -> Int64:
    return classes.sizes if privacy.attacker == "prosecutor" else population_rows(privacy, classes)


def _pays(privacy: Profitability, members: Int64, detail: Detail) -> tuple[Bool, Float64]:
    """Whether publishing pays in each class, and the publisher's payoff for display."""
    benefit, loss = privacy.benefit or Fraction(0), privacy.loss or Fraction(0)
    safe_from = least_size_without_attack(privacy)
    attacked = members < safe_from
    lost = np.where(attacked, float(loss) / members, 0.0)
    payoff = float(benefit) * measure(detail) - lost
    pays: Bool = payoff > 0
    near = np.abs(payoff) <= _BAND * (float(benefit) + lost + 1)
    for number in np.flatnonzero(near).tolist():
        covered = prod(detail.covered[number].tolist())
        pays[number] = _pays_exactly(
            benefit,
            loss / int(members[number]) if attacked[number] else Fraction(0),
            prod(detail.sizes.tolist()),
            covered,
        )
    return pays, payoff


def _pays_exactly(benefit: Fraction, lost: Fraction, whole: int, covered: int) -> bool:
    """Decide benefit ln(whole / covered) / ln(whole) > lost."""
    if whole == 1:
        return benefit > lost
    scale = benefit.denominator * lost.denominator
    powers: dict[int, int] = {}
    for base, exponent in ((whole, benefit - lost), (covered, -benefit)):
        powers[base] = powers.get(base, 0) + int(exponent * scale)
    return power_sign(powers) > 0


def least_size_without_attack(privacy: Profitability) -> int:
    """Least m with gain / m <= cost: at payoff 0 there is no attack."""
    if privacy.gain == 0:
        return 1
    return SAFE if privacy.cost == 0 else max(1, -(-privacy.gain // privacy.cost))


def evaluate(privacy: Profitability, classes: Classes, context: Context) -> Evaluation:  # noqa: ARG001  # the contract's
    """Judge every class by the payoffs of its rows.

    Raises UnsupportedError where the cells of the classes, or their population, are not known.
    """
    members = _members(privacy, classes)
    whose = "its class" if privacy.attacker == "prosecutor" else "the population of its class"
    smallest = int(members.min())
    if not privacy.attack:
        least = least_size(privacy.gain, privacy.cost)
        satisfied = np.zeros(len(members), np.bool_) if least is None else members >= least
        sentence = f"an attack on a row pays unless {whose} has at least {least} members; the smallest has {smallest}"
        if least is None:
            sentence = "an attack costs nothing, so it pays whatever the classes are"
        elif not satisfied.all():
            sentence = f"{subject(satisfied, 'has', 'have')} fewer members; {sentence}"
        return Evaluation(satisfied, members.astype(np.float64), {"k": smallest}, sentence)
    if classes.detail is None:
        raise UnsupportedError(
            "profitability with attack = true needs to know what the cells cover, which a table alone does not tell;"
            " verify it against its original"
        )
    satisfied, payoff = _pays(privacy, members, classes.detail)
    sentence = f"the smallest payoff of a row is {payoff.min():.4g}, the smallest class has {smallest}"
    if satisfied.all():
        sentence = f"publishing pays in every class; {sentence}"
    else:
        sentence = f"publishing does not pay in {int((~satisfied).sum())} of {len(members)} classes; {sentence}"
    return Evaluation(satisfied, payoff, {"payoff": {"decimal": float(payoff.min())}}, sentence)


def achieved(classes: Classes, *_: Any) -> dict[str, Any]:
    """Largest k of the form without attacks."""
    return {"k": int(classes.sizes.min())}


def criteria(privacy: Profitability, context: Context) -> tuple[Criterion, ...] | None:  # noqa: ARG001  # the contract's
    """Compile the form without attacks, of a prosecutor: a size."""
    if privacy.attack or privacy.attacker == "journalist":
        return None
    least = least_size(privacy.gain, privacy.cost)
    if least is None:
        return (Criterion(K, None, np.array([SAFE], np.float64), merge_closed=True, absorbing=True),)
    return k_anonymity.size_criterion(least)


def _closure(privacy: Profitability) -> tuple[bool, bool]:
    return not privacy.attack, not privacy.attack


def _needs(privacy: Profitability) -> str | None:
    """Name what does not mend classes by merging them, where merging may break the model."""
    return LEVELS if privacy.attack else None


MODEL = Model(
    Profitability,
    title="profitability",
    scope="class",
    looks_at="population",
    merge_closed=False,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=reason_of(evaluate),
    promises=no_number,
    detailed=lambda privacy: privacy.attack,
    closure=_closure,
    needs=_needs,
)
