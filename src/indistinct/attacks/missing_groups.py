"""The linear comparison: what a release lacks that the same policy without its models of sensitive columns publishes.

``Pi0`` is that other release; a run over quasi-identifiers gives it (where no model is left, it is the table itself).
A *missing* unit is a group of at least k equal rows that ``Pi0`` publishes exactly and the release does not, or a class
of ``Pi0`` of which the release covers nobody. *Claim* about it: it fails a model. No theorem: a search may leave a
group inexact for another reason. With the original it is counted who is right.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.blind import least_size
from indistinct.attacks.matching import matches
from indistinct.attacks.rerun import (
    Run,
    as_it_is,
    decided,
    places,
    prepared_for,
    tuples_of,
    unrepeatable,
    without_sensitive_models,
)
from indistinct.models import Context, evaluate, is_of_classes
from indistinct.policy.recoding import option
from indistinct.session.prepare import modelled
from indistinct.tables.classes import classes_of
from indistinct.tables.records import SUPPRESSED, Assignment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.rerun import Texts
    from indistinct.attacks.tabulate import Tabulated
    from indistinct.policy import Policy
    from indistinct.tables.records import Frequencies

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Bool = NDArray[np.bool_]


@dataclass(frozen=True)
class Missing:
    """Units that are missing: the first ``groups`` are groups of equal rows, the others classes of suppressed rows.

    ``persons`` int64[.] of each, ``row`` int64[.] the data row of one of them; ``fails`` bool[.]: which fail a model,
    and ``base`` the share of persons in groups of that size which do; None where the values are not known.
    """

    groups: int
    persons: Int64 = field(repr=False)
    row: Int64 = field(repr=False)
    fails: Bool | None = field(repr=False)
    base: float | None

    @property
    def failing(self) -> int | None:
        """How many persons are in units that fail."""
        return None if self.fails is None else int(self.persons[self.fails].sum())

    def document(self) -> dict[str, object]:
        """Return the figures, without values."""
        in_groups = None if self.fails is None else int(self.persons[: self.groups][self.fails[: self.groups]].sum())
        return {
            "groups": self.groups,
            "persons_of_groups": int(self.persons[: self.groups].sum()),
            "failing_persons_of_groups": in_groups,
            "suppressed_classes": len(self.persons) - self.groups,
            "persons": int(self.persons.sum()),
            "failing_persons": self.failing,
            "base_share": None if self.base is None else round(self.base, 12),
        }


def missing_units(context: AttackContext, table: Tabulated) -> Missing | str:
    """Compare a release with what its policy would publish without its models of sensitive columns."""
    policy, why = context.policy, next(obstacles(context, table), None)
    if why is not None:
        return why
    bare = without_sensitive_models(policy)
    prepared = prepared_for(table.source, bare)
    if isinstance(prepared, str):
        return prepared
    groups = as_it_is(prepared)
    plain = decided(prepared) if bare.privacy else groups
    if isinstance(plain, str):
        return plain
    frequencies = prepared.counted.frequencies
    persons = classes_of(frequencies, groups.assignment).sizes
    large = persons >= least_size(policy)
    before = exactly(groups, plain.texts, plain.codes, plain.sizes)
    after = exactly(groups, context.view.labels, context.view.tuples, context.view.rows)
    missing = np.flatnonzero(large & before & ~after)
    people = table.select(context.view.quasi)
    group_of = np.zeros(len(frequencies.tuples), np.int64)
    group_of[groups.of_tuple] = groups.of_class
    class_of, gone = _uncovered(context, plain, people)
    alike = places(groups.texts, groups.codes, plain.texts, plain.codes)
    gone = np.setdiff1d(gone, alike[missing])  # a suppressed group counts once
    row = np.full(len(frequencies.tuples), np.iinfo(np.int64).max)
    known = tuples_of(frequencies, people)
    np.minimum.at(row, known[known >= 0], people.first[known >= 0])
    fails, base = None, None
    judged = _failing(context, policy, frequencies, (group_of, len(groups.codes)), (class_of, len(plain.codes)))
    if judged is not None:
        of_groups, of_classes = judged
        fails = np.concatenate([of_groups[missing], of_classes[gone]])
        base = float(persons[large & of_groups].sum() / max(1, persons[large].sum()))
    return Missing(
        len(missing),
        np.concatenate([persons[missing], plain.sizes[gone]]),
        np.concatenate([_first(row, group_of, len(groups.codes))[missing],
                        _first(row, class_of, len(plain.codes))[gone]]),
        fails,
        base,
    )  # fmt: skip


def exactly(groups: Run, texts: Texts, codes: Int32, rows: Int64) -> Bool:
    """bool[g]: groups that stand among published tuples with their own label and just their own rows."""
    at = places(groups.texts, groups.codes, texts, codes)
    found: Bool = (at >= 0) & (rows[at] == groups.sizes)
    return found


def obstacles(context: AttackContext, table: Tabulated) -> Iterator[str]:
    """Yield what keeps somebody from comparing a release with a run of the program over quasi-identifiers alone."""
    policy = context.policy
    if not context.knows_program:
        yield "the attacker does not know the program"
    if why := unrepeatable(policy):
        yield why
    if not any(model.attributes_used for model in policy.privacy):
        yield "no model of the policy looks at a sensitive column: classes tell nothing of how values lie in them"
    if option(policy.recoding, "target") is not None:
        yield "the recoding looks at a target, whose values are not known"
    if context.view.quasi != policy.quasi_identifiers:
        yield "the release lacks a quasi-identifier of the policy"
    allowed = policy.suppression.allowed(table.total)
    if not any(attribute.missing == "drop" for attribute in policy.attributes.values()) and not (
        table.total - allowed <= context.view.total <= table.total
    ):
        yield (
            f"the table of persons has {table.total} rows and the release {context.view.total}: it is not the input, "
            "whose quasi-identifiers a run needs"
        )


def _uncovered(context: AttackContext, plain: Run, people: Tabulated) -> tuple[Int64, Int64]:
    """int64[u]: the class of each tuple in the plain run (of a divided one the first), and the classes nobody covers.

    Rows that are published with the token in every quasi-identifier cover everybody, and are left out.
    """
    view, token = context.view, context.policy.output.suppressed_token
    class_of = np.full(len(plain.frequencies.tuples), SUPPRESSED, np.int64)
    class_of[plain.of_tuple[::-1]] = plain.of_class[::-1]
    star = np.logical_and.reduce([
        np.array([text == token for text in texts], np.bool_)[view.tuples[:, position]]
        for position, texts in enumerate(view.labels)
    ])  # fmt: skip
    if int(view.rows[~star].sum()) == people.total:
        return class_of, np.zeros(0, np.int64)
    covered = np.zeros(len(people.rows), np.bool_)
    for block in matches(context, view, people, unknown=False):
        covered[block.of[~star[block.tuples]]] = True
    reached = np.zeros(len(plain.codes), np.bool_)
    known = tuples_of(plain.frequencies, people)
    seen = np.zeros(len(plain.frequencies.tuples), np.bool_)
    seen[known[covered & (known >= 0)]] = True
    reached[plain.of_class[seen[plain.of_tuple]]] = True
    if plain.starred:
        reached[-1] = True
    return class_of, np.flatnonzero(~reached)


def _failing(
    context: AttackContext, policy: Policy, bare: Frequencies, *partitions: tuple[Int64, int]
) -> list[Bool] | None:
    """bool[g] for each partition of the tuples: which of its parts fail a model; None without the values."""
    original = context.original
    if original is None or any(name not in original.columns for name in modelled(policy)):
        return None
    prepared = prepared_for(original.source, policy)
    if isinstance(prepared, str):
        return None
    return failing_parts(prepared.counted.frequencies, policy, bare, *partitions)


def failing_parts(full: Frequencies, policy: Policy, bare: Frequencies, *partitions: tuple[Int64, int]) -> list[Bool]:
    """bool[g] for each partition of the tuples of ``bare``: which blocks fail a model, by the values of ``full``."""
    at = places(tuple([*h.texts] for h in full.quasi), full.tuples, tuple([*h.texts] for h in bare.quasi), bare.tuples)
    found = []
    for part_of, blocks in partitions:
        of_tuple = np.where(at >= 0, part_of[at], SUPPRESSED)
        present = np.unique(of_tuple[of_tuple != SUPPRESSED])
        number = np.full(blocks + 1, SUPPRESSED, np.int32)
        number[present] = np.arange(len(present), dtype=np.int32)
        cells = np.arange(len(full.rows), dtype=np.int32)
        classes = classes_of(full, Assignment(cells, full.rows, number[of_tuple][full.tuple_of], len(present)))
        holds = np.ones(len(present), np.bool_)
        for model in policy.privacy:
            if model.attributes_used and is_of_classes(model):
                holds &= evaluate(model, classes, Context(full.references)).satisfied
        fails = np.zeros(blocks, np.bool_)
        fails[present] = ~holds
        found.append(fails)
    return found


def _first(row: Int64, part_of: Int64, blocks: int) -> Int64:
    found = np.full(blocks, np.iinfo(np.int64).max)
    published = part_of >= 0
    np.minimum.at(found, part_of[published], row[published])
    return found
