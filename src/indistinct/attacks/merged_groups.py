"""Merged groups, one class at a time: how its values may lie in the groups that it was formed of.

Of the tables of a class with the sizes of its groups and its own counts as margins (``margins``) those remain that
give the program a reason. Under ``local`` a search that minimizes loss tells by what it did *not* choose (a
refinement): every way to divide the class into two parts of at least k rows each leaves one that fails a model, else
it would have been divided. Under other algorithms some group alone fails, else it would not have been merged. Without
a policy the condition is a bound on the share of a value. None of them is a theorem: ``Rises`` counts in how many
classes it is true.

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
from indistinct.attacks.rerun import standing, tuples_of
from indistinct.errors import IndistinctError
from indistinct.models import Context, evaluate, is_of_classes
from indistinct.policy.recoding import Local
from indistinct.session.prepare import reference_counts
from indistinct.tables.classes import histograms_of
from indistinct.tables.records import SUPPRESSED, Classes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.margins import Column
    from indistinct.attacks.rerun import Run
    from indistinct.attacks.tabulate import Tabulated
    from indistinct.attacks.view import Sensitive, View
    from indistinct.tables.records import Reference

    Holds = Callable[[NDArray[np.int64]], NDArray[np.bool_]]
    Fails = Callable[[Sequence[int], Sequence[int], Sequence[Sequence[Column]]], list[bool]]

MOST_GROUPS = 3
MOST_DIVIDED = 6
MOST_TABLES = 512
MOST_CLASSES = 5_000


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
class Formed:
    """What classes were formed of: the distinct persons of each with their rows, and classes of which it is open.

    ``by_run``: a run of the program says so; ``truth`` then has the rows of each value by class and person.
    """

    groups: dict[int, list[tuple[int, int]]]
    shared: frozenset[int] = frozenset()
    truth: Mapping[tuple[int, int], Mapping[str | None, int]] = field(default_factory=dict)
    by_run: bool = False


@dataclass(frozen=True)
class Rises:
    """For each computed class the claim that rises most: persons, belief of the class, belief after, row, and words.

    ``skipped`` classes were not computed; of ``checked`` the condition was looked up in the original, and of ``true``
    it holds there.
    """

    persons: list[int] = field(default_factory=list)
    prior: list[Fraction] = field(default_factory=list)
    after: list[Fraction] = field(default_factory=list)
    row: list[int] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    skipped: int = 0
    checked: int = 0
    true: int = 0


def formed_of(context: AttackContext, people: Tabulated) -> Formed:
    """Say which persons each class was formed of: by a run of the program, else of those who fit it alone."""
    view = context.view
    groups: dict[int, list[tuple[int, int]]] = {}
    own = context.repeated(view, context.policy)
    if not isinstance(own, str):
        at = standing(own, view, people)
        rows = np.rint(at.chance * people.rows[at.person]).astype(np.int64)
        for person, place, number_ in zip(at.person.tolist(), at.tuple.tolist(), rows.tolist(), strict=True):
            groups.setdefault(place, []).append((person, number_))
        return Formed(groups, truth=_truth(own, view, people), by_run=True)
    shared: set[int] = set()
    for block in matches(context, view, people, unknown=False):
        lengths = np.diff(block.start)
        one = lengths[np.searchsorted(block.start, np.arange(len(block.of)), "right") - 1] == 1
        for tuple_, person in zip(block.tuples[one].tolist(), block.of[one].tolist(), strict=True):
            groups.setdefault(int(view.class_of[tuple_]), []).append((person, int(people.rows[person])))
        shared |= set(view.class_of[np.unique(block.tuples[~one])].tolist())
    return Formed(groups, frozenset(shared))


def _truth(own: Run, view: View, people: Tabulated) -> Mapping[tuple[int, int], Mapping[str | None, int]]:
    """Rows of each value by class and distinct person, from a run over the values themselves; empty without any."""
    if len(own.frequencies.sensitive) != 1:
        return {}
    person_of = {int(place): person for person, place in enumerate(tuples_of(own.frequencies, people).tolist())}
    texts, at, assignment = own.frequencies.sensitive[0].texts, own.placed(view), own.assignment
    published = assignment.class_of != SUPPRESSED
    cells = assignment.cell[published]
    found: dict[tuple[int, int], dict[str | None, int]] = {}
    for place, tuple_, code, rows in zip(
        at[assignment.class_of[published]].tolist(), own.frequencies.tuple_of[cells].tolist(),
        own.frequencies.codes[cells, -1].tolist(), assignment.count[published].tolist(), strict=True,
    ):  # fmt: skip
        values = found.setdefault((place, person_of[tuple_]), {})
        values[texts[code]] = values.get(texts[code], 0) + rows
    return found


def rises(
    context: AttackContext,
    sensitive: Sensitive,
    formed: Formed,
    people: Tabulated,
    least: int,
    bound: Fraction | None,
) -> Rises:
    """Compute the classes of few groups; a class of one was not merged, and tells nothing.

    Where a part of a class is smaller than ``least``, it was merged for its size: that tells nothing either.
    """
    view, found, skipped, checked, true = context.view, Rises(), 0, 0, 0
    condition = None if bound is not None else judged_by_models(context, sensitive, least)
    for one, members in list(formed.groups.items()):
        sizes = [rows for _, rows in members]
        most = MOST_DIVIDED if condition is not None and condition.divides else MOST_GROUPS
        known = one not in formed.shared and sum(sizes) == int(view.sizes[one]) and len(sizes) <= most
        if not known or len(found.persons) + skipped + checked > MOST_CLASSES:
            skipped += 1
            continue
        if len(sizes) == 1 or (min(sizes) < least and not (condition is not None and condition.divides)):
            continue
        entries = range(int(sensitive.histogram.start[one]), int(sensitive.histogram.start[one + 1]))
        counts = [int(sensitive.histogram.count[entry]) for entry in entries]
        texts = [sensitive.texts[int(sensitive.histogram.value[entry])] for entry in entries]
        held = _held(sizes, counts, bound, None if condition is None else condition.of(texts))
        if held is None:
            skipped += 1
            continue
        if condition is not None and held and formed.truth:
            table = tuple(
                tuple(formed.truth[one, person].get(text, 0) for person, _ in members) for text in texts
            )  # fmt: skip
            checked += 1
            true += condition.of(texts)(sizes, counts, [table])[0]
        rise, group, place = max(
            ((own[place] - Fraction(counts[place], sum(sizes)), -group, -place)
             for group, own in enumerate(held) for place in range(len(counts))),
            default=(Fraction(0), 0, 0),
        )  # fmt: skip
        if rise > 0:
            claimed = Fraction(counts[-place], sum(sizes))
            found.persons.append(sizes[-group])
            found.prior.append(claimed)
            found.after.append(claimed + rise)
            found.row.append(int(people.first[members[-group][0]]))
            found.shown.append(f"{view.label(one)}: {sensitive.attribute} = {texts[-place]}")
    return Rises(found.persons, found.prior, found.after, found.row, found.shown, skipped, checked, true)


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


@dataclass(frozen=True)
class Condition:
    """What must be so of a class for the program to have made it: ``of(texts)`` judges tables of these values.

    ``divides``: every way to divide the class into two parts that are large enough leaves one that fails, since a
    search that minimizes loss would have divided it; else that some group alone fails.
    """

    of: Callable[[Sequence[str | None]], Fails]
    divides: bool


def divisions_of(sizes: Sequence[int], least: int) -> list[tuple[list[int], list[int]]]:
    """List the ways to divide groups into two parts of at least ``least`` rows each.

    >>> divisions_of([3, 2, 3], 3)
    [([0], [1, 2]), ([0, 1], [2])]
    """
    everything = range(len(sizes))
    found = []
    for mask in range(1, 1 << (len(sizes) - 1)):
        first = [group for group in everything if group == 0 or not mask >> (group - 1) & 1]
        rest = [group for group in everything if group not in first]
        if min(sum(sizes[group] for group in part) for part in (first, rest)) >= least:
            found.append((first, rest))
    return sorted(found)


def judged_by_models(context: AttackContext, sensitive: Sensitive, least: int) -> Condition | None:
    """Return what the models of a column ask of the groups of a class; None where they cannot be judged."""
    divides, judge = isinstance(context.policy.recoding, Local), judge_of(context, sensitive)
    if judge is None:
        return None

    def of(texts: Sequence[str | None]) -> Fails:
        holds_of = judge(texts)

        def fails(sizes: Sequence[int], counts: Sequence[int], tables: Sequence[Sequence[Column]]) -> list[bool]:
            divisions = divisions_of(sizes, least) if divides else [([group],) for group in range(len(sizes))]
            if not divisions:
                return [False] * len(tables)
            cells = np.array(tables, np.int64).reshape(len(tables), len(counts), len(sizes))
            halves = [cells[:, :, list(part)].sum(axis=2) for both in divisions for part in both]
            holds = holds_of(np.stack(halves, axis=1).reshape(-1, len(counts)))
            failing = np.logical_not(holds.reshape(len(tables), len(divisions), -1).all(axis=2))
            judge = all if divides else any
            return [judge(row) for row in failing.tolist()]

        return fails

    return Condition(of, divides)


def judge_of(context: AttackContext, sensitive: Sensitive) -> Callable[[Sequence[str | None]], Holds] | None:
    """Return a judge of groups by the models of a column: given values, of int64[g, values]; None: it has none."""
    name = sensitive.attribute
    models = [m for m in context.policy.privacy if set(m.attributes_used) == {name} and is_of_classes(m)]
    if not models or context.policy.person is not None:
        return None
    try:
        references = _references(context, sensitive)
    except IndistinctError:
        return None  # the column does not read as the policy says: its models cannot be judged
    code = references[name].hierarchy.codes()

    def of(texts: Sequence[str | None]) -> Holds:
        values = np.array([code[text] for text in texts], np.int32)
        order = np.argsort(values)

        def hold(counts: NDArray[np.int64]) -> NDArray[np.bool_]:
            cells = counts[:, order]
            owner, place = np.nonzero(cells)
            given = (owner.astype(np.int32), values[order][place].reshape(-1, 1), cells[owner, place])
            histograms = histograms_of((name,), *given, len(cells), [references[name].hierarchy.size])
            classes = Classes(cells.sum(axis=1), None, (name,), histograms, *given)
            holds = np.ones(len(cells), np.bool_)
            for model in models:
                holds &= evaluate(model, classes, Context(references)).satisfied
            return holds

        return hold

    return of


def _references(context: AttackContext, sensitive: Sensitive) -> Mapping[str, Reference]:
    """Count the column of everybody, as far as it is known: the original's, else that of the release."""
    name = sensitive.attribute
    if context.original is not None and name in context.original.columns:
        return reference_counts(context.original.source, context.policy, [name])
    texts = [sensitive.texts[value] for value in np.repeat(np.arange(len(sensitive.prior)), sensitive.prior).tolist()]
    return reference_counts(pa.table({name: pa.array(texts, pa.string())}), context.policy, [name])
