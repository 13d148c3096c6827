"""The lattice of full-domain generalizations of a table, with its costs.

A *node* is a tuple of positions, one per quasi-identifier: position p of attribute a stands for the level
``lattice.levels[a][p]``. Levels outside ``min_level``..``max_level`` have no position, nor has a level with the same
nodes as the one below it: it publishes the same classes at no smaller cost.

The loss of a node is LM in [0, 1]: the mean over rows of the weighted mean over attributes of the cost of the
published node, 1 for a suppressed row. With V the rows of the violating classes and c(r) the cost of row r,

    loss = base + penalty,  base = (1/n) sum of c(r) over all rows,  penalty = (1/n) sum of 1 - c(r) over V.

The costs of a hierarchy must not fall from a level to the next; that is not checked here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import lcm, prod
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import PolicyError
from indistinct.hierarchies.hierarchy import Fractions
from indistinct.kernels.rollup import pack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.tables.records import Frequencies

    Int8 = NDArray[np.int8]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]
    Node = tuple[int, ...]

WORD = 63  # bits of a packed key


@dataclass(frozen=True)
class Lattice:
    """The levels that a search may choose, with their costs and look-up tables.

    ``levels[a]`` the level numbers of attribute a by position; ``shape`` their numbers. ``base[a, p]`` float64: the
    part of ``base`` that attribute a adds at position p. ``node_rows[a][p]`` int64: rows of the table by node. The
    other arrays are those of ``kernels.rollup``. ``chain``: attributes by falling number of values.
    """

    quasi: tuple[Hierarchy, ...]
    total: int
    levels: tuple[tuple[int, ...], ...]
    words: Int64
    shifts: Int64
    masks: Int64
    offsets: Int64
    starts: Int64
    moves: Int64
    nodes: Int64
    representative_starts: Int64
    representatives: Int32
    dearest_starts: Int64
    dearest: Float64
    free: Int8
    base: Float64
    node_rows: tuple[tuple[Int64, ...], ...]
    keys: Int64
    priced: bool = True

    @cached_property
    def shape(self) -> Node:
        """Number of positions of each attribute."""
        return tuple(map(len, self.levels))

    @property
    def size(self) -> int:
        """Number of nodes."""
        return prod(self.shape)

    @cached_property
    def top(self) -> Node:
        """The most general node."""
        return tuple(len(levels) - 1 for levels in self.levels)

    @cached_property
    def chain(self) -> tuple[int, ...]:
        """Attributes by falling number of values: the order in which intermediate tables generalize them."""
        return tuple(sorted(range(len(self.quasi)), key=lambda a: (-self.quasi[a].size, a)))

    def level_vector(self, node: Node) -> Node:
        """Level numbers of a node."""
        return tuple(levels[p] for levels, p in zip(self.levels, node, strict=True))

    def without_costs(self) -> Lattice:
        """Return the same lattice where only suppression costs something."""
        return replace(self, base=np.zeros_like(self.base), free=np.ones_like(self.free), priced=False)

    @cached_property
    def scale(self) -> int:
        """Least number that makes every weighted cost an integer."""
        return lcm(
            *(
                weight.denominator * _denominator(hierarchy.levels[level].costs)
                for hierarchy, weight, levels in zip(self.quasi, weights(self.quasi), self.levels, strict=True)
                for level in levels
            )
        )

    @cached_property
    def _scaled_costs(self) -> dict[tuple[int, int], list[int]]:
        return {}

    def _scaled(self, attribute: int, position: int) -> list[int]:
        """Costs of the nodes of a level as multiples of 1 / ``scale``."""
        known = self._scaled_costs.get((attribute, position))
        if known is None:
            known = self._scaled_costs[attribute, position] = self._scale_up(attribute, position)
        return known

    def _scale_up(self, attribute: int, position: int) -> list[int]:
        factor = weights(self.quasi)[attribute] * self.scale
        costs = self.quasi[attribute].levels[self.levels[attribute][position]].costs
        if isinstance(costs, Fractions):
            step = int(factor / costs.denominator)
            return [step * numerator for numerator in costs.numerators.tolist()]
        return [int(factor * cost) for cost in costs]

    def exact_step(self, attribute: int, position: int) -> Fraction:
        """Exact growth of ``base`` from a position to the next."""
        below, above = (
            sum(map(int.__mul__, self._scaled(attribute, p), self.node_rows[attribute][p].tolist()))
            for p in (position, position + 1)
        )
        return Fraction(above - below, self.scale * self.total)

    def exact_loss(self, node: Node, keys: Int64, lost: Int64) -> Fraction:
        """Exact loss of a node whose classes ``keys`` lose ``lost`` rows."""
        gone = np.flatnonzero(lost)
        if not self.priced:
            return Fraction(int(lost.sum()), self.total)
        scaled = self.scale * int(lost.sum())
        for a, p in enumerate(node):
            level = self.quasi[a].levels[self.levels[a][p]]
            codes = (keys[gone, self.words[a]] >> self.shifts[a]) & self.masks[a]
            rows = self.node_rows[a][p].copy()
            np.subtract.at(rows, level.node_of[codes], lost[gone])
            scaled += sum(map(int.__mul__, self._scaled(a, p), rows.tolist()))
        return Fraction(scaled, self.scale * self.total)


def weights(quasi: Sequence[Hierarchy]) -> list[Fraction]:
    """Weights of the attributes in the loss, adding up to 1."""
    total = sum((hierarchy.weight for hierarchy in quasi), Fraction(0))
    if total == 0:
        return [Fraction(1, max(len(quasi), 1))] * len(quasi)
    return [hierarchy.weight / total for hierarchy in quasi]


def _denominator(costs: Sequence[Fraction]) -> int:
    """Return a common denominator."""
    return costs.denominator if isinstance(costs, Fractions) else lcm(*(cost.denominator for cost in costs))


def _positions(hierarchy: Hierarchy) -> tuple[int, ...]:
    """Levels within the bounds of the policy, without those that equal the one below."""
    last = hierarchy.height if hierarchy.max_level is None else min(hierarchy.max_level, hierarchy.height)
    if not 0 <= hierarchy.min_level <= last:
        raise PolicyError(
            f"attribute '{hierarchy.attribute}' has levels 0 to {hierarchy.height}: no level lies between "
            f"min_level {hierarchy.min_level} and max_level {hierarchy.max_level}; widen these bounds",
            key=f"attributes.{hierarchy.attribute}.min_level",
            column=hierarchy.attribute,
        )
    numbers = [_node_count(hierarchy, level) for level in range(hierarchy.min_level, last + 1)]
    return (
        hierarchy.min_level,
        *(hierarchy.min_level + i for i, (below, number) in enumerate(pairwise(numbers), start=1) if number != below),
    )


def _node_count(hierarchy: Hierarchy, level: int) -> int:
    nodes = hierarchy.levels[level].node_of
    return int(nodes[-1]) + 1 if len(nodes) else 0


def build_lattice(frequencies: Frequencies) -> Lattice:
    """Lay out the lattice of a table.

    Raises PolicyError when the bounds of an attribute leave no level.
    """
    quasi = frequencies.quasi
    levels = tuple(map(_positions, quasi))
    width, depth = len(quasi), max(map(len, levels), default=1)
    words, shifts = _bit_fields([hierarchy.size for hierarchy in quasi])
    masks = np.array([(1 << (hierarchy.size - 1).bit_length()) - 1 for hierarchy in quasi], np.int64)
    offsets = np.cumsum([0, *(hierarchy.size for hierarchy in quasi)], dtype=np.int64)
    keys = np.zeros((len(frequencies.tuples), int(words.max(initial=0)) + 1), np.int64)
    margins = np.zeros(int(offsets[-1]), np.int64)
    pack(frequencies.tuples, frequencies.tuple_rows, words, shifts, offsets, keys, margins)

    shape = (width, depth)
    starts, nodes = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    representative_starts, dearest_starts = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    free, base = np.ones(shape, np.int8), np.full(shape, np.inf)
    moves: list[Int64] = [np.zeros(0, np.int64)]
    representatives: list[Int32] = [np.zeros(0, np.int32)]
    dearest: list[Float64] = [np.zeros(0)]
    node_rows = []
    moved = represented = priced = 0
    total = frequencies.total
    for a, (hierarchy, weight) in enumerate(zip(quasi, weights(quasi), strict=True)):
        codes = np.arange(hierarchy.size)
        margin = margins[offsets[a] : offsets[a + 1]]
        priced_values: list[Float64] = []
        rows_by_node = []
        for p, number in enumerate(levels[a]):
            level = hierarchy.levels[number]
            first = _first_codes(level.node_of)
            representative = first[level.node_of]
            costs = level.float_costs() * float(weight)
            rows = np.add.reduceat(margin, first) if len(first) else margin
            priced_values.append(costs[level.node_of])
            base[a, p] = float(costs @ rows) / max(total, 1)
            free[a, p] = not costs.any()
            starts[a, p], nodes[a, p] = moved, len(first)
            representative_starts[a, p], dearest_starts[a, p] = represented, priced
            moves.append((representative ^ codes) << shifts[a])
            representatives.append(first.astype(np.int32))
            if not free[a, p]:
                dearest.extend(np.maximum.reduceat(values, first) for values in priced_values[:-1])
                dearest.append(costs)
                priced += len(first) * (p + 1)
            moved += hierarchy.size
            represented += len(first)
            rows_by_node.append(rows)
        node_rows.append(tuple(rows_by_node))
    return Lattice(
        quasi,
        total,
        levels,
        words,
        shifts,
        masks,
        offsets,
        starts,
        np.concatenate(moves),
        nodes,
        representative_starts,
        np.concatenate(representatives),
        dearest_starts,
        np.concatenate(dearest),
        free,
        base,
        tuple(node_rows),
        keys,
    )


def _first_codes(node_of: Int32) -> Int64:
    """Smallest code of every node."""
    new = np.ones(len(node_of), np.bool_)
    new[1:] = node_of[1:] != node_of[:-1]
    return np.flatnonzero(new)


def _bit_fields(sizes: Sequence[int]) -> tuple[Int64, Int64]:
    """Word and shift of each attribute in the packed key."""
    words, shifts = np.zeros(len(sizes), np.int64), np.zeros(len(sizes), np.int64)
    word = used = 0
    for a, size in enumerate(sizes):
        bits = (size - 1).bit_length()
        if used + bits > WORD:
            word, used = word + 1, 0
        words[a], shifts[a] = word, used
        used += bits
    return words, shifts
