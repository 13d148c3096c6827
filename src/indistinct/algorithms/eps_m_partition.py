"""(eps,m) partition: cut the table while no part is crowded around one number, then deal each part out.

1. *Cuts.* As Mondrian does, at the median of the widest attribute (for attributes with levels at the border of a child
   nearest to it), while both sides satisfy the one-sided condition rows >= m g, g the largest number of rows in
   [x - eps, x] (``models.eps_m_anonymity``). It is merge-closed, so a part that holds comes from parts that might.
2. *Dealing.* The rows of a part, sorted by their number, go in turn to g groups: at least m rows each, numbers of one
   group more than eps apart, risk 1 / size <= 1 / m. Each group is published as its smallest box.

Two groups of one part may be published alike, and are one class to anybody who reads the table; (eps,m)-anonymity is
not merge-closed, so that class may fail. Therefore the published classes are judged exactly, and the parts of those
that fail are dealt into more groups (any number up to rows / m keeps the argument), published whole, or taken back into
the part they were cut from, until all classes hold. Paper and article do not speak of this.

Example: nine numbers with g = 3 make three groups of three rows, each of risk 1/3.

Where the whole table fails the one-sided condition nothing is found; the two-sided principle might still be met.

Source: J. Li, Y. Tao, X. Xiao, SIGMOD 2008, doi:10.1145/1376616.1376666.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.local.problem import blocks_of
from indistinct.errors import InfeasibleError, PolicyError
from indistinct.models import Context, evaluate
from indistinct.models.contract import EVERY_CLASS
from indistinct.models.eps_m_anonymity import neighbourhoods
from indistinct.models.numbers import missing_refused, numbers_of
from indistinct.policy.privacy import EpsMAnonymity, KAnonymity
from indistinct.policy.recoding import EpsMPartition
from indistinct.tables.classes import classes_of, recoding_of
from indistinct.tables.records import SUPPRESSED, Assignment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.kernels.crowding import Axes, Tree
    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Frequencies

    Int64 = NDArray[np.int64]

# numbers of groups that are tried for a part before it is published whole
TRIES = 4


def eps_m_partition(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Find classes that are (eps,m)-anonymous by cutting and dealing.

    Holds one ``eps_m_anonymity``, beside ``k_anonymity`` with k <= m. Blocks that may not be mixed with others (fixed
    attributes) and fail are suppressed, at most ``floor(limit n)`` rows.

    Raises PolicyError for other models and for a person key (dealing separates equal rows); DataError for missing
    numbers, and for relative epsilon with negative numbers; InfeasibleError when nothing was found; whatever
    ``progress`` raises.
    """
    model = _only_model(frequencies, policy)
    progress("partition", 0, 0)
    search = _Search.of(frequencies, policy, model)
    rounds, pieces = 0, search.shown
    while True:
        assignment, failing = search.judged(pieces)
        if len(failing):
            rounds += 1
            progress("deal", rounds, 0)
            pieces = search.repair(failing)
        elif len(pieces) == len(search.shown):
            break
        else:  # what was repaired holds by itself; is it published like a class of another part?
            pieces = search.shown
    lost = int(assignment.count[assignment.class_of == SUPPRESSED].sum())
    if lost > min(floor(policy.suppression.limit * frequencies.total), frequencies.total - 1):
        raise InfeasibleError(
            f"eps_m_partition found no classes that hold: {lost} of {frequencies.total} rows lie in groups that may "
            f"not be mixed with others and are too crowded around one number for m = {model.m}; this proves nothing "
            "about other ways",
            "a smaller epsilon or m, or a larger suppression limit, asks for less",
        )
    return _numbered(assignment)


def _only_model(frequencies: Frequencies, policy: Policy) -> EpsMAnonymity:
    found = [model for model in policy.privacy if isinstance(model, EpsMAnonymity)]
    if len(found) != 1:
        message = f"eps_m_partition holds one eps_m_anonymity, and the policy names {len(found)}"
        raise PolicyError(message, key="recoding.algorithm")
    for model in policy.privacy:
        if model is not found[0] and not (isinstance(model, KAnonymity) and model.k <= found[0].m):
            raise PolicyError(
                f"eps_m_partition holds eps_m_anonymity, and k_anonymity up to k = m, but not {model.model}; "
                'algorithm = "optimal" holds any models together',
                key="recoding.algorithm",
            )
    if frequencies.persons is not None:
        raise PolicyError(
            "eps_m_partition sends equal rows to different classes, and with a person key they must stay together; "
            'algorithm = "optimal" keeps them together',
            key="recoding.algorithm",
        )
    return found[0]


