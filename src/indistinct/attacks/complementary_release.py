"""Complementary release: two releases joined by a column that both show as it is.

*Attacker.* Knows the quasi-identifiers of the victim, and has two releases in which his rows stand in classes A and B,
which he knows where he can run the program again (``rerun``), else by what labels cover.
Columns that are no quasi-identifiers and stand in both (sensitive values, pseudonyms) tell which rows may be one
person's: of the rows of A those remain whose values occur in B, and the other way round. *Claim*: one of the remaining
rows of the release that has fewer is his. *Prior* 1 over his candidate rows there, *posterior* 1 over the remaining
ones. *Learnt*: one row remains where each release alone left several. The smallest number of remaining rows is the *k
on the join*, beside that of either release alone.

The persons are those of the identified table or the original; without one, the classes of the second release stand for
their members. A person of whom no row remains is not in both releases, or a value changed: he is counted, not attacked.

A = {flu, flu, ulcer}, B = {ulcer, cancer, cancer}: k is 3 in either, and 1 on the join: the row with the ulcer.

*Bounds.* m-invariance, where the sensitive attribute is the only such column. *Source.* L. Sweeney, k-anonymity: a
model for protecting privacy, IJUFKS 10(5):557-570, 2002, section 4.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.outcome import Idle, Outcome
from indistinct.attacks.overlap import candidates_in_both, runs_of
from indistinct.attacks.tabulate import grouped, tabulated
from indistinct.policy.privacy import MInvariance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from indistinct.attacks.candidates import Pairs
    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.view import View

    Int64 = NDArray[np.int64]

ENTRIES = 20_000_000


def complementary_release(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Join two releases by what both show, and count the candidate rows that remain."""
    other = context.other
    assert other is not None  # noqa: S101  # the record says that it is needed
    if context.view.in_groups or other.in_groups:
        yield Idle(None, "a release of two tables has no rows that could be joined")
        return
    quasi = {*context.policy.quasi_identifiers}
    names = [name for name in context.view.source.columns if name in other.source.columns and name not in quasi]
    if not names:
        yield Idle(None, "the releases have no column in common but quasi-identifiers")
        return
    runs = runs_of(context, other)
    both = candidates_in_both(context, other, (runs.mine, runs.theirs))
    if not len(both.weight):
        yield Idle(None, "no person has candidate rows in both releases")
        return
    yield _joined(context, other, names, *both)


def _joined(
    context: AttackContext,
    other: View,
    names: Sequence[str],
    mine: Pairs,
    theirs: Pairs,
    weight: Int64,
    row: Int64,
    table: str,
) -> Outcome:
    before, after = _remaining(context.view, other, names, mine, theirs, len(weight))
    met = (after > 0).all(axis=0)
    which = after.argmin(axis=0)
    at = np.arange(len(weight))
    alone, left = before[which, at], after[which, at]
    learnt = (left == 1) & (before.min(axis=0) > 1)
    met_kinds = np.flatnonzero(met)
    people, disclosed = int(weight[met].sum()), int(weight[met & learnt].sum())
    k_before = int(before[:, met].min(initial=context.view.total)) if met.any() else 0
    k_after = int(left[met].min()) if met.any() else 0
    listed = ", ".join(names)
    return Outcome(
        None, weight[met], 1 / np.maximum(1, alone[met]), 1 / np.maximum(1, left[met]),
        learnt[met], row[met], table,
        f"joined by {listed}, the smallest number of rows left for a person is {k_after}, where either release alone "
        f"leaves {k_before}; one is left for {disclosed} of {people} persons",
        {"joined_by": list(names), "k_of_either": k_before, "k_on_join": k_after, "one_row_left": disclosed,
         "with_fewer_rows": int(weight[met & (left < alone)].sum()), "in_neither_or_one": int(weight[~met].sum())},
        lambda kind: f"row {row[met_kinds[kind]]} of {table}: {left[met_kinds[kind]]} of {alone[met_kinds[kind]]} rows "
        "remain",
    )  # fmt: skip


