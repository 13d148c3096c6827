"""Merged groups, one class at a time: how its values may lie in the groups that it was formed of.

Of the tables of a class with the sizes of its groups and its own counts as margins (``margins``) those remain in which
some group alone fails a condition, since otherwise it would not have been merged. With a policy the condition is a
model of the sensitive column, judged on the group; without one it is a bound on the share of a value.

Groups of 2 and 4 with two HIV and four no, distinct 2-diversity: (0, 2) has weight 6, (1, 1) weight 8 and fails
nothing, (2, 0) weight 1. Belief in HIV: (6 * 0 + 1 * 1) / 7 = 1/7 for the two, (6 * 1/2 + 0) / 7 = 3/7 for the four.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from indistinct.attacks.margins import allowed, number, weight
from indistinct.attacks.matching import matches
from indistinct.errors import IndistinctError
from indistinct.models import Context, evaluate, is_of_classes
from indistinct.session.prepare import reference_counts
from indistinct.tables.classes import histograms_of
from indistinct.tables.records import Classes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.margins import Column
    from indistinct.attacks.tabulate import Tabulated
    from indistinct.attacks.view import Sensitive
    from indistinct.tables.records import Reference

    Fails = Callable[[Sequence[int], Sequence[int], Sequence[Sequence[Column]]], list[bool]]

MOST_GROUPS = 3
MOST_TABLES = 4_096


def ways(sizes: Sequence[int], rows: int, bound: Fraction) -> Iterator[tuple[tuple[int, ...], int, bool]]:
    """Yield how ``rows`` rows with a value may lie in groups: (numbers, weight, whether some group exceeds the bound).

    >>> list(ways([2, 4], 2, Fraction(1, 2)))
    [((0, 2), 6, False), ((1, 1), 8, False), ((2, 0), 1, True)]
    """
    for head in product(*(range(min(size, rows) + 1) for size in sizes[:-1])):
        last = rows - sum(head)
        if 0 <= last <= sizes[-1]:
            numbers = (*head, last)
            times = prod(comb(size, number) for size, number in zip(sizes, numbers, strict=True))
            beyond = any(Fraction(number, size) > bound for size, number in zip(sizes, numbers, strict=True))
            yield numbers, times, beyond


def posteriors(sizes: Sequence[int], rows: int, bound: Fraction) -> list[Fraction] | None:
    """Return the belief in the value for a person of each group, given that the groups were merged; None if impossible.

    >>> [str(belief) for belief in posteriors([2, 4], 2, Fraction(1, 2))]
    ['1', '0']
    """
    total, held = 0, [0] * len(sizes)
    for numbers, times, beyond in ways(sizes, rows, bound):
        if beyond:
            total += times
            held = [before + times * number for before, number in zip(held, numbers, strict=True)]
    return [Fraction(number, total * size) for number, size in zip(held, sizes, strict=True)] if total else None


def beliefs(sizes: Sequence[int], counts: Sequence[int], fails: Fails) -> list[list[Fraction]] | None:
    """Return the belief in each value for a person of each group, given that some group fails; None if impossible.

    ``fails(sizes, counts, tables)`` says of each table whether one of its groups does.
    """
    everywhere = [list(range(len(counts)))] * len(sizes)
    shown = [[count if value == place else 0 for place in range(len(counts))] for value, count in enumerate(counts)]
    tables = list(allowed(sizes, counts, everywhere, shown))
    total, held = 0, [[0] * len(counts) for _ in sizes]
    for table, failing in zip(tables, fails(sizes, counts, tables), strict=True):
        if failing:
            times = weight(sizes, table)
            total += times
            for group, own in enumerate(held):
                for value, column in enumerate(table):
                    own[value] += times * column[group]
    if not total:
        return None
    return [[Fraction(one, total * size) for one in own] for own, size in zip(held, sizes, strict=True)]


@dataclass(frozen=True)
class Rises:
    """For each computed class the claim that rises most: persons, belief of the class, belief after, row, and words."""

    persons: list[int] = field(default_factory=list)
    prior: list[Fraction] = field(default_factory=list)
    after: list[Fraction] = field(default_factory=list)
    row: list[int] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    skipped: int = 0


def formed_of(context: AttackContext, people: Tabulated) -> tuple[dict[int, list[int]], set[int]]:
    """For each class the distinct persons who fit it alone, and the classes that others fit too."""
    view = context.view
    groups: dict[int, list[int]] = {}
    shared: set[int] = set()
    for block in matches(context, view, people, unknown=False):
        lengths = np.diff(block.start)
        one = lengths[np.searchsorted(block.start, np.arange(len(block.of)), "right") - 1] == 1
        for tuple_, person in zip(block.tuples[one].tolist(), block.of[one].tolist(), strict=True):
            groups.setdefault(int(view.class_of[tuple_]), []).append(person)
        shared |= set(view.class_of[np.unique(block.tuples[~one])].tolist())
    return groups, shared


def rises(
    context: AttackContext,
    sensitive: Sensitive,
    formed: tuple[dict[int, list[int]], set[int]],
    people: Tabulated,
    least: int,
    bound: Fraction | None,
) -> Rises:
    """Compute the classes of at most three groups, each of at least ``least`` rows.

    A class of one group was not merged, and one with a smaller group was merged for its size: neither tells anything.
    """
    view, (groups, shared) = context.view, formed
    found, skipped = Rises(), 0
    fails = None if bound is not None else judged_by_models(context, sensitive)
    for one, members in groups.items():
        sizes = [int(people.rows[person]) for person in members]
        if one in shared or sum(sizes) != int(view.sizes[one]) or len(sizes) > MOST_GROUPS:
            skipped += 1
            continue
        if len(sizes) == 1 or min(sizes) < least:
            continue
        entries = range(int(sensitive.histogram.start[one]), int(sensitive.histogram.start[one + 1]))
        counts = [int(sensitive.histogram.count[entry]) for entry in entries]
        held = _held(sizes, counts, bound, None if fails is None else fails(entries))
        if held is None:
            skipped += 1
            continue
        rise, group, place = max(
            ((own[place] - Fraction(counts[place], sum(sizes)), -group, -place)
             for group, own in enumerate(held) for place in range(len(counts)) if own[place] is not None),
            default=(Fraction(0), 0, 0),
        )  # fmt: skip
        if rise > 0:
            claimed = Fraction(counts[-place], sum(sizes))
            found.persons.append(sizes[-group])
            found.prior.append(claimed)
            found.after.append(claimed + rise)
            found.row.append(int(people.first[members[-group]]))
            value = sensitive.texts[int(sensitive.histogram.value[entries[-place]])]
            found.shown.append(f"{view.label(one)}: {sensitive.attribute} = {value}")
    return Rises(found.persons, found.prior, found.after, found.row, found.shown, skipped)


def _held(
    sizes: Sequence[int], counts: Sequence[int], bound: Fraction | None, fails: Fails | None
) -> list[list[Fraction]] | None:
    """Beliefs by group and value; empty where nothing is told, None where it is too much to compute."""
    if bound is None:
        total = number(sizes, counts)
        if fails is None or total is None or total > MOST_TABLES:
            return None
        return beliefs(sizes, counts, fails) or []
    columns = []
    for count in counts:
        claimed = Fraction(count, sum(sizes))
        computed = claimed <= bound and prod(min(size, count) + 1 for size in sizes[:-1]) <= 1_000_000
        own = posteriors(sizes, count, bound) if computed else None
        columns.append(own or [claimed] * len(sizes))
    return [list(row) for row in zip(*columns, strict=True)]


def judged_by_models(context: AttackContext, sensitive: Sensitive) -> Callable[[range], Fails] | None:
    """Return what says, for the values of some entries of the histogram, whether a group of a table fails a model."""
    name = sensitive.attribute
    models = [m for m in context.policy.privacy if set(m.attributes_used) == {name} and is_of_classes(m)]
    if not models:
        return None
    try:
        references = _references(context, sensitive)
    except IndistinctError:
        return None  # the column does not read as the policy says: its models cannot be judged
    code = references[name].hierarchy.codes()

    def of_entries(entries: range) -> Fails:
        values = np.array([code[sensitive.texts[int(sensitive.histogram.value[entry])]] for entry in entries], np.int32)
        order = np.argsort(values)

        def fails(sizes: Sequence[int], counts: Sequence[int], tables: Sequence[Sequence[Column]]) -> list[bool]:
            cells = np.array(tables, np.int64).reshape(len(tables), len(counts), len(sizes))
            cells = cells.transpose(0, 2, 1).reshape(-1, len(counts))[:, order]
            owner, place = np.nonzero(cells)
            codes = values[order][place].reshape(-1, 1)
            rows, groups = cells[owner, place], len(cells)
            given = (owner.astype(np.int32), codes, rows)
            histograms = histograms_of((name,), *given, groups, [references[name].hierarchy.size])
            classes = Classes(cells.sum(axis=1), None, (name,), histograms, *given)
            holds = np.ones(groups, np.bool_)
            for model in models:
                holds &= evaluate(model, classes, Context(references)).satisfied
            failing: list[list[bool]] = (~holds).reshape(len(tables), len(sizes)).tolist()
            return list(map(any, failing))

        return fails

    return of_entries


def _references(context: AttackContext, sensitive: Sensitive) -> Mapping[str, Reference]:
    """Count the column of everybody, as far as it is known: the original's, else that of the release."""
    name = sensitive.attribute
    if context.original is not None and name in context.original.columns:
        return reference_counts(context.original.source, context.policy, [name])
    texts = [sensitive.texts[value] for value in np.repeat(np.arange(len(sensitive.prior)), sensitive.prior).tolist()]
    return reference_counts(pa.table({name: pa.array(texts, pa.string())}), context.policy, [name])
