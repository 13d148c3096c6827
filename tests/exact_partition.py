"""The least loss of all partitions of a small table: an integer program over boxes.

A row is a tuple of numbers; the sensitive code, where there is one, comes last. Columns are published as ranges, and a
row of a class costs the sum of ``(highest - lowest) / width`` over the columns. Which boxes are opened is z, how many
rows of each cell lie in each is x; classes with the same box merge, and every demand that stands here survives that, so
this is the optimum over all partitions. Boxes are smallest ones around rows; those that no solution better than
``known`` can open are left out, by the prices of the linear program (every price gives a valid bound).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import coo_matrix

STARTING, MORE = 1500, 1500
NODES = 500
GAP = 1e-3
MOST_BOXES = 400_000
MOST_PAIRS = 12_000
MARGIN = 1e-7


@dataclass(frozen=True)
class Demand:
    """What a class owes: k rows, so many distinct values (1 or 2), at most a share of one value, (c,2)-diversity, t."""

    k: int
    distinct: int = 1
    alpha: tuple[int, Fraction] | None = None
    recursive: int | None = None
    t: Fraction | None = None


def holds(values, demand, whole):
    """Whether a class with these sensitive values satisfies the demand, where ``whole`` are those of the table."""
    n, counts = len(values), Counter(values)
    fine = n >= demand.k and len(counts) >= demand.distinct
    if demand.alpha is not None:
        value, most = demand.alpha
        fine = fine and Fraction(counts[value], n) <= most
    if demand.recursive is not None:
        top = max(counts.values())
        fine = fine and top < demand.recursive * (n - top)
    if demand.t is not None:
        total = Counter(whole)
        far = sum(max(Fraction(0), Fraction(counts[v], n) - Fraction(total[v], len(whole))) for v in total)
        fine = fine and far <= demand.t
    return fine


def least_loss(rows, widths, demand, known):
    """Sum of losses below which no partition comes, and whether it is within ``GAP`` of the optimum.

    ``known`` is what some partition reached. Not proven is a program that is too large, or ends after ``NODES`` nodes.
    """
    d = len(widths)
    cells = Counter(map(tuple, rows))
    place = np.array([cell[:d] for cell in cells], float) / np.array(widths)
    value = np.array([cell[d] if len(cell) > d else 0 for cell in cells])
    count = np.array(list(cells.values()))
    program = _Program(place, value, count, demand, np.bincount(value, weights=count) / count.sum())
    boxes = _boxes(program, known)
    if boxes is None:
        return 0.0, False
    loss, inside = boxes
    chosen = np.argsort(loss, kind="stable")[:STARTING]
    chosen = np.union1d(chosen, [int(np.argmax(inside.sum(axis=1)))])
    while True:
        price = program.relaxed(loss[chosen], inside[chosen])
        reduced = program.reduced(loss, inside, price)
        bad = np.flatnonzero(reduced < -MARGIN)
        new = np.setdiff1d(bad[np.argsort(reduced[bad], kind="stable")[:MORE]], chosen)
        if len(new) == 0:
            break
        chosen = np.union1d(chosen, new)
    bound = float(price @ count + np.minimum(reduced, 0).sum())
    if bound >= known - MARGIN:
        return known, True
    open_ = np.flatnonzero(bound + np.maximum(reduced, 0) < known + MARGIN)
    return program.solved(loss[open_], inside[open_], known, bound)


@dataclass(frozen=True)
class _Program:
    """Cells and the demand."""

    place: np.ndarray
    value: np.ndarray
    count: np.ndarray
    demand: Demand
    share: np.ndarray

    def matrices(self, loss, inside):
        """Costs, rows of the program and their bounds; variables: x of all pairs, z of all boxes, and helpers for t."""
        box, cell = np.nonzero(inside)
        pairs, boxes = len(box), len(loss)
        parts, low, high, at = [], [], [], 0
        demand, values = self.demand, range(len(self.share))
        helpers = boxes * len(self.share) if demand.t is not None else 0

        def rows_of(number, entries, lowest, highest):
            nonlocal at
            for row, column, weight in entries:
                parts.append((np.asarray(row) + at, np.asarray(column), np.broadcast_to(weight, np.shape(row))))
            low.append(np.broadcast_to(lowest, number))
            high.append(np.broadcast_to(highest, number))
            at += number

        x, z = np.arange(pairs), pairs + np.arange(boxes)
        each = np.arange(boxes)
        rows_of(len(self.count), [(cell, x, 1.0)], self.count, self.count)
        rows_of(boxes, [(box, x, 1.0), (each, z, -float(demand.k))], 0, np.inf)
        rows_of(pairs, [(x, x, -1.0), (x, z[box], self.count[cell].astype(float))], 0, np.inf)
        of = self.value[cell]
        for v in values:
            if demand.distinct == 2:
                rows_of(boxes, [(box[of != v], x[of != v], 1.0), (each, z, -1.0)], 0, np.inf)
            if demand.alpha is not None and v == demand.alpha[0]:
                held = range(1, int(self.count[self.value == v].sum()) + 1)
                each_needs = float(min(Fraction(self.others(v, rows), rows) for rows in held))
                rows_of(boxes, [(box, x, np.where(of == v, -each_needs, 1.0))], -1e-9, np.inf)
            if demand.recursive is not None:
                c = demand.recursive
                rows_of(boxes, [(box, x, np.where(of == v, -1.0, c)), (each, z, -1.0)], 0, np.inf)
            if demand.t is not None:
                helper = pairs + boxes + v * boxes + each
                rows_of(boxes, [(each, helper, 1.0), (box, x, self.share[v] - (of == v))], 0, np.inf)
        if demand.t is not None:
            over = pairs + boxes + np.arange(helpers)
            rows_of(boxes, [(box, x, float(demand.t)), (np.tile(each, len(self.share)), over, -1.0)], -1e-9, np.inf)
        row, column, weight = (np.concatenate([part[i] for part in parts]) for i in range(3))
        width = pairs + boxes + helpers
        matrix = coo_matrix((weight, (row, column)), shape=(at, width)).tocsr()
        cost = np.concatenate([loss[box], np.zeros(boxes + helpers)])
        upper = np.concatenate([self.count[cell], np.ones(boxes), np.full(helpers, float(self.count.sum()))])
        return cost, matrix, np.concatenate(low), np.concatenate(high), upper, pairs

    def relaxed(self, loss, inside):
        """Prices of the cells in the linear program."""
        cost, matrix, low, _, upper, _ = self.matrices(loss, inside)
        cells = len(self.count)
        found = linprog(
            cost,
            A_eq=matrix[:cells],
            b_eq=self.count,
            A_ub=-matrix[cells:],
            b_ub=-low[cells:],
            bounds=np.stack([np.zeros(len(upper)), np.full(len(upper), np.inf)], axis=1),
            method="highs",
        )
        assert found.status == 0, found.message
        return found.eqlin.marginals

    def others(self, v, rows):
        """How many rows of other values a class with so many of value v needs, whatever those are."""
        demand, needed = self.demand, [0]
        if demand.distinct == 2:
            needed.append(1)
        if demand.recursive is not None:
            needed.append(rows // demand.recursive + 1)
        if demand.alpha is not None and v == demand.alpha[0]:
            needed.append(ceil(rows * (1 - demand.alpha[1]) / demand.alpha[1]))
        if demand.t is not None and self.share[v] + demand.t < 1:
            most = Fraction(float(self.share[v])) + demand.t + Fraction(1, 10**9)
            needed.append(ceil(rows * (1 - most) / most))
        return max(needed) if rows else 0

    def reduced(self, loss, inside, price):
        """Least cost of opening each box at these prices, but for what only several values together owe."""
        least = np.full(len(loss), -np.inf)
        row = np.repeat(np.arange(len(self.count)), self.count)
        for v in range(len(self.share)):
            mine, rest = (_dearest(loss, inside, price, row[(self.value[row] == v) == own]) for own in (True, False))
            rest = np.minimum.accumulate(rest[:, ::-1], axis=1)[:, ::-1]
            best = np.full(len(loss), np.inf)
            for rows in range(mine.shape[1]):
                needed = max(self.demand.k - rows, self.others(v, rows), 0)
                if needed < rest.shape[1]:
                    np.minimum(best, mine[:, rows] + rest[:, needed], out=best)
            np.maximum(least, best, out=least)
        return least

    def solved(self, loss, inside, known, bound):
        """Solve the integer program over the boxes that are left."""
        if len(loss) == 0:
            return known, True
        cost, matrix, low, high, upper, pairs = self.matrices(loss, inside)
        if pairs > MOST_PAIRS:
            return bound, False
        whole = np.zeros(len(cost))
        whole[: pairs + len(loss)] = 1
        found = milp(
            cost,
            integrality=whole,
            bounds=Bounds(0, upper),
            constraints=[LinearConstraint(matrix, low, high), LinearConstraint(cost[None, :], -np.inf, known - MARGIN)],
            options={"node_limit": NODES, "mip_rel_gap": GAP},
        )
        if found.status == 2:  # nothing better than what is known
            return known, True
        dual = found.mip_dual_bound
        return min(known, bound if dual is None else max(bound, dual)), found.status == 0


def _dearest(loss, inside, price, row):
    """[b, j]: cost of putting into each box the j rows in it, of those given, that lessen it most."""
    order = row[np.argsort(-price[row], kind="stable")]
    gain = np.where(inside[:, order], loss[:, None] - price[order][None, :], np.inf)
    gain.sort(axis=1)
    return np.concatenate([np.zeros((len(loss), 1)), np.cumsum(gain, axis=1)], axis=1)


def _boxes(program, known):
    """Losses of the smallest boxes round rows that a solution not worse than ``known`` can open; who lies in them."""
    points = np.unique(program.place, axis=0)
    rows = np.repeat(program.place, program.count, axis=0)
    apart = np.sort(np.abs(rows[:, None, :] - rows[None, :, :]).sum(axis=2), axis=1)
    least = apart[:, program.demand.k - 1]  # to the (k-1)-th nearest other row
    most = least.max() + (known - least.sum()) / program.demand.k + MARGIN
    lo = hi = points
    todo = np.concatenate([points, points], axis=1)
    known_boxes = {tuple(box) for box in todo.tolist()}
    found = [todo]
    d = points.shape[1]
    while len(todo):
        lo = np.minimum(todo[:, None, :d], points[None]).reshape(-1, d)
        hi = np.maximum(todo[:, None, d:], points[None]).reshape(-1, d)
        new = np.unique(np.concatenate([lo, hi], axis=1)[(hi - lo).sum(axis=1) <= most], axis=0)
        todo = np.array([box for box in map(tuple, new.tolist()) if box not in known_boxes]).reshape(-1, 2 * d)
        known_boxes.update(map(tuple, todo.tolist()))
        if len(known_boxes) > MOST_BOXES:
            return None
        found.append(todo)
    boxes = np.concatenate(found)
    inside = ((program.place >= boxes[:, None, :d]) & (program.place <= boxes[:, None, d:])).all(axis=2)
    kept = inside @ program.count >= program.demand.k
    if program.demand.distinct == 2:
        kept &= np.array([len(set(program.value[row].tolist())) > 1 for row in inside])
    return (boxes[kept, d:] - boxes[kept, :d]).sum(axis=1), inside[kept]
