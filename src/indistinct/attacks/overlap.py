"""Two releases laid on each other: which classes of one can share persons with which classes of the other.

Two labels *overlap* when some value is covered by both; two classes when their labels do in every column. The values
are those of the original or of the identified table where there is one, else *witnesses*: for intervals their ends
and the points between, for masks a text that shows no more than the mask, for nodes of a tree its leaves, for any
other label the label itself. Every non-empty intersection of two labels of these kinds holds a witness.
"""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.attacks.candidates import Pairs, candidates
from indistinct.attacks.matching import Column, join
from indistinct.errors import SchemaError
from indistinct.hierarchies.labels import Interval, Mask, Members, parse
from indistinct.hierarchies.values import EPOCH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.matching import Block
    from indistinct.attacks.rerun import Run
    from indistinct.attacks.view import View

HIDDEN = "\x00"


class Overlap(NamedTuple):
    """Pairs of tuples (``mine`` of the first release, ``theirs`` of the second) that can share persons; int64[.]."""

    mine: NDArray[np.int64]
    theirs: NDArray[np.int64]


class InBoth(NamedTuple):
    """Kinds of persons with candidates in two releases, ``mine`` and ``theirs``.

    ``weight`` int64[kinds] persons of each kind, ``row`` int64[kinds] the data row of one of them in ``table``.
    """

    mine: Pairs
    theirs: Pairs
    weight: NDArray[np.int64]
    row: NDArray[np.int64]
    table: str


def overlaps(context: AttackContext, mine: View, theirs: View) -> Overlap:
    """List the pairs of tuples of two releases that overlap in every quasi-identifier that both have.

    Raises SchemaError when they share none.
    """
    names = [name for name in mine.quasi if name in theirs.quasi]
    if not names:
        raise SchemaError("the two releases have no quasi-identifier in common: there is nothing to compare them by")
    sets = []
    for name in names:
        own, others = mine.labels[mine.quasi.index(name)], theirs.labels[theirs.quasi.index(name)]
        sets.append(Column.of_sets(overlapping(context, name, own, others), len(others)))
    at = [theirs.quasi.index(name) for name in names]
    blocks: Iterator[Block] = join(
        np.ascontiguousarray(theirs.tuples[:, at]), mine.tuples[:, [mine.quasi.index(name) for name in names]], sets
    )
    pairs = [(block.tuples, block.of) for block in blocks]
    return Overlap(np.concatenate([p for p, _ in pairs]), np.concatenate([p for _, p in pairs]))


def overlapping(
    context: AttackContext, name: str, own: Sequence[str | None], others: Sequence[str | None]
) -> list[NDArray[np.int64]]:
    """List for each label of ``own`` the numbers of the labels of ``others`` that overlap it, sorted."""
    values = _values(context, name, [*own, *others])
    reader = context.reader(name, values)
    holders: dict[int, list[int]] = {}
    for number, label in enumerate(others):
        for value in reader.find(label).tolist():
            holders.setdefault(value, []).append(number)
    return [
        np.array(sorted({n for value in reader.find(label).tolist() for n in holders.get(value, ())}), np.int64)
        for label in own
    ]


class Runs(NamedTuple):
    """Runs of the program that give two releases, None where an attacker cannot repeat them, and why not."""

    mine: Run | None
    theirs: Run | None
    why: str | None


def runs_of(context: AttackContext, other: View) -> Runs:
    """Run the program again for both releases; the second under its own policy, or else that of the first."""
    given = (context.view, context.policy), (other, context.other_policy or context.policy)
    found = [context.repeated(view, policy) for view, policy in given]
    mine, theirs = (None if isinstance(own, str) else own for own in found)
    words = ("the first release", "the second release (its policy: --with-policy)")
    why = "; ".join(f"{which}: {own}" for which, own in zip(words, found, strict=True) if isinstance(own, str))
    return Runs(mine, theirs, why or None)