def _remaining(
    mine: View, other: View, names: Sequence[str], own: Pairs, theirs: Pairs, persons: int
) -> tuple[Int64, Int64]:
    """int64[2, persons]: candidate rows in both releases, and those whose values occur among the other's."""
    shown, values = _shown(mine, other, names)
    before, after = np.zeros((2, persons), np.int64), np.zeros((2, persons), np.int64)
    pairs = [(of[order := np.argsort(of, kind="stable")], tuples[order]) for of, tuples, _ in (own, theirs)]
    entries = np.zeros(persons, np.int64)
    for (of, tuples), (start, _, _) in zip(pairs, shown, strict=True):
        np.add.at(entries, of, np.diff(start)[tuples])
    part = np.cumsum(entries) // ENTRIES
    for begin, stop in zip(*_runs(part), strict=True):
        keys, counts = [], []
        for side in (0, 1):
            (of, tuples), (start, value, rows) = pairs[side], shown[side]
            low, high = np.searchsorted(of, [begin, stop])
            lengths = np.diff(start)[tuples[low:high]]
            ends = np.cumsum(lengths)
            at = np.repeat(start[tuples[low:high]] - ends + lengths, lengths) + np.arange(int(lengths.sum()))
            flat, place = np.unique(np.repeat(of[low:high], lengths) * values + value[at], return_inverse=True)
            keys.append(flat)
            counts.append(np.bincount(place.reshape(-1), weights=rows[at], minlength=len(flat)).astype(np.int64))
        for side in (0, 1):
            who, remains = keys[side] // values, np.isin(keys[side], keys[1 - side], assume_unique=True)
            np.add.at(before[side], who, counts[side])
            np.add.at(after[side], who[remains], counts[side][remains])
    return before, after


def _runs(part: Int64) -> tuple[list[int], list[int]]:
    starts = np.flatnonzero(np.diff(part, prepend=-1)).tolist()
    return starts, [*starts[1:], len(part)]


def _shown(mine: View, other: View, names: Sequence[str]) -> tuple[list[tuple[Int64, Int64, Int64]], int]:
    """For each release: start int64[tuples + 1], value and rows of what its tuples show; and the number of values."""
    found = [tabulated(view.source, [*view.quasi, *names])[0] for view in (mine, other)]
    codes = []
    sizes = []
    for name in names:
        texts = list(dict.fromkeys(text for one in found for text in one.column(name)[0]))
        number = {text: place for place, text in enumerate(texts)}
        sizes.append(len(texts))
        codes.append([
            np.array([number[text] for text in one.column(name)[0]], np.int32)[one.column(name)[1]] for one in found
        ])  # fmt: skip
    together = np.column_stack([np.concatenate(own) for own in codes])
    ones = np.ones(len(together), np.int64)
    distinct, _, _, value = grouped(together, ones, ones, sizes)
    shown = []
    cut = len(found[0].rows)
    for one, view, own in zip(found, (mine, other), (value[:cut], value[cut:]), strict=True):
        d = len(view.quasi)
        # the distinct quasi-identifiers come in the order of the tuples of the view
        _, _, _, owner = grouped(one.codes[:, :d], one.rows, one.first, [len(texts) for texts in one.texts[:d]])
        order = np.argsort(owner, kind="stable")
        start = np.searchsorted(owner[order], np.arange(len(view.rows) + 1)).astype(np.int64)
        shown.append((start, own[order], one.rows[order]))
    return shown, len(distinct)


ATTACK = Attack(
    complementary_release,
    supposes="has two releases that share a column, and knows the program, both policies and everybody's"
    " quasi-identifiers",
    bounded_by=(MInvariance,),
    of_the_file=False,
    needs={"other": "needs a second release of some of the same people: --with OTHER"},
    options=("other_policy", "knows_program"),
)
