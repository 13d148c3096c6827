"""What a label tells of its class: that each listed value occurs, or two branches under a node.

A set that lists the values of its class, and a node that is the smallest above them, say that something *occurs*: which
value a person has they do not say. The figures are those of ``downcoding``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from indistinct.attacks.matching import matches
from indistinct.attacks.outcome import NOTABLE, Outcome
from indistinct.attacks.remedies import of_labels
from indistinct.attacks.rerun import standing
from indistinct.hierarchies.labels import Members, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.tabulate import Tabulated

    Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Inclusion:
    """What a label tells: of each part (a listed value, a branch) the values it has, and whether all or two occur."""

    pieces: tuple[frozenset[str], ...]
    every: bool


def presence(context: AttackContext) -> Iterator[Outcome]:
    """Say what sets and nodes tell of their classes, for each quasi-identifier that is published so."""
    view, original = context.view, context.original
    people = None
    if original is not None and all(name in original.columns for name in view.quasi):
        people = original.select(view.quasi)
    for position, name in enumerate(view.quasi):
        found = {number: inclusions for number, label in enumerate(view.labels[position])
                 if label is not None and (inclusions := _inclusion(context, name, label)) is not None}  # fmt: skip
        if found:
            outcome = _outcome(context, name, found, people)
            if outcome is not None:
                yield outcome


def _inclusion(context: AttackContext, name: str, label: str) -> Inclusion | None:
    pattern = parse(label, **context.reading(name, context.view.typed))
    if isinstance(pattern, Members):
        return Inclusion(tuple(frozenset({text}) for text in sorted(pattern.texts | pattern.quoted)), every=True)
    rows = context.rows_of_hierarchy(name) or ()
    branches: dict[str, set[str]] = {}
    for leaf, *above in rows:
        path = [leaf, *above]
        if label in path[1:-1]:
            # the branch is the last label before this one that differs from it
            below = [text for text in path[: path.index(label)] if text != label]
            branches.setdefault(below[-1] if below else leaf, set()).add(leaf)
    return Inclusion(tuple(map(frozenset, branches.values())), every=False) if len(branches) > 1 else None


def _outcome(
    context: AttackContext, name: str, found: dict[int, Inclusion], people: Tabulated | None
) -> Outcome | None:
    view = context.view
    label = view.tuples[:, view.quasi.index(name)]
    kinds = np.flatnonzero(np.isin(label, list(found)))
    inclusions = [found[code] for code in label[kinds].tolist()]
    everybody = _everybody(context, name)
    present = None if people is None else _present(context, name, people)
    if present is None:
        # without the original a node is known to be the smallest only if somebody says so; a set says it itself
        usable = [place for place, one in enumerate(inclusions) if one.every or context.tight]
    else:
        usable = [place for place, kind in enumerate(kinds.tolist()) if kind in present]
    if not usable:
        return None
    kinds, inclusions = kinds[usable], [inclusions[place] for place in usable]
    rows = view.rows[kinds]
    prior = np.array([_prior(one, everybody, n) for one, n in zip(inclusions, rows.tolist(), strict=True)])
    true = np.ones(len(kinds), np.bool_)
    if present is not None:
        true = np.array([_holds(one, present[kind]) for one, kind in zip(inclusions, kinds.tolist(), strict=True)])
    rises = np.where(true, 1.0, 0.0) - prior > NOTABLE
    sets = sum(one.every for one in inclusions)
    pieces = [f"{sets} sets of {name} tell that each value that they list occurs in their class"] if sets else []
    pieces += (
        [f"{len(inclusions) - sets} nodes of {name} that two of their branches do"] if sets < len(inclusions) else []
    )
    share = float(rows[true].sum() / rows.sum())
    return Outcome(
        name, rows, prior, true.astype(np.float64), rises, view.first[view.class_of[kinds]], "published",
        f"{'; '.join(pieces)}: so it is for {share:.4g} of the persons, by chance for "
        f"{float(prior @ rows / rows.sum()):.4g}",
        {"how": "computed" if present is None else "measured", "sets": sets, "nodes": len(inclusions) - sets},
        lambda kind: f"{view.label(int(view.class_of[kinds[kind]]))}: what {name} lists occurs",
        remedies=of_labels(context, name, sets=sets > 0, nodes=sets < len(inclusions)),
    )  # fmt: skip


def _everybody(context: AttackContext, name: str) -> dict[str | None, int]:
    table = context.everybody
    if table is None or name not in table.columns:
        return {}
    texts, codes = table.column(name)
    return dict(zip(texts, np.bincount(codes, weights=table.rows, minlength=len(texts)).tolist(), strict=True))


def _prior(inclusion: Inclusion, everybody: dict[str | None, int], rows: int) -> float:
    """Chance that it is so in ``rows`` draws from the values under the label; all alike where nothing is known."""
    weights = [sum(everybody.get(text, 0) for text in part) for part in inclusion.pieces]
    if not all(weights):
        weights = [1] * len(weights)
    shares = np.array(weights) / sum(weights)
    if inclusion.every:
        return float(1 - (1 - shares.min()) ** rows)
    return float(1 - (shares**rows).sum())


def _holds(inclusion: Inclusion, values: frozenset[str | None]) -> bool:
    occurs: Sequence[bool] = [bool(part & values) for part in inclusion.pieces]
    return all(occurs) if inclusion.every else sum(occurs) > 1


def _present(context: AttackContext, name: str, people: Tabulated) -> dict[int, frozenset[str | None]]:
    """Return the values of the members of each tuple all of whose members are known."""
    view = context.view
    own = context.repeated(view, context.policy)
    person: list[int] = []
    at: list[int] = []
    rows = np.zeros(len(view.rows))
    if not isinstance(own, str):
        found = standing(own, view, people)
        person, at = found.person.tolist(), found.tuple.tolist()
        np.add.at(rows, found.tuple, found.chance * people.rows[found.person])
    else:
        for block in matches(context, view, people, unknown=False):
            one = np.flatnonzero(np.diff(block.start) == 1)
            person += block.persons[one].tolist()
            at += block.tuples[block.start[one]].tolist()
            np.add.at(rows, block.tuples[block.start[one]], people.rows[block.persons[one]])
    texts, codes = people.column(name)
    values: dict[int, set[str | None]] = {}
    for who, place in zip(person, at, strict=True):
        values.setdefault(place, set()).add(texts[codes[who]])
    full = np.rint(rows) == view.rows
    return {place: frozenset(own_values) for place, own_values in values.items() if full[place]}
