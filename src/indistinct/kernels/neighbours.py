"""Near units from sorted orders, without comparing all pairs.

Units that agree in all attributes but the last of an order stand side by side in it; several orders, each with
other attributes last, bring most of the near pairs together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import kernel, lean
from indistinct.kernels.boxes import Costs, union_loss

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float32 = NDArray[np.float32]


@kernel
def sort_by(keys: Int32, sizes: Int64, sequence: Int64) -> Int32:
    """Order of the columns of ``keys`` int32[., n], by the rows named in ``sequence``, the first most significant.

    Stable counting sorts from the last key to the first; ties keep their place.
    """
    n = keys.shape[1]
    order, other = np.arange(n).astype(np.int32), np.empty(n, np.int32)
    for step in range(len(sequence) - 1, -1, -1):
        key = keys[sequence[step]]
        start = np.zeros(sizes[sequence[step]] + 1, np.int32)
        for i in range(n):
            start[key[i] + 1] += 1
        for i in range(1, len(start)):
            start[i] += start[i - 1]
        for u in order:
            other[start[key[u]]] = u
            start[key[u]] += 1
        order, other = other, order
    return order


@lean
def link(
    reach: Int32, costs: Costs, order: Int32, span: int, nearest: Int32, distance: Float32, first: int, last: int
) -> None:
    """Offer to the units at places ``first``..``last`` - 1 of an order the ``span`` units on either side.

    Keeps the nearest by loss of the box of both, ascending: ``nearest`` int32[n, m] (-1: none yet),
    ``distance`` float32[n, m].
    """
    n, most = len(order), nearest.shape[1]
    for place in range(first, last):
        u = order[place]
        near, far = nearest[u], distance[u]
        unit = reach[u]
        for at in range(max(0, place - span), min(n, place + span + 1)):
            v = order[at]
            if v == u:
                continue
            known = False
            for i in range(most):
                known = known or near[i] == v
            if known:
                continue
            loss = np.float32(union_loss(costs, unit, reach[v]))
            i = most - 1
            if loss >= far[i]:
                continue
            while i > 0 and far[i - 1] > loss:
                far[i] = far[i - 1]
                near[i] = near[i - 1]
                i -= 1
            far[i] = loss
            near[i] = v
