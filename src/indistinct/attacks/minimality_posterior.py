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
the published share is below 0.95. Up to 2,000 tables of a class are listed, else 2,000 are drawn, the same ones every
time, and up to 40,000 where few of them have a chance; the rise is then taken against the mean of those drawn. Where
still too few have one, walks start from these and swap the values of two rows, accepted by the ratio of chances
(Metropolis, J. Chem. Phys. 21:1087-1092, 1953): drawn by chance, they stay so, and each sees many more.

``not_judged``: persons whose class leaves open what it was merged of, or that no way of dealing explains, or too few.
Not knowing is not safety: they are *learnt*, with a bound in place of the posterior. A piece of s rows has a value
with c rows in the class at most min(c, s) times; where the pieces are open the bound is a rise from 0 to 1. So the
gain is one at most; ``mean_rise`` and ``largest_rise`` are those of who was judged.

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

    Bools = NDArray[np.bool_]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]

SAMPLES = 2_000
# where few ways have a chance their mean is noise: up to so many times as many are drawn, until they weigh as much as
# so many equal ones; what then weighs less than the fewest is not judged
ROUNDS = 20
ENOUGH, FEWEST = 500, 100
# where these are fewer: walks, their steps, and the standard error of a belief above which a class is not judged
WALKS, STEPS, SURE_ENOUGH = 128, 400, 0.025


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
    persons, before, after = [found.alone, found.open], [0.0, 0.0], [0.0, 1.0]
    judged, row, shown = [True, False], [0, 0], ["", "what the class of the person was merged of is open"]
    for merge in found.classes:
        entries = slice(*sensitive.histogram.start[merge.place : merge.place + 2].tolist())
        texts = [sensitive.texts[value] for value in sensitive.histogram.value[entries].tolist()]
        counts = sensitive.histogram.count[entries].tolist()
        belief = believed(merge, counts, judge(texts))
        judged += [belief is not None] * len(merge.sizes)
        belief = at_most(merge, counts) if belief is None else belief
        best = (belief.after - belief.before).argmax(axis=1)
        for piece, value in enumerate(best.tolist()):
            persons.append(merge.sizes[piece])
            before.append(float(belief.before[piece, value]))
            after.append(float(belief.after[piece, value]))
            row.append(merge.row[piece])
            shown.append(f"{sensitive.attribute} = {texts[value]} for the persons of row {merge.row[piece]}")
    yield _outcome(
        context, sensitive.attribute, len(found.classes), np.array(judged, np.bool_),
        (np.array(persons, np.int64), np.array(before), np.array(after), np.array(row, np.int64)), shown,
    )  # fmt: skip


