"""mu-Argus: no combination of a few columns may be rare; recode whole columns first, then blank single cells.

A *combination* is a set of up to m quasi-identifiers with one value each (m is ``recoding.combinations``); it is
*unsafe* if fewer than k rows (persons) hold it, k the largest size that the policy's models ask for. One *step*:

1. rows with an unsafe combination: more than ``floor(limit n)`` of them are too many for local suppression;
2. else, in each such row, blank the smallest set of cells that hits all its unsafe combinations: greedily the column in
   most of those not hit yet, ties to the column of lowest entropy, then to the earlier one. A column that cannot be
   blanked (no hierarchy, or one that ends in several labels) is not chosen; a row that needs it is suppressed;
3. every class of what is then published is judged by all models; the rows of those that fail are suppressed.

Where step 1 or 3 takes more than ``floor(limit n)`` rows, or all, one column is generalized by one level and the step
is done again: the column that removes most unsafe combinations, ties to the column with most distinct values, then to
the earlier one.

*Two readings of a blank.* The method takes a blank for a wildcard, so that a row may stand for all rows that agree
with it elsewhere. A reader who takes blanks for a category of their own sees smaller classes. The models are judged on
these (the sizes under the other reading are never smaller), and the notes give k under both.

*Known defect* (Sweeney 2002): only combinations of up to m columns are checked, so larger ones can stay unique. Step 3
is this program's answer: the classes that remain hold every model of the policy. The rating of columns of the original
is left out: all combinations of up to m columns are checked, which includes those that the rating would choose.

A blank is published as the most general label of its column. Rows are never altered otherwise.

Source: L. Sweeney, IJUFKS 10(5), 2002, section 5, doi:10.1142/S021848850200165X, which describes the method of
A. Hundepool, L. Willenborg, mu- and tau-Argus: software for statistical disclosure control, 3rd International Seminar
on Statistical Confidentiality, Bled 1996 (that paper was not at hand).
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.full_domain.climb import not_found
from indistinct.algorithms.full_domain.infeasible import suppression_limit
from indistinct.algorithms.full_domain.lattice import build_lattice
from indistinct.algorithms.full_domain.verdicts import Judge
from indistinct.algorithms.members import members
from indistinct.models import Context, criteria, satisfied
from indistinct.models.contract import K
from indistinct.notices import Sentence
from indistinct.policy.recoding import MuArgus, option
from indistinct.tables.classes import classes_of
from indistinct.tables.order import numbered_rows
from indistinct.tables.records import SUPPRESSED, Assignment
from indistinct.tables.wildcards import candidates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.policy.document import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Frequencies

    Bools = NDArray[np.bool_]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Node = tuple[int, ...]
    Columns = tuple[int, ...]

DENSE = 1 << 22  # groups up to which they are numbered by their key


def mu_argus(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Generalize columns and blank cells until no combination of a few columns is rare and all models hold.

    At most ``floor(limit n)`` rows hold blanks, and at most as many are suppressed, whole classes, never all.

    Raises InfeasibleError when the most general levels do not hold either; whatever ``progress`` raises.
    """
    masking = Masking(frequencies, policy, progress)
    lattice = masking.lattice
    node, steps = (0,) * len(lattice.shape), sum(lattice.top)
    while True:
        progress("search", sum(node), steps)
        found = masking.attempt(node)
        if found is not None:
            return found
        if node == lattice.top:
            with closing(Judge(frequencies, lattice, policy.privacy, masking.limit)) as judge:
                raise not_found(frequencies, policy, judge, progress)
        chosen = masking.choose(node)
        node = (*node[:chosen], node[chosen] + 1, *node[chosen + 1 :])


