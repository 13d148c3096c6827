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
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Bool = NDArray[np.bool_]

# pairs of distinct rows that are compared at most; above it only necessary conditions are checked
MOST_PAIRS = 2_000_000_000
# so many pairs are compared without looking for those that can agree
FEW_PAIRS = 20_000
# so many pairs of small groups are compared at once
BATCH_PAIRS = 2_000_000


@dataclass(frozen=True)
class Coverage:
    """``status``: proven, refuted or not proven. ``violations``: (published distinct row, column or None).

    ``why`` says of such a row what does not fit.
    """

    status: str
    violations: list[tuple[int, str | None]] = field(default_factory=list)
    reason: str = ""
    why: Callable[[int], str] = field(default=lambda _: "", compare=False, repr=False)


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
    alone: list[int] = []
    for rows_p, edges_p, edges_o in _by_batches(published, original, covers, (order_p, start_p), (order_o, start_o)):
        lonely = np.setdiff1d(rows_p, edges_p)
        alone += lonely.tolist()
        # in a group with such a row nobody can say which others are to blame
        rest = ~np.isin(published.group[edges_p], published.group[lonely])
        unserved = _unserved(edges_p[rest], edges_o[rest], published.rows, original.rows)
        failing += [(row, None) for row in unserved.tolist()]
    group_of = dict(zip(np.unique(original.group).tolist(), np.split(order_o, start_o[1:-1]), strict=True))
    failing += [
        (row, _blame(published.codes[row], group_of[int(published.group[row])], original, covers, columns))
        for row in alone
    ]
    if failing:
        return Coverage("refuted", sorted(failing), "not every published row can stand for an original row of its own")
    return Coverage("proven")


def _by_batches(
    published: Side,
    original: Side,
    covers: Sequence[Bool],
    by_group_p: tuple[Int64, Int64],
    by_group_o: tuple[Int64, Int64],
) -> Iterator[tuple[Int64, Int64, Int64]]:
    """Yield published rows of whole groups, and the pairs (published, original) of them that agree.

    Rows of a group are in order[start[g]:start[g + 1]]. Small groups, of which there may be as many as rows, are taken
    together; a large one alone.
    """
    (order_p, start_p), (order_o, start_o) = by_group_p, by_group_o
    number_p, number_o = np.diff(start_p), np.diff(start_o)
    pairs = number_p.astype(np.float64) * number_o
    small = np.flatnonzero((pairs <= FEW_PAIRS) & (number_p > 0))
    batch = (np.cumsum(pairs[small]) // BATCH_PAIRS).astype(np.int64)
    for groups in np.split(small, np.flatnonzero(np.diff(batch)) + 1):
        rows_p = order_p[_ranges(start_p[groups], number_p[groups])]
        of_row = np.repeat(groups, number_p[groups])
        left = np.repeat(rows_p, number_o[of_row])
        right = order_o[_ranges(start_o[of_row], number_o[of_row])]
        yield rows_p, *_agreeing(published.codes, original.codes, left, right, covers)
    for group in np.flatnonzero(pairs > FEW_PAIRS).tolist():
        rows_p, rows_o = order_p[start_p[group] : start_p[group + 1]], order_o[start_o[group] : start_o[group + 1]]
        edges_p, edges_o = _edges(published.codes[rows_p], original.codes[rows_o], covers)
        yield rows_p, rows_p[edges_p], rows_o[edges_o]


def _ranges(first: Int64, length: Int64) -> Int64:
    """Return first[0], first[0] + 1, ... (length[0] numbers), first[1], ..."""
    return np.repeat(first - np.cumsum(length) + length, length) + np.arange(int(length.sum()))


def _agreeing(labels: Int32, values: Int32, left: Int64, right: Int64, covers: Sequence[Bool]) -> tuple[Int64, Int64]:
    """Keep the pairs in which every label covers the value."""
    for position, table in enumerate(covers):
        agree = table[labels[left, position], values[right, position]]
        left, right = left[agree], right[agree]
    return left, right


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


def _unserved(edges_p: Int64, edges_o: Int64, supply: Int64, demand: Int64) -> Int64:
    """Published rows that no assignment can serve: each has at least one edge.

    A part of the graph in which one row stands on a side, or every row is joined with every other, needs no flow: what
    it offers has to be at least what is asked. The parts that are left are solved together.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    used_p, at_p = np.unique(edges_p, return_inverse=True)
    used_o, at_o = np.unique(edges_o, return_inverse=True)
    if not len(used_p):
        return used_p
    at_p, at_o = at_p.reshape(-1), at_o.reshape(-1)
    size = len(used_p) + len(used_o)
    graph = coo_array((np.ones(len(at_p), np.int8), (at_p, at_o + len(used_p))), shape=(size, size))
    components, part_of = connected_components(graph, directed=False)
    part_p, part_o = part_of[: len(used_p)], part_of[len(used_p) :]
    wanted, offered = (np.zeros(components, np.int64) for _ in range(2))
    np.add.at(wanted, part_p, supply[used_p])
    np.add.at(offered, part_o, demand[used_o])
    wide, deep = np.bincount(part_p, minlength=components), np.bincount(part_o, minlength=components)
    complete = np.bincount(part_p[at_p], minlength=components) == wide * deep
    short = wanted > offered
    failing = [used_p[(complete & short)[part_p]]]
    rows, others = np.flatnonzero(~complete[part_p]), np.flatnonzero(~complete[part_o])
    if len(rows):
        left = ~complete[part_p[at_p]]
        row_of, other_of = np.searchsorted(rows, at_p[left]), np.searchsorted(others, at_o[left])
        flow, served = _flow(row_of, other_of, supply[used_p[rows]], demand[used_o[others]])
        if flow < int(supply[used_p[rows]].sum()):
            failing.append(used_p[rows[served < supply[used_p[rows]]]])
    return np.concatenate(failing)


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
