"""The cuts of Mondrian, at the median of the widest attribute: see ``literature.mondrian`` for their definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.rounds import Regions
from indistinct.algorithms.scales import places_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.tables.records import Frequencies

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]
    Bools = NDArray[np.bool_]


class Medians:
    """The cuts of Mondrian: number ``turn`` of a part is that of its attribute of rank ``turn`` by width."""

    def __init__(self, frequencies: Frequencies, *, relaxed: bool) -> None:
        self.codes = frequencies.codes
        self.quasi = frequencies.quasi
        self.places = [places_of(hierarchy) for hierarchy in frequencies.quasi]
        self.relaxed = relaxed

    def __call__(self, regions: Regions, turn: Int64) -> tuple[Regions, Int64, Bools]:
        """Propose the cuts (see ``split_while``)."""
        lo, hi = self.boxes(regions)
        width = np.stack([self._width(a, lo[:, a], hi[:, a]) for a in range(len(self.quasi))], axis=1)
        order = np.argsort(-width, axis=1, kind="stable")
        chosen = order[np.arange(regions.number), np.minimum(turn, order.shape[1] - 1)]
        finished = (turn >= order.shape[1]) | (width[np.arange(regions.number), chosen] <= 0.0)
        attribute = np.where(finished, -1, chosen)
        if self.relaxed:
            regions = self._halved(regions, attribute, lo, hi)
        side = np.zeros(len(regions.part), np.int64)
        for a, hierarchy in enumerate(self.quasi):
            own = np.flatnonzero(attribute[regions.part] == a)
            if len(own) == 0:
                continue
            owner, code = regions.part[own], self.codes[regions.cell[own], a]
            if hierarchy.is_range:
                side[own] = self._right_of_median(hierarchy, regions, own, code, lo[owner, a], hi[owner, a])
            else:
                side[own] = _child(hierarchy, code, _level(hierarchy, lo[owner, a], hi[owner, a]))
        widest = max(2, *(hierarchy.size for hierarchy in self.quasi))
        return regions, regions.part * np.int64(widest) + side, finished

    def boxes(self, regions: Regions) -> tuple[Int64, Int64]:
        """Smallest and largest codes of each part, int64[number, d]."""
        codes = self.codes[regions.cell, : len(self.quasi)].astype(np.int64)
        return np.minimum.reduceat(codes, regions.first), np.maximum.reduceat(codes, regions.first)

    def _width(self, a: int, lo: Int64, hi: Int64) -> Float64:
        hierarchy = self.quasi[a]
        if not hierarchy.is_range:
            level = _level(hierarchy, lo, hi)
            width = np.zeros(len(lo))
            # codes of one node of the first level are published alike: no cut parts them
            for number in np.unique(level[level > 0]).tolist():
                at = level == number
                node_of = hierarchy.levels[number].node_of
                width[at] = np.bincount(node_of)[node_of[lo[at]]] / hierarchy.size
            return width
        places, missing = self.places[a], hierarchy.missing
        span = places[-1] - places[0] if len(places) else 0.0
        mixed = (hi == missing) & (lo != hi)
        present = np.where((hi == missing) | (span == 0), lo, hi)
        last = max(len(places) - 1, 0)
        if span == 0:
            alone: Float64 = mixed.astype(np.float64)
            return alone
        width = (places[np.minimum(present, last)] - places[np.minimum(lo, last)]) / span
        wide: Float64 = np.where(mixed, 1.0, width)
        return wide

    def _right_of_median(
        self, hierarchy: Hierarchy, regions: Regions, own: Int64, code: Int64, lo: Int64, hi: Int64
    ) -> Int64:
        """int64[own]: 1 for entries right of the cut of a range attribute, else 0."""
        missing = hierarchy.missing
        if self.relaxed:
            return np.where((hi == missing) & (lo != hi), code == missing, self.right[own]).astype(np.int64)
        order, rows, starts = _sorted(regions, own, code)
        median_at = (rows - 1) // 2
        upto = np.cumsum(regions.count[own][order])
        before = upto[starts] - regions.count[own][order][starts]
        median = code[order][np.searchsorted(upto, before + median_at, side="right")]
        _, place = np.unique(regions.part[own], return_inverse=True)
        cut = median[place.reshape(-1)]
        right = np.where(cut == hi, code >= cut, code > cut)
        return np.where((hi == missing) & (lo != hi), code == missing, right).astype(np.int64)

    def _halved(self, regions: Regions, attribute: Int64, lo: Int64, hi: Int64) -> Regions:
        """Divide the entry over which the middle of a part falls, and remember in ``right`` which side entries are."""
        ranges = np.array([hierarchy.is_range for hierarchy in self.quasi])
        own = np.flatnonzero((attribute[regions.part] >= 0) & ranges[attribute[regions.part]])
        self.right = np.zeros(len(regions.part), np.bool_)
        if len(own) == 0:
            return regions
        code = self.codes[regions.cell[own], attribute[regions.part[own]]].astype(np.int64)
        order, rows, starts = _sorted(regions, own, code)
        entry = own[order]
        upto = np.cumsum(regions.count[entry])
        lengths = np.diff(np.append(starts, len(entry)))
        before = np.repeat(upto[starts] - regions.count[entry][starts], lengths)
        left = np.clip(np.repeat(rows // 2, lengths) - (upto - regions.count[entry] - before), 0, regions.count[entry])
        missing = np.array([hierarchy.missing for hierarchy in self.quasi])[attribute[regions.part[entry]]]
        owner, a = regions.part[entry], attribute[regions.part[entry]]
        mixed = (hi[owner, a] == missing) & (lo[owner, a] != hi[owner, a])
        left = np.where(mixed, 0, left)
        copies = np.ones(len(regions.part), np.int64)
        given = np.zeros(len(regions.part), np.int64)
        given[entry] = left
        copies[(given > 0) & (given < regions.count)] = 2
        source = np.repeat(np.arange(len(copies)), copies)
        second = np.diff(source, prepend=-1) == 0
        double = copies[source] == 2
        count = np.where(
            double, np.where(second, regions.count[source] - given[source], given[source]), regions.count[source]
        )
        self.right = np.where(double, second, given[source] == 0)
        return Regions(regions.cell[source], count, regions.part[source], regions.number)


def _sorted(regions: Regions, own: Int64, code: Int64) -> tuple[Int64, Int64, Int64]:
    """Order of some entries by part and code; rows of each of these parts; where each begins in that order."""
    order = np.lexsort((regions.cell[own], code, regions.part[own]))
    starts = np.flatnonzero(np.diff(regions.part[own][order], prepend=-1))
    return order, np.add.reduceat(regions.count[own][order], starts), starts


def _level(hierarchy: Hierarchy, lo: Int64, hi: Int64) -> Int64:
    """Level of the smallest node that covers each pair of codes."""
    level = np.full(len(lo), len(hierarchy.levels) - 1, np.int64)
    for number in range(len(hierarchy.levels) - 2, -1, -1):
        node_of = hierarchy.levels[number].node_of
        level[node_of[lo] == node_of[hi]] = number
    return level


def _child(hierarchy: Hierarchy, code: Int64, level: Int64) -> Int64:
    """Node of each code one level below the given one."""
    nodes = np.stack([found.node_of for found in hierarchy.levels])
    return nodes[np.maximum(level - 1, 0), code].astype(np.int64)
