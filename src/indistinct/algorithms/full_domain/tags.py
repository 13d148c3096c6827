"""Which nodes of a lattice hold: learnt from verdicts, and inferred only where the models' closure licenses it.

Closure, the rule by which nodes are pruned. With s rows that may be suppressed,

- *up*: a node that holds makes all more general nodes hold if every model is absorbing (M2), or if every model is
  merge-closed (M1) and s = 0. Otherwise nothing follows upwards.
  Nor does it from models that judge a release as a whole (scope *release*), nor from shares of persons where somebody
  has rows of different quasi-identifiers (``models.shares``);
- *down*: a node that proves that it and every more special node suppress more than s rows (``Verdict.least``) makes all
  of these fail. For M2 models, and for M1 models with s = 0, every node that fails proves it.

Tags are kept in one int8 array of the shape of the lattice; boxes of nodes are its slices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import PolicyError
from indistinct.models import is_absorbing, is_merge_closed, is_of_classes
from indistinct.notices import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from fractions import Fraction

    from indistinct.algorithms.full_domain.lattice import Lattice
    from indistinct.algorithms.full_domain.verdicts import Judge
    from indistinct.tables.count import Progress

    Node = tuple[int, ...]

UNKNOWN, HOLDS, FAILS = 0, 1, -1
LARGEST = 10_000_000  # nodes of the array of tags
DIMENSIONS = 64  # of an array in numpy
MARGIN = 1e-11  # more than rounding can do to a loss


class Tags:
    """What is known about every node of the lattice of a judge.

    ``state`` int8[shape]; ``licensed``: whether a node that holds makes all above it hold; ``checked``: nodes judged.

    Raises PolicyError when the lattice has more than 10,000,000 nodes or more than 64 attributes.
    """

    def __init__(self, judge: Judge, progress: Progress) -> None:
        _refuse_large(judge.lattice)
        self.judge = judge
        self.lattice = judge.lattice
        self.progress = progress
        spread = judge.frequencies.is_spread
        merge_closed = all(is_merge_closed(privacy, spread=spread) for privacy in judge.privacy)
        self.licensed = all(map(is_of_classes, judge.privacy)) and (
            all(map(is_absorbing, judge.privacy)) or (judge.limit == 0 and merge_closed)
        )
        self.state = np.zeros(judge.lattice.shape, np.int8)
        self.checked = 0
        self._losses: dict[Node, float] = {}

    def holds(self, node: Node) -> bool:
        """Whether a node holds; it is judged unless that is known."""
        if self.state[node] == UNKNOWN:
            self.progress("search", self.checked, self.lattice.size)
            self.checked += 1
            verdict = self.judge.verdict(node)
            if verdict.penalty is not None:
                self._losses[node] = self.judge.base_of(node) + verdict.penalty / self.lattice.total
            self.state[node] = FAILS if verdict.penalty is None else HOLDS
            if verdict.penalty is not None and self.licensed:
                self.state[tuple(slice(p, None) for p in node)] = HOLDS
            if verdict.least > self.judge.limit:
                self.state[tuple(slice(p + 1) for p in node)] = FAILS
        return bool(self.state[node] == HOLDS)

    def is_known(self, node: Node) -> bool:
        """Whether a node needs no look any more."""
        return bool(self.state[node] != UNKNOWN)

    def is_settled(self, low: Node, high: Node) -> bool:
        """Whether all nodes from ``low`` to ``high`` are known."""
        return bool(self.state[tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))].all())

    def settle(self) -> None:
        """Judge every node that is not known, the most general first: what they prove closes others."""
        for height in range(sum(self.lattice.top), -1, -1):
            for node in nodes_at((0,) * len(self.lattice.top), self.lattice.top, height):
                self.holds(node)

    def minimal(self) -> list[Node]:
        """List the nodes that hold with none below them that holds, lexicographically; all nodes must be known."""
        holding = self.state == HOLDS
        reached = holding.copy()
        for axis in range(holding.ndim):
            reached = np.logical_or.accumulate(reached, axis=axis)
        for axis in range(holding.ndim):
            above, below = [slice(None)] * holding.ndim, [slice(None)] * holding.ndim
            above[axis], below[axis] = slice(1, None), slice(-1)
            holding[tuple(above)] &= ~reached[tuple(below)]
        return [tuple(node) for node in np.argwhere(holding).tolist()]

    def loss(self, node: Node) -> float:
        """Loss of a node that holds."""
        if node not in self._losses:
            verdict = self.judge.verdict(node)
            self._losses[node] = self.judge.base_of(node) + (verdict.penalty or 0.0) / self.lattice.total
        return self._losses[node]

    def best(self, nodes: Iterable[Node]) -> Node | None:
        """Node of least loss: ties of exact loss go to the least height, then to the least vector of levels."""
        losses = {node: self.loss(node) for node in nodes}
        if not losses:
            return None
        least = min(losses.values())
        near = [node for node, loss in losses.items() if loss <= least + 2 * MARGIN]
        return near[0] if len(near) == 1 else min(near, key=self._rank)

    def _rank(self, node: Node) -> tuple[Fraction, int, Node]:
        levels = self.lattice.level_vector(node)
        return self.judge.exact_loss(node), sum(levels), levels

    @property
    def note(self) -> Sentence:
        """How many nodes were judged, as a sentence for people."""
        work = Sentence("{n:,} of {all:,} combinations of levels were evaluated", n=self.checked, all=self.lattice.size)
        if self.licensed:
            return work
        return Sentence("{work}; the models do not allow to infer more general combinations from others", work=work)


def nodes_at(low: Node, high: Node, height: int) -> Iterator[Node]:
    """Yield the nodes from ``low`` to ``high`` with this sum of positions, lexicographically.

    >>> list(nodes_at((0, 0), (1, 2), 2))
    [(0, 2), (1, 1)]
    """
    if not low:
        if height == 0:
            yield ()
        return
    least, most = sum(low[1:]), sum(high[1:])
    for first in range(max(low[0], height - most), min(high[0], height - least) + 1):
        for rest in nodes_at(low[1:], high[1:], height - first):
            yield (first, *rest)


def _refuse_large(lattice: Lattice) -> None:
    if len(lattice.shape) > DIMENSIONS:
        raise PolicyError(
            f"{len(lattice.shape)} quasi-identifiers are too many for this algorithm (at most {DIMENSIONS}); take the "
            "algorithm local or optimal",
            key="recoding.algorithm",
        )
    if lattice.size <= LARGEST:
        return
    widest = sorted(zip(lattice.shape, lattice.quasi, strict=True), key=lambda pair: -pair[0])
    names = ", ".join(f"'{hierarchy.attribute}' ({levels} levels)" for levels, hierarchy in widest[:3])
    raise PolicyError(
        f"{lattice.size:,} combinations of levels are too many for this algorithm (at most {LARGEST:,}): leave fewer "
        f"levels with min_level and max_level, first of {names}, or take the algorithm local",
        key="recoding.algorithm",
    )
