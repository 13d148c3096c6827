"""Near units from sorted orders, without comparing all pairs.

Units that agree in all attributes but the last of an order stand side by side in it; several orders, each with
other attributes last, bring most of the near pairs together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.kernels import lean, step
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


@step
def _offer(reach: Int32, costs: Costs, u: int, v: int, nearest: Int32, distance: Float32) -> None:
    """Put v among the nearest of u if it is nearer than the last of them."""
    most = nearest.shape[1]
    near, far = nearest[u], distance[u]
    for i in range(most):
        if near[i] == v:
            return
    loss = np.float32(union_loss(costs, reach[u], reach[v]))
    i = most - 1
    if loss >= far[i]:
        return
    while i > 0 and far[i - 1] > loss:
        far[i] = far[i - 1]
        near[i] = near[i - 1]
        i -= 1
    far[i] = loss
    near[i] = v


@lean
def link(
    reach: Int32, costs: Costs, order: Int32, span: int, nearest: Int32, distance: Float32, first: int, last: int
) -> None:
    """Offer to the units at places ``first``..``last`` - 1 of an order the ``span`` units on either side.

    Keeps the nearest by loss of the box of both, ascending: ``nearest`` int32[n, m] (-1: none yet),
    ``distance`` float32[n, m].
    """
    for place in range(first, last):
        for at in range(max(0, place - span), min(len(order), place + span + 1)):
            if at != place:
                _offer(reach, costs, np.int64(order[place]), np.int64(order[at]), nearest, distance)


@lean
def descend(
    reach: Int32, costs: Costs, before: Int32, wide: int, nearest: Int32, distance: Float32, first: int, last: int
) -> None:
    """Offer to the units ``first``..``last`` - 1 the near units of their near units, ``wide`` of each.

    ``before`` is a copy of ``nearest`` that nobody changes meanwhile. Source: Dong, Moses, Li, WWW 2011,
    doi:10.1145/1963405.1963487.
    """
    for at in range(first, last):
        u = np.int64(at)
        for i in range(wide):
            v = before[u, i]
            for j in range(wide if v >= 0 else 0):
                w = np.int64(before[v, j])
                if w >= 0 and w != u:
                    _offer(reach, costs, u, w, nearest, distance)
