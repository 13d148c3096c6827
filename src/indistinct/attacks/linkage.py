"""Linkage: names from another table are put to published rows that may be theirs.

*Attacker.* Has persons with quasi-identifiers (``identified``, else ``original``) and knows that they are in the
release. *Procedure.* A row is a candidate of a person when every published label covers the person's value: equality,
``[20, 30)``, ``{a, b}``, ``0213*``, a node of a tree, ``*``. *Claim* of person i: one of the c_i candidate rows,
drawn at random. *Prior* 1/n (n published rows), *posterior* 1/c_i; ``sum 1/c_i`` is the expected number of correct
links. *Learnt*: c_i = 1, or all candidates hold one sensitive value. Persons without a candidate are not counted as
attacked. Without a table of persons every published row stands for one who is known to be in its class: 1/n_E.

*Bounds.* k-anonymity: a person's own class has k rows, so that c_i >= k and the posterior is at most 1/k. *Source.*
Sweeney, IJUFKS 10(5):557-570, 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.matching import matches
from indistinct.attacks.outcome import Idle, Outcome
from indistinct.policy.privacy import KAnonymity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.tabulate import Tabulated

    Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Links:
    """For each distinct person: ``rows`` int64[p] candidate rows, ``sole`` their one value by attribute, or -1."""

    people: Tabulated
    rows: Int64
    sole: Mapping[str, Int64]


def linkage(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Link persons to published rows."""
    view = context.view
    found = links(context)
    if found is None:
        yield _within(context)
        return
    people, matched = found.people, found.rows > 0
    rows = found.rows[matched]
    weight = people.rows[matched]
    unique = rows == 1
    disclosed = np.zeros(len(rows), np.bool_)
    by_attribute = {}
    for name, sole in found.sole.items():
        told = (sole[matched] >= 0) & (view.sensitive[name].prior.max(initial=0) < view.sensitive[name].prior.sum())
        by_attribute[name] = int(weight[told].sum())
        disclosed |= told
    linked = int(weight[unique].sum())
    kinds = np.flatnonzero(matched)
    total = int(weight.sum())

    def show(kind: int) -> str:
        row = int(people.first[kinds[kind]])
        values = [
            f"{name} = {view.sensitive[name].texts[sole[kinds[kind]]]}"
            for name, sole in found.sole.items()
            if sole[kinds[kind]] >= 0
        ]
        return f"{_whole(context).show(row)}: {rows[kind]} candidate rows" + (
            f", {', '.join(values)}" if values else ""
        )

    yield Outcome(
        None, weight, np.full(len(rows), 1 / view.total), 1 / np.maximum(rows, 1), unique | disclosed,
        people.first[matched], context.role_of_persons,
        f"{total} of {people.total} persons match a published row; {linked} match exactly one"
        + "".join(f"; of {number} all candidates hold one {name}" for name, number in by_attribute.items() if number),
        {
            "persons_given": people.total,
            "columns": list(people.columns),
            "unique_links": linked,
            "disclosed": by_attribute,
            "expected_correct_links": round(float((weight / np.maximum(rows, 1)).sum()), 6),
            "fewest_candidates": int(rows.min(initial=view.total)) if len(rows) else 0,
            "mean_candidates": round(float(weight @ rows) / total, 6) if total else 0.0,
        },
        show,
    )  # fmt: skip


def links(context: AttackContext) -> Links | None:
    """Count the candidate rows of every distinct person; None without a table of persons."""
    whole = context.persons
    if whole is None:
        return None
    view = context.view
    people = whole.select([name for name in view.quasi if name in whole.columns])
    rows = np.zeros(len(people.rows), np.int64)
    lowest = {name: np.full(len(rows), np.iinfo(np.int64).max) for name in view.sensitive}
    highest = {name: np.full(len(rows), np.iinfo(np.int64).min) for name in view.sensitive}
    of_class = {name: sensitive.sole()[view.class_of] for name, sensitive in view.sensitive.items()}
    for block in matches(context, view, people, unknown=context.identified is not None):
        some = block.start[:-1] < block.start[1:]
        if not some.any():
            continue
        begin, own = block.start[:-1][some], block.persons[some]
        rows[own] = np.add.reduceat(view.rows[block.tuples], begin)
        for name, sole in of_class.items():
            values = sole[block.tuples]
            lowest[name][own] = np.minimum.reduceat(values, begin)
            highest[name][own] = np.maximum.reduceat(values, begin)
    alike = {name: np.where(lowest[name] == highest[name], lowest[name], -1) for name in view.sensitive}
    return Links(people, rows, alike)


def _whole(context: AttackContext) -> Tabulated:
    found = context.persons
    assert found is not None  # noqa: S101  # asked for only where there is one
    return found


def _within(context: AttackContext) -> Outcome:
    view = context.view
    alone = int((view.sizes == 1).sum())
    return Outcome(
        None, view.sizes, np.full(len(view.sizes), 1 / view.total), 1 / view.sizes, view.sizes == 1,
        view.first, "published",
        f"{alone} of {view.total} rows are alone in their class; the smallest class has {int(view.sizes.min())} rows "
        "(give --identified to link a table with names)",
        {
            "unique_links": alone,
            "expected_correct_links": len(view.sizes),
            "fewest_candidates": int(view.sizes.min()),
        },
        lambda kind: f"{view.label(kind)}: {view.sizes[kind]} rows",
    )  # fmt: skip


ATTACK = Attack(
    linkage,
    bounded_by=(KAnonymity,),
    of_the_file=False,
    needs={},
)
