"""Homogeneity: everybody in a class has the same sensitive value.

*Attacker.* Knows the class of a person. *Claim*: the value of a class that has only one. *Prior* its share q_v of
everybody, *posterior* 1; for other classes the attacker claims nothing (prior = posterior = 0). *Learnt*: the class
has one value and the table more than one.

*Bounds.* Distinct l-diversity with l >= 2: nobody. *Source.* Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, ACM
TKDD 1(1):3, 2007, section 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.outcome import Idle, Outcome
from indistinct.policy.privacy import DistinctL, EntropyL, PSensitiveK, RecursiveCL, TCloseness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indistinct.attacks.context import AttackContext


def homogeneity(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Look for classes with one sensitive value."""
    view = context.view
    for name, sensitive in view.sensitive.items():
        prior = sensitive.prior / sensitive.prior.sum()
        sole = sensitive.sole()
        learnt = (sole >= 0) & (int((sensitive.prior > 0).sum()) > 1)
        people = int(view.sizes[learnt].sum())

        def show(kind: int, name: str = name) -> str:
            texts, value = view.sensitive[name].texts, view.sensitive[name].sole()[kind]
            return f"{view.label(kind)}: all {view.sizes[kind]} rows have {name} = {texts[value]}"

        yield Outcome(
            name, view.sizes, np.where(learnt, prior[sole], 0.0), np.where(learnt, 1.0, 0.0), learnt,
            view.first, "published",
            f"{int(learnt.sum())} of {len(learnt)} classes hold one {name}: "
            f"{people} of {view.total} persons are disclosed",
            {"classes": int(learnt.sum())},
            show,
        )  # fmt: skip


ATTACK = Attack(
    homogeneity,
    supposes="knows the class of a person",
    bounded_by=(DistinctL, EntropyL, RecursiveCL, PSensitiveK, TCloseness),
    of_the_file=True,
    needs={},
)
