"""Linkability: whether a release ties two sets of columns of one person to each other.

*Attacker.* Has two tables about the same people, one with the first half of the columns (in the order of the policy),
one with the second half, and the release, which has both. For a person of the first table he chooses among ten persons
of the second, one of whom is the same. *Claim*: the one for whom ``N(A, B)/N(B)`` is largest: rows of the release that
cover both parts, for each row that covers the second (ties share the claim). *Naive*: 1/10. Columns that go together
for everybody tie parts of strangers too, so that the same is asked about persons held out before anonymization, with
ten persons held out. *Prior*: how often the claim is right about them, *posterior*: about persons of the release;
*gain*: the risk ``(attack - control)/(1 - control)``. The interval draws persons anew. *Learnt*: persons tied beyond
what the control group leads to expect.

*Bounds.* None by name; coarse classes tie less. *Source.* Giomi, Boenisch, Wehmeyer, Tasnadi, PoPETs 2023(2):312-328
(Anonymeter), with nearest neighbours in synthetic rows; covering rows in place of them: this project, 2026.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.matching import matches
from indistinct.attacks.outcome import Contrast, Idle, Outcome
from indistinct.attacks.predicates import NEEDS, drawn, whole_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.tabulate import Tabulated
    from indistinct.attacks.view import View

    Float64 = NDArray[np.float64]
    Int64 = NDArray[np.int64]

TARGETS = 1_000
CHOICE = 10


def linkability(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Choose the second part of a person among those of ten."""
    original, control = context.original, context.control
    assert original is not None  # noqa: S101  # the record says that it is needed
    assert control is not None  # noqa: S101  # the record says that it is needed
    view = whole_rows(context, original, control)
    if view is None or len(view.quasi) < 2:
        yield Idle(None, "needs one published table, and two columns that all tables have")
        return
    half = (len(view.quasi) + 1) // 2
    halves = view.quasi[:half], view.quasi[half:]
    scores, rows = [], []
    for seed, table in enumerate((original, control)):
        rng = np.random.default_rng(seed)
        people = drawn(table.select(view.quasi), min(TARGETS, table.total), rng)
        of = np.repeat(np.arange(len(people.rows)), people.rows)
        # one row a person: two persons of one kind are two choices
        single = replace(people.at(of), rows=np.ones(len(of), np.int64))
        scores.append(_right(context, view, single, halves, rng))
        rows.append(np.ones(len(of), np.int64))
    contrast = Contrast(scores[0], rows[0], scores[1], rows[1], 1 / CHOICE)
    persons = len(scores[0])
    beyond = max(0, round((contrast.attack - contrast.control) * persons))
    yield Outcome(
        None, np.array([beyond, persons - beyond], np.int64), np.full(2, contrast.control), np.full(2, contrast.attack),
        np.array([beyond > 0, False]), np.zeros(2, np.int64), "original",
        f"{', '.join(halves[0])} and {', '.join(halves[1])} of one person are tied among {CHOICE} for "
        f"{contrast.attack:.4g} of {persons} persons of the original, and for {contrast.control:.4g} of "
        f"{len(scores[1])} held out",
        {"first": list(halves[0]), "second": list(halves[1]), "choice": CHOICE},
        contrast=contrast,
    )  # fmt: skip


def _right(
    context: AttackContext, view: View, people: Tabulated, halves: tuple[Sequence[str], ...], rng: np.random.Generator
) -> Float64:
    """float64[p]: how often the claim about each person is right, with ties shared; the person is the first choice."""
    total = len(people.rows)
    other = rng.integers(0, max(1, total - 1), (total, CHOICE - 1))
    other += other >= np.arange(total)[:, None]  # never the same person
    choice = np.column_stack([np.arange(total), np.minimum(other, total - 1)])
    owner, second = np.repeat(np.arange(total), CHOICE), choice.reshape(-1)
    codes = people.codes[owner].copy()
    at = [people.columns.index(name) for name in halves[1]]
    codes[:, at] = people.codes[second][:, at]
    pairs = replace(people.at(owner), codes=codes)
    both = _covering(context, view, pairs)
    alone = _covering(context, view, people.select_columns(halves[1]))[second]
    lift = (both / np.maximum(alone, 1)).reshape(total, CHOICE)
    best = np.isclose(lift, lift.max(axis=1, keepdims=True), rtol=1e-9, atol=0)
    found: Float64 = best[:, 0] / best.sum(axis=1)
    return found


def _covering(context: AttackContext, view: View, people: Tabulated) -> Int64:
    """int64[p]: the rows of the release that cover each person in the columns that are given."""
    rows = np.zeros(len(people.rows), np.int64)
    for block in matches(context, view, people, unknown=False):
        np.add.at(rows, block.of, view.rows[block.tuples])
    return rows


ATTACK = Attack(
    linkability,
    supposes="has two tables of the same people with different columns, and the release that has both",
    bounded_by=(),
    of_the_file=False,
    needs={"original": NEEDS, "control": NEEDS},
)
