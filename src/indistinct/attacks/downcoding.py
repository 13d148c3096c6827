"""Downcoding: undoing a part of the generalization, because it was no coarser than needed.

A *downcoding* of a release is a table that is nowhere coarser, somewhere finer, and still true (Cohen, USENIX
Security 2022, section 4). *Attacker.* Knows how labels are made, and the class of a person: by running the program over
everybody's quasi-identifiers (``rerun``; the default), else of those alone who fit one published tuple; this *weaker*
attacker is shown beside.

*Ranges.* The smallest range of a class tells that a member stands at each end; on a grid of step g (the largest of
whose multiples all published ends are), that one lies in the first cell and one in the last. *Claim* for a person of a
class of n with w cells: the first cell (or the last, by turns). *Prior* f = 1/w. *Posterior* without the original
``(1 + (n - 2) f) / n``; with it half the share of the members of a range who lie in its end cells. A grid with g = 1 is
none. Two ages published as [31, 47]: posterior 1/2, prior 1/17.

*Boxes.* Where two or more columns are published in ranges: *claim* that the person lies in an end cell of one of them.
*Prior* ``1 - prod(1 - 2 f)`` over the ranges of the class, *posterior* the share who do; needs the original.

*Sets and nodes* (``presence``). A listed set tells that each of its values occurs in the class, the smallest node of a
tree that two of its branches do. *Claim* about a class of n: the rarest listed value occurs; two branches do. *Prior*
the chance of that in n draws from everybody's values under the label (``1 - (1 - q)^n``; ``1 - sum q_b^n``),
*posterior* how often it is so; without the original 1 for sets, and for nodes under ``tight``.

*Learnt*: the belief rises by more than 0.1. *Bounds.* No privacy model; ``remedies`` says what would, given how the
column is published.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from math import gcd
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.matching import matches
from indistinct.attacks.outcome import NOTABLE, Idle, Outcome
from indistinct.attacks.presence import presence
from indistinct.attacks.remedies import of_ranges
from indistinct.attacks.rerun import standing
from indistinct.hierarchies.labels import Interval, parse
from indistinct.hierarchies.values import LARGE, positions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.rerun import Run
    from indistinct.attacks.tabulate import Tabulated

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]
    Bool = NDArray[np.bool_]


@dataclass(frozen=True)
class Ranges:
    """The ranges of a column: lowest and highest whole position by label, and the step of their grid."""

    name: str
    ends: Mapping[int, tuple[int, int]]
    step: int


class Standing(NamedTuple):
    """Persons and the tuple that they are known to be in, with the rows that they have there; int64[.] each."""

    person: Int64
    tuple: Int64
    rows: Int64


class Guess(NamedTuple):
    """Whether each standing person is in the first and in the last cell, and the prior of either."""

    first: Bool
    last: Bool
    prior: Float64


def downcoding(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Guess the ends of published ranges, and what labels tell of their class."""
    view = context.view
    ranges = [found for name in view.quasi if (found := _ranges(context, name)).ends]
    labels = list(presence(context))
    if not ranges and not labels:
        yield Idle(
            None, "no quasi-identifier is published in ranges of integers or dates, in sets or in nodes of a tree"
        )
        return
    original = context.original
    known = original is not None and all(column in original.columns for column in view.quasi)
    if original is not None and known and ranges:
        people = original.select(view.quasi)
        own = context.repeated(view, context.policy)
        weaker = _by_labels(context, people)
        stand = weaker if isinstance(own, str) else _by_class(context, own, people)
        for found in ranges:
            yield _measured(context, people, found, stand, weaker, own)
        if len(ranges) > 1:
            yield _boxes(context, people, ranges, stand)
    else:
        yield from (_computed(context, found) for found in ranges)
    yield from labels


