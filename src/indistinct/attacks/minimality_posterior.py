"""What merging tells of values, group by group: the posterior of somebody who knows the program.

*Attacker.* As in ``minimality``: the published file, the policy, the source code and everybody's quasi-identifiers; not
the sensitive values, not keys. He works out from quasi-identifiers alone which pieces a published class was merged of:
the base classes of robust recoding, under ``local`` without it the groups of equal rows (``merged_pieces``). Then he
weighs every way to deal the values of the class to its rows by the chance, over the steward's key, that the program
publishes the class from it.

*Chance.* Robust: a pair of pieces is merged where one of them fails a model, else as a decoy; a class of several pairs
is there because one of them failed as a whole. Without robust recoding a piece of at least k equal rows is published
as it is unless it fails, so all such pieces of a merged class fail.

*Claim*: the value that rises most, for the persons of a piece. *Prior*: its published share in the class; *posterior*:
the weighted mean of its share in the piece. *Learnt*: a rise of more than 0.1. ``certain``: a posterior of 1 where
the published share is below 0.95. ``not_judged``: persons whose class leaves open what it was merged of, or that no
way of dealing explains, or too few of those drawn. Up to 2,000 tables of a class are listed, else 2,000 are drawn, the
same ones every time, and up to 40,000 where few of them have a chance; the rise is then taken against the mean of those
drawn.

Pieces of 2 and 3 rows, two HIV and three no, distinct 2-diversity, decoys with chance 1/2: two HIV among the two is 1
way and fails, one of them 6 ways and holds, none 3 ways and fails. Belief in HIV: (1 + 6/2 * 1/2) / 7 = 5/14 for the
two, (6/2 * 1/3 + 3 * 2/3) / 7 = 3/7 for the three; the class says 2/5. Without decoys: 1/4 and 1/2.

*Bounds.* No model of this family; robust recoding keeps it small. *Not in it*: correlation of quasi-identifiers and
values, other releases, suppression. *Source*: this project, 2026.
"""

from __future__ import annotations

from math import comb, lgamma, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indistinct.attacks.contract import Attack
from indistinct.attacks.margins import tables_of
from indistinct.attacks.merged_groups import judge_of
from indistinct.attacks.merged_pieces import merges
from indistinct.attacks.missing_groups import obstacles
from indistinct.attacks.outcome import NOTABLE, Idle, Outcome
from indistinct.policy.recoding import Local
from indistinct.policy.robust import is_robust
from indistinct.session.prepare import modelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.merged_groups import Holds
    from indistinct.attacks.merged_pieces import Merge
    from indistinct.attacks.tabulate import Tabulated

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

SAMPLES = 2_000
# where few ways have a chance their mean is noise: up to so many times as many are drawn, until they weigh as much as
# so many equal ones; what then weighs less than the fewest is not judged
ROUNDS = 20
ENOUGH, FEWEST = 500, 100


class Belief(NamedTuple):
    """float64[pieces, values]: belief in each value before (the published share) and after, for a person of a piece."""

    before: Float64
    after: Float64


def minimality_posterior(context: AttackContext) -> Iterator[Outcome | Idle]:
    """Ask what each merged class tells of the values of its pieces."""
    whole, names = context.everybody, modelled(context.policy)
    if whole is None:
        yield Idle(None, "needs everybody's quasi-identifiers (--original or --identified)")
        return
    why = next(_obstacles(context, whole), None)
    judge = None if why is not None else judge_of(context, context.view.sensitive[names[0]])
    if why is None and judge is None:
        why = "the models of the column cannot be judged on single groups"
    found = merges(context, whole) if why is None else why
    if isinstance(found, str) or judge is None:
        yield Idle(names[0] if len(names) == 1 else None, found if isinstance(found, str) else str(why))
        return
    sensitive = context.view.sensitive[names[0]]
    persons, before, after, certain, row, shown = [found.alone], [0.0], [0.0], [False], [0], [""]
    lost = found.open
    for merge in found.classes:
        entries = slice(*sensitive.histogram.start[merge.place : merge.place + 2].tolist())
        texts = [sensitive.texts[value] for value in sensitive.histogram.value[entries].tolist()]
        belief = believed(merge, sensitive.histogram.count[entries].tolist(), judge(texts))
        if belief is None:
            lost += sum(merge.sizes)
            continue
        best = (belief.after - belief.before).argmax(axis=1)
        for piece, value in enumerate(best.tolist()):
            prior, posterior = float(belief.before[piece, value]), float(belief.after[piece, value])
            persons.append(merge.sizes[piece])
            before.append(prior)
            after.append(posterior)
            certain.append(posterior > 1 - 1e-12 and prior < 0.95)
            row.append(merge.row[piece])
            shown.append(f"{sensitive.attribute} = {texts[value]} for the persons of row {merge.row[piece]}")
    weight, shares, beliefs = np.array(persons, np.int64), np.array(before), np.array(after)
    risen, sure = beliefs - shares > NOTABLE, int(weight[np.array(certain, np.bool_)].sum())
    yield Outcome(
        sensitive.attribute, weight, shares, beliefs, risen, np.array(row, np.int64),
        "original" if context.original is not None else "identified",
        f"of {len(found.classes)} merged classes: {sure} persons are certain to have a {sensitive.attribute} that "
        f"their class does not settle, and for {int(weight[risen].sum())} persons belief in one rises by more than "
        f"{NOTABLE}; {lost} persons were not judged",
        {"form": "robust" if is_robust(context.policy) else "groups",
         "merged_classes": len(found.classes), "certain": sure, "risen": int(weight[risen].sum()), "not_judged": lost},
        shown.__getitem__,
    )  # fmt: skip


