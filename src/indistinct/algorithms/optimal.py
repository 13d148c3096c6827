"""Full-domain search for the node of least loss under the suppression limit, with proof.

The result is that of exhaustive search; three bounds say which nodes need no look (their proofs are in
``full_domain.verdicts``): the loss of a node is at least its ``base``, which grows with generalization; a node must
suppress at least what any more general node proves; and so must its penalty be at least what that suppression costs.

1. *Start*: bisection of one path from the bottom to the top gives a first feasible node.
2. *Local search* round the best node: one level up, one down, or both.
3. *Proof*: the nodes that the bounds leave open, by falling base. The first ones are maximal, so each closes or
   tightens the whole box below itself.

Losses are doubles with a margin; near-ties are settled by exact fractions. Ties of exact loss go to the least height
(sum of levels), then to the lexicographically least vector of levels in policy order.

Source: this project; exhaustive search with bounds that are proved in ``full_domain.verdicts``.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.full_domain.bounds import BoxBounds, NodeBounds
from indistinct.algorithms.full_domain.infeasible import hopeless, infeasible, suppression_limit
from indistinct.algorithms.full_domain.lattice import build_lattice
from indistinct.algorithms.full_domain.verdicts import Judge
from indistinct.errors import InfeasibleError, PolicyError
from indistinct.models.contract import EVERY_CLASS, LEVELS
from indistinct.notices import Sentence
from indistinct.policy.recoding import Optimal, option

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from indistinct.algorithms.full_domain.lattice import Lattice
    from indistinct.algorithms.full_domain.verdicts import Verdict
    from indistinct.policy.document import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies

    Int64 = NDArray[np.int64]
    Node = tuple[int, ...]

LARGEST = 10_000_000  # nodes that a search with proof is asked for without a time budget
ARRAY = 100_000  # nodes up to which an array of bounds is faster than boxes
MARGIN = 1e-11  # more than rounding can do to a loss
EVERY = 64  # nodes between two calls of progress


class OutOfTime(Exception):  # noqa: N818  # ends a search, not an error
    """The time budget is spent."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found: the best node, its loss and suppressed rows.

    ``evaluated``: nodes that were judged; ``lower_bound``: no feasible node loses less.
    """

    node: Node
    loss: float
    suppressed: int
    evaluated: int
    proven: bool
    lower_bound: float


def optimal(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Find the full-domain recoding of least LM that holds all models with at most the allowed suppression.

    Minimises ``(1/n) (sum over published rows of c(r) + suppressed rows)``, c(r) in [0, 1] the weighted mean of the
    costs of the row's nodes, over all level vectors within ``min_level``..``max_level``; classes that violate a model
    are suppressed whole, at most ``floor(limit n)`` rows and never all. The answer equals that of exhaustive search
    and does not depend on the order of rows. With ``recoding.time_budget`` the search may stop early: then
    ``proven`` is False and the notes give the distance to a lower bound.

    Raises InfeasibleError when no node holds, with the reason and the nearest target; PolicyError when the lattice
    has more than 10,000,000 nodes and there is no time budget; whatever ``progress`` raises.

    Not checked: that costs do not fall from a level to the next.

    >>> from indistinct.hierarchies import suppression
    >>> from indistinct.policy import Policy
    >>> from indistinct.tables.count import frequencies_of, silent
    >>> sex = suppression.build("sex", ["f", "m"])
    >>> table = frequencies_of((sex,), (), np.array([[0], [1]], np.int32), np.array([5, 1]))
    >>> attribute = {"role": "quasi_identifying", "hierarchy": {"kind": "suppress"}}
    >>> policy = Policy(attributes={"sex": attribute}, privacy=[{"model": "k_anonymity", "k": 2}])
    >>> optimal(table, policy, silent).levels
    (1,)
    """
    share, budget = policy.suppression.limit, option(policy.recoding, "time_budget")
    lattice = build_lattice(frequencies)
    if lattice.size > LARGEST and budget is None:
        raise _too_large(lattice)
    deadline = None if budget is None else monotonic() + budget
    with closing(Judge(frequencies, lattice, policy.privacy, suppression_limit(frequencies, share))) as judge:
        search = Search(judge, progress, deadline)
        if search.visit(lattice.top).penalty is None:
            refusal = hopeless(frequencies, policy.privacy, share, judge.tables)
            if refusal is not None:
                raise refusal
        found = search.run()
        if found is None and not search.proven:
            raise _out_of_time(search, float(budget or 0))
        if found is None:
            needed = fewest_suppressed(frequencies, judge, progress, budget)
            raise infeasible(frequencies, policy.privacy, share, judge.tables, needed)
        return judge.assignment(found.node, (_note(lattice, found),), proven=found.proven)


