"""Where the values of attributes lie: on a scale, or in a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.hierarchies.hierarchy import Fractions
from indistinct.kernels.distances import Space

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]


def places_of(hierarchy: Hierarchy) -> Float64:
    """float64[present values]: places on their scale, in whole steps where these are known; empty without a scale."""
    if isinstance(hierarchy.positions, Fractions):
        return np.asarray(hierarchy.positions.numerators.astype(np.float64))
    return np.array([float(place) for place in hierarchy.positions])


def space_of(quasi: Sequence[Hierarchy], codes: Int32, rows: Int64) -> Space:
    """Give every code a place: z-scores of attributes on a scale, coordinates of the nodes of a tree for the others.

    Scales are standardised by the mean and the standard deviation of the ``rows`` that are given (a missing value lies
    one range of the column above the largest). Two values of a tree of H levels are h / H apart, squared, where h is
    the height of their smallest common node; equal attributes and those of one value add nothing. Each squared
    distance is multiplied by the attribute's weight.
    """
    at, size, height, nodes = [], [], [], []
    place: list[Float64] = []
    node: list[Int32] = []
    for a, hierarchy in enumerate(quasi):
        at.append(sum(len(part) for part in place))
        size.append(hierarchy.size)
        nodes.append(sum(len(part) for part in node))
        if hierarchy.is_ordered:
            place.append(_standardised(hierarchy, codes[:, a], rows))
            height.append(0)
            continue
        levels = hierarchy.levels if hierarchy.height == 0 else hierarchy.levels[:-1]
        place.append(np.zeros(hierarchy.size))
        node += [level.node_of for level in levels]
        height.append(len(levels))
    return Space(
        np.array(at, np.int64),
        np.array(size, np.int64),
        np.array(height, np.int64),
        np.concatenate(place),
        np.array(nodes, np.int64),
        np.concatenate([*node, np.zeros(0, np.int32)]).astype(np.int32),
        np.array([float(hierarchy.weight) for hierarchy in quasi]),
    )


def _standardised(hierarchy: Hierarchy, codes: Int32, rows: Int64) -> Float64:
    places = places_of(hierarchy)
    if hierarchy.missing >= 0:
        last, first = (places[-1], places[0]) if len(places) else (0.0, 0.0)
        places = np.append(places, last + max(last - first, 1.0))
    total = rows.sum()
    mean = (places[codes] * rows).sum() / total
    variance = ((places[codes] - mean) ** 2 * rows).sum() / total
    return np.asarray((places - mean) / np.sqrt(variance)) if variance > 0 else np.zeros(len(places))


def counts_of(space: Space, codes: Int32, rows: Int64) -> Int64:
    """int64[.]: rows of each attribute and code."""
    counts = np.zeros(len(space.place), np.int64)
    for a in range(codes.shape[1]):
        np.add.at(counts, space.at[a] + codes[:, a], rows)
    return counts