class Masking:
    """A table, its lattice of levels, and what is unsafe at a node."""

    def __init__(self, frequencies: Frequencies, policy: Policy, progress: Progress) -> None:
        self.frequencies = frequencies
        self.privacy = policy.privacy
        self.context = Context(frequencies.references)
        self.limit = suppression_limit(frequencies, policy.suppression.limit)
        self.lattice = build_lattice(frequencies)
        tests = [test for privacy in policy.privacy for test in criteria((privacy,), self.context) or ()]
        self.k = max([1, *(int(test.parameters[0]) for test in tests if test.kind == K)])
        self.progress = progress
        self.everyone = np.arange(len(frequencies.tuples))
        width = len(frequencies.quasi)
        sizes = range(1, min(option(policy.recoding, "combinations"), width) + 1)
        self.sets: list[Columns] = [chosen for size in sizes for chosen in combinations(range(width), size)]
        tops = [hierarchy.levels[-1].node_of for hierarchy in frequencies.quasi]
        self.can_be_blank = [
            h.is_range or (not h.is_fixed and top.max(initial=0) == 0)
            for h, top in zip(frequencies.quasi, tops, strict=True)
        ]
        self.unsafe_number = cache(self._unsafe_number)

    def codes(self, a: int, p: int) -> Int64:
        """int64[u]: node of each tuple in an attribute at a position."""
        level = self.frequencies.quasi[a].levels[self.lattice.levels[a][p]]
        return level.node_of[self.frequencies.tuples[:, a]].astype(np.int64)

    def _groups(self, chosen: Columns, places: Node) -> tuple[Int64, Int64]:
        """Combination of each tuple, int64[u], and the members of each combination; unused numbers have none."""
        key = np.zeros(len(self.everyone), np.int64)
        number = 1
        for a, p in zip(chosen, places, strict=True):
            nodes = int(self.lattice.nodes[a, p])
            key = key * nodes + self.codes(a, p)
            number *= nodes
            if number > DENSE:
                used, key = np.unique(key, return_inverse=True)
                key, number = key.reshape(-1), len(used)
        return key, members(self.frequencies, self.everyone, key, number)[1]

    def _unsafe_number(self, chosen: Columns, places: Node) -> int:
        """Count the unsafe combinations of a set of columns at these positions."""
        _, sizes = self._groups(chosen, places)
        return int(((sizes > 0) & (sizes < self.k)).sum())

    def _is_unsafe(self, chosen: Columns, node: Node) -> Bools:
        """bool[u]: whether the combination of each tuple in a set of columns is unsafe."""
        key, sizes = self._groups(chosen, tuple(node[a] for a in chosen))
        unsafe: Bools = sizes[key] < self.k
        return unsafe

    def choose(self, node: Node) -> int:
        """Column whose next level removes most unsafe combinations."""

        def removed(a: int) -> int:
            self.progress("search", sum(node), sum(self.lattice.top))
            total = 0
            for chosen in self.sets:
                if a in chosen:
                    now = tuple(node[b] for b in chosen)
                    then = tuple(node[b] + (b == a) for b in chosen)
                    total += self.unsafe_number(chosen, now) - self.unsafe_number(chosen, then)
            return total

        left = [a for a, p in enumerate(node) if p < self.lattice.top[a]]
        return max(left, key=lambda a: (removed(a), int(self.lattice.nodes[a, node[a]]), -a))

    def attempt(self, node: Node) -> Assignment | None:
        """Blank cells at a node and judge the classes; None when too many rows would be touched or suppressed."""
        frequencies = self.frequencies
        rare = np.zeros(len(self.everyone), np.bool_)
        for chosen in self.sets:
            rare |= self._is_unsafe(chosen, node)
            if int(frequencies.tuple_rows[rare].sum()) > self.limit:
                return None
        touched = np.flatnonzero(rare)
        unsafe = np.stack([self._is_unsafe(chosen, node)[touched] for chosen in self.sets], axis=1)
        blank, dropped = self._blanks(node, touched, unsafe)
        class_of, labels = self._classes(node, blank, dropped)
        found = Assignment.of_tuples(frequencies, class_of)
        if not found.classes:
            return None
        classes = classes_of(frequencies, replace(found, boxes=self._boxes(node, found, labels, blank)))
        violating = ~satisfied(self.privacy, classes, self.context)
        gone = int(classes.rows[violating].sum()) + int(frequencies.tuple_rows[dropped].sum())
        if gone > self.limit:
            return None
        own = found.class_of[frequencies.start[:-1]]
        published = np.append(~violating, False)[own]
        class_of = np.where(published, own, SUPPRESSED).astype(np.int32)
        return self._assignment(node, class_of, labels, blank, touched)

    def _blanks(self, node: Node, touched: Int64, unsafe: Bools) -> tuple[Bools, Bools]:
        """Cells to blank, bool[u, d], and tuples that cannot be made safe, bool[u]."""
        blank = np.zeros((len(self.everyone), len(node)), np.bool_)
        dropped = np.zeros(len(self.everyone), np.bool_)
        patterns, which = np.unique(unsafe, axis=0, return_inverse=True)
        order = sorted((a for a in range(len(node)) if self.can_be_blank[a]), key=lambda a: (self._entropy(a, node), a))
        for i, pattern in enumerate(patterns):
            own = touched[which.reshape(-1) == i]
            cover = hitting_set([self.sets[j] for j in np.flatnonzero(pattern)], order)
            if cover is None:
                dropped[own] = True
            else:
                blank[np.ix_(own, cover)] = True
        return blank, dropped

    def _entropy(self, a: int, node: Node) -> float:
        rows = self.lattice.node_rows[a][node[a]]
        shares = rows[rows > 0] / max(int(rows.sum()), 1)
        return round(float(-(shares * np.log2(shares)).sum()), 12)

    def _classes(self, node: Node, blank: Bools, dropped: Bools) -> tuple[Int32, Int32]:
        """Class of each tuple (-1: dropped) by what is published, and the published nodes int32[u, d]; d: a blank."""
        labels = np.empty((len(self.everyone), len(node)), np.int32)
        sizes = []
        for a, p in enumerate(node):
            nodes = int(self.lattice.nodes[a, p])
            labels[:, a] = self.codes(a, p)
            labels[blank[:, a], a] = nodes if nodes > 1 else 0  # a single node is the most general label already
            sizes.append(nodes + 1)
        _, class_of = numbered_rows(labels, sizes)
        class_of[dropped] = SUPPRESSED
        return class_of, labels

    def _assignment(self, node: Node, class_of: Int32, labels: Int32, blank: Bools, touched: Int64) -> Assignment:
        found = Assignment.of_tuples(self.frequencies, class_of)
        own = found.class_of[self.frequencies.start[:-1]]
        published = np.flatnonzero(own != SUPPRESSED)
        notes = self._notes(own, published, labels, blank, touched)
        return replace(found, notes=notes, boxes=self._boxes(node, found, labels, blank))

    def _boxes(self, node: Node, found: Assignment, labels: Int32, blank: Bools) -> Int32:
        """int32[g, d, 2]: the codes that each class publishes, those of its nodes, all of them for a blank."""
        frequencies = self.frequencies
        own = found.class_of[frequencies.start[:-1]]
        published = np.flatnonzero(own != SUPPRESSED)
        first = published[np.unique(own[published], return_index=True)[1]]
        boxes = np.empty((found.classes, len(node), 2), np.int32)
        for a, p in enumerate(node):
            hierarchy = frequencies.quasi[a]
            node_of = hierarchy.levels[self.lattice.levels[a][p]].node_of
            boxes[:, a, 0] = np.searchsorted(node_of, labels[first, a], side="left")
            boxes[:, a, 1] = np.searchsorted(node_of, labels[first, a], side="right") - 1
            boxes[blank[first, a], a] = 0, hierarchy.size - 1
        return boxes

    def _notes(self, own: Int32, published: Int64, labels: Int32, blank: Bools, touched: Int64) -> tuple[Sentence, ...]:
        frequencies = self.frequencies
        rows = frequencies.tuple_rows
        largest = max((len(chosen) for chosen in self.sets), default=0)
        cells = int((blank[published].sum(axis=1) * rows[published]).sum())
        share = int(rows[touched].sum())
        checked = Sentence(
            "combinations of up to {n} columns were checked: {rows} rows held one of fewer than {k}, {cells} cells of "
            "published rows are blank",
            n=largest,
            rows=share,
            k=self.k,
            cells=cells,
        )
        as_wildcards = candidates(labels[published], blank[published], rows[published])
        own_rows = np.bincount(own[published], rows[published]).astype(np.int64)
        if as_wildcards is None:
            return (checked,)
        readings = Sentence(
            "taking a blank for a value of its own, the smallest class has {n} rows; if it may be anything, every row "
            "could be one of at least {k}",
            n=int(own_rows.min()),
            k=int(as_wildcards.min()),
        )
        return checked, readings


def hitting_set(sets: list[Columns], order: list[int]) -> list[int] | None:
    """Cover sets of columns greedily: the column in most sets not hit yet, the first in ``order`` of equals.

    None when a set has no column of ``order``.

    >>> hitting_set([(0, 1), (0, 2), (3,)], [3, 2, 1, 0])
    [0, 3]
    """
    chosen: list[int] = []
    left = sets
    while left:
        most = max(order, key=lambda a: sum(a in one for one in left), default=None)
        if most is None or not any(most in one for one in left):
            return None
        chosen.append(most)
        left = [one for one in left if most not in one]
    return chosen


ALGORITHM = Algorithm(MuArgus, mu_argus, "truthful")
