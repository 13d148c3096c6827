"""Downcoding: undoing a part of the generalization, because it was no coarser than needed.

A *downcoding* of a release is a table that is nowhere coarser, somewhere finer, and still true (Cohen, USENIX
Security 2022, section 4). For ranges: a publisher who writes the smallest range of a class gives away that a member
stands at each end. *Attacker.* Knows that ranges are tight. *Claim* for a person of a class of n with the range [lo,
hi]: the value is lo (or hi, whichever gains more).

*Without the original*: one of n has the value lo, one hi, and of the other n - 2 a share f, where f is 1 over the
number of values in the range: *prior* f, *posterior* ``(1 + (n - 2) f) / n``. It needs ``tight`` (``--tight``, or a
policy whose ranges have bounds = "members").

*With the original* it is measured over the persons who fit one published tuple: the claim is lo and hi by turns, so
that the *posterior* is half the share of the members of a range who stand at its ends; *prior* f as above. A release
with snapped or fixed bounds shows no gain, unless values heap at its bounds. *Learnt*: the belief rises by more than
0.1. The share of ranges with members at both ends is reported.

*Bounds.* No privacy model; bounds = "snapped" (default for decimals and dates) or fixed intervals do. A class of two
ages published as [31, 47] has one of 31 and one of 47: posterior 1/2, prior 1/17.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.matching import matches
from indistinct.attacks.outcome import NOTABLE, Idle, Outcome
from indistinct.hierarchies.labels import Interval, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.tabulate import Tabulated

    Int64 = NDArray[np.int64]


def downcoding(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Guess the ends of published ranges."""
    view = context.view
    ranges = {name: found for name in view.quasi if (found := _ranges(context, name))}
    if not ranges:
        yield Idle(None, "no quasi-identifier of type integer or date is published in ranges")
        return
    original = context.original
    for name, ends in ranges.items():
        if original is not None and all(column in original.columns for column in view.quasi):
            yield _measured(context, original, name, ends)
        elif context.tight or _is_tight(context, name):
            yield _computed(context, name, ends)
        else:
            yield Idle(name, f"nothing says that the ranges of {name} end at values of their members: give "
                "--original to measure it, or --tight if it is known",
            )  # fmt: skip


def _ranges(context: AttackContext, name: str) -> dict[int, tuple[int, int]]:
    """Lowest and highest whole position of each label that is a range of more than one."""
    how = context.reading(name, context.view.typed)
    found: dict[int, tuple[int, int]] = {}
    if how["type"] not in ("integer", "date"):
        return found
    for number, label in enumerate(context.view.labels[context.view.quasi.index(name)]):
        pattern = None if label is None else parse(label, **how)
        if isinstance(pattern, Interval) and pattern.low is not None and pattern.high is not None:
            low = -((-pattern.low) // 1) if pattern.low_closed else pattern.low // 1 + 1
            high = pattern.high // 1 if pattern.high_closed else -((-pattern.high) // 1) - 1
            if low < high:
                found[number] = (int(low), int(high))
    return found


def _is_tight(context: AttackContext, name: str) -> bool:
    attribute = context.policy.attributes.get(name)
    spec = (attribute.spec if attribute is not None else None) or {}
    whole = attribute is not None and attribute.type == "integer"
    return spec.get("kind") == "range" and (spec.get("bounds") or ("members" if whole else "snapped")) == "members"


def _computed(context: AttackContext, name: str, ends: dict[int, tuple[int, int]]) -> Outcome:
    view = context.view
    label = view.tuples[:, view.quasi.index(name)]
    kinds = np.flatnonzero(np.isin(label, list(ends)) & (view.rows > 1))
    width = np.array([ends[code][1] - ends[code][0] + 1 for code in label[kinds].tolist()], np.float64)
    rows = view.rows[kinds]
    prior = 1 / width
    after = (1 + (rows - 2) * prior) / rows
    told = after - prior > NOTABLE
    people = int(rows[told].sum())
    return Outcome(
        name, rows, prior, np.maximum(prior, after), told, view.first[view.class_of[kinds]], "published",
        f"{len(kinds)} published tuples have a range of {name}; if it ends at members, the belief in an end rises by "
        f"more than {NOTABLE} for {people} persons",
        {"how": "computed", "ranges": len(kinds)},
        lambda kind: f"{view.label(int(view.class_of[kinds[kind]]))}: a member stands at each end of {name}",
    )  # fmt: skip


def _measured(
    context: AttackContext, original: Tabulated, name: str, ends: dict[int, tuple[int, int]]
) -> Outcome | Idle:
    from indistinct.hierarchies.values import LARGE, positions

    view = context.view
    people = original.select(view.quasi)
    label = view.tuples[:, view.quasi.index(name)]
    lone_person, lone_tuple = [], []
    for block in matches(context, view, people, unknown=False):
        one = np.flatnonzero(np.diff(block.start) == 1)
        lone_person.append(block.persons[one])
        lone_tuple.append(block.tuples[block.start[one]])
    person, own = np.concatenate(lone_person), np.concatenate(lone_tuple)
    ranged = np.isin(label[own], list(ends))
    person, own = person[ranged], own[ranged]
    if not len(person):
        return Idle(name, f"no person of the original fits one published range of {name} only")
    texts, codes = people.column(name)
    present = [number for number, text in enumerate(texts) if text is not None]
    places, unit = positions(name, [texts[n] or "" for n in present], **context.reading(name, original.typed))
    largest = max(abs(number) for number in (*(places // unit).tolist(), *chain.from_iterable(ends.values())))
    whole = np.int64 if largest < LARGE else object
    place = np.full(len(texts), np.iinfo(np.int64).min, whole)
    place[present] = places // unit
    low, high = np.array([ends[code] for code in label[own].tolist()], whole).T
    value = place[codes[person]]
    prior = (1.0 / (high - low + 1)).astype(np.float64)
    after = ((value == low).astype(np.float64) + (value == high)) / 2
    weight = people.rows[person]
    # belief is a matter of classes: what share of the members of a range stands at an end
    total = np.bincount(own, weights=weight, minlength=len(view.rows))
    true = np.bincount(own, weights=weight * after, minlength=len(view.rows))
    expected = np.bincount(own, weights=weight * prior, minlength=len(view.rows))
    kinds = np.flatnonzero(total)
    at_low = np.bincount(own, weights=value == low, minlength=len(view.rows))[kinds] > 0
    at_high = np.bincount(own, weights=value == high, minlength=len(view.rows))[kinds] > 0
    posterior, before = true[kinds] / total[kinds], expected[kinds] / total[kinds]
    told = posterior - before > NOTABLE
    persons = total[kinds].astype(np.int64)
    both = int((at_low & at_high).sum())
    return Outcome(
        name, persons, before, posterior, told, view.first[view.class_of[kinds]], "published",
        f"{both} of {len(kinds)} ranges of {name} have a member at both ends; guessing an end is right for "
        f"{float((posterior * persons).sum() / persons.sum()):.4g} of the persons, at random for "
        f"{float((before * persons).sum() / persons.sum()):.4g}",
        {"how": "measured", "ranges": len(kinds), "ranges_with_members_at_both_ends": both},
        lambda kind: f"{view.label(int(view.class_of[kinds[kind]]))}: members stand at the ends of {name}",
    )  # fmt: skip


ATTACK = Attack(
    downcoding,
    bounded_by=(),
    of_the_file=True,
    needs={},
    options=("tight",),
    remedies=('bounds = "snapped" or fixed intervals',),
)