def fewest_suppressed(frequencies: Frequencies, judge: Judge, progress: Progress, budget: float | None) -> int:
    """Fewest rows that any node suppresses: the same search with no cost but suppression, ties left alone."""
    free, total = judge.lattice.without_costs(), frequencies.total
    deadline = None if budget is None else monotonic() + budget
    with closing(Judge(frequencies, free, judge.privacy, total - 1)) as unlimited:
        found = Search(unlimited, progress, deadline, margin=-0.5 / total).run()
    return total if found is None else found.suppressed


def _note(lattice: Lattice, found: Found) -> Sentence:
    if found.proven:
        return Sentence(
            "{n:,} of {all:,} combinations of levels were evaluated; the result is proven to lose least",
            n=found.evaluated,
            all=lattice.size,
        )
    return Sentence(
        "{n:,} of {all:,} combinations of levels were evaluated when the time budget ended: the loss {loss:.4f} is not "
        "proven to be the least, which is at least {bound:.4f} (gap {gap:.4f})",
        n=found.evaluated,
        all=lattice.size,
        loss=found.loss,
        bound=found.lower_bound,
        gap=found.loss - found.lower_bound,
    )


def _out_of_time(search: Search, budget: float) -> InfeasibleError:
    return InfeasibleError(
        f"no recoding that satisfies the policy was found within the time budget of {budget:g} s "
        f"({len(search.verdicts):,} of {search.lattice.size:,} combinations of levels evaluated)",
        "raise recoding.time_budget, allow more suppression or ask for less",
    )


def _too_large(lattice: Lattice) -> PolicyError:
    widest = sorted(zip(lattice.shape, lattice.quasi, strict=True), key=lambda pair: -pair[0])
    names = ", ".join(f"'{hierarchy.attribute}' ({levels} levels)" for levels, hierarchy in widest[:3])
    return PolicyError(
        f"{lattice.size:,} combinations of levels are too many for a search with proof (at most {LARGEST:,}): set "
        f"recoding.time_budget for a best-effort search, or leave fewer levels with min_level and max_level, "
        f"first of {names}",
        key="recoding.time_budget",
    )


