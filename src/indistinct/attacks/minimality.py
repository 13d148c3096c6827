"""Minimality: the attacker knows that the algorithm merges only what it must.

*Attacker.* Knows everybody's quasi-identifiers (the groups of which a class was formed), and that groups are merged
only when one of them alone would exceed the bound b on the share of a value (b = 1/l, or the alpha of a policy). Of
the ways to spread the s rows with the value over the groups (sizes n_1..n_j; a way weighs ``prod C(n_i, s_i)``) those
remain in which some ``s_i / n_i > b``. *Claim*: the value, for a person of the group in which that is likeliest.
*Prior* s/n_E, what the class claims; *posterior* the mean of ``s_i / n_i`` over the remaining ways. *Learnt*: the
posterior exceeds b.

Groups of 2 and 4 with two rows in all, b = 1/2: the class claims 1/3, but only (2, 0) would have been merged: 1.

Classes of more than 3 groups, or of more than a million ways, are not computed and are counted. Where a group alone
is smaller than k, merging tells nothing. *Bounds.* No model of this family; m-confidentiality does, or an algorithm
that does not stop at the first release that holds. *Source.* Wong, Fu, Wang, Pei, VLDB 2007, 543-554.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.matching import matches
from indistinct.attacks.outcome import Idle, Outcome
from indistinct.policy.privacy import KAnonymity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indistinct.attacks.context import AttackContext, Sensitive

MOST_GROUPS = 3
MOST_WAYS = 1_000_000


def ways(sizes: Sequence[int], rows: int, bound: Fraction) -> Iterator[tuple[tuple[int, ...], int, bool]]:
    """Yield how ``rows`` rows with a value may lie in groups: (numbers, weight, whether some group exceeds the bound).

    >>> list(ways([2, 4], 2, Fraction(1, 2)))
    [((0, 2), 6, False), ((1, 1), 8, False), ((2, 0), 1, True)]
    """
    for head in product(*(range(min(size, rows) + 1) for size in sizes[:-1])):
        last = rows - sum(head)
        if 0 <= last <= sizes[-1]:
            numbers = (*head, last)
            weight = prod(comb(size, number) for size, number in zip(sizes, numbers, strict=True))
            beyond = any(Fraction(number, size) > bound for size, number in zip(sizes, numbers, strict=True))
            yield numbers, weight, beyond


def posteriors(sizes: Sequence[int], rows: int, bound: Fraction) -> list[Fraction] | None:
    """Return the belief in the value for a person of each group, given that the groups were merged; None if impossible.

    >>> [str(belief) for belief in posteriors([2, 4], 2, Fraction(1, 2))]
    ['1', '0']
    """
    total, held = 0, [0] * len(sizes)
    for numbers, weight, beyond in ways(sizes, rows, bound):
        if beyond:
            total += weight
            held = [before + weight * number for before, number in zip(held, numbers, strict=True)]
    return [Fraction(number, total * size) for number, size in zip(held, sizes, strict=True)] if total else None


def minimality(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Ask what a merge itself gives away."""
    whole, view, bound = context.persons, context.view, context.bound
    if whole is None or bound is None:
        lacking = (
            "everybody's quasi-identifiers (--original or --identified)" if whole is None else "the bound (--bound 1/l)"
        )
        yield Idle(None, f"needs {lacking}")
        return
    if any(name not in whole.columns for name in view.quasi):
        yield Idle(None, "the table of persons lacks some quasi-identifiers, so the groups are not known")
        return
    people = whole.select(view.quasi)
    groups: dict[int, list[int]] = {}
    shared: set[int] = set()
    for block in matches(context, view, people, unknown=False):
        lengths = np.diff(block.start)
        one = lengths[np.searchsorted(block.start, np.arange(len(block.of)), "right") - 1] == 1
        for tuple_, person in zip(block.tuples[one].tolist(), block.of[one].tolist(), strict=True):
            groups.setdefault(int(view.class_of[tuple_]), []).append(person)
        shared |= set(view.class_of[np.unique(block.tuples[~one])].tolist())
    least = min((model.k for model in context.policy.privacy if isinstance(model, KAnonymity)), default=1)
    for sensitive in view.sensitive.values():
        yield _merged(context, sensitive, groups, shared, people.rows, people.first, bound, least)


def _merged(
    context: AttackContext,
    sensitive: Sensitive,
    groups: dict[int, list[int]],
    shared: set[int],
    rows: np.ndarray,
    first: np.ndarray,
    bound: Fraction,
    least: int,
) -> Outcome | Idle:
    view = context.view
    weight, prior, after, told, row, shown = [], [], [], [], [], []
    skipped = 0
    for number, members in groups.items():
        sizes = [int(rows[person]) for person in members]
        if number in shared or sum(sizes) != int(view.sizes[number]) or len(sizes) > MOST_GROUPS:
            skipped += 1
            continue
        if len(sizes) == 1 or min(sizes) < least:
            continue  # not merged, or merged for its size: that tells nothing about values
        begin, stop = sensitive.histogram.start[number], sensitive.histogram.start[number + 1]
        best: tuple[Fraction, Fraction, int, int] | None = None
        for entry in range(begin, stop):
            count = int(sensitive.histogram.count[entry])
            claimed = Fraction(count, sum(sizes))
            if claimed > bound or prod(min(size, count) + 1 for size in sizes[:-1]) > MOST_WAYS:
                continue
            beliefs = posteriors(sizes, count, bound)
            if beliefs is not None:
                top = max(range(len(sizes)), key=lambda group: (beliefs[group], -group))
                if best is None or beliefs[top] - claimed > best[1] - best[0]:
                    best = (claimed, beliefs[top], top, entry)
        if best is not None:
            weight.append(sizes[best[2]])
            prior.append(float(best[0]))
            after.append(float(best[1]))
            told.append(best[1] > bound)
            row.append(int(first[members[best[2]]]))
            shown.append(
                f"{view.label(number)}: {sensitive.attribute} = {sensitive.texts[sensitive.histogram.value[best[3]]]}"
            )
    if not weight:
        return Idle(sensitive.attribute, f"no class is known to be merged of 2 or {MOST_GROUPS} groups for its "
            f"values ({skipped} classes were not computed: more groups, or persons who fit several classes)",
        )  # fmt: skip
    sizes_ = np.array(weight, np.int64)
    learnt = np.array(told, np.bool_)
    return Outcome(
        sensitive.attribute, sizes_, np.array(prior), np.array(after), learnt, np.array(row, np.int64),
        context.role_of_persons,
        f"for {int(sizes_[learnt].sum())} persons of {len(weight)} merged classes the merge itself raises the belief "
        f"above {bound}; {skipped} classes were not computed",
        {"merged_classes": len(weight), "not_computed": skipped, "bound": str(bound)},
        lambda kind: f"{shown[kind]} for the persons of row {row[kind]}",
    )  # fmt: skip


ATTACK = Attack(
    minimality,
    bounded_by=(),
    of_the_file=False,
    needs={},
    options=("bound",),
    remedies=("an algorithm that does not merge by need",),
)
