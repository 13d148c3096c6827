"""Differencing: what one release has and another of the same people lacks.

*Attacker.* Has two releases where the persons of one (the part) are among those of the other (the whole): newcomers
joined or leavers left in between. A class of the part that overlaps exactly one class of the whole lies in it with
all its persons, so its counts can be taken away. What is left of a class of the whole are the persons whom the part
does not tell apart. This also works when the two were recoded differently. *Claim*: a left-over of which all rows
have one value discloses it to whoever knows who these persons are (the newcomers). *Prior* the share of the value
among everybody in the whole, *posterior* 1. *Learnt*: the persons of such left-overs. Persons attacked: those of all
left-overs.

A difference that would be negative shows that the persons or values changed: that direction is not run.

*Bounds.* m-invariance (no single-release model does). Counts {flu 2, cancer 2} and later {flu 2, cancer 3}: one
newcomer, who has cancer. *Source.* Xiao, Tao, SIGMOD 2007, 689-700.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.outcome import Idle, Outcome
from indistinct.attacks.overlap import overlaps
from indistinct.policy.privacy import MInvariance
from indistinct.risk.figure import things

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.view import View

    Int64 = NDArray[np.int64]


MOST_CELLS = 200_000_000


def differencing(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Take the classes of each release from those of the other."""
    assert context.other is not None  # noqa: S101  # the record says that it is needed
    names = [name for name in context.view.sensitive if name in context.other.sensitive]
    if not names:
        yield Idle(None, "the two releases have no sensitive column in common")
        return
    for name in names:
        cells = max(len(context.view.sizes), len(context.other.sizes)) * len(context.view.sensitive[name].texts)
        if cells > MOST_CELLS:
            yield Idle(name, f"{cells} counts of classes and values of {name} are too many to compare")
            continue
        found = [
            answer
            for whole, part, table in (
                (context.view, context.other, "published"),
                (context.other, context.view, "with"),
            )
            if (answer := _from_whole(context, whole, part, name, table)) is not None
        ]
        ran = [answer for answer in found if answer.weight.sum()]
        if ran:
            yield from ran
        elif found:
            yield Idle(name, f"the two releases hold the same persons and {name}: nothing is left over")
        else:
            yield Idle(name, f"neither release holds all persons of the other with the same {name}: a class "
                "would have a negative number of rows",
            )  # fmt: skip


def left_over(context: AttackContext, whole: View, part: View, name: str) -> Int64 | None:
    """int64[g, m]: counts that remain of each class of the whole; None where one would be negative.

    m values of the whole and of the part together, in the order of the whole. Only classes of the part that overlap one
    class of the whole are taken away; classes of the whole that overlap others of the part remain as they are and count
    as nothing (all 0), since it is not known what to take away.
    """
    mine, theirs = whole.sensitive[name], part.sensitive[name]
    texts = list(dict.fromkeys([*mine.texts, *theirs.texts]))
    number = {text: place for place, text in enumerate(texts)}
    rest = np.zeros((len(whole.sizes), len(texts)), np.int64)
    rest[mine.owner, mine.histogram.value] = mine.histogram.count
    pairs = overlaps(context, whole, part)
    both = np.unique(np.stack([whole.class_of[pairs.mine], part.class_of[pairs.theirs]]), axis=1)
    partners = np.bincount(both[1], minlength=len(part.sizes))
    if (partners == 0).any():
        return None
    inside = partners[both[1]] == 1
    home = np.full(len(part.sizes), -1)
    home[both[1][inside]] = both[0][inside]
    translate = np.array([number[text] for text in theirs.texts])
    entry = home[theirs.owner] >= 0
    np.subtract.at(
        rest, (home[theirs.owner][entry], translate[theirs.histogram.value[entry]]), theirs.histogram.count[entry]
    )
    if (rest < 0).any():
        return None
    rest[np.unique(both[0][~inside])] = 0
    return rest


def _from_whole(context: AttackContext, whole: View, part: View, name: str, table: str) -> Outcome | None:
    rest = left_over(context, whole, part, name)
    if rest is None:
        return None
    sizes = rest.sum(axis=1)
    kinds = np.flatnonzero(sizes)
    value = rest[kinds].argmax(axis=1)
    learnt = (rest[kinds] > 0).sum(axis=1) == 1
    sensitive = whole.sensitive[name]
    prior = np.append(sensitive.prior, 0)[np.minimum(value, len(sensitive.prior))] / sensitive.prior.sum()
    weight = sizes[kinds]
    people = int(weight[learnt].sum())
    return Outcome(
        name, weight, np.where(learnt, prior, 0.0), np.where(learnt, 1.0, 0.0), learnt,
        whole.first[kinds], table,
        f"{things(int(weight.sum()), 'rows')} {'is' if weight.sum() == 1 else 'are'} left over in "
        f"{things(len(kinds), 'classes')}; {people} of them in classes whose left-over has one {name}",
        {"left_over_rows": int(weight.sum()), "left_over_classes": len(kinds), "disclosed_classes": int(learnt.sum())},
        lambda kind: (
            f"{whole.label(int(kinds[kind]))}: the {weight[kind]} rows left over have {name} = "
            f"{sensitive.texts[int(value[kind])]}"
        ),
    )  # fmt: skip


ATTACK = Attack(
    differencing,
    supposes="has two releases of the same people, and knows who came or went between them",
    bounded_by=(MInvariance,),
    of_the_file=False,
    needs={"other": "needs a second release of the same people: --with OTHER"},
)
