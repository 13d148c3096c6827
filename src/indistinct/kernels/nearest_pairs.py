"""Nearest classes by what merging two of them loses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import lean
from indistinct.kernels.boxes import NEVER, Costs, union_loss
from indistinct.kernels.units import ROWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.kernels.partition import Partition

    Int64 = NDArray[np.int64]
    Float64 = NDArray[np.float64]


@lean
def nearest_partners(
    costs: Costs,
    partition: Partition,
    asking: Int64,
    partners: Int64,
    place: Int64,
    window: int,
    nearest: Int64,
    added: Float64,
) -> None:
    """Write the partner of each asking class whose union with it adds least loss, and what it adds; -1: there is none.

    ``partners`` are in an order that keeps near ones near; asking class i would stand at ``place[i]`` there, and
    ``window`` of them on either side are looked at. Ties: the first.
    """
    for i in range(len(asking)):
        c = asking[i]
        nearest[i], added[i] = -1, np.inf
        own = partition.mass[c, ROWS] * partition.loss[c]
        for at in range(max(0, place[i] - window), min(len(partners), place[i] + window + 1)):
            e = partners[at]
            if e == c:
                continue
            loss = union_loss(costs, partition.box[c], partition.box[e])
            if loss >= NEVER:
                continue
            rows = partition.mass[c, ROWS] + partition.mass[e, ROWS]
            more = rows * loss - own - partition.mass[e, ROWS] * partition.loss[e]
            if more < added[i]:
                nearest[i], added[i] = e, more