def _ranges(context: AttackContext, name: str) -> Ranges:
    how = context.reading(name, context.view.typed)
    found: dict[int, tuple[int, int]] = {}
    if how["type"] not in ("integer", "date"):
        return Ranges(name, found, 1)
    for number, label in enumerate(context.view.labels[context.view.quasi.index(name)]):
        pattern = None if label is None else parse(label, **how)
        if isinstance(pattern, Interval) and pattern.low is not None and pattern.high is not None:
            low = -((-pattern.low) // 1) if pattern.low_closed else pattern.low // 1 + 1
            high = pattern.high // 1 if pattern.high_closed else -((-pattern.high) // 1) - 1
            if low < high:
                found[number] = (int(low), int(high))
    step = 1 if context.tight else gcd(*(end for low, high in found.values() for end in (low, high + 1)))
    return Ranges(name, found, max(1, step))


def _is_tight(context: AttackContext, name: str) -> bool:
    attribute = context.policy.attributes.get(name)
    spec = (attribute.spec if attribute is not None else None) or {}
    return spec.get("kind") == "range" and spec.get("bounds") != "region"


def _computed(context: AttackContext, found: Ranges) -> Outcome | Idle:
    view, name = context.view, found.name
    if not (context.tight or _is_tight(context, name)):
        return Idle(name, f"nothing says that the ranges of {name} end at values of their members: give "
            "--original to measure it, or --tight if it is known",
        )  # fmt: skip
    label = view.tuples[:, view.quasi.index(name)]
    kinds = np.flatnonzero(np.isin(label, list(found.ends)) & (view.rows > 1))
    cells = np.array([_cells(found, code) for code in label[kinds].tolist()], np.float64)
    rows = view.rows[kinds]
    prior = 1 / cells
    after = (1 + (rows - 2) * prior) / rows
    learnt = after - prior > NOTABLE
    people = int(rows[learnt].sum())
    return Outcome(
        name, rows, prior, np.maximum(prior, after), learnt, view.first[view.class_of[kinds]], "published",
        f"{len(kinds)} published tuples have a range of {name}; if members lie at its ends, the belief in an end rises "
        f"by more than {NOTABLE} for {people} persons{_of_grid(context, found)}",
        {"how": "computed", "ranges": len(kinds), "grid": found.step},
        lambda kind: f"{view.label(int(view.class_of[kinds[kind]]))}: a member stands at each end of {name}",
        remedies=of_ranges(context, name, found.step),
    )  # fmt: skip


def _cells(found: Ranges, label: int) -> int:
    low, high = found.ends[label]
    return (high - low + 1) // found.step


def _of_grid(context: AttackContext, found: Ranges) -> str:
    attribute = context.policy.attributes.get(found.name)
    spec = (attribute.spec if attribute is not None else None) or {}
    if found.step == 1 and spec.get("bounds") == "snapped":
        return '; bounds = "snapped" with a step of 1 snaps nothing: give a larger step'
    return "" if found.step == 1 else f" (ends lie on a grid of {found.step})"


def _by_labels(context: AttackContext, people: Tabulated) -> Standing:
    lone_person, lone_tuple = [], []
    for block in matches(context, context.view, people, unknown=False):
        one = np.flatnonzero(np.diff(block.start) == 1)
        lone_person.append(block.persons[one])
        lone_tuple.append(block.tuples[block.start[one]])
    person = np.concatenate(lone_person)
    return Standing(person, np.concatenate(lone_tuple), people.rows[person])


def _by_class(context: AttackContext, own: Run, people: Tabulated) -> Standing:
    at = standing(own, context.view, people)
    return Standing(at.person, at.tuple, np.rint(at.chance * people.rows[at.person]).astype(np.int64))


def _guess(context: AttackContext, people: Tabulated, found: Ranges, stand: Standing) -> tuple[Guess, Bool]:
    """Say of the standing persons whose label is a range where they lie in it; bool[.] which have one."""
    view, name = context.view, found.name
    label = view.tuples[:, view.quasi.index(name)][stand.tuple]
    ranged = np.isin(label, list(found.ends))
    texts, codes = people.column(name)
    present = [number for number, text in enumerate(texts) if text is not None]
    places, unit = positions(name, [texts[n] or "" for n in present], **context.reading(name, people.typed))
    ends = chain.from_iterable(found.ends.values())
    largest = max(abs(number) for number in (*(places // unit).tolist(), *ends))
    whole = np.int64 if largest < LARGE else object
    place = np.full(len(texts), np.iinfo(np.int64).min, whole)
    place[present] = places // unit
    low, high = np.array([found.ends[code] for code in label[ranged].tolist()], whole).reshape(-1, 2).T
    value = place[codes[stand.person[ranged]]]
    prior = (found.step / (high - low + 1)).astype(np.float64)
    first, last = (value < low + found.step) & (value >= low), (value > high - found.step) & (value <= high)
    return Guess(first.astype(np.bool_), last.astype(np.bool_), prior), ranged


def _measured(
    context: AttackContext, people: Tabulated, found: Ranges, stand: Standing, weaker: Standing, own: Run | str
) -> Outcome | Idle:
    view, name = context.view, found.name
    guess, ranged = _guess(context, people, found, stand)
    if not ranged.any():
        return Idle(name, f"no person of the original fits one published range of {name} only")
    more: dict[str, object] = {"knows_program": not isinstance(own, str)}
    if isinstance(own, str):
        more["why_not"] = own
    else:
        other, fits = _guess(context, people, found, weaker)
        right = (other.first * 1.0 + other.last) / 2
        rows = weaker.rows[fits]
        more["weaker"] = {
            "persons": int(rows.sum()),
            "gain": round(float(rows @ (right - other.prior)) / max(1, int(rows.sum())), 12),
        }
    rows, at = stand.rows[ranged], stand.tuple[ranged]
    right = (guess.first * 1.0 + guess.last) / 2
    # belief is a matter of classes: what share of the members of a range stands at an end
    persons, before, posterior, kinds = _by_tuple(len(view.rows), at, rows, guess.prior, right)
    ends = [np.bincount(at, weights=own_end, minlength=len(view.rows))[kinds] > 0 for own_end in guess[:2]]
    both = int((ends[0] & ends[1]).sum())
    return Outcome(
        name, persons, before, posterior, posterior - before > NOTABLE, view.first[view.class_of[kinds]], "published",
        f"{both} of {len(kinds)} ranges of {name} have a member at both ends; guessing an end is right for "
        f"{float(posterior @ persons / persons.sum()):.4g} of the persons, at random for "
        f"{float(before @ persons / persons.sum()):.4g}{_of_grid(context, found)}",
        {"how": "measured", "ranges": len(kinds), "ranges_with_members_at_both_ends": both, "grid": found.step, **more},
        lambda kind: f"{view.label(int(view.class_of[kinds[kind]]))}: members stand at the ends of {name}",
        remedies=of_ranges(context, name, found.step),
    )  # fmt: skip


def _boxes(context: AttackContext, people: Tabulated, ranges: list[Ranges], stand: Standing) -> Outcome | Idle:
    view = context.view
    inside, outside = np.ones(len(stand.person)), np.zeros(len(stand.person), np.bool_)
    hits = np.zeros(len(stand.person), np.int64)
    for found in ranges:
        guess, ranged = _guess(context, people, found, stand)
        inside[ranged] *= np.maximum(0.0, 1 - 2 * guess.prior)
        outside[ranged] |= guess.first | guess.last
        hits += ranged
    boxed = hits > 1
    if not boxed.any():
        return Idle(None, "no class is published with ranges in several columns")
    given = stand.tuple[boxed], stand.rows[boxed], 1 - inside[boxed], outside[boxed].astype(np.float64)
    persons, before, posterior, kinds = _by_tuple(len(view.rows), *given)
    return Outcome(
        None, persons, before, posterior, posterior - before > NOTABLE, view.first[view.class_of[kinds]], "published",
        f"{len(kinds)} classes have ranges in several columns; that a person lies at an end of one of them is right "
        f"for {float(posterior @ persons / persons.sum()):.4g}, at random for "
        f"{float(before @ persons / persons.sum()):.4g}",
        {"how": "measured", "boxes": len(kinds)},
        lambda kind: f"{view.label(int(view.class_of[kinds[kind]]))}: members stand at the ends",
        remedies=tuple(dict.fromkeys(chain(*(of_ranges(context, found.name, found.step) for found in ranges)))),
    )  # fmt: skip


def _by_tuple(
    tuples: int, at: Int64, rows: Int64, prior: Float64, right: Float64
) -> tuple[Int64, Float64, Float64, Int64]:
    """Persons, mean prior and mean right of each tuple that has some, and which tuples these are."""
    total = np.bincount(at, weights=rows, minlength=tuples)
    kinds = np.flatnonzero(total)
    means = [np.bincount(at, weights=rows * own, minlength=tuples)[kinds] / total[kinds] for own in (prior, right)]
    return total[kinds].astype(np.int64), means[0], means[1], kinds


ATTACK = Attack(
    downcoding,
    supposes="knows how labels are made, the program, the policy and everybody's quasi-identifiers",
    bounded_by=(),
    of_the_file=True,
    needs={},
    options=("tight", "knows_program"),
)
