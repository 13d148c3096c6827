"""How many rows of each value fit in groups of m or more different values.

With c_v rows of value v, g groups of m or more different values can be made if and only if sum_v min(c_v, g) >= m g:
a group takes a value once, and dealt value after value in a circle of g groups no group gets one twice. The largest
such g leaves the fewest behind, c_v - g of each value that has more; nobody if and only if no value has a share above
1 / m (*m-eligible*).

Source: X. Xiao, Y. Tao, SIGMOD 2007, 689-700, doi:10.1145/1247480.1247556 (m-eligible).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]


def most_groups(newcomers: Int64, m: int) -> int:
    """Return the largest g with sum_v min(c_v, g) >= m g: so many groups of m different values can be made.

    >>> most_groups(np.array([3, 2, 1]), 2), most_groups(np.array([5, 1]), 2), most_groups(np.array([4]), 2)
    (3, 1, 0)
    """
    low, high = 0, int(newcomers.sum()) // m + 1  # the difference of both sides is concave in g and 0 at 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if int(np.minimum(newcomers, middle).sum()) >= m * middle else (low, middle)
    return low


def postponed(newcomers: Int64, m: int) -> Int64:
    """int64[values]: how many newcomers of each value fit in no group of m different values.

    >>> postponed(np.array([5, 1, 1]), 2).tolist()
    [3, 0, 0]
    """
    return np.maximum(newcomers - most_groups(newcomers, m), 0)


def spared(newcomers: Int64, value: int, wanted: int, m: int) -> int:
    """How many newcomers of a value, at most ``wanted``, to take so that the fewest have to wait: the most of them.

    Each who would have to wait is taken first. Then no group more can be made of the others, so with every one taken as
    many or more of them have to wait: the last number with as many is found by halving.

    >>> spared(np.array([2, 2, 2]), 0, 5, 2), spared(np.array([3, 1]), 0, 5, 2), spared(np.array([2, 2]), 0, 1, 2)
    (2, 2, 0)
    """
    low, high = min(wanted, int(postponed(newcomers, m)[value])), min(wanted, int(newcomers[value])) + 1
    left = newcomers.copy()
    left[value] = newcomers[value] - low
    fewest = int(postponed(left, m).sum())
    while high - low > 1:
        middle = (low + high) // 2
        left[value] = newcomers[value] - middle
        low, high = (middle, high) if int(postponed(left, m).sum()) <= fewest else (low, middle)
    return low
