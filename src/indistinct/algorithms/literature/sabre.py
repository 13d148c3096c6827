"""SABRE: cut the sensitive values into buckets, and give every class a share of each bucket in proportion.

1. *Buckets.* Begin with one of all values. A bucket's cost bounds what classes with their fair share of it may still be
   wrong about: equal distance, ``share - share of its rarest value`` (a class may take only it); ordered distance,
   ``share * (its values - 1) / (m - 1)``; hierarchical, ``share * height of its smallest node / H``. While the sum is
   above t, split the bucket whose split lowers the sum most: an inner node of the attribute's tree into its children;
   a bucket without one (ordered distance, no tree) at the value that lowers the sum most, left to right in the domain's
   order. Ties: the first bucket, the first cut.
2. *Classes.* Rows of each bucket in the order of a Hilbert curve over the quasi-identifiers. Begin with one class of
   everything; cut each class in two halves, each with half of the rows of each bucket (the odd rows shared out so that
   the halves differ by one row at most), as long as both satisfy all models, exactly.

Rounding breaks proportions, so the bound proves nothing about a class: each is judged (``rounds``). The paper halves
bucket sizes first and picks rows afterwards; here the rows are halved along the curve, and models are tested on them.

Worked example: values a to d with shares 1/2, 1/4, 1/6, 1/12 in buckets {a, b}, {c, d}: equal bound
(3/4 - 1/4) + (1/4 - 1/12) = 2/3.

Source: J. Cao, P. Karras, P. Kalnis, K.-L. Tan, SABRE: a sensitive attribute bucketization and redistribution framework
for t-closeness, VLDB J. 20(1), 2011, doi:10.1007/s00778-010-0191-9.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.curve import curve_order
from indistinct.algorithms.fitting import one_t_closeness, refuse_persons
from indistinct.algorithms.local.frame import within_limit
from indistinct.algorithms.rounds import Regions, as_assignment, blocks_as_regions, split_while
from indistinct.notices import Sentence
from indistinct.policy.recoding import Sabre

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.algorithms.local.problem import Problem
    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies, Reference

    Int64 = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Bucket = tuple[int, int]


def sabre(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Form classes that hold each bucket of the sensitive value in proportion, near in the quasi-identifiers.

    Raises PolicyError when there is not exactly one t-closeness model or with a person key; InfeasibleError when the
    models cannot be met within the suppression limit; whatever ``progress`` raises.
    """
    model = one_t_closeness(policy, "sabre")
    refuse_persons(frequencies, "sabre")
    found = buckets(frequencies.references[model.attribute], model.distance, model.t)

    def solve(problem: Problem, hopeless: Bools) -> Assignment:
        codes = problem.frequencies.sensitive_codes(model.attribute)
        bucket_of_value = np.repeat(np.arange(len(found)), [hi - lo + 1 for lo, hi in found])
        start = _along_curve(problem, blocks_as_regions(problem, hopeless))
        halves = Halves(bucket_of_value[codes], len(found))
        note = Sentence("the values of {name} were dealt out from {n} buckets", name=model.attribute, n=len(found))
        return as_assignment(problem, split_while(problem, start, halves, progress), (note,))

    return within_limit(frequencies, policy, solve)


def _along_curve(problem: Problem, regions: Regions) -> Regions:
    """Put the entries of each part in the order of the curve."""
    frequencies = problem.frequencies
    place = np.empty(len(frequencies.tuples), np.int64)
    sizes = [hierarchy.size for hierarchy in frequencies.quasi]
    place[curve_order(frequencies.tuples, sizes)] = np.arange(len(place))
    order = np.lexsort((regions.cell, place[frequencies.tuple_of[regions.cell]], regions.part))
    return Regions(regions.cell[order], regions.count[order], regions.part[order], regions.number)