class Search:
    """Start, local search and proof over the bounds of a lattice."""

    def __init__(self, judge: Judge, progress: Progress, deadline: float | None, *, margin: float = MARGIN) -> None:
        self.judge = judge
        self.lattice = judge.lattice
        self.progress = progress
        self.deadline = deadline
        self.margin = margin
        self.bounds = NodeBounds(self.lattice) if self.lattice.size <= ARRAY else BoxBounds(self.lattice, judge.limit)
        self.verdicts: dict[Node, Verdict] = {}
        self.best: Node | None = None
        self.loss = 2.0  # more than any loss
        self.exact: dict[Node, Fraction] = {}
        self.proven = False

    @property
    def cutoff(self) -> float:
        """Bounds up to this may belong to a node that is better, or as good (``margin`` > 0)."""
        return self.loss + self.margin

    def run(self) -> Found | None:
        """Search to the end or to the deadline; None when no feasible node was found."""
        try:
            self.visit(self.lattice.top)
            self._start()
            self._improve()
            self._prove()
            self.proven = True
        except OutOfTime:
            pass
        if self.best is None:
            return None
        lower = self.loss if self.proven else min(self.loss, self.bounds.lowest())
        suppressed = self.verdicts[self.best].lost
        return Found(self.best, self.loss, suppressed, len(self.verdicts), self.proven, lower)

    def visit(self, node: Node) -> Verdict:
        """Judge a node and let the bounds learn from it."""
        known = self.verdicts.get(node)
        if known is not None:
            return known
        if self.deadline is not None and monotonic() > self.deadline and self.verdicts:
            raise OutOfTime
        if len(self.verdicts) % EVERY == 0:
            self.progress("search", len(self.verdicts), self.lattice.size)
        verdict = self.judge.verdict(node, self.cutoff)
        self.verdicts[node] = verdict
        self.bounds.learn(node, verdict)
        if verdict.penalty is not None:
            self._offer(node, self.judge.base_of(node) + verdict.penalty / self.lattice.total)
        return verdict

    def _offer(self, node: Node, loss: float) -> None:
        """Take a feasible node if it is better than the best so far."""
        if self.best is not None:
            if loss > self.loss + MARGIN:
                return
            if loss >= self.loss - MARGIN and self._rank(node) > self._rank(self.best):
                return
        self.best, self.loss = node, loss

    def _rank(self, node: Node) -> tuple[Fraction, int, Node]:
        levels = self.lattice.level_vector(node)
        return self._exact(node), sum(levels), levels

    def _exact(self, node: Node) -> Fraction:
        if node not in self.exact:
            self.exact[node] = self.judge.exact_loss(node)
        return self.exact[node]

    def _start(self) -> None:
        """Find a first good node by bisecting the path that loses least for the information it gives up.

        A path serves: whether a node is feasible hardly ever changes more than once along it, nor does the loss of
        feasible nodes turn more than once. Where that fails the node is worse, and the proof makes up for it.
        """
        path = self._path()
        low, high = 0, len(path) - 1
        while low < high:
            middle = (low + high) // 2
            here = self._loss_at(path[middle])
            if here > 1.0 or self._loss_at(path[middle + 1]) < here:
                low = middle + 1
            else:
                high = middle
        self.visit(path[low])

    def _loss_at(self, node: Node) -> float:
        penalty = self.visit(node).penalty
        return np.inf if penalty is None else self.judge.base_of(node) + penalty / self.lattice.total

    def _path(self) -> list[Node]:
        """From the bottom to the top, each step the one with most entropy removed for each unit of base added."""
        base, top = self.lattice.base.tolist(), self.lattice.top
        entropy = [[_entropy(rows) for rows in levels] for levels in self.lattice.node_rows]
        node = [0] * len(top)
        path = [tuple(node)]
        while path[-1] != top:
            gains = [
                ((entropy[a][node[a]] - entropy[a][p]) / max(base[a][p] - base[a][node[a]], 1e-12), -a, -p)
                for a, last in enumerate(top)
                for p in range(node[a] + 1, last + 1)
            ]
            _, a, p = max(gains)
            node[-a] = -p
            path.append(tuple(node))
        return path

    def _improve(self) -> None:
        """Visit the open neighbours of the best node, largest base first, until there is none."""
        while self.best is not None:
            centre = self.best
            for node in self.bounds.neighbours(centre, self.cutoff):
                if self.bounds.bound(node) <= self.cutoff:
                    self.visit(node)
                if self.best is not centre:
                    break
            else:
                return

    def _prove(self) -> None:
        """Visit what the bounds leave open until nothing is left."""
        while (node := self.bounds.next(self.cutoff)) is not None:
            best = self.best
            self._widen(node)
            if self.best is not best:
                self._improve()

    def _widen(self, node: Node) -> None:
        """Visit a node and, while far too much is suppressed, go up: what a higher node proves closes more."""
        limit, base, top = self.judge.limit, self.judge.base_terms, self.lattice.top
        while self.visit(node).least > 2 * limit:
            steps = [(base[a][p] - base[a][p + 1], a) for a, p in enumerate(node) if p < top[a]]
            for _, a in sorted(steps)[:2]:  # dear steps go first: they are the fewest
                above = (*node[:a], node[a] + 1, *node[a + 1 :])
                if self.visit(above).least > limit:
                    node = above
                    break
            else:
                return


def _entropy(rows: Int64) -> float:
    shares = rows[rows > 0] / max(int(rows.sum()), 1)
    return float(-(shares * np.log(shares)).sum())


ALGORITHM = Algorithm(Optimal, optimal, "truthful", offers=frozenset({LEVELS, EVERY_CLASS}), by_level=True)
