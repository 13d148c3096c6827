"""Linkage: names from another table are put to published rows that may be theirs.

*Attacker.* Has persons with quasi-identifiers (``identified``, else ``original``) and knows that they are in the
release. If he knows the program (``rerun``; the default) he runs it and knows the class of each group of equal
quasi-identifiers; one that is dealt over several classes leaves its person in class E with chance (its rows in E)/(its
rows). *Claim* of person i: a row of the likeliest class. *Prior* 1/n (n published rows), *posterior* ``sum of
chance/n_E``.

The *weaker* attacker, shown beside it and taken where no run gives this file, has the labels only: a row is a candidate
of a person when every published label covers the person's value: equality, ``[20, 30)``, ``{a, b}``, ``0213*``, a node
of a tree, ``*``. *Posterior* 1/c_i for c_i candidates; ``sum 1/c_i`` is the expected number of correct links.

*Learnt*: one candidate row, or all candidates hold one sensitive value. Persons without a candidate are not counted as
attacked. Without a table of persons every published row stands for one who is known to be in its class: 1/n_E.

*Bounds.* k-anonymity: a person's own class has k rows, so that the posterior is at most 1/k, whoever knows the class.
*Source.* Sweeney, IJUFKS 10(5):557-570, 2002; with the class known: this project, 2026.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.matching import matches
from indistinct.attacks.outcome import Idle, Outcome
from indistinct.attacks.rerun import standing
from indistinct.policy.privacy import KAnonymity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.rerun import Run
    from indistinct.attacks.tabulate import Tabulated

    Float64 = NDArray[np.float64]
    Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Links:
    """What is known of each distinct person: ``rows`` int64[p] candidate rows, 0 where none is.

    ``belief`` float64[p] is the chance of the likeliest row, ``sole`` int64[p] by attribute the one value of all
    candidates, or -1.
    """

    people: Tabulated
    rows: Int64
    belief: Float64
    sole: Mapping[str, Int64]


def linkage(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Link persons to published rows."""
    whole = context.persons
    if whole is None:
        yield _within(context)
        return
    people = whole.select([name for name in context.view.quasi if name in whole.columns])
    by_labels = links(context, people)
    own = context.repeated(context.view, context.policy)
    if isinstance(own, str):
        yield _linked(context, whole, by_labels, {"knows_program": False, "why_not": own})
        return
    figures = _linked(context, whole, by_labels, {}).document("linkage", ())
    weaker = {name: figures[name] for name in ("persons", "learnt", "posterior", "gain")} | figures["details"]
    known = links_by_class(context, own, people)
    yield _linked(context, whole, known, {"knows_program": True, "weaker": weaker})


def _linked(context: AttackContext, whole: Tabulated, found: Links, more: Mapping[str, Any]) -> Outcome:
    view, people, matched = context.view, found.people, found.rows > 0
    rows, weight = found.rows[matched], people.rows[matched]
    unique = rows == 1
    disclosed = np.zeros(len(rows), np.bool_)
    by_attribute = {}
    for name, sole in found.sole.items():
        learnt = (sole[matched] >= 0) & (view.sensitive[name].prior.max(initial=0) < view.sensitive[name].prior.sum())
        by_attribute[name] = int(weight[learnt].sum())
        disclosed |= learnt
    kinds, total = np.flatnonzero(matched), int(weight.sum())

    def show(kind: int) -> str:
        row = int(people.first[kinds[kind]])
        values = [
            f"{name} = {view.sensitive[name].texts[sole[kinds[kind]]]}"
            for name, sole in found.sole.items()
            if sole[kinds[kind]] >= 0
        ]
        return f"{whole.show(row)}: {rows[kind]} candidate rows" + (f", {', '.join(values)}" if values else "")

    by = "the class of {total} of {all} persons is known by running the program; {linked} are alone in it"
    by = (
        by
        if more.get("knows_program")
        else "{total} of {all} persons match a published row; {linked} match exactly one"
    )
    return Outcome(
        None, weight, np.full(len(rows), 1 / view.total), found.belief[matched], unique | disclosed,
        people.first[matched], context.role_of_persons,
        by.format(total=total, all=people.total, linked=int(weight[unique].sum()))
        + "".join(f"; of {number} all candidates hold one {name}" for name, number in by_attribute.items() if number),
        {
            "persons_given": people.total,
            "columns": list(people.columns),
            "unique_links": int(weight[unique].sum()),
            "disclosed": by_attribute,
            "expected_correct_links": round(float(weight @ found.belief[matched]), 6),
            "fewest_candidates": int(rows.min(initial=view.total)) if len(rows) else 0,
            "mean_candidates": round(float(weight @ rows) / total, 6) if total else 0.0,
            **more,
        },
        show,
    )  # fmt: skip


def links_by_class(context: AttackContext, own: Run, people: Tabulated) -> Links:
    """Take the rows of the classes that a run puts each person in; who is not in the input has none."""
    view, at = context.view, standing(own, context.view, people)
    rows, belief = np.zeros(len(people.rows), np.int64), np.zeros(len(people.rows))
    np.add.at(rows, at.person, view.rows[at.tuple])
    np.add.at(belief, at.person, at.chance / view.rows[at.tuple])
    alike = {}
    for name, sensitive in view.sensitive.items():
        sole = sensitive.sole()[view.class_of[at.tuple]]
        low, high = np.full(len(rows), np.iinfo(np.int64).max), np.full(len(rows), -1)
        np.minimum.at(low, at.person, sole)
        np.maximum.at(high, at.person, sole)
        alike[name] = np.where(low == high, low, -1)
    return Links(people, rows, belief, alike)


def links(context: AttackContext, people: Tabulated) -> Links:
    """Count the candidate rows of every distinct person, by what labels cover."""
    view = context.view
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
    return Links(people, rows, np.where(rows > 0, 1 / np.maximum(rows, 1), 0.0), alike)


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
    supposes="knows the program, the policy and everybody's quasi-identifiers, and so the class of each person",
    bounded_by=(KAnonymity,),
    of_the_file=False,
    needs={},
    options=("knows_program",),
)