@dataclass
class _Search:
    """The parts, and into how many groups each is dealt now.

    ``cells`` int64[c], those of a part side by side; ``shown``: parts that make up the table now. For each part int64:
    ``groups`` it is dealt into and ``tries`` so far; ``lost``: parts that are suppressed.
    """

    frequencies: Frequencies
    policy: Policy
    model: EpsMAnonymity
    rank: Int64
    cells: Int64
    tree: Tree
    shown: list[int]
    groups: Int64
    tries: Int64
    lost: set[int]

    @classmethod
    def of(cls, frequencies: Frequencies, policy: Policy, model: EpsMAnonymity) -> _Search:
        """Cut the table."""
        from indistinct.kernels.crowding import Tree, cut

        numbers = numbers_of(frequencies.references[model.attribute])
        rank = numbers.rank[frequencies.sensitive_codes(model.attribute)]
        if (rank < 0).any():
            raise missing_refused(model.attribute)
        if model.kind == "relative" and numbers.places[0] < 0:
            raise PolicyError(
                f'"{model.attribute}" has negative numbers, and eps_m_partition relies on positive ones for a relative '
                "epsilon; use an absolute one",
                key="recoding.algorithm",
            )
        low, _ = neighbourhoods(numbers, model.epsilon, model.kind)
        block = blocks_of(frequencies)[frequencies.tuple_of]
        cells = np.lexsort((rank, block)).astype(np.int64)
        first = np.flatnonzero(np.r_[True, np.diff(block[cells]) != 0])
        most = len(first) + 2 * len(cells)
        tree = Tree(*(np.zeros(most, np.int64) for _ in range(6)))
        given = len(first)
        tree.start[:given], tree.end[:given] = first, np.append(first[1:], len(cells))
        tree.parent[:given], tree.leaf[:given] = -1, 1
        # in the order of rank, so that the kernel reads memory forwards
        codes = np.ascontiguousarray(frequencies.codes[cells, : len(frequencies.quasi)])
        order = np.arange(len(cells))
        axes = _axes(frequencies.quasi)
        used = cut(order, codes, frequencies.rows[cells], rank[cells], low, model.m, axes, tree, given)
        cells = cells[order]
        tree = Tree(*(column[:used] for column in tree))
        shown = np.flatnonzero(tree.leaf).tolist()
        lost = {part for part in range(given) if tree.rows[part] < model.m * tree.neighbours[part]}
        return cls(
            frequencies, policy, model, rank, cells, tree, shown, tree.neighbours.copy(), 0 * tree.neighbours, lost
        )

    def judged(self, shown: list[int]) -> tuple[Assignment, Int64]:
        """Deal some parts out; the classes as they are published, and the parts of classes that fail."""
        pieces = np.array(shown, np.int64)
        start, length = self.tree.start[pieces], self.tree.end[pieces] - self.tree.start[pieces]
        owner = np.repeat(np.arange(len(pieces)), length)
        cells = self.cells[np.arange(len(owner)) + (start - np.cumsum(length) + length)[owner]]
        if not self.tree.leaf[pieces].all():  # the cells of a part that was cut are sorted by what it was cut into
            order = np.lexsort((cells, self.rank[cells], owner))
            cells, owner = cells[order], owner[order]
        rows = self.frequencies.rows[cells]
        cell, owner = np.repeat(cells, rows), np.repeat(owner, rows)
        before = np.cumsum(self.tree.rows[pieces]) - self.tree.rows[pieces]
        groups = self.groups[pieces]
        offset = np.cumsum(groups) - groups
        dealt = offset[owner] + (np.arange(len(owner)) - before[owner]) % groups[owner]
        gone = np.isin(pieces, np.array(sorted(self.lost), np.int64))
        part_of_group = np.repeat(np.arange(len(pieces)), groups)
        published = ~gone[part_of_group]
        number = np.where(published, np.cumsum(published) - 1, SUPPRESSED)
        class_of = number[dealt].astype(np.int32)
        number_of, count = cell.astype(np.int32), np.ones(len(cell), np.int64)
        assignment = Assignment(number_of, count, class_of, int(published.sum()))
        if assignment.classes == 0:
            return assignment, np.zeros(0, np.int64)
        alike = _published_alike(self.frequencies, assignment)
        class_of = np.append(alike, SUPPRESSED)[assignment.class_of].astype(np.int32)
        merged = Assignment(number_of, count, class_of, int(alike.max()) + 1)
        classes = classes_of(self.frequencies, merged)
        context = Context(self.frequencies.references)
        held = np.ones(merged.classes, np.bool_)
        for model in self.policy.privacy:
            held &= evaluate(model, classes, context).satisfied
        failing = part_of_group[dealt[(merged.class_of >= 0) & ~held[merged.class_of]]]
        return merged, pieces[np.unique(failing)]

    def repair(self, failing: Int64) -> list[int]:
        """Deal failing parts into other numbers of groups; after some tries whole, then with the part next to them.

        Returns the parts that are other than before.
        """
        collapsed: set[int] = set()
        for part in failing.tolist():
            self.tries[part] += 1
            if self.tries[part] < TRIES and self.groups[part] + 1 <= self.tree.rows[part] // self.model.m:
                self.groups[part] += 1
            elif self.groups[part] > 1:
                self.groups[part], self.tries[part] = 1, TRIES
            elif self.tree.parent[part] >= 0:
                collapsed.add(int(self.tree.parent[part]))
            else:
                self.lost.add(part)
        if not collapsed:
            return [int(part) for part in failing]
        gone = self._below(collapsed)
        outermost = [part for part in sorted(collapsed) if not gone[part]]
        stays = [part for part in self.shown if not gone[part]]
        self.shown = sorted([*stays, *outermost])
        changed: list[int] = sorted([*(set(failing.tolist()) & set(stays)), *outermost])
        return changed

    def _below(self, collapsed: set[int]) -> NDArray[np.bool_]:
        """bool[.]: parts that lie in one of some others."""
        marked = np.zeros(len(self.tree.parent), np.bool_)
        marked[sorted(collapsed)] = True
        below = np.zeros(len(marked), np.bool_)
        inner = self.tree.parent >= 0
        while True:  # as many times as the tree is deep
            new = inner & (marked | below)[self.tree.parent]
            if (new == below).all():
                return below
            below = new


