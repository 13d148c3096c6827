"""Lower bounds of the loss of all nodes, tightened by every verdict, and which node to look at next.

``NodeBounds`` keeps one double for each node of the lattice. ``BoxBounds`` keeps boxes of nodes instead, for lattices
too large for that. Both offer

- ``bound(node)``: no loss of this node is below it; infinite once it needs no look;
- ``learn(node, verdict)``: what the verdict says about the node and all nodes below it;
- ``next(cutoff)``: a node that could have a loss of at most ``cutoff``, or None: proof that there is none;
- ``lowest()``: no node that still needs a look has a loss below it;
- ``neighbours(node, cutoff)``: those with a bound of at most ``cutoff``, largest base first.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels.lattice import box_bound, next_open, tighten

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.algorithms.full_domain.lattice import Lattice
    from indistinct.algorithms.full_domain.verdicts import Verdict

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]
    Node = tuple[int, ...]

PROVERS = 2048  # verdicts that ``BoxBounds`` remembers for the bounds of other boxes


def _steps(node: Node, top: Node) -> list[tuple[tuple[int, int], ...]]:
    """List the changes (attribute, by) that lead to the neighbours of a node: one level up, one down, or both."""
    up = [(a, 1) for a, p in enumerate(node) if p < top[a]]
    down = [(a, -1) for a, p in enumerate(node) if p > 0]
    return [*((step,) for step in up), *((step,) for step in down), *((u, d) for u in up for d in down if u[0] != d[0])]


class NodeBounds:
    """The bound of every node in one array."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        shape = lattice.shape
        # the attribute with most levels varies fastest: boxes are made of long runs
        order = sorted(range(len(shape)), key=lambda a: (shape[a], a))
        strides = np.ones(len(shape), np.int64)
        for before, after in zip(order[-2::-1], order[:0:-1], strict=True):
            strides[before] = strides[after] * shape[after]
        self._strides = strides
        self._steps = strides.tolist()
        base = np.zeros(1)
        for a in order:
            base = np.add.outer(base, lattice.base[a, : shape[a]]).reshape(-1)
        self._base = base
        self._bound = base.copy()
        self._order: Int64 | None = None
        self._place = 0

    def _number(self, node: Node) -> int:
        return sum([p * step for p, step in zip(node, self._steps, strict=True)])

    def _node(self, number: int) -> Node:
        pairs = zip(self._steps, self.lattice.shape, strict=True)
        return tuple([number // step % length for step, length in pairs])

    def bound(self, node: Node) -> float:
        """Lower bound of the loss of a node."""
        return float(self._bound[self._number(node)])

    def learn(self, node: Node, verdict: Verdict) -> None:
        """Close a node that was judged and tighten all bounds below it."""
        if verdict.least:
            base, relief, vector = self.lattice.base, verdict.relief, np.array(node, np.int64)
            if relief is None:
                tighten(self._bound, vector, self._strides, base, base, 0, 0)
            else:
                tighten(self._bound, vector, self._strides, base, relief, verdict.least, self.lattice.total)
        self._bound[self._number(node)] = np.inf

    def next(self, cutoff: float) -> Node | None:
        """Open node of largest base: it is maximal among the open ones, and says most about the others."""
        if self._order is None:
            left = np.flatnonzero(self._bound <= cutoff)
            self._order = left[np.argsort(-self._base[left], kind="stable")]
        self._place = next_open(self._order, self._bound, self._place, cutoff)
        return None if self._place == len(self._order) else self._node(int(self._order[self._place]))

    def lowest(self) -> float:
        """Least bound of the open nodes."""
        return float(self._bound.min())

    def neighbours(self, node: Node, cutoff: float) -> list[Node]:
        """Open neighbours, largest base first."""
        place, steps = self._number(node), self._steps
        numbers = [place + sum([by * steps[a] for a, by in change]) for change in _steps(node, self.lattice.top)]
        numbers = [number for number in numbers if self._bound[number] <= cutoff]
        numbers.sort(key=lambda number: (-self._base[number], number))
        return [self._node(number) for number in numbers]


class BoxBounds:
    """Boxes of nodes, each with a bound of all its nodes; together they hold all nodes that may need a look.

    A box is judged at its most general node, whose verdict bounds all of it, then halved in the attribute whose base
    varies most. The box of least bound comes first, so that ``lowest`` rises as fast as it can.
    """

    def __init__(self, lattice: Lattice, limit: int) -> None:
        self.lattice = lattice
        self.limit = limit
        self._base = lattice.base.tolist()
        width, depth = lattice.base.shape
        self._provers = np.zeros((PROVERS, width), np.int64)
        self._least = np.zeros(PROVERS, np.int64)
        self._relief = np.zeros((PROVERS, width, depth))
        self._known = 0
        self._judged: set[Node] = set()
        self._current: tuple[float, Node, Node] | None = None
        self._boxes: list[tuple[float, Node, Node]] = []
        bottom = (0,) * width
        self._push(0.0, bottom, lattice.top)

    def _bound_of(self, low: Node, high: Node) -> float:
        return box_bound(
            self._provers,
            self._least,
            self._relief,
            min(self._known, PROVERS),
            self.lattice.base,
            np.array(low, np.int64),
            np.array(high, np.int64),
            self.limit,
            self.lattice.total,
        )

    def _push(self, inherited: float, low: Node, high: Node) -> None:
        bound = max(inherited, self._bound_of(low, high))
        if bound < np.inf:
            heappush(self._boxes, (bound, low, high))

    def bound(self, node: Node) -> float:
        """Lower bound of the loss of a node."""
        return np.inf if node in self._judged else self._bound_of(node, node)

    def learn(self, node: Node, verdict: Verdict) -> None:
        """Remember a verdict; the oldest one is forgotten for it."""
        self._judged.add(node)
        if not verdict.least:
            return
        place = self._known % PROVERS
        self._known += 1
        self._provers[place], self._least[place] = node, verdict.least
        self._relief[place] = 0.0 if verdict.relief is None else verdict.relief

    def next(self, cutoff: float) -> Node | None:
        """Most general node of the box of least bound."""
        self._split()
        while self._boxes:
            bound, low, high = heappop(self._boxes)
            self._current = (max(bound, self._bound_of(low, high)), low, high)
            if bound > cutoff:
                return None  # nor can any other box
            if self._current[0] <= cutoff and high not in self._judged:
                return high
            self._split()
        return None

    def _split(self) -> None:
        """Replace the current box by its halves."""
        if self._current is None:
            return
        bound, low, high = self._current
        self._current = None
        if low == high:
            return
        spread = [terms[h] - terms[b] + (h > b) * 1e-15 for terms, b, h in zip(self._base, low, high, strict=True)]
        a = max(range(len(low)), key=spread.__getitem__)
        middle = (low[a] + high[a]) // 2
        self._push(bound, low, (*high[:a], middle, *high[a + 1 :]))
        self._push(bound, (*low[:a], middle + 1, *low[a + 1 :]), high)

    def lowest(self) -> float:
        """Least bound of the boxes."""
        left = [box[0] for box in (self._current, *self._boxes[:1]) if box is not None]
        return min(left, default=np.inf)

    def neighbours(self, node: Node, cutoff: float) -> list[Node]:
        """Open neighbours, largest base first."""
        found = []
        for change in _steps(node, self.lattice.top):
            other = list(node)
            for a, by in change:
                other[a] += by
            base = sum([terms[p] for terms, p in zip(self._base, other, strict=True)])
            if base <= cutoff and self.bound(tuple(other)) <= cutoff:
                found.append((-base, tuple(other)))
        return [other for _, other in sorted(found)]
