"""Skewness: a class in which a value is much more frequent than in the whole table.

*Attacker.* Knows the class of a person. *Claim*: the value of the class whose share rises most, ``p_v - q_v``.
*Prior* q_v, *posterior* p_v. *Learnt*: the share rises by more than 0.1. The largest ratio ``p_v / q_v`` over all
classes and values is reported too: from 1 % to 1/3 is a difference of 97/300 and a ratio of 100/3.

With the original and persons held out (``control``) the gain is the risk beyond these: how often the claims are right
about the persons of the original, and about others, each over the classes that cover him.

*Bounds.* t-closeness (any of the three distances with diameter 1; equal distance: ``p_v - q_v <= t``); basic
beta-likeness (``p_v <= (1 + beta) q_v``); delta-disclosure (the logarithm of the ratio). *Source.* Li, Li,
Venkatasubramanian, ICDE 2007, section 3.1.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.attacks.candidates import contrasted
from indistinct.attacks.contract import Attack
from indistinct.attacks.outcome import NOTABLE, Contrast, Idle, Outcome
from indistinct.models.exact import rational
from indistinct.policy.privacy import BetaLikeness, DeltaDisclosure, TCloseness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.view import Sensitive


def skewness(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Compare the shares of every class with those of everybody."""
    view = context.view
    for name, sensitive in view.sensitive.items():
        histogram, owner = sensitive.histogram, sensitive.owner
        total = int(sensitive.prior.sum())
        after = histogram.count / view.sizes[owner]
        before = sensitive.prior[histogram.value] / total
        # the entry of each class that rises most; ties by the order of the values
        order = np.lexsort((histogram.value, -np.round(after - before, 12), owner))
        best = order[np.searchsorted(owner[order], np.arange(len(view.sizes)))]
        learnt = after[best] - before[best] > NOTABLE
        ratio = int(np.argmax(np.round(after / before, 12)))
        rise = int(best[np.argmax(np.round(after[best] - before[best], 12))])
        people = int(view.sizes[learnt].sum())

        def show(kind: int, sensitive: Sensitive = sensitive, best: Any = best) -> str:
            text = sensitive.texts[sensitive.histogram.value[best[kind]]]
            share, usual = after_of(sensitive, int(best[kind]), view.sizes[kind]), usual_of(sensitive, int(best[kind]))
            rise = f"from {float(usual):.1%} to {float(share):.1%}"
            return f"{view.label(kind)}: {sensitive.attribute} = {text} rises {rise}"

        share, usual = after_of(sensitive, rise, view.sizes[owner[rise]]), usual_of(sensitive, rise)
        top = after_of(sensitive, ratio, view.sizes[owner[ratio]]) / usual_of(sensitive, ratio)
        yield Outcome(
            name, view.sizes, before[best], after[best], learnt, view.first, "published",
            f"for {people} of {view.total} persons the belief in some {name} rises by more than {NOTABLE}; at worst "
            f"from {float(usual):.4g} to {float(share):.4g}, and by a factor of {float(top):.4g}",
            {"largest_difference": rational(share - usual), "largest_ratio": rational(top)},
            show,
            contrast=_contrast(context, sensitive, histogram.value[best]),
        )  # fmt: skip


def _contrast(context: AttackContext, sensitive: Sensitive, claimed: NDArray[np.int32]) -> Contrast | None:
    number = {text: place for place, text in enumerate(sensitive.texts)}
    return contrasted(
        context,
        sensitive.attribute,
        lambda texts: np.array([number.get(text, -1) for text in texts], np.float64),
        lambda marks, classes: marks == claimed[classes],
    )


def after_of(sensitive: Sensitive, entry: int, size: int) -> Fraction:
    """Return the exact share of an entry of the histogram in its class."""
    return Fraction(int(sensitive.histogram.count[entry]), int(size))


def usual_of(sensitive: Sensitive, entry: int) -> Fraction:
    """Return the exact share of the value of an entry among everybody."""
    return Fraction(int(sensitive.prior[sensitive.histogram.value[entry]]), int(sensitive.prior.sum()))


ATTACK = Attack(
    skewness,
    supposes="knows the class of a person, and how values are distributed over everybody",
    bounded_by=(TCloseness, BetaLikeness, DeltaDisclosure),
    of_the_file=True,
    needs={},
    options=("control",),
)
