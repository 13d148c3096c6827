"""(k,e) partition: the sorted sensitive numbers cut into stretches that are (k,e)-anonymous and as narrow as can be.

Rows are sorted by their number; a group is a stretch of rows with at least k different numbers (or k rows) and max -
min >= e. Objective ``sum``: the least sum of the ranges of the groups; ``max``: the least largest range.

*Stretches are enough for the sum.* Take groups whose ranges overlap and merge them: constraints stay true (they are
absorbing), and the merged range is at most the sum. For ``max`` merging can raise the objective, so there the result is
the best among stretches.

*One pass instead of n^2.* Rows i+1..j are a group iff i <= latest(j): a longer stretch has all that a shorter one has,
and latest(j) does not fall as j grows, because every group that ends at j stays one when it is prolonged to j + 1. So

    best(j) = min over i <= latest(j) of best(i) + x_j - x_{i+1} = x_j + min over i <= latest(j) of (best(i) - x_{i+1}),

and that minimum over a prefix that only grows is kept as j advances: n steps after sorting. latest(j) comes from two
binary searches. For ``max``, whether stretches of range at most T suffice is one pass too: of the reachable i <=
latest(j) the largest gives the narrowest last group. T is found by bisection over whole numbers, at most 64 passes (as
many as the range has bits).

Example: 1, 2, 3, 10, 11, 20, 21, 22 with k = 2, e = 2: {1, 2, 3, 10, 11}, {20, 21, 22}, sum 12.

Ties: the latest cut. Equal numbers may be parted, which never makes a group worse.

With k-anonymity too, ``local`` first forms classes that satisfy both models, and each class is cut by itself (the least
sum of ranges within these classes); quasi-identifiers are published by class.

Source: Q. Zhang, N. Koudas, D. Srivastava, T. Yu, ICDE 2007, doi:10.1109/ICDE.2007.367857 (there in n^2 steps; the pass
is derived here).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.dealing import attribute_of, deal, slots_of, strictest
from indistinct.algorithms.local import local
from indistinct.errors import InfeasibleError
from indistinct.models.numbers import numbers_of
from indistinct.policy.privacy import KAnonymity, KeAnonymity
from indistinct.policy.recoding import KePartition
from indistinct.tables.order import secret_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from indistinct.algorithms.dealing import Words
    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies

    Int64 = NDArray[np.int64]
    Integers = NDArray[Any]


HELD = (KeAnonymity, KAnonymity)


def ke_partition(
    frequencies: Frequencies, policy: Policy, progress: Progress, words: Words = secret_words
) -> Assignment:
    """Form groups that satisfy (k,e)-anonymity with the least sum of ranges; nothing lost without k-anonymity.

    Which of several equal numbers a row has is dealt at random.

    Raises InfeasibleError when all rows together are no group, and with k-anonymity as ``local``; DataError for what is
    no number; PolicyError for models that it cannot hold; UnsupportedError with a person key.
    """
    attribute = attribute_of(policy, frequencies, "ke_partition", HELD)
    privacy = strictest(policy.privacy, KeAnonymity)
    assert privacy is not None  # noqa: S101  # the one model held that is about an attribute
    numbers = numbers_of(frequencies.references[attribute])
    progress("search", 0, 1)
    classes = local(frequencies, policy, progress) if len(policy.privacy) > 1 else None
    slots = slots_of(frequencies, attribute, classes, numbers.rank)
    places, _, (span,) = numbers.scaled(privacy.e)
    slot = np.repeat(np.arange(len(slots.rows), dtype=np.int32), slots.rows)
    places = places[slots.value[slot]]
    begins = np.zeros(len(slot), np.bool_)
    for first, end in pairwise(np.searchsorted(slot, slots.class_start).tolist()):
        cuts = contiguous_groups(places[first:end], privacy.k, span, count=privacy.count)
        begins[first + cuts[:-1]] = True
    progress("search", 1, 1)
    return deal(slots, slot, np.cumsum(begins, dtype=np.int32) - np.int32(1), words=words)


def contiguous_groups(places: Integers, k: int, span: int, *, count: str = "distinct", objective: str = "sum") -> Int64:
    """Cut sorted numbers into groups; int64[g + 1]: group i is ``cuts[i]:cuts[i + 1]``.

    ``places``: n >= 1 whole numbers, ascending, one for each row (int64, or Python integers); ``span``: the least range
    e in the same unit, rounded up; ``count``: ``distinct`` or ``rows``; ``objective``: ``sum`` or ``max``.

    Raises InfeasibleError when all rows together are no group. Not checked: that the numbers ascend.

    >>> contiguous_groups(np.array([1, 2, 3, 10, 11, 20, 21, 22]), 2, 2).tolist()
    [0, 5, 8]
    """
    from indistinct.kernels.contiguous import NONE, least_sum, within

    n = len(places)
    latest = np.concatenate([[NONE], latest_starts(places, k, span, count)]).astype(np.int64)
    if latest[n] == NONE:
        have = f"{n} rows" if count == "rows" else f"{len(np.unique(places))} different values"
        raise InfeasibleError(f"all rows together have {have} and do not reach k = {k} and the range that e asks for")
    before = np.full(n + 1, NONE, np.int64)
    if objective == "sum":
        _compiled(least_sum, places)(places, latest, before, np.zeros(n + 1, places.dtype))
    else:
        test = _compiled(within, places)
        low, high = 0, int(places[-1]) - int(places[0])  # one group of all rows is within the whole range
        while low < high:
            middle = (low + high) // 2
            if test(places, latest, middle, before):
                high = middle
            else:
                low = middle + 1
        test(places, latest, low, before)
    cuts = [n]
    while cuts[-1]:
        cuts.append(int(before[cuts[-1]]))
    return np.array(cuts[::-1], np.int64)


def latest_starts(places: Integers, k: int, span: int, count: str) -> Int64:
    """int64[n]: the last position at which a group that ends with each row may begin, -1 where none may."""
    n = len(places)
    if count == "rows":
        enough = np.arange(n) - k + 1
    else:
        distinct, rank = np.unique(places, return_inverse=True)
        rank = rank.reshape(-1)
        last = np.searchsorted(places, distinct, side="right") - 1  # the last row of each number
        first = rank - k + 1
        enough = np.where(first >= 0, last[np.maximum(first, 0)], -1)
    wide = np.searchsorted(places, places - span, side="right") - 1
    itself = np.arange(n)  # equal numbers may follow the row, and a group cannot begin after it ends
    return np.maximum(np.minimum(np.minimum(enough, wide), itself), -1).astype(np.int64)


def _compiled(function: Callable[..., Any], places: Integers) -> Callable[..., Any]:
    """Take the kernel for int64, and the function it was made from for Python integers."""
    return function if places.dtype == np.int64 else getattr(function, "py_func", function)


ALGORITHM = Algorithm(KePartition, ke_partition, "permuting")
