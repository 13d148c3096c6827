"""Near units from sorted orders, without comparing all pairs.

Units that agree in all attributes but the last of an order stand side by side in it; several orders, each with
other attributes last, bring most of the near pairs together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import lean
from indistinct.kernels.boxes import Costs, union_loss

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Float32 = NDArray[np.float32]


@lean
def sort_by(keys: Int32, sequence: Int64, order: Int32, other: Int32, start: Int32) -> bool:
    """Sort the columns of ``keys`` int32[., n] by the rows named in ``sequence``, the first most significant.

    Stable counting sorts from the last key to the first; ties keep their place. ``order`` and ``other`` int32[n]
    hold 0..n - 1 and anything; the result is in ``other`` if True is returned, else in ``order``. ``start``
    int32[.] has at least one place more than any key has values.
    """
    swapped = False
    for place in range(len(sequence) - 1, -1, -1):
        key = keys[sequence[place]]
        for i in range(len(start)):
            start[i] = 0
        for i in range(len(key)):
            start[key[i] + 1] += 1
        for i in range(1, len(start)):
            start[i] += start[i - 1]
        source, target = (other, order) if swapped else (order, other)
        for i in range(len(key)):
            u = source[i]
            target[start[key[u]]] = u
            start[key[u]] += 1
        swapped = not swapped
    return swapped


@lean
def link(
    reach: Int32,
    costs: Costs,
    order: Int32,
    before: Int32,
    span: int,
    nearest: Int32,
    distance: Float32,
    first: int,
    last: int,
    offered: Int32,
) -> None:
    """Keep for each unit the nearest of those that are offered to it, by loss of the box of both, ascending.

    Changes ``nearest`` int32[n, m] (-1: none yet) and ``distance`` float32[n, m] of the units at places ``first`` ..
    ``last`` - 1 of an order. With ``span`` > 0 these are offered the ``span`` units on either side; else the near
    units of their near units by ``before``, a copy of ``nearest`` that nobody changes meanwhile (Dong, Moses, Li, WWW
    2011, doi:10.1145/1963405.1963487). ``offered`` int32[m (m + 1) + 2 span] is work memory.
    """
    most = nearest.shape[1]
    for place in range(first, last):
        u = order[place]
        count = 0
        if span > 0:
            for at in range(max(0, place - span), min(len(order), place + span + 1)):
                offered[count] = order[at]
                count += 1
        else:
            for i in range(most):
                v = before[u, i]
                for j in range(most if v >= 0 else 0):
                    offered[count] = before[v, j]
                    count += 1
        near, far, unit = nearest[u], distance[u], reach[u]
        for at in range(count):
            v = offered[at]
            if v == u or v < 0:
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