def candidates_in_both(context: AttackContext, other: View, runs: tuple[Run | None, Run | None]) -> InBoth:
    """List the candidate tuples in both releases of the persons who have some in each.

    The persons are those of the identified table or the original; without one, the classes of the second release stand
    for their members. ``runs`` give the releases, where the attacker can repeat them: then he knows classes.
    """
    whole = context.persons
    if whole is None:
        pairs = overlaps(context, context.view, other)
        kinds = np.unique(pairs.theirs)
        number = np.zeros(len(other.rows), np.int64)
        number[kinds] = np.arange(len(kinds))
        row = other.first[other.class_of[kinds]]
        mine = Pairs(number[pairs.theirs], pairs.mine, context.view.rows[pairs.mine].astype(np.float64))
        theirs = Pairs(np.arange(len(kinds)), kinds, np.ones(len(kinds)))
        return InBoth(mine, theirs, other.rows[kinds], row, "with")
    shared = [name for name in whole.columns if name in (*context.view.quasi, *other.quasi)]
    people = whole.select(shared)
    lists = [candidates(context, view, own, people) for view, own in zip((context.view, other), runs, strict=True)]
    kinds = np.intersect1d(lists[0].of, lists[1].of)
    number = np.full(len(people.rows), -1, np.int64)
    number[kinds] = np.arange(len(kinds))
    remaining = [
        Pairs(number[pairs.of[inside]], pairs.tuples[inside], pairs.chance[inside])
        for pairs in lists
        for inside in [number[pairs.of] >= 0]
    ]
    return InBoth(remaining[0], remaining[1], people.rows[kinds], people.first[kinds], context.role_of_persons)


def _values(context: AttackContext, name: str, labels: Sequence[str | None]) -> list[str | None]:
    """Return values such that labels overlap just when they share one of them."""
    people = context.original if context.original is not None else context.identified
    rows = context.rows_of_hierarchy(name)
    if rows is not None:
        return [*dict.fromkeys([*(row[0] for row in rows), *labels])]
    texts: dict[str | None, None] = dict.fromkeys(labels)
    if people is not None and name in people.columns:
        texts |= dict.fromkeys(people.column(name)[0])
    reading = context.reading(name, frozenset())
    ends: set[Fraction] = set()
    for label in labels:
        pattern = None if label is None else parse(label, **reading)
        if isinstance(pattern, Interval):
            ends |= {end for end in (pattern.low, pattern.high) if end is not None}
        elif isinstance(pattern, Mask):
            hidden = HIDDEN * (pattern.length - len(pattern.prefix) - len(pattern.suffix))
            texts[f"{pattern.prefix}{hidden}{pattern.suffix}"] = None
        elif isinstance(pattern, Members):
            texts |= dict.fromkeys((*pattern.texts, *pattern.quoted))
    texts |= dict.fromkeys(_points(ends, reading))
    if reading["type"] != "text":  # labels themselves are no values of a scale
        texts = {text: None for text in texts if text is None or _is_value(text, reading)}
    return list(texts) or [None]  # where all labels are the root


def _points(ends: set[Fraction], reading: dict[str, object]) -> list[str]:
    """Write the ends of intervals and the points between and beyond them as values of the column."""
    if not ends:
        return []
    ordered = sorted(ends)
    inner = [(a + b) / 2 for a, b in pairwise(ordered)]
    points = [ordered[0] - 1, *ordered, *inner, ordered[-1] + 1]
    kind = reading["type"]
    if kind == "ordinal":
        order: Sequence[str] = reading["order"] or ()  # type: ignore[assignment]  # a sequence of texts by contract
        return [order[int(point)] for point in points if point.denominator == 1 and 0 <= point < len(order)]
    if kind == "integer":
        whole = {int(point // 1) for point in points} | {int(-(-point // 1)) for point in points}
        return [str(point) for point in sorted(whole)]
    if kind == "date":
        days = sorted({int(point // 1) for point in points})
        shape = str(reading["format"] or "%Y-%m-%d")
        return [
            date.fromordinal(day + EPOCH).strftime(shape) for day in days if 1 <= day + EPOCH <= date.max.toordinal()
        ]
    mark = str(reading["decimal"])
    return [_decimal(point).replace(".", mark) for point in points]


def _decimal(value: Fraction) -> str:
    """Write a fraction whose denominator divides a power of ten (ends of labels and their means do)."""
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
    sign, number = ("-" if value < 0 else ""), str(abs(int(value * 10**digits)))
    return (
        f"{sign}{number}"
        if not digits
        else f"{sign}{number.zfill(digits + 1)[:-digits]}.{number.zfill(digits + 1)[-digits:]}"
    )


def _is_value(text: str, reading: dict[str, object]) -> bool:
    from indistinct.errors import IndistinctError
    from indistinct.hierarchies.values import positions

    try:
        positions("", [text], **reading)  # type: ignore[arg-type]  # the reading of a column
    except IndistinctError:
        return False
    return True
