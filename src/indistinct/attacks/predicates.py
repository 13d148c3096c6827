"""Predicates on rows: the release with all its columns, persons drawn from a table, and who is singled out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.attacks.matching import matches
from indistinct.attacks.outcome import Contrast
from indistinct.attacks.tabulate import tabulated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.tabulate import Tabulated
    from indistinct.attacks.view import View

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Bool = NDArray[np.bool_]

DEALS = 300
NEEDS = "needs --original and --control, persons held out before anonymization"


def whole_rows(context: AttackContext, *tables: Tabulated) -> View | None:
    """Look at the release by all columns of the policy that it and the tables have, sensitive ones too."""
    view = context.view
    names = [name for name in (*view.quasi, *view.sensitive) if all(name in table.columns for table in tables)]
    if view.in_groups or not any(name in view.quasi for name in names):
        return None
    found, _ = tabulated(view.source, names)
    number = np.arange(len(found.rows), dtype=np.int32)
    return replace(
        view, quasi=tuple(names), labels=found.texts, tuples=found.codes, rows=found.rows, class_of=number,
        sizes=found.rows, first=found.first, sensitive={},
    )  # fmt: skip


def drawn(people: Tabulated, size: int, rng: np.random.Generator) -> Tabulated:
    """Draw ``size`` persons of a table without replacement."""
    if people.total == size:
        return people
    rows = rng.multivariate_hypergeometric(people.rows, size)
    return replace(people.at(np.flatnonzero(rows)), rows=rows[rows > 0])


def contrasts_of(
    context: AttackContext,
    view: View,
    predicates: Int32,
    weight: Int64,
    groups: Sequence[Tabulated],
    naive: float | None = None,
    rest: int = 0,
) -> Contrast:
    """Compare how often predicates single out one of the persons of either group, which are of one size.

    Predicates share persons, so that they cannot be drawn anew as if each were of its own. The interval has the spread
    of the risk when persons are dealt anew to the two groups (permutations; Pitman, Suppl. J. R. Statist. Soc. 4, 1937,
    from memory): exact where the groups do not differ, approximate else. ``weight`` int64[p] counts each predicate,
    ``rest`` what has none.
    """
    fits = [fitting(context, view, predicates, people) for people in groups]
    whose = np.concatenate([own for own, _ in fits])
    who = np.concatenate([fits[0][1], fits[1][1] + groups[0].total])
    total, rng = groups[0].total + groups[1].total, np.random.default_rng(0)
    weights = np.append(weight, rest)

    def contrast(first: Bool) -> Contrast:
        scores = [
            np.append(np.bincount(whose[part[who]], minlength=len(predicates)) == 1, False).astype(np.float64)
            for part in (first, ~first)
        ]
        return Contrast(scores[0], weights, scores[1], weights, naive)

    as_given = np.arange(total) < groups[0].total
    dealt = [contrast(rng.permutation(as_given)).risk for _ in range(DEALS)]
    return replace(contrast(as_given), spread=float(np.std(dealt)))


def fitting(context: AttackContext, view: View, predicates: Int32, people: Tabulated) -> tuple[Int64, Int64]:
    """Pairs of a predicate and a single person who fits it; a label of -1 asks nothing."""
    token = context.policy.output.suppressed_token
    labels = tuple([*texts, token] for texts in view.labels)
    anything = np.array([len(texts) for texts in view.labels], np.int32)
    probe = replace(view, labels=labels, tuples=np.where(predicates < 0, anything, predicates).astype(np.int32))
    if not len(predicates):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    begin = np.cumsum(people.rows) - people.rows
    whose, who = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for block in matches(context, probe, people, unknown=False):
        times = people.rows[block.of]
        ends = np.cumsum(times)
        whose.append(np.repeat(block.tuples, times))
        who.append(np.repeat(begin[block.of] - ends + times, times) + np.arange(int(times.sum())))
    return np.concatenate(whose), np.concatenate(who)
