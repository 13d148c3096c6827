"""Recoding that does not betray: what an attacker who runs the program again learns of a sensitive value.

Where classes follow from sensitive values, a class that is missing although its quasi-identifiers would allow it tells
that it violates a model. Here sensitive values decide as little as they can:

1. *base classes* by ``local`` from a table without its sensitive columns, at k, or 2k where more than half of random
   classes of k rows of the whole table would violate a model (this looks at the values of the whole table only, which
   the release shows); they are *paired* by their quasi-identifiers (``bases``, ``pairs``);
2. rows of equal quasi-identifiers are dealt to their base classes by chance;
3. a pair is merged if one of its classes violates a model, and others as *decoys*: of pairs of like size with a share
   v of violating ones each other one is merged with chance ``v / (1 - v) * (1 - BETA) / BETA``, at most 1, so that
   about the share ``BETA`` of the merged pairs violates;
4. merged pairs that still violate join the nearest merged pair: who joined a class published alone, which is known to
   hold, would betray himself;
5. no search follows.

Chance comes from the key of the steward (``coins``). What it does not do: the belief that a merged pair violates still
rises; where v is above ``BETA`` all are merged; correlation of values and quasi-identifiers is no part of it, nor are
several releases; rows that are suppressed because a block cannot hold betray as before; a merged pair that violates and
has no other merged pair in its block joins what is there.

Source: this project, 2026, after R. C.-W. Wong, A. W.-C. Fu, K. Wang, J. Pei, Minimality attack in privacy preserving
data publishing, VLDB 2007 (distorting violating classes together with others).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.blind import blind_frequencies, least_size
from indistinct.algorithms.local.bases import bases_or_smaller, state_of_bases
from indistinct.algorithms.local.coins import Coins
from indistinct.algorithms.local.guards import guards_of
from indistinct.algorithms.local.merging import merge_some
from indistinct.algorithms.local.settle import failing, satisfied, settle_classes
from indistinct.algorithms.local.state import assignment_of, refill
from indistinct.kernels.partition import CHANGED
from indistinct.tables.classes import recoding_of
from indistinct.tables.records import SUPPRESSED, Assignment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.algorithms.local.bases import Solve
    from indistinct.algorithms.local.problem import Problem
    from indistinct.algorithms.local.state import State
    from indistinct.policy import Policy
    from indistinct.tables.records import Frequencies

    Bools = NDArray[np.bool_]
    Float64 = NDArray[np.float64]
    Int64 = NDArray[np.int64]

# share of the merged pairs of like size that may violate, where decoys can do it
BETA = 0.7
# pairs that are alike in size: at least so many together
ALIKE = 50
# random classes by which k or 2k is chosen
TRIED = 500


def robust_classes(problem: Problem, hopeless: Bools, policy: Policy, coins: Coins, solve: Solve) -> Assignment:
    """Form base classes with ``solve``, and merge pairs of them until all hold that can."""
    k = least_size(policy)
    size = 2 * k if often_violates(problem, k) else k
    bases = bases_or_smaller(blind_frequencies(problem.frequencies), policy, size, k, solve)
    base, pair = dealt(problem.frequencies, bases.classes, coins), bases.pair
    state = state_of_bases(problem, base)
    merged = _merged(problem, state, base, pair, coins)
    refill(state, np.where(merged[pair], pair, np.arange(len(pair))).astype(np.int32))
    _join_merged(state, merged)
    found = assignment_of(state, settle_classes(state, hopeless))
    gone = base.class_of == SUPPRESSED
    return replace(
        found,
        cell=np.concatenate([found.cell, base.cell[gone]]).astype(np.int32),
        count=np.concatenate([found.count, base.count[gone]]),
        class_of=np.concatenate([found.class_of, base.class_of[gone]]).astype(np.int32),
    )


def often_violates(problem: Problem, size: int) -> bool:
    """Whether more than half of random classes of ``size`` rows of the whole table violate a model of values.

    A function of how often each value occurs, whatever rows have it.
    """
    frequencies = problem.frequencies
    if frequencies.persons is not None or frequencies.total < 2 * size:
        return False  # who has which rows is no part of a random class
    values = frequencies.codes[:, len(frequencies.quasi) :]
    _, some, number = np.unique(values, axis=0, return_index=True, return_inverse=True)
    rows = np.bincount(number.reshape(-1), weights=frequencies.rows).astype(np.int64)
    row = Coins(b"").stream("random classes", TRIED * size) % np.uint64(frequencies.total)
    cell = some[np.searchsorted(np.cumsum(rows), row.astype(np.int64), side="right")]
    key = cell * TRIED + np.arange(len(cell)) % TRIED
    entry, count = np.unique(key, return_counts=True)
    random = Assignment(
        (entry // TRIED).astype(np.int32), count.astype(np.int64), (entry % TRIED).astype(np.int32), TRIED
    )
    looking = replace(problem, privacy=tuple(model for model in problem.privacy if model.attributes_used))
    return bool(2 * int(satisfied(looking, random).sum()) < TRIED)


def dealt(frequencies: Frequencies, base: Assignment, coins: Coins) -> Assignment:
    """Deal the rows of each tuple to its base classes by chance; ``base`` has tuples for cells."""
    order = np.lexsort((base.class_of, base.cell))
    owner, count, class_of = base.cell[order], base.count[order], base.class_of[order]
    several = np.bincount(owner, minlength=len(frequencies.tuples)) > 1
    only = np.full(len(frequencies.tuples), SUPPRESSED, np.int32)
    only[owner] = class_of
    whole = np.flatnonzero(~several[frequencies.tuple_of])
    parted = np.flatnonzero(several[frequencies.tuple_of])
    rows = np.repeat(parted, frequencies.rows[parted])
    shuffled = rows[np.lexsort((coins.stream("deal", len(rows)), frequencies.tuple_of[rows]))]
    among = several[owner]
    places = np.repeat(class_of[among], count[among]).astype(np.int64)
    width = base.classes + 1
    key, number = np.unique(shuffled * width + places + 1, return_counts=True)
    return Assignment(
        np.concatenate([whole, key // width]).astype(np.int32),
        np.concatenate([frequencies.rows[whole], number]).astype(np.int64),
        np.concatenate([only[frequencies.tuple_of[whole]], key % width - 1]).astype(np.int32),
        base.classes,
        notes=base.notes,
    )


def _merged(problem: Problem, state: State, base: Assignment, pair: Int64, coins: Coins) -> Bools:
    """bool[g]: the pairs (by their first class) that are merged, for a class that violates or as decoys."""
    first = np.unique(pair)
    number = np.searchsorted(first, pair)
    size = np.bincount(number, weights=state.units.mass[:, 1]).astype(np.int64)
    violates = np.zeros(len(first), np.bool_)
    violates[number[failing(state, state.used)]] = True
    bands = bands_of(size)
    violating = np.bincount(bands[violates], minlength=int(bands.max(initial=-1)) + 1)
    chance = decoy_chance(np.bincount(bands), violating)[bands]
    merged = np.zeros(len(pair), np.bool_)
    merged[first] = violates | (coins.of("pair", _boxes(problem.frequencies, base, number)) < chance)
    return merged


def _boxes(frequencies: Frequencies, base: Assignment, number: Int64) -> list[bytes]:
    """Write the box of each pair: what its coin is thrown for."""
    published = base.class_of != SUPPRESSED
    of_pair = number[base.class_of[published]].astype(np.int32)
    pairs = Assignment(base.cell[published], base.count[published], of_pair, int(number.max(initial=-1)) + 1)
    recoding = recoding_of(frequencies, pairs)
    columns = [recoding.labels(position) for position in range(len(frequencies.quasi))]
    return [
        "\x1f".join("\x1e" if texts[of[i]] is None else str(texts[of[i]]) for texts, of in columns).encode()
        for i in range(pairs.classes)
    ]


def bands_of(size: Int64) -> Int64:
    """int64[p]: pairs that are alike in size, from the smallest on; a band ends when it has ``ALIKE`` pairs.

    >>> bands_of(np.array([10] * 60 + [11] * 30 + [12] * 30)).tolist() == [0] * 60 + [1] * 60
    True
    """
    _, place, number = np.unique(size, return_inverse=True, return_counts=True)
    band = np.zeros(len(number), np.int64)
    held = 0
    for i, pairs in enumerate(number.tolist()):
        if i:
            band[i] = band[i - 1] + (held >= ALIKE)
            held = 0 if held >= ALIKE else held
        held += pairs
    found: Int64 = band[place.reshape(-1)]
    return found


def decoy_chance(pairs: Int64, violating: Int64) -> Float64:
    """float64[.]: the chance of being a decoy, for ``pairs`` alike in size of which so many are ``violating``.

    One violating and one other pair are added: where there are few pairs, one that happens to hold says little.

    >>> [round(chance, 3) for chance in decoy_chance(np.array([98, 98]), np.array([9, 69])).tolist()]
    [0.048, 1.0]
    """
    share = (violating + 1) / (pairs + 2)
    chance: Float64 = np.minimum(1.0, share / (1 - share) * (1 - BETA) / BETA)
    return chance


def _join_merged(state: State, merged: Bools) -> None:
    """Let merged pairs that still violate join the nearest merged pair, until all hold or none is left to join."""
    size_only = guards_of((), (), ())
    failed = failing(state, np.intersect1d(state.used, np.flatnonzero(merged)))
    while len(failed):
        excess = np.zeros(len(merged))
        excess[failed] = 1.0
        state.partition.state[:, CHANGED] = 0
        if merge_some(state, size_only, failed, np.intersect1d(state.used, np.flatnonzero(merged)), excess, 0.0) == 0:
            return
        again = state.partition.state[:, CHANGED] > 0
        again[failed] = True
        failed = failing(state, np.flatnonzero(again & (state.partition.mass[:, 0] > 0)))
