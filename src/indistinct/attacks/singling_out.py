"""Singling out: predicates read off the release that are true of exactly one person.

*Attacker.* Has the release alone. He writes predicates: the published labels of a row in some of its columns,
quasi-identifiers and sensitive values alike (one to all of them, drawn at random; 500 different ones). A predicate
*singles out* when exactly one person of the original fits it. The same predicates are asked about as many persons held
out before anonymization: a rare combination is rare among others too, and that is no leak. *Prior*: the share of
predicates that single out a person held out, *posterior*: a person of the release; *gain*: the risk ``(attack -
control)/(1 - control)``. *Naive*: predicates of values drawn column by column, as they are distributed over everybody.
The interval deals persons anew to the two groups. *Learnt*: predicates that single out beyond
what the control group leads to expect.

Where original and control group differ in size, as many are drawn of the larger one as there are in the smaller.

Rows (f, 1), (f, 2), (m, 3) as they are: the predicate sex = m singles out, sex = f does not.

*Bounds.* No model of classes alone: k-anonymity bounds predicates over all quasi-identifiers, and Cohen and Nissim
show predicates with sensitive values that single out in k-anonymous releases (PNAS 117(15):8344-8352, 2020,
doi:10.1073/pnas.1914598117, from memory). *Source.* Giomi, Boenisch, Wehmeyer, Tasnadi, PoPETs 2023(2):312-328
(Anonymeter), whose predicates are of synthetic rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.outcome import Idle, Outcome
from indistinct.attacks.predicates import NEEDS, contrasts_of, drawn, fitting, whole_rows
from indistinct.attacks.tabulate import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.view import View

    Int32 = NDArray[np.int32]
    Bool = NDArray[np.bool_]

PREDICATES = 500
MOST_PERSONS = 5_000


def singling_out(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Ask predicates of the release about its persons, and about others."""
    original, control = context.original, context.control
    assert original is not None  # noqa: S101  # the record says that it is needed
    assert control is not None  # noqa: S101  # the record says that it is needed
    view = whole_rows(context, original, control)
    if view is None:
        yield Idle(None, "needs one published table, and quasi-identifiers that all tables have")
        return
    rng = np.random.default_rng(0)
    size = min(original.total, control.total, MOST_PERSONS)
    groups = [drawn(table.select(view.quasi), size, rng) for table in (original, control)]
    probes = _predicates(view, rng)
    naive = _naive(view, len(probes), rng)
    by_chance = fitting(context, view, naive, groups[0])[0]
    base = float((np.bincount(by_chance, minlength=len(naive)) == 1).mean())
    contrast = contrasts_of(context, view, probes, np.ones(len(probes), np.int64), groups, round(base, 12))
    beyond = max(0, round((contrast.attack - contrast.control) * len(probes)))
    yield Outcome(
        None, np.array([beyond, len(probes) - beyond], np.int64), np.full(2, contrast.control),
        np.full(2, contrast.attack), np.array([beyond > 0, False]), np.zeros(2, np.int64), "original",
        f"of {len(probes)} predicates read off the release {round(contrast.attack * len(probes))} single out one "
        f"of {size} persons of the original, and {round(contrast.control * len(probes))} one of as many held out",
        {"predicates": len(probes), "persons": size, "columns": list(view.quasi)},
        contrast=contrast,
    )  # fmt: skip


def _predicates(view: View, rng: np.random.Generator) -> Int32:
    """int32[p, d]: the labels of random rows in random columns, each predicate once."""
    tries = 2 * PREDICATES
    row = rng.choice(len(view.rows), tries, p=view.rows / view.rows.sum())
    return _distinct(np.where(_columns(view, tries, rng), view.tuples[row], -1), view)


def _naive(view: View, number: int, rng: np.random.Generator) -> Int32:
    """int32[p, d]: labels drawn column by column, in random columns."""
    drawn_labels = np.column_stack([
        view.tuples[rng.choice(len(view.rows), number, p=view.rows / view.rows.sum()), column]
        for column in range(len(view.quasi))
    ])  # fmt: skip
    return np.where(_columns(view, number, rng), drawn_labels, -1).astype(np.int32)


def _columns(view: View, number: int, rng: np.random.Generator) -> Bool:
    """bool[number, d]: which columns each predicate asks about: one to all of them."""
    width = len(view.quasi)
    order = rng.random((number, width)).argsort(axis=1)
    found: Bool = order < rng.integers(1, width + 1, number)[:, None]
    return found


def _distinct(predicates: Int32, view: View) -> Int32:
    ones = np.arange(1, len(predicates) + 1)
    sizes = [len(texts) + 1 for texts in view.labels]
    _, _, first, _ = grouped(np.ascontiguousarray(predicates + 1, np.int32), ones, ones, sizes)
    return np.ascontiguousarray(predicates[np.sort(first)[:PREDICATES] - 1], np.int32)


ATTACK = Attack(
    singling_out,
    supposes="has the release alone, and tries predicates over all its columns",
    bounded_by=(),
    of_the_file=False,
    needs={"original": NEEDS, "control": NEEDS},
    remedies=("no model of classes: see differential privacy",),
)
