"""Which published rows may be whose: persons against label tuples, by containment in every column.

Nothing here looks at pairs of rows. Persons and published rows are first reduced to their distinct tuples; for each
column it is asked once which values a label covers (``hierarchies.labels``); then the distinct tuples are joined
column by column, the most selective first, so that the work grows with the number of matches.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from indistinct.hierarchies.values import EPOCH, positions
from indistinct.tables.order import lexicographic_order, run_starts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.attacks.context import AttackContext
    from indistinct.attacks.tabulate import Tabulated
    from indistinct.attacks.view import View

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Bool = NDArray[np.bool_]

BLOCK = 1 << 24
MOST_PERMUTED = 6
LARGEST_UNIT = 10**6
RANGE = re.compile(r"\[(-?[0-9]+(?:-[0-9]{2}-[0-9]{2})?), (-?[0-9]+(?:-[0-9]{2}-[0-9]{2})?)([\])])")


@dataclass(frozen=True)
class Block:
    """Matches of the persons ``begin``..``begin + len(start) - 1``: ``tuples[start[i]:start[i + 1]]`` is whose.

    ``of`` int64[.] has the person (an index of the distinct persons) of each entry of ``tuples``.
    """

    persons: Int64
    start: Int64
    tuples: Int64
    of: Int64 = field(repr=False)


@dataclass(frozen=True)
class Column:
    """Which values, by rank, each label of a column covers: the run ``low``..``high``, both int64[labels].

    ``flags[l]`` bool[high - low + 1] tells one by one where it is no run; ``values`` is the number of ranks.
    """

    low: Int64
    high: Int64
    values: int
    flags: Mapping[int, Bool] = field(default_factory=dict)

    @classmethod
    def of_sets(cls, sets: Sequence[NDArray[np.integer]], values: int) -> Column:
        """Build it from the ranks that each label covers."""
        low, high = np.ones(len(sets), np.int64), np.zeros(len(sets), np.int64)
        flags: dict[int, Bool] = {}
        for label, ranks in enumerate(sets):
            if len(ranks):
                low[label], high[label] = np.min(ranks), np.max(ranks)
                if high[label] - low[label] + 1 != len(ranks):
                    label_flags = flags[label] = np.zeros(int(high[label] - low[label]) + 1, np.bool_)
                    label_flags[np.asarray(ranks) - low[label]] = True
        return cls(low, high, values, flags)

    @property
    def shares(self) -> NDArray[np.float64]:
        """float64[labels]: the share of the values that each label covers."""
        numbers = (self.high - self.low + 1).astype(np.float64)
        for label, label_flags in self.flags.items():
            numbers[label] = label_flags.sum()
        return numbers / max(1, self.values)


def matches(context: AttackContext, view: View, people: Tabulated, *, unknown: bool) -> Iterator[Block]:
    """Yield for the distinct persons of ``people`` the label tuples of ``view`` that cover them, in blocks.

    ``people`` has quasi-identifiers as columns, any of those of the view; a column that it lacks tells nothing. With
    ``unknown`` a missing value of a person is one that the attacker does not know, and every label covers it;
    otherwise it is known to be missing.
    """
    names = [name for name in view.quasi if name in people.columns]
    columns, values = [], []
    for name in names:
        texts, codes = people.column(name)
        rank = context.rank(name, texts, people.typed)
        columns.append(_column(context, name, view.labels[view.quasi.index(name)], people, rank))
        places = rank[codes]
        if unknown and None in texts:
            places = np.where(codes == texts.index(None), -1, places)
        values.append(places.astype(np.int32))
    at = [view.quasi.index(name) for name in names]
    yield from join(np.column_stack(values), view.tuples[:, at], columns)


def _column(context: AttackContext, name: str, labels: Sequence[str | None], people: Tabulated, rank: Int32) -> Column:
    """Ask which values each label covers.

    Canonical ranges ``[a, b]`` and ``[a, b)`` of whole numbers and ISO dates, of which a release can have hundreds of
    thousands, are read here; every other label is read by ``hierarchies.labels``.
    """
    texts = people.column(name)[0]
    how = context.reading(name, people.typed)
    reader = context.reader(name, texts, people.typed)
    simple = how["type"] in ("integer", "decimal", "date") and context.rows_of_hierarchy(name) is None
    present = [number for number, text in enumerate(texts) if text is not None]
    ordered, unit = np.zeros(0, np.int64), 1
    if simple:
        ordered, unit = positions(name, [texts[number] or "" for number in present], **how)
        simple = unit <= (1 if how["type"] == "date" else LARGEST_UNIT)
    read = _day if how["type"] == "date" else _whole
    found = [RANGE.fullmatch(label) if simple and label is not None else None for label in labels]
    ends = [match and (read(match[1]), read(match[2]), match[3] == "]") for match in found]
    fast = np.array([number for number, end in enumerate(ends) if end and None not in end], np.int64)
    slow = np.setdiff1d(np.arange(len(labels)), fast)
    part = Column.of_sets([rank[reader.find(labels[number])] for number in slow.tolist()], len(texts))
    low, high = np.ones(len(labels), np.int64), np.zeros(len(labels), np.int64)
    low[slow], high[slow] = part.low, part.high
    if len(fast):
        ordered = np.sort(ordered)
        given = np.array([ends[number] for number in fast.tolist()], object)
        first, last = (given[:, side].astype(ordered.dtype) * unit for side in (0, 1))
        low[fast] = np.searchsorted(ordered, first, "left")
        closed = given[:, 2].astype(np.bool_)
        stop = np.where(closed, np.searchsorted(ordered, last, "right"), np.searchsorted(ordered, last, "left"))
        high[fast] = stop - 1
    return Column(low, high, len(texts), {int(slow[label]): label_flags for label, label_flags in part.flags.items()})


def _whole(text: str) -> int | None:
    """Read the end of a range as a whole number of at most nine digits."""
    return int(text) if "-" not in text[1:] and len(text) < 10 else None


def _day(text: str) -> int | None:
    """Read the end of a range as an ISO date, in days since 1970-01-01."""
    try:
        return date.fromisoformat(text).toordinal() - EPOCH if len(text) == 10 else None
    except ValueError:
        return None


def join(persons: Int32, tuples: Int32, columns: Sequence[Column]) -> Iterator[Block]:
    """Yield for every person the tuples whose labels cover his value in all columns.

    ``persons`` int32[p, d] values by rank (-1: covered by all), ``tuples`` int32[u, d] labels. Time: the nodes of the
    tree of tuples that the distinct beginnings of persons reach.

    >>> column = Column.of_sets([np.array([0, 1]), np.array([1, 2])], 6)
    >>> blocks = list(join(np.array([[1], [5]], np.int32), np.array([[0], [1]], np.int32), [column]))
    >>> blocks[0].persons.tolist(), blocks[0].start.tolist(), blocks[0].tuples.tolist()
    ([0, 1], [0, 2, 2], [0, 1])
    """
    from indistinct.kernels.matching import match_persons

    order = _cheapest(len(persons), tuples, columns)
    cover, bits, at = _covers([columns[column] for column in order])
    tree = np.ascontiguousarray(tuples[:, order])
    by_tuple = lexicographic_order(tree, [max(1, len(columns[column].low)) for column in order])
    label, child, level = _tree(tree[by_tuple], at)
    ranked = np.ascontiguousarray(persons[:, order])
    by_person = lexicographic_order(ranked + 1, [int(column.max(initial=0)) + 2 for column in ranked.T])
    ranked = np.ascontiguousarray(ranked[by_person])
    # tuples that are equal in these columns are one leaf
    leaf_start = np.append(np.flatnonzero(run_starts(tree[by_tuple])), len(tree)).astype(np.int64)
    frontier = np.empty((len(order), max(1, level)), np.int32)
    out = np.empty(max(min(BLOCK, len(persons) * level), level, 1), np.int32)
    end = np.empty(max(1, len(persons)), np.int64)
    begin = 0
    leaves_begin = len(label) - (len(leaf_start) - 1)
    while begin < len(persons):
        stop = match_persons(ranked, label, child, cover, bits, begin, frontier, out, end)
        start = np.concatenate([[0], end[: stop - begin]])
        leaf = out[: start[-1]].astype(np.int64) - leaves_begin
        own = by_person[begin:stop]
        times = leaf_start[leaf + 1] - leaf_start[leaf]
        of = np.repeat(own, np.diff(start))
        if len(leaf_start) - 1 < len(tree):
            ends = np.concatenate([[0], np.cumsum(times)])
            inside = np.arange(int(times.sum())) - np.repeat(ends[:-1], times)
            start, of = ends[start], np.repeat(of, times)
            found = by_tuple[np.repeat(leaf_start[leaf], times) + inside]
        else:
            found = by_tuple[leaf]
        yield Block(own, start.astype(np.int64), found, of)
        begin = stop


def _cheapest(people: int, tuples: Int32, columns: Sequence[Column]) -> list[int]:
    """Order the columns so that the walk is expected to look at the fewest nodes.

    On a level it looks, for each distinct beginning of persons, at the children of the nodes reached before. Numbers of
    beginnings and nodes are bounded by products; shares of values that labels cover are taken as independent.
    """
    shares = [float(c.shares[tuples[:, a]].mean()) if len(tuples) else 1.0 for a, c in enumerate(columns)]
    values = [max(1, column.values) for column in columns]
    labels = [max(1, len(column.low)) for column in columns]

    def cost(order: Iterable[int]) -> float:
        beginnings, nodes, reached, total = 1.0, 1.0, 1.0, 0.0
        for column in order:
            beginnings = min(float(people), beginnings * values[column])
            nodes = min(float(len(tuples)), nodes * labels[column])
            total += beginnings * nodes * reached
            reached *= shares[column]
        return total

    everything = range(len(columns))
    if len(columns) <= MOST_PERMUTED:
        return list(min(permutations(everything), key=cost))
    return min(sorted(everything, key=values.__getitem__), sorted(everything, key=shares.__getitem__), key=cost)


def _covers(columns: Sequence[Column]) -> tuple[Int64, Bool, list[int]]:
    """Write the columns below each other for the kernel: ``cover``, ``bits`` and where each column begins."""
    pieces, flags, at, used, begin = [], [np.zeros(1, np.bool_)], [], 1, 0
    for column in columns:
        where = np.full(len(column.low), -1, np.int64)
        for label, label_flags in column.flags.items():
            where[label] = used
            flags.append(label_flags)
            used += len(label_flags)
        at.append(begin)
        begin += len(column.low)
        pieces.append(np.column_stack([column.low, column.high, where]))
    return np.concatenate(pieces).astype(np.int64), np.concatenate(flags), at


def _tree(tuples: Int32, at: Sequence[int]) -> tuple[Int32, Int32, int]:
    """Build the tree of sorted tuples, level by level: labels, first children, and the most nodes on a level."""
    labels, children, most, base = [], [], 0, 0
    starts = [np.flatnonzero(run_starts(tuples[:, : level + 1])) for level in range(tuples.shape[1])]
    for level, begin in enumerate(starts):
        labels.append(tuples[begin, level] + at[level])
        base += len(begin)
        most = max(most, len(begin))
        if level + 1 < len(starts):
            children.append(base + np.searchsorted(starts[level + 1], begin))
        else:
            children.append(np.full(len(begin), base))
    # child[0] is also the end of level 0, since the first child of the first node follows it
    child = np.append(np.concatenate(children), base).astype(np.int32)
    return np.concatenate(labels).astype(np.int32), child, most
