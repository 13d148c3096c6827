"""k^m-anonymity: every set of at most m items of a set-valued column is held by at least k rows.

Definition: for every row with the item set t and every X, a subset of t with |X| <= m, at least k rows have a set that
contains X. So who knows up to m items of somebody finds k candidates. Labels of a published table are items as they
stand. A row without items has no X but the empty set, which every row contains.

It is enough to look at the subsets of size min(m, |t|) of every t: a part of X is held by at least as many rows as X.

The model looks at this column alone; what others know beside it is not covered. It is judged on the whole release: a
row that goes is missing from the support of its sets. Merging classes changes nothing unless their labels change. Not
merge-closed by classes, since no class is judged alone.

Cost: the number of subsets of size m of all rows' sets, counted one by one and never the power set; more than
``LARGEST`` of them are refused.

Worked example, m = 2: rows {a, b}, {a, b, c}, {b, c}. {a, b} and {b, c} are held by 2 rows, {a, c} by 1: k = 1, because
of row 2. With m = 1 a, b, c are held by 2, 3, 2 rows: k = 2.

Source: M. Terrovitis, N. Mamoulis, P. Kalnis, Privacy-preserving anonymization of set-valued data, PVLDB 1(1), 2008,
doi:10.14778/1453856.1453874, section 3 (definition), section 4 (counting the subsets of each row).
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import UnsupportedError
from indistinct.models.contract import ITEM_SETS, Context, Evaluation, Model, Promise, needing, no_criteria
from indistinct.policy.privacy import KmAnonymity
from indistinct.tables.keys import KeyTable
from indistinct.tables.order import lexicographic_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.tables.records import Classes, ItemSets

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

LARGEST = 30_000_000


def evaluate(privacy: KmAnonymity, classes: Classes, context: Context) -> Evaluation:  # noqa: ARG001  # the contract's
    """Compare the support of the rarest set of every class with k.

    Raises UnsupportedError where the item sets are not there, and for too many subsets.
    """
    least = rarest(_sets_of(classes, privacy.attribute), classes.rows, privacy.m)
    satisfied = least >= privacy.k
    rows, total = int(classes.rows[~satisfied].sum()), int(classes.rows.sum())
    sets = f'set of at most {privacy.m} items of "{privacy.attribute}"'
    if rows:
        sentence = (
            f"{rows} of {total} rows hold a {sets} that fewer than {privacy.k} rows hold; the rarest is held by "
            f"{int(least.min())}"
        )
    else:
        sentence = f"every {sets} that occurs is held by at least {int(least.min())} of {total} rows"
    best = {"k": int(least.min()), "m": privacy.m}
    return Evaluation(satisfied, least.astype(np.float64), best, sentence)


def achieved(classes: Classes, context: Context, attribute: str | None, *, m: int) -> dict[str, Any]:  # noqa: ARG001
    """Largest k that the release satisfies for sets of at most m items."""
    return {"k": int(rarest(_sets_of(classes, attribute or ""), classes.rows, m).min()), "m": m}


def _sets_of(classes: Classes, attribute: str) -> ItemSets:
    if attribute not in classes.sets:
        raise UnsupportedError(
            f'km_anonymity needs the items of "{attribute}", and the table has no such column of classes'
        )
    return classes.sets[attribute]


def rarest(sets: ItemSets, rows: Int64, m: int) -> Int64:
    """int64[g]: rows that hold the rarest set of at most m items of each class.

    Raises UnsupportedError when there are more than ``LARGEST`` subsets to count.
    """
    lengths = np.diff(sets.start)
    least = np.full(len(lengths), int(rows.sum()), np.int64)
    for size in np.unique(np.minimum(lengths, m)).tolist():
        if size:
            _, support, found = _counted(sets, rows, size)
            for length, owner, number in found:
                if size == min(length, m):
                    least[owner] = support[number].min(axis=1)
    return least


def rarest_set(sets: ItemSets, rows: Int64, size: int) -> tuple[int, list[int]] | None:
    """Return how many rows hold the rarest set of exactly ``size`` items, and its items; None where none occurs.

    Ties: the first in the order of the items. Raises as ``rarest`` does.
    """
    codes, support, found = _counted(sets, rows, size)
    if not found:
        return None
    least = np.flatnonzero(support == support.min())
    first = least[lexicographic_order(codes[least], [sets.items] * size)[0]]
    return int(support[first]), [int(code) for code in codes[first]]


def _counted(sets: ItemSets, rows: Int64, size: int) -> tuple[Int32, Int64, list[tuple[int, Int64, Int32]]]:
    """Count all subsets of one size: their items, their rows, and by length of sets the classes and their subsets."""
    lengths = np.diff(sets.start)
    longer, counts = np.unique(lengths[lengths >= size], return_counts=True)
    subsets = sum(comb(length, size) * n for length, n in zip(longer.tolist(), counts.tolist(), strict=True))
    if subsets > LARGEST:
        message = f"there are {subsets} sets of {size} items to count, more than {LARGEST}; take a smaller m"
        raise UnsupportedError(message)
    keys = KeyTable(size)
    found = []
    for length in longer.tolist():
        owner = np.flatnonzero(lengths == length)
        items = sets.item[sets.start[owner][:, None] + np.arange(length)]
        chosen = np.array(list(combinations(range(length), size)), np.int64)
        columns = [np.ascontiguousarray(items[:, chosen[:, place]].reshape(-1)) for place in range(size)]
        found.append((length, owner, keys.add(columns).reshape(len(owner), -1)))
    support = np.zeros(len(keys.counts), np.int64)
    for _, owner, number in found:
        np.add.at(support, number, rows[owner][:, None])
    return keys.codes(), support, found


def shortfall(privacy: KmAnonymity, root: Classes, context: Context) -> str:  # noqa: ARG001  # the contract's
    """Say that the table has fewer rows than k."""
    return f"k={privacy.k} but the table has {int(root.rows.sum())} rows"


MODEL = Model(
    KmAnonymity,
    title="k^m-anonymity",
    scope="release",
    looks_at="published",
    merge_closed=False,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=no_criteria,
    shortfall=shortfall,
    promises=lambda privacy: Promise(candidates=privacy.k),
    needs=needing(ITEM_SETS),
)