def _obstacles(context: AttackContext, table: Tabulated) -> Iterator[str]:
    names = modelled(context.policy)
    yield from obstacles(context, table)
    if not isinstance(context.policy.recoding, Local):
        yield f'the policy recodes by "{context.policy.recoding.algorithm}": this looks at classes of "local"'
    if len(names) != 1 or names[0] not in context.view.sensitive:
        yield "looks at one modelled sensitive column"


def believed(merge: Merge, counts: Sequence[int], holds: Holds) -> Belief | None:
    """Return the belief in each value for a person of each piece; None where no way of dealing explains the class.

    ``counts``: the rows of each value in the class; ``holds`` says which groups, given by such counts, satisfy all.
    """
    total = squares = drawn = 0.0
    held, mean = np.zeros((2, len(merge.sizes), len(counts)))
    for tables, weight in _ways(merge.sizes, counts):
        chance = weight * _chance(merge, tables, holds)
        total, squares, drawn = total + chance.sum(), squares + (chance**2).sum(), drawn + weight.sum()
        held += np.tensordot(chance, tables, 1)
        mean += np.tensordot(weight, tables, 1)
        if total**2 >= ENOUGH * squares > 0:
            break
    if not total > 0 or (drawn > SAMPLES and total**2 < FEWEST * squares):
        return None
    sizes = np.array(merge.sizes, np.float64)[:, None]
    share = np.array(counts, np.float64)[None] / sizes.sum()
    after = held / total / sizes
    sure = after > 1 - 1e-12
    rise = after - mean / drawn / sizes
    return Belief(np.broadcast_to(share, after.shape), np.where(sure, 1.0, np.clip(share + rise, 0.0, 1.0)))


def _chance(merge: Merge, tables: Int64, holds: Holds) -> Float64:
    """float64[n]: the chance that the program publishes the class from each table."""
    _, pieces, values = tables.shape
    fails = ~holds(tables.reshape(-1, values)).reshape(-1, pieces)
    pairs = max(merge.pair, default=0) + 1
    if pairs == 1:
        return merge.weigh(fails, fails)
    sums = np.stack([tables[:, np.array(merge.pair) == pair].sum(axis=1) for pair in range(pairs)], axis=1)
    return merge.weigh(fails, ~holds(sums.reshape(-1, values)).reshape(-1, pairs))


def _ways(sizes: Sequence[int], counts: Sequence[int]) -> Iterator[tuple[Int64, Float64]]:
    """Yield ways to deal the values, int64[n, pieces, values], with weights: all where they are few, else samples."""
    order = np.argsort(counts, kind="stable")  # what is left over is of the most frequent value
    ascending = [counts[value] for value in order.tolist()]
    if prod(comb(count + len(sizes) - 1, count) for count in ascending[:-1]) <= SAMPLES:
        listed = np.array(list(tables_of(sizes, ascending)), np.int64).transpose(0, 2, 1)[:, :, np.argsort(order)]
        ways = -np.vectorize(lgamma, otypes=[np.float64])(listed + 1.0).sum(axis=(1, 2))
        yield listed, np.exp(ways - ways.max())
        return
    values, draw = np.repeat(np.arange(len(counts)), counts), np.random.default_rng(0)
    for _ in range(ROUNDS):
        drawn = draw.permuted(np.tile(values, (SAMPLES, 1)), axis=1) + np.arange(SAMPLES)[:, None] * len(counts)
        cells = [
            np.bincount(drawn[:, end - size : end].reshape(-1), minlength=SAMPLES * len(counts)).reshape(SAMPLES, -1)
            for size, end in zip(sizes, np.cumsum(sizes).tolist(), strict=True)
        ]
        yield np.stack(cells, axis=1).astype(np.int64), np.ones(SAMPLES)


ATTACK = Attack(
    minimality_posterior,
    supposes="knows the program, the policy and everybody's quasi-identifiers, of suppressed rows too, but no key",
    bounded_by=(),
    of_the_file=False,
    needs={},
    options=("knows_program",),
    remedies=("robust recoding",),
)