def _axes(quasi: Sequence[Hierarchy]) -> Axes:
    """Bring the quasi-identifiers into the form that the kernel reads; widths are weighted costs."""
    from indistinct.kernels.crowding import Axes

    nodes, prices = [np.zeros(0, np.int32)], [np.zeros(0)]
    at_node, at_price, levels = [], [], []
    for hierarchy in quasi:
        at_node.append(sum(map(len, nodes)))
        at_price.append(sum(map(len, prices)))
        if hierarchy.lower is not None and hierarchy.upper is not None:
            levels.append(0)
            ends = np.zeros((2, hierarchy.size))
            ends[:, : len(hierarchy.lower)] = hierarchy.lower, hierarchy.upper
            prices.append(ends.reshape(-1) * float(hierarchy.weight))
            continue
        levels.append(len(hierarchy.levels))
        nodes.append(np.concatenate([level.node_of for level in hierarchy.levels]).astype(np.int32))
        costs = [level.float_costs()[level.node_of] for level in hierarchy.levels]
        prices.append(np.concatenate(costs) * float(hierarchy.weight))
    return Axes(
        np.array(levels, np.int64),
        np.array([hierarchy.size for hierarchy in quasi], np.int64),
        np.array([hierarchy.missing for hierarchy in quasi], np.int64),
        np.array(at_node, np.int64),
        np.array(at_price, np.int64),
        np.concatenate(nodes),
        np.concatenate(prices),
    )


def _published_alike(frequencies: Frequencies, assignment: Assignment) -> Int64:
    """int64[g]: number the classes so that those with equal labels get one number."""
    recoding = recoding_of(frequencies, assignment)
    key = np.zeros(assignment.classes, np.int64)
    for position in range(len(frequencies.quasi)):
        label = recoding.labels(position)[1]
        key = np.unique(key * (int(label.max()) + 1) + label, return_inverse=True)[1].reshape(-1)
    return key


def _numbered(assignment: Assignment) -> Assignment:
    """Add up the parts of a cell that go to one class, classes numbered by first cell."""
    published = assignment.class_of != SUPPRESSED
    first = np.full(assignment.classes, len(published), np.int64)
    np.minimum.at(first, assignment.class_of[published], np.flatnonzero(published))
    rank = np.empty(assignment.classes, np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(assignment.classes)
    class_of = np.where(published, rank[assignment.class_of], SUPPRESSED)
    key = assignment.cell.astype(np.int64) * (assignment.classes + 1) + class_of + 1
    pair, place = np.unique(key, return_inverse=True)
    count = np.zeros(len(pair), np.int64)
    np.add.at(count, place.reshape(-1), assignment.count)
    class_of = (pair % (assignment.classes + 1) - 1).astype(np.int32)
    cell = (pair // (assignment.classes + 1)).astype(np.int32)
    return Assignment(cell, count, class_of, assignment.classes)


ALGORITHM = Algorithm(EpsMPartition, eps_m_partition, "truthful", offers=frozenset({EVERY_CLASS}))