def _outcome(
    context: AttackContext, attribute: str, classes: int, judged: Bools, found: tuple[Int64, Float64, Float64, Int64],
    shown: Sequence[str],
) -> Outcome:  # fmt: skip
    weight, before, after, row = found
    rise = np.where(judged, after - before, 0.0)
    risen, certain = rise > NOTABLE, judged & (after > 1 - 1e-12) & (before < 0.95)
    sure, above, lost = (int(weight[chosen].sum()) for chosen in (certain, risen, ~judged))
    left = f"; {lost} persons could not be judged, and are counted as learnt" if lost else "; all persons were judged"
    return Outcome(
        attribute, weight, before, after, risen | ~judged, row,
        "original" if context.original is not None else "identified",
        f"of {classes} merged classes: {sure} persons are certain to have a {attribute} that their class does not "
        f"settle, and for {above} persons belief in one rises by more than {NOTABLE}{left}",
        {"form": "robust" if is_robust(context.policy) else "groups",
         "merged_classes": classes, "certain": sure, "risen": above, "not_judged": lost,
         "mean_rise": round(float(weight @ rise) / max(1, int(weight[judged].sum())), 12),
         "largest_rise": round(float(rise.max(initial=0.0)), 12)},
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
    if len(counts) == 1:  # the class settles it
        return Belief(*np.ones((2, len(merge.sizes), 1)))
    total = squares = drawn = 0.0
    held, mean = np.zeros((2, len(merge.sizes), len(counts)))
    starts: list[Int64] = []
    chances: list[Float64] = []
    for tables, weight in _ways(merge.sizes, counts):
        chance = weight * _chance(merge, tables, holds)
        starts.append(tables[chance > 0])
        chances.append(chance[chance > 0])
        total, squares, drawn = total + chance.sum(), squares + (chance**2).sum(), drawn + weight.sum()
        held += np.tensordot(chance, tables, 1)
        mean += np.tensordot(weight, tables, 1)
        if total**2 >= ENOUGH * squares > 0:
            break
    sizes = np.array(merge.sizes, np.float64)[:, None]
    share = np.array(counts, np.float64)[None] / sizes.sum()
    if not total > 0:
        return None
    if drawn > SAMPLES and total**2 < FEWEST * squares:
        walked = walks(merge, np.concatenate(starts), np.concatenate(chances), holds)
        return None if walked is None else Belief(np.broadcast_to(share, walked.shape), walked)
    after = held / total / sizes
    sure = after > 1 - 1e-12
    rise = after - mean / drawn / sizes
    return Belief(np.broadcast_to(share, after.shape), np.where(sure, 1.0, np.clip(share + rise, 0.0, 1.0)))


def walks(merge: Merge, starts: Int64, chances: Float64, holds: Holds) -> Float64 | None:
    """float64[pieces, values]: belief in each value, by walks from tables drawn with such chances; None: too uncertain.

    Walks from one table are not independent: the standard error is that of the means of all walks from each.
    """
    draw = np.random.default_rng(1)
    number = np.bincount(
        np.searchsorted(np.cumsum(chances), (np.arange(WALKS) + draw.random()) / WALKS * chances.sum(), side="right")
        .clip(max=len(chances) - 1), minlength=len(chances),
    )  # fmt: skip
    ancestor = np.repeat(np.arange(len(starts)), number)
    pieces, values = starts.shape[1:]
    tables, chance, walk = starts[ancestor].copy(), chances[ancestor].copy(), np.arange(WALKS)
    of_piece = np.repeat(np.arange(pieces), merge.sizes)
    rows = np.stack([np.repeat(np.tile(np.arange(values), pieces), table.reshape(-1)) for table in tables])
    seen = np.zeros(tables.shape)
    for _ in range(STEPS):
        one, other = draw.integers(0, len(of_piece), (2, WALKS))
        tried, first, second = tables.copy(), rows[walk, one], rows[walk, other]
        for place, leaving, coming in ((one, first, second), (other, second, first)):
            np.add.at(tried, (walk, of_piece[place], leaving), -1)
            np.add.at(tried, (walk, of_piece[place], coming), 1)
        after = _chance(merge, tried, holds)
        goes = draw.random(WALKS) * chance < after
        tables[goes], chance[goes] = tried[goes], after[goes]
        rows[walk[goes], one[goes]], rows[walk[goes], other[goes]] = second[goes], first[goes]
        seen += tables
    belief = seen / STEPS / np.array(merge.sizes, np.float64)[:, None]
    mean: Float64 = belief.mean(axis=0)
    families = np.unique(ancestor)
    if len(families) < 2:
        return None
    own = np.stack([(belief[ancestor == family] - mean).sum(axis=0) for family in families]) / WALKS
    error = np.sqrt((own**2).sum(axis=0) * len(families) / (len(families) - 1))
    return mean if error.max() <= SURE_ENOUGH else None


def at_most(merge: Merge, counts: Sequence[int]) -> Belief:
    """Return a bound of the belief in each value: as if all rows with it that find a place were in the piece.

    >>> from indistinct.attacks.merged_pieces import Merge
    >>> at_most(Merge(0, [2, 3], [1, 2]), [1, 4]).after.round(3).tolist()
    [[0.5, 1.0], [0.333, 1.0]]
    """
    sizes, own = np.array(merge.sizes, np.float64)[:, None], np.array(counts, np.float64)[None]
    after = np.minimum(own, sizes) / sizes
    return Belief(np.broadcast_to(own / sizes.sum(), after.shape), after)


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
