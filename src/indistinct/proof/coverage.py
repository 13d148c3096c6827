"""Is a published table a truthful generalization of the original? An injective assignment of rows proves it.

A published row may stand for an original row when both agree on the untouched columns and every published
quasi-identifier covers the original value. The table is truthful when all published rows can be assigned to different
original rows: a flow from distinct published rows to distinct original rows that saturates the published side.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Bool = NDArray[np.bool_]

# pairs of distinct rows that are compared at most; above it only necessary conditions are checked
MOST_PAIRS = 2_000_000_000
# so many pairs are compared without looking for those that can agree
FEW_PAIRS = 20_000


@dataclass(frozen=True)
class Coverage:
    """``status``: proven, refuted or not proven. ``violations``: (published distinct row, column or None)."""

    status: str
    violations: list[tuple[int, str | None]] = field(default_factory=list)
    reason: str = ""


@dataclass(frozen=True)
class Side:
    """Distinct rows of one table.

    ``group`` int64[.] numbers the combination of untouched values (equal on both sides), ``codes`` int32[., d] are the
    quasi-identifiers, ``rows`` int64[.] says how often each occurs.
    """

    group: Int64
    codes: Int32
    rows: Int64


def coverage(
    published: Side,
    original: Side,
    covers: Sequence[Bool],
    columns: Sequence[str],
    most_pairs: int = MOST_PAIRS,
) -> Coverage:
    """Decide whether the published rows can be assigned to different original rows that they cover.

    ``covers[a]`` bool[labels, values]: does label i of quasi-identifier a cover original value j. The answer is exact
    up to ``most_pairs`` pairs of distinct rows; beyond it, labels that cover nothing still refute, otherwise the answer
    is "not proven".
    """
    blind = _labels_without_values(published, covers, columns)
    if blind:
        return Coverage("refuted", blind, "some published labels cover no value of the original column")
    lone = ~np.isin(published.group, original.group)
    if lone.any():
        rows = np.flatnonzero(lone).tolist()
        return Coverage(
            "refuted", [(row, None) for row in rows], "some untouched values do not occur together originally"
        )
    order_p, start_p = _by_group(published.group, original.group)
    order_o, start_o = _by_group(original.group, original.group)
    pairs = int((np.diff(start_p).astype(np.float64) * np.diff(start_o)).sum())
    if pairs > most_pairs:
        return Coverage("not proven", [], f"{pairs} pairs of rows are too many to compare; only labels were checked")
    failing: list[tuple[int, str | None]] = []
    for rows_p, rows_o in zip(np.split(order_p, start_p[1:-1]), np.split(order_o, start_o[1:-1]), strict=True):
        if len(rows_p):
            failing += _unassigned(published, original, rows_p, rows_o, covers, columns)
    if failing:
        return Coverage("refuted", failing, "not every published row can stand for an original row of its own")
    return Coverage("proven")


def _labels_without_values(
    published: Side, covers: Sequence[Bool], columns: Sequence[str]
) -> list[tuple[int, str | None]]:
    found: list[tuple[int, str | None]] = []
    for position, (table, name) in enumerate(zip(covers, columns, strict=True)):
        empty = ~np.asarray(table.any(axis=1))
        found += [(row, name) for row in np.flatnonzero(empty[published.codes[:, position]]).tolist()]
    return found


def _by_group(group: Int64, reference: Int64) -> tuple[Int64, Int64]:
    order = np.argsort(group, kind="stable")
    known = np.unique(reference)
    return order, np.append(
        np.searchsorted(group[order], known),
        len(group) if not len(known) else np.searchsorted(group[order], known[-1], "right"),
    )


def _unassigned(
    published: Side,
    original: Side,
    rows_p: Int64,
    rows_o: Int64,
    covers: Sequence[Bool],
    columns: Sequence[str],
) -> list[tuple[int, str | None]]:
    """Published distinct rows of one group that no assignment can serve."""
    edges_p, edges_o = _edges(published.codes[rows_p], original.codes[rows_o], covers)
    lonely = np.setdiff1d(np.arange(len(rows_p)), edges_p)
    if len(lonely):
        return [
            (int(rows_p[row]), _blame(published.codes[rows_p[row]], rows_o, original, covers, columns))
            for row in lonely
        ]
    flow, served = _flow(edges_p, edges_o, published.rows[rows_p], original.rows[rows_o])
    if flow == int(published.rows[rows_p].sum()):
        return []
    return [(int(rows_p[row]), None) for row in np.flatnonzero(served < published.rows[rows_p])]


def _edges(left: Int32, right: Int32, covers: Sequence[Bool]) -> tuple[Int64, Int64]:
    """Pairs (published, original) in which every label covers the value.

    Few rows are compared each with each. Of many, those with one label of the most selective column are compared with
    the rows that this label covers there, in the columns that are left, and so on: the work follows the pairs.
    """
    if not covers or len(left) * len(right) <= FEW_PAIRS:
        return _compared(left, right, covers)
    occur = [np.bincount(right[:, a], minlength=table.shape[1]).astype(np.float64) for a, table in enumerate(covers)]
    labels = [np.unique(left[:, a], return_inverse=True) for a in range(len(covers))]
    within = [(covers[a][own] @ occur[a])[which.reshape(-1)].sum() for a, (own, which) in enumerate(labels)]
    best = int(np.argmin(within))
    others = [a for a in range(len(covers)) if a != best]
    own, which = labels[best]
    order_p, order_o = np.argsort(which.reshape(-1), kind="stable"), np.argsort(right[:, best], kind="stable")
    start_p = np.searchsorted(which.reshape(-1)[order_p], np.arange(len(own) + 1))
    start_o = np.concatenate([[0], np.cumsum(occur[best])]).astype(np.int64)
    found_p, found_o = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for number, label in enumerate(own.tolist()):
        rows_p = order_p[start_p[number] : start_p[number + 1]]
        values = np.flatnonzero(covers[best][label] & (occur[best] > 0))
        lengths = start_o[values + 1] - start_o[values]
        at = np.repeat(start_o[values + 1] - np.cumsum(lengths), lengths) + np.arange(lengths.sum())
        rows_o = order_o[at]
        pairs_p, pairs_o = _edges(left[rows_p][:, others], right[rows_o][:, others], [covers[a] for a in others])
        found_p.append(rows_p[pairs_p])
        found_o.append(rows_o[pairs_o])
    return np.concatenate(found_p), np.concatenate(found_o)


def _compared(left: Int32, right: Int32, covers: Sequence[Bool]) -> tuple[Int64, Int64]:
    """Compare each published row with each original one."""
    agree = np.ones((len(left), len(right)), np.bool_)
    for position, table in enumerate(covers):
        agree &= table[left[:, position][:, None], right[:, position][None, :]]
    rows, columns = np.nonzero(agree)
    return rows, columns


def _blame(label: Int32, group: Int64, original: Side, covers: Sequence[Bool], columns: Sequence[str]) -> str | None:
    """Name the one column in which a row differs from the nearest original row of its group.

    None where another column is as likely to blame: several differ, or a row of another group is covered in all, so
    that an untouched value may have been changed.
    """
    agree = np.array([table[label[position]][original.codes[:, position]] for position, table in enumerate(covers)])
    if agree.all(axis=0).any():
        return None
    within = agree[:, group]
    nearest = within[:, within.sum(axis=0).argmax()]
    wrong = np.flatnonzero(~nearest)
    return columns[int(wrong[0])] if len(wrong) == 1 else None


def _flow(edges_p: Int64, edges_o: Int64, supply: Int64, demand: Int64) -> tuple[int, Int64]:
    """Maximum flow from published to original rows; also what each published row gets."""
    from scipy.sparse import coo_array, csr_array
    from scipy.sparse.csgraph import maximum_flow

    p, o = len(supply), len(demand)
    source, sink = p + o, p + o + 1
    tail = np.concatenate([np.full(p, source), edges_p, np.arange(p, p + o)])
    head = np.concatenate([np.arange(p), edges_o + p, np.full(o, sink)])
    capacity = np.concatenate([supply, np.minimum(supply[edges_p], demand[edges_o]), demand]).astype(np.int32)
    graph = csr_array(coo_array((capacity, (tail, head)), shape=(p + o + 2, p + o + 2)))
    answer = maximum_flow(graph, source, sink)
    served = answer.flow[[source], :p].toarray().reshape(-1) if p else np.zeros(0)
    return int(answer.flow_value), served.astype(np.int64)
