"""Which pieces a published class was merged of, as somebody finds out who runs the program.

*Robust recoding.* Base classes and their pairs follow from quasi-identifiers alone (``algorithms.local.bases``). A base
class whose label and rows are published was not merged; a pair whose common label and rows are was merged alone. Any
other pair was joined to others: it lies in a published class that covers it. Where several do, and counts do not
decide, it is open. Given the original and the key, a run says which it is: an attacker who has learnt that otherwise.
The chance of a decoy follows from how many pairs of like size are merged.

*Otherwise* pieces are the groups of rows that the policy publishes as equal at best. One of at least k rows that holds
is a class of its own, so that all such groups of a merged class fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from indistinct.algorithms import algorithm_of
from indistinct.algorithms.blind import least_size
from indistinct.algorithms.local.bases import Bases, bases_of
from indistinct.algorithms.local.robust import bands_of, decoy_chance
from indistinct.attacks.matching import matches
from indistinct.attacks.merged_groups import formed_of
from indistinct.attacks.rerun import as_it_is, prepared_for, run_of, standing, tuples_of, without_sensitive_models
from indistinct.decision.decide import searched
from indistinct.errors import IndistinctError
from indistinct.policy.robust import is_robust
from indistinct.tables.classes import recoding_of
from indistinct.tables.count import silent
from indistinct.tables.records import SUPPRESSED, Assignment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.rerun import Run
    from indistinct.attacks.tabulate import Tabulated
    from indistinct.policy import Policy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.records import Frequencies

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]
    Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Merge:
    """What one published class was merged of: ``sizes`` rows of each piece, ``row`` the data row of one of its persons.

    ``pair``: which of its pairs each piece belongs to, and ``decoy`` the chance of each pair to be merged without a
    reason. Where ``decoy`` is empty nothing is merged without one: the first ``failing`` pieces are known to fail.
    """

    place: int
    sizes: Sequence[int]
    row: Sequence[int]
    pair: Sequence[int] = ()
    decoy: Sequence[float] = ()
    failing: int = 0

    def weigh(self, piece_fails: Bools, pair_fails: Bools) -> Float64:
        """float64[n]: the chance that the program publishes the class, where such pieces and pairs fail a model.

        A pair is merged where a piece of it fails, else as a decoy; a class of several pairs came about because one of
        them failed as a whole (an approximation: which one joined which is left open).
        """
        if not self.decoy:
            return np.asarray(piece_fails[:, : self.failing].all(axis=1), np.float64)
        chance: Float64 = np.ones(len(piece_fails))
        for number, decoy in enumerate(self.decoy):
            own = np.array(self.pair) == number
            chance *= np.where(piece_fails[:, own].any(axis=1), 1.0, decoy)
        if len(self.decoy) > 1:
            chance *= pair_fails.any(axis=1)
        return chance


@dataclass(frozen=True)
class Merges:
    """Classes that were merged of several pieces; ``alone`` rows lie in classes of one, ``open`` in unknown ones."""

    classes: Sequence[Merge]
    alone: int
    open: int


def merges(context: AttackContext, table: Tabulated) -> Merges | str:
    """Read off a release of ``local`` what was merged; a sentence where the program does not take the table.

    Base classes have k rows or 2k, depending on values of the whole table: the release shows which.
    """
    policy, k = context.policy, least_size(context.policy)
    prepared = prepared_for(table.source, without_sensitive_models(policy))
    if isinstance(prepared, str):
        return prepared
    if not is_robust(policy):
        return _of_groups(context, table.select(context.view.quasi), prepared, k)
    found: Merges | None = None
    for size in (k, 2 * k):
        try:
            bases = _bases(prepared, size)
        except IndistinctError as error:
            return f"the program does not publish this table: {error}" if found is None else found
        ruled_out = _of_bases(context, table.select(context.view.quasi), prepared, bases)
        if found is None or ruled_out.open < found.open:
            found = ruled_out
        if 2 * found.open < context.view.total:
            break
    return found or "no base classes"


def _of_groups(context: AttackContext, people: Tabulated, prepared: Prepared, k: int) -> Merges:
    view, formed, groups = context.view, formed_of(context, people), as_it_is(prepared)
    group_of = np.full(len(prepared.counted.frequencies.tuples), -1, np.int64)
    group_of[groups.of_tuple] = groups.of_class
    of_person = group_of[tuples_of(prepared.counted.frequencies, people)].tolist()
    classes, alone, ruled_out = [], 0, 0
    for place, members in formed.groups.items():
        held: dict[int, int] = {}
        first: dict[int, int] = {}
        for person, rows in members:
            group = of_person[person]
            held[group] = held.get(group, 0) + rows
            first[group] = min(first.get(group, int(people.first[person])), int(people.first[person]))
        if place in formed.shared or sum(held.values()) != int(view.sizes[place]):
            continue
        ruled_out += sum(held.values())
        # what is dealt over several classes may fail or not
        must = [group for group, rows in held.items() if rows >= k and rows == int(groups.sizes[group])]
        rest = [group for group in held if group not in must]
        if len(held) == 1 or not must:
            alone += sum(held.values())
            continue
        sizes, row = [held[group] for group in must], [first[group] for group in must]
        if rest:
            sizes, row = [*sizes, sum(held[group] for group in rest)], [*row, min(first[group] for group in rest)]
        classes.append(Merge(place, sizes, row, failing=len(must)))
    return Merges(classes, alone, view.total - ruled_out)


def _bases(prepared: Prepared, size: int) -> Bases:
    def solve(counts: Frequencies, alone: Policy) -> Assignment:
        return algorithm_of(alone).decide(counts, alone, silent)

    solved: list[Bases] = []

    def find(counts: Frequencies) -> Assignment:
        solved.append(bases_of(counts, prepared.policy, size, solve))
        return solved[0].classes

    return Bases(searched(prepared, find), solved[0].pair)


def _of_bases(context: AttackContext, people: Tabulated, prepared: Prepared, bases: Bases) -> Merges:
    view, frequencies = context.view, prepared.counted.frequencies
    single, pair = _published(prepared, bases.classes), np.unique(bases.pair, return_inverse=True)[1].reshape(-1)
    held = bases.classes.class_of != SUPPRESSED
    of_pair = np.where(held, pair[np.where(held, bases.classes.class_of, 0)], SUPPRESSED).astype(np.int32)
    joined = Assignment(bases.classes.cell, bases.classes.count, of_pair, int(pair.max(initial=-1)) + 1)
    double = _published(prepared, joined)
    at, alone = _exactly(single, context)
    unmerged = np.logical_and.reduceat(alone[np.argsort(pair, kind="stable")], _starts(pair)) if len(pair) else alone
    place, exact = _exactly(double, context)
    place = np.where(exact & ~unmerged, place, -1)
    free = np.ones(len(view.rows), np.bool_)
    free[np.concatenate([at[alone], place[place >= 0]])] = False
    left = np.flatnonzero(~unmerged & (place < 0))
    place[left] = _covering(context, people, frequencies, double, left, free)
    own = [np.flatnonzero(place == one) for one in np.unique(place[place >= 0])]
    first = _first_rows(frequencies, people, single)
    bands = bands_of(double.sizes)
    decoy = _decoys(np.bincount(bands), np.bincount(bands[~unmerged], minlength=int(bands.max(initial=-1)) + 1))[bands]
    classes, rows = [], 0
    for pairs in own:
        pieces = np.flatnonzero(np.isin(pair, pairs))
        merge = Merge(
            int(place[pairs[0]]), single.sizes[pieces].tolist(), first[pieces].tolist(),
            np.searchsorted(pairs, pair[pieces]).tolist(), decoy[pairs].tolist(),
        )  # fmt: skip
        rows += sum(merge.sizes)
        classes.append(merge)
    untold = int(single.sizes[alone].sum())
    return Merges(classes, untold, view.total - untold - rows)


def _published(prepared: Prepared, assignment: Assignment) -> Run:
    frequencies = prepared.counted.frequencies
    return run_of(prepared.policy, frequencies, assignment, recoding_of(frequencies, assignment), starred=False)


def _starts(pair: Int64) -> Int64:
    return np.searchsorted(np.sort(pair), np.arange(int(pair.max(initial=-1)) + 1))


def _exactly(run: Run, context: AttackContext) -> tuple[Int64, Bools]:
    """int64[g]: the published tuple with the label of each class; bool[g]: it has just the rows of such classes."""
    at, rows = run.placed(context.view), context.view.rows
    known = at >= 0
    held = np.bincount(at[known], weights=run.sizes[known], minlength=len(rows)).astype(np.int64)
    return at, known & (held[at] == rows[at])


def _covering(
    context: AttackContext, people: Tabulated, frequencies: Frequencies, run: Run, left: Int64, free: Bools
) -> Int64:
    """int64[.]: the published tuple that each pair of ``left`` was joined into, one that is ``free``; -1: open."""
    if not len(left):
        return np.zeros(0, np.int64)
    person_of = np.full(len(frequencies.tuples), -1, np.int64)
    known = tuples_of(frequencies, people)
    person_of[known[known >= 0]] = np.flatnonzero(known >= 0)
    number = np.full(len(run.codes), -1, np.int64)
    number[left] = np.arange(len(left))
    asking, person = number[run.of_class], person_of[run.of_tuple]
    solved = (asking >= 0) & (person >= 0)
    demand = _counted(asking[solved], person[solved], len(left), len(people.rows))
    of, to = _relation(context, people)
    chosen = free[to]
    covers = _counted(of[chosen], to[chosen], len(people.rows), len(free))
    both = (demand @ covers).tocoo()
    whole = both.data == np.asarray(demand.sum(axis=1)).reshape(-1)[both.row]
    choices: list[set[int]] = [set() for _ in left]
    for one, place in zip(both.row[whole].tolist(), both.col[whole].tolist(), strict=True):
        choices[one].add(place)
    return _narrowed(choices, run.sizes[left].tolist(), context.view.rows)


def _relation(context: AttackContext, people: Tabulated) -> tuple[Int64, Int64]:
    """int64[.], int64[.]: persons, and the published tuples that they may be in."""
    own = context.repeated(context.view, context.policy)
    if not isinstance(own, str):
        at = standing(own, context.view, people)
        return at.person, at.tuple
    blocks = list(matches(context, context.view, people, unknown=False))
    none = np.zeros(0, np.int64)
    return np.concatenate([none, *(one.of for one in blocks)]), np.concatenate([none, *(one.tuples for one in blocks)])


def _counted(row: Int64, column: Int64, rows: int, columns: int) -> csr_array:
    return csr_array((np.ones(len(row), np.int64), (row, column)), (rows, columns))


def _narrowed(choices: Sequence[set[int]], sizes: Sequence[int], rows: Int64) -> Int64:
    """Place what has one choice, until nothing new follows; keep the classes that are filled by just these.

    >>> _narrowed([{0}, {0, 1}, {1}], [4, 4, 6], np.array([8, 6])).tolist()
    [0, 0, 1]
    """
    found, room = np.full(len(sizes), -1, np.int64), rows.copy()
    changed = True
    while changed:
        changed = False
        for one, size in enumerate(sizes):
            if found[one] >= 0:
                continue
            fitting = {place for place in choices[one] if room[place] >= size}
            if len(fitting) == 1:
                found[one] = fitting.pop()
                room[found[one]] -= size
                changed = True
    return np.where((found >= 0) & (room[found] == 0), found, -1)


def _decoys(pairs: Int64, merged: Int64) -> Float64:
    """float64[.]: the chance of a decoy among pairs of like size of which so many are merged.

    Of the numbers of violating pairs the one is taken under which the program merges about so many.
    """
    chances = []
    for own, number in zip(pairs.tolist(), merged.tolist(), strict=True):
        violating = np.arange(own + 1)
        chance = decoy_chance(np.full(own + 1, own), violating)
        chances.append(chance[np.abs(violating + (own - violating) * chance - number).argmin()])
    return np.array(chances, np.float64)


def _first_rows(frequencies: Frequencies, people: Tabulated, run: Run) -> Int64:
    """int64[g]: the data row of one person of each class."""
    row = np.full(len(frequencies.tuples), np.iinfo(np.int64).max)
    known = tuples_of(frequencies, people)
    np.minimum.at(row, known[known >= 0], people.first[known >= 0])
    found = np.full(len(run.codes), np.iinfo(np.int64).max)
    np.minimum.at(found, run.of_class, row[run.of_tuple])
    return found
