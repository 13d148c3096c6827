"""Blanking single cells until every combination of some columns occurs at least k times.

Definition, source and worked example: docs/transforms.md.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import InfeasibleError, PolicyError
from indistinct.notices import Sentence
from indistinct.policy.transforms import LARGEST_SET
from indistinct.tables.keys import KeyTable
from indistinct.tables.order import lexicographic_order
from indistinct.transforms.columns import Column, Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.policy.transforms import LocalSuppression
    from indistinct.transforms.chance import Chance

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]


def local_suppression(
    request: LocalSuppression,
    columns: Mapping[str, Column],
    chance: Chance,  # noqa: ARG001  # the contract's
) -> Outcome:
    """Blank cells so that every combination occurs ``request.k`` times, the least important cells first.

    Raises InfeasibleError when the table has fewer than k rows, PolicyError for more than twelve columns.
    """
    names = request.attributes or tuple(name for name, column in columns.items() if column.quasi)
    if len(names) > LARGEST_SET:
        message = f"local_suppression takes at most {LARGEST_SET} columns together, not {len(names)}: name attributes"
        raise PolicyError(message, key="transforms")
    own = [columns[name] for name in names]
    keys = KeyTable(len(own))
    tuple_of_row = keys.add([column.codes + np.int32(1) for column in own])
    arrived = keys.codes()
    order = lexicographic_order(arrived, [len(column.texts) + 1 for column in own])
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    if keys.counts.sum() < request.k:
        raise InfeasibleError(f"local_suppression with k = {request.k} needs {request.k} rows", "ask for a smaller k")
    tuples = blanked(arrived[order], keys.counts[order], request.k, [column.weight for column in own])
    codes = tuples[place[tuple_of_row]] - 1
    changed = {}
    loss = {}
    for position, column in enumerate(own):
        gone = int(((codes[:, position] < 0) & (column.codes >= 0)).sum())
        loss[column.name] = {"blanked": gone, "share": gone / len(column.codes)}
        if gone:
            used, code = np.unique(codes[:, position], return_inverse=True)
            texts = [column.texts[number] for number in used[used >= 0].tolist()]
            changed[column.name] = column.changed(texts, code.reshape(-1) - int((used < 0).any()))
    cells = sum(entry["blanked"] for entry in loss.values())
    total = len(tuple_of_row) * len(own)
    sentence = Sentence(
        "{n} of {cells} cells of {names} are blank now that were not", n=cells, cells=total, names=tuple(names)
    )
    return Outcome(changed, loss, sentence)


def blanked(tuples: Int32, rows: Int64, k: int, weights: Sequence[Fraction]) -> Int32:
    """Return the tuples with some codes set to 0 (blank), so that equal ones together have at least k rows.

    ``tuples`` int32[t, d] are distinct, ``rows`` int64[t] at least k in all (not checked). Sets of columns are tried by
    ascending weight; those that a set helps are done with.
    """
    found = tuples.copy()
    unsafe = np.flatnonzero(rows < k)
    # combinations that are done with and have a blank: only these can equal one that is being blanked
    holed = np.flatnonzero((rows >= k) & (tuples == 0).any(axis=1))
    width = tuples.shape[1]
    sets = chain.from_iterable(combinations(range(width), size) for size in range(1, width + 1))
    for blank in sorted(sets, key=lambda chosen: (sum((Fraction(weights[c]) for c in chosen), Fraction(0)), chosen)):
        if not len(unsafe):
            return found
        trial = tuples[unsafe].copy()
        trial[:, blank] = 0
        alike = holed[(found[holed][:, blank] == 0).all(axis=1)]
        _, group = np.unique(np.concatenate([trial, found[alike]]), axis=0, return_inverse=True)
        size = np.bincount(group.reshape(-1), weights=np.concatenate([rows[unsafe], rows[alike]])).astype(np.int64)
        safe = size[group.reshape(-1)[: len(unsafe)]] >= k
        found[unsafe[safe]] = trial[safe]
        holed = np.concatenate([holed, unsafe[safe]])
        unsafe = unsafe[~safe]
    while len(unsafe):  # fewer than k rows are wholly blank: the smallest combination joins them
        found[unsafe] = 0
        distinct, group = np.unique(found, axis=0, return_inverse=True)
        size = np.bincount(group.reshape(-1), weights=rows).astype(np.int64)
        if size[0] >= k:
            break
        others = np.flatnonzero(distinct.any(axis=1))
        unsafe = np.flatnonzero(group.reshape(-1) == others[np.argmin(size[others])])
    return found