class Halves:
    """The one cut of each part: half of the rows of each bucket, in the order of the part."""

    def __init__(self, bucket: Int64, number: int) -> None:
        self.bucket = bucket  # of each cell
        self.number = number

    def __call__(self, regions: Regions, turn: Int64) -> tuple[Regions, Int64, Bools]:
        """Propose the cuts (see ``split_while``)."""
        group = regions.part * np.int64(self.number) + self.bucket[regions.cell]
        order = np.argsort(group, kind="stable")
        starts = np.flatnonzero(np.diff(group[order], prepend=-1))
        rows = np.add.reduceat(regions.count[order], starts)
        owner = regions.part[order][starts]
        # the first half of what has come so far, less what went left before: odd rows alternate between the sides
        upto = np.cumsum(rows)
        base = np.repeat(
            (upto - rows)[np.flatnonzero(np.diff(owner, prepend=-1))], np.bincount(owner)[np.unique(owner)]
        )
        left = (upto - base) // 2 - (upto - base - rows) // 2
        lengths = np.diff(np.append(starts, len(order)))
        before = np.cumsum(regions.count[order]) - regions.count[order]
        within = before - np.repeat(before[starts], lengths)
        given = np.empty(len(order), np.int64)
        given[order] = np.clip(np.repeat(left, lengths) - within, 0, regions.count[order])
        copies = 1 + ((given > 0) & (given < regions.count))
        source = np.repeat(np.arange(len(copies)), copies)
        second = np.diff(source, prepend=-1) == 0
        double = copies[source] == 2
        count = np.where(
            double, np.where(second, regions.count[source] - given[source], given[source]), regions.count[source]
        )
        right = np.where(double, second, given[source] == 0)
        cut = Regions(regions.cell[source], count, regions.part[source], regions.number)
        return cut, 2 * cut.part + right, turn > 0


def buckets(reference: Reference, distance: str, t: Fraction) -> list[Bucket]:
    """Cut the values into buckets, runs ``lo..hi`` of codes, until the sum of their costs is at most t.

    >>> from indistinct.hierarchies import suppression
    >>> from indistinct.tables.records import Reference
    >>> values = suppression.build("s", ["a", "b", "c", "d"])
    >>> buckets(Reference(values, np.array([6, 3, 2, 1]), 12), "equal", Fraction(1, 2))
    [(0, 0), (1, 3)]
    """
    costs = _Costs(reference, distance)
    found = [(0, reference.hierarchy.size - 1)]
    price = {found[0]: costs(*found[0])}
    pieces: dict[Bucket, tuple[Fraction, Sequence[Bucket]]] = {}
    while sum(price.values(), Fraction(0)) > t:
        for bucket in found:
            if bucket not in pieces and bucket[0] < bucket[1]:
                children = _split(reference.hierarchy, bucket, costs, distance)
                pieces[bucket] = price[bucket] - sum((costs(lo, hi) for lo, hi in children), Fraction(0)), children
        best = max((bucket for bucket in found if bucket in pieces), key=lambda b: (pieces[b][0], -b[0]))
        at = found.index(best)
        found[at : at + 1] = pieces.pop(best)[1]
        del price[best]
        price |= {bucket: costs(*bucket) for bucket in found if bucket not in price}
    return found


class _Costs:
    """What a bucket may still be wrong about, exactly."""

    def __init__(self, reference: Reference, distance: str) -> None:
        self.hierarchy, self.distance, self.total = reference.hierarchy, distance, reference.total
        self.counts = reference.counts
        self.upto = np.concatenate([[0], np.cumsum(reference.counts)])

    def __call__(self, lo: int, hi: int) -> Fraction:
        rows = int(self.upto[hi + 1] - self.upto[lo])
        if lo == hi:
            return Fraction(0)
        if self.distance == "equal":
            return Fraction(rows - int(self.counts[lo : hi + 1].min()), self.total)
        if self.distance == "ordered":
            return Fraction(rows * (hi - lo), self.total * (self.hierarchy.size - 1))
        level = self.hierarchy.meeting(lo, hi)
        return Fraction(rows * level, self.total * self.hierarchy.height)

    def best_cut(self, lo: int, hi: int) -> int:
        """Code after which the two runs of a bucket without inner nodes cost least; ties: the first."""
        counts = self.counts[lo : hi + 1]
        children = []
        for run in (counts[:-1], counts[:0:-1]):
            rows, values = np.cumsum(run), np.arange(1, len(run) + 1)
            if self.distance == "equal":
                children.append(rows - np.minimum.accumulate(run))
            else:
                children.append(rows * (values - 1 if self.distance == "ordered" else values > 1))
        return lo + int(np.argmin(children[0] + children[1][::-1]))


def _split(hierarchy: Hierarchy, bucket: Bucket, costs: _Costs, distance: str) -> list[Bucket]:
    """Children of the smallest node where the distance follows a tree, or one is known; else the best two runs."""
    lo, hi = bucket
    if distance != "ordered" and hierarchy.height > 1:
        nodes = hierarchy.levels[hierarchy.meeting(lo, hi) - 1].node_of[lo : hi + 1]
        edges = [lo, *(np.flatnonzero(np.diff(nodes)) + lo + 1).tolist(), hi + 1]
        return [(begin, end - 1) for begin, end in pairwise(edges)]
    cut = costs.best_cut(lo, hi)
    return [(lo, cut), (cut + 1, hi)]


ALGORITHM = Algorithm(Sabre, sabre, "truthful")
