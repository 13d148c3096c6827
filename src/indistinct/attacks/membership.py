"""Membership: whether a person of a population is in the release at all.

*Attacker.* Has a population (``identified``) that holds everybody of the release and others. Of a published tuple
with r rows that covers b persons of the population, each of these is one of the r with belief r/b. *Claim* about
person i: in the release, when that is likelier than before, else not. *Belief* p_i = min(1, sum r/b over the tuples
that cover i); 0 without one. *Prior* N_release/N_population (or 1 - it), *posterior* p_i (or 1 - p_i). *Learnt*: p_i
is 0 or 1.

With a recoding that is the same for both tables r/b is the delta of delta-presence.

*Bounds.* delta-presence: ``delta_min <= p_i <= delta_max``. *Source.* Nergiz, Atzori, Clifton, SIGMOD 2007, 665-676.
Not done: a tuple that covers fewer persons than it has rows shows that the table is not the population.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.matching import matches
from indistinct.attacks.outcome import Idle, Outcome
from indistinct.policy.privacy import DeltaPresence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indistinct.attacks.context import AttackContext


def membership(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Ask of each person of a population whether he is in the release."""
    whole, view = context.identified, context.view
    if whole is None:
        yield Idle(None, "needs --identified with a population that holds more persons than the release")
        return
    people = whole.select([name for name in view.quasi if name in whole.columns])
    if people.total < view.total:
        yield Idle(None, f"the identified table has {people.total} persons and the release {view.total} rows: "
            "it is not the population that the release was taken from",
        )  # fmt: skip
        return
    covered = np.zeros(len(view.rows), np.int64)
    for block in matches(context, view, people, unknown=True):
        np.add.at(covered, block.tuples, people.rows[block.of])
    short = int((covered < view.rows).sum())
    if short:
        yield Idle(None, f"{short} published tuples have more rows than the identified table has persons for "
            "them: it is not the population that the release was taken from",
        )  # fmt: skip
        return
    ratio = view.rows / covered
    belief = np.zeros(len(people.rows))
    for block in matches(context, view, people, unknown=True):
        np.add.at(belief, block.of, ratio[block.tuples])
    belief = np.minimum(1.0, belief)
    before = view.total / people.total
    # sums of ratios are compared with a band: a belief of 1 - 1e-17 is one of 1
    certain = (belief < 1e-12) | (belief > 1 - 1e-12)
    certain &= before < 1
    inside = belief >= before
    present = int(people.rows[certain & inside].sum())
    absent = int(people.rows[certain & ~inside].sum())
    yield Outcome(
        None, people.rows, np.where(inside, before, 1 - before), np.where(inside, belief, 1 - belief),
        certain, people.first, "identified",
        f"of {people.total} persons {present} are certainly in the release and {absent} certainly not; the belief "
        f"before was {before:.4g}",
        {
            "certainly_present": present, "certainly_absent": absent,
            "lowest_belief": round(float(belief.min()), 12), "highest_belief": round(float(belief.max()), 12),
        },
        lambda kind: f"{whole.show(int(people.first[kind]))}: in the release with belief {belief[kind]:.4g}",
    )  # fmt: skip


ATTACK = Attack(
    membership,
    supposes="knows everybody of the population, and that the release is a part of it",
    bounded_by=(DeltaPresence,),
    of_the_file=False,
    needs={},
)
