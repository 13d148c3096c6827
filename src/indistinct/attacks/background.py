"""Background knowledge: the attacker can rule out v values for his victim.

*Attacker.* Knows the class of a victim with value u, and that the v most frequent other values of the class are not
the victim's. *Claim*: the true value. With c_u of n_E rows and R the sum of the v largest other counts, the
*posterior* is ``c_u / (n_E - R)``; the *prior* is the same formula on the counts of everybody, with the v values
ruled out that are most frequent there. *Learnt*: posterior 1, so the class has at most v + 1 values. A class "breaks
at" its number of values minus 1.

*Bounds.* Distinct l-diversity with l >= v + 2: nobody is certain. Recursive (c,l)-diversity: a top value stays below
c/(c+1) after l - 2 were ruled out. *Source.* Machanavajjhala et al., ACM TKDD 1(1):3, 2007, sections 2 and 4.

Counts 1, 1, 2: the top value has 1/2, after one was ruled out 2/3, after two 1.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.outcome import Idle, Outcome
from indistinct.policy.privacy import DistinctL, RecursiveCL
from indistinct.risk.figure import things

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.view import Sensitive

MOST_RULED_OUT = 3


def top_after_ruling_out(counts: Sequence[int], ruled_out: int) -> Fraction:
    """Return the attacker's belief in the most frequent value after its v strongest competitors are out.

    >>> [str(top_after_ruling_out([1, 1, 2], v)) for v in range(3)]
    ['1/2', '2/3', '1']
    """
    ordered = sorted(counts, reverse=True)
    return Fraction(ordered[0], ordered[0] + sum(ordered[1 + ruled_out :]))


def background(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Let the attacker rule out ``context.rule_out`` values."""
    view, out = context.view, context.rule_out
    for name, sensitive in view.sensitive.items():
        histogram = sensitive.histogram
        owner = sensitive.owner
        belief = _belief(owner, histogram.count, view.sizes, out)
        everybody = np.zeros(len(sensitive.prior), np.float64)
        present = np.flatnonzero(sensitive.prior)
        everybody[present] = _belief(
            np.zeros(len(present), np.int32), sensitive.prior[present], sensitive.prior.sum().reshape(1), out
        )
        certain = sensitive.distinct[owner] <= out + 1
        certain &= len(present) > out + 1
        breaks = sensitive.distinct - 1
        smallest = int(breaks.min())
        people = int(histogram.count[certain].sum())

        def show(kind: int, sensitive: Sensitive = sensitive, owner: NDArray[np.int32] = owner) -> str:
            text = sensitive.texts[sensitive.histogram.value[kind]]
            return (
                f"{view.label(int(owner[kind]))}: {sensitive.attribute} = {text} once {context.rule_out} others are out"
            )

        yield Outcome(
            name, histogram.count, everybody[histogram.value], belief, certain,
            view.first[owner], "published",
            f"an attacker who rules out {things(out, 'values')} of {name} is certain about {people} of {view.total} "
            f"persons; {_weakest(smallest)}",
            {
                "ruled_out": out,
                "smallest_to_break": smallest,
                "certain_after_ruling_out": {
                    str(v): int(view.sizes[breaks <= v].sum()) for v in range(MOST_RULED_OUT + 1)
                },
                "worst_top": {str(v): _worst_top(sensitive, view.sizes, v) for v in range(MOST_RULED_OUT + 1)},
            },
            show,
        )  # fmt: skip


def _weakest(smallest: int) -> str:
    if not smallest:
        return "in the weakest class nothing has to be ruled out"
    return f"the weakest class breaks when {things(smallest, 'values')} {'is' if smallest == 1 else 'are'} ruled out"


def _belief(
    owner: NDArray[np.int32], count: NDArray[np.int64], sizes: NDArray[np.int64], out: int
) -> NDArray[np.float64]:
    """float64[.]: belief in each value of each class after its ``out`` largest competitors are out."""
    place, largest = _largest(owner, count, len(sizes), out)
    within, beyond = largest
    removed = np.where(place < out, beyond[owner] - count, within[owner])
    belief: NDArray[np.float64] = count / (sizes[owner] - removed)
    return belief


def _largest(
    owner: NDArray[np.int32], count: NDArray[np.int64], classes: int, out: int
) -> tuple[NDArray[np.int64], tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Place of each entry by size in its class, and for each class the sum of its ``out`` and ``out + 1`` largest."""
    order = np.lexsort((-count, owner))
    begin = np.searchsorted(owner[order], np.arange(classes))
    place = np.empty(len(count), np.int64)
    place[order] = np.arange(len(count)) - begin[owner[order]]
    sums = []
    for number in (out, out + 1):
        total = np.zeros(classes, np.int64)
        np.add.at(total, owner[place < number], count[place < number])
        sums.append(total)
    return place, (sums[0], sums[1])


def _worst_top(sensitive: Sensitive, sizes: NDArray[np.int64], out: int) -> dict[str, object]:
    """Return the largest belief in the top value of a class, exactly."""
    owner, count = sensitive.owner, sensitive.histogram.count
    place, (_, beyond) = _largest(owner, count, len(sizes), out)
    top = np.zeros(len(sizes), np.int64)
    top[owner[place == 0]] = count[place == 0]
    rest = top + sizes - beyond
    # doubles only choose the candidates, fractions decide between them
    near = top / rest
    pairs = {(a, b) for a, b in zip(top.tolist(), rest.tolist(), strict=True)} if len(top) < 1000 else {
        (int(top[i]), int(rest[i])) for i in np.flatnonzero(near >= near.max() - 1e-9)
    }  # fmt: skip
    worst = max(Fraction(a, b) for a, b in pairs)
    return {"fraction": f"{worst.numerator}/{worst.denominator}", "decimal": float(worst)}


ATTACK = Attack(
    background,
    supposes="knows the class of a person, and that the person has none of some other values",
    bounded_by=(DistinctL, RecursiveCL),
    of_the_file=True,
    needs={},
    options=("rule_out",),
)
