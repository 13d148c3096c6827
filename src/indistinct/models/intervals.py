"""Intervals of similar numbers by relative distance, and a neighbourhood width for each, for (eps_i,k)-anonymity.

Relative distance d(v, v') = |v' - v| / (v + v') for v, v' >= 0, and d(v, v) = 0, also for 0; in [0, 1], and 1 where
exactly one of the two is 0. The numbers are sorted, each once (``points = "distinct"``) or once for each record; with D
the mean distance of neighbours, two neighbours are parted iff d > 0 and d >= w D. Equality cuts; equal values are never
parted; where there are two different numbers, at least one cut is made (the largest distance is at least the mean).

Example: 100, 150, 200, 4500, 4800, 5200 have distances 1/5, 1/7, 43/47, 1/31, 1/25, mean 0.266: two intervals.

Negative numbers have no relative distance (the denominator may be 0) and are refused, or, for the intervals only, all
numbers are shifted by the least one (``shift``); this changes the intervals: the distance is not shift-invariant.

Exact: doubles decide away from w D; inside a band of 1e-9 the sum of the distances is enclosed by integers of rising
precision, and computed as one fraction where that does not decide (ties are common: in a geometric progression all
distances are equal).

Source: T. Wang, M. Wen, Computer Systems and Applications 28(7):184-190, 2019, with the decisions of docs/policy.md.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.models.numbers import Numbers
    from indistinct.policy.privacy import EpsIKAnonymity

    Int64 = NDArray[np.int64]
    Integers = NDArray[Any]

_BAND = 1e-9
_PRECISIONS = 64, 256


def distance(one: Fraction, other: Fraction) -> Fraction:
    """Relative distance of two numbers >= 0.

    >>> distance(Fraction(100), Fraction(150)), distance(Fraction(0), Fraction(7)), distance(Fraction(0), Fraction(0))
    (Fraction(1, 5), Fraction(1, 1), Fraction(0, 1))
    """
    return Fraction(0) if one == other else abs(other - one) / (one + other)


def _gaps(numbers: Numbers, *, shift: bool) -> tuple[Integers, Integers]:
    """Numerators and denominators of the distances between neighbouring different numbers (int64 or objects)."""
    places = numbers.places
    if len(places) and places[0] < 0:
        if not shift:
            rows = int(numbers.counts[np.asarray(places < 0, np.bool_)].sum())
            raise DataError(
                f'{rows} rows have a negative value of "{numbers.attribute}", and relative distance needs values of 0 '
                'or more; set negative_values = "shift", or use eps_m_anonymity with an absolute epsilon',
                column=numbers.attribute,
            )
        places = places - places[0]
    return places[1:] - places[:-1], places[1:] + places[:-1]


def _distances(numbers: Numbers, points: str) -> int:
    """How many distances the mean is taken over."""
    return (len(numbers) if points == "distinct" else int(numbers.counts.sum())) - 1


def mean_distance(numbers: Numbers, points: str = "distinct", *, shift: bool = False) -> Fraction:
    """Exact mean of the relative distances of neighbours; 0 where there is no distance."""
    above, below = _gaps(numbers, shift=shift)
    return _total(above, below) / _distances(numbers, points) if len(above) else Fraction(0)


def intervals_of(numbers: Numbers, w: Fraction, points: str = "distinct", *, shift: bool = False) -> Int64:
    """int64[m]: the interval 0.. of each number; raises DataError for negative numbers unless they are shifted."""
    above, below = _gaps(numbers, shift=shift)
    cut = np.zeros(len(above) + 1, np.int64)
    if len(above):
        shares = np.asarray(above / below, np.float64)
        limit = float(w) * float(shares.sum()) / _distances(numbers, points)
        cut[1:] = shares >= limit
        near = np.flatnonzero(np.abs(shares - limit) <= _BAND * limit)
        if len(near):
            cut[1 + near] = _decide(above, below, near, w / _distances(numbers, points))
    return np.cumsum(cut)


def _decide(above: Integers, below: Integers, near: Int64, factor: Fraction) -> list[bool]:
    """Whether each of the distances ``near`` is at least ``factor`` times the sum of all, exactly."""
    wanted = [Fraction(int(above[i]), int(below[i])) for i in near.tolist()]
    known: dict[Fraction, bool] = {}
    for bits in _PRECISIONS:
        least = sum((a << bits) // b for a, b in zip(above.tolist(), below.tolist(), strict=True))
        low, high = Fraction(least, 1 << bits), Fraction(least + len(above), 1 << bits)
        for d in set(wanted) - set(known):
            if d >= factor * high:
                known[d] = True
            elif d < factor * low:
                known[d] = False
        if len(known) == len(set(wanted)):
            return [known[d] for d in wanted]
    limit = factor * _total(above, below)
    return [d >= limit for d in wanted]


def _total(above: Integers, below: Integers) -> Fraction:
    """Exact sum of fractions, each different one multiplied by its frequency, by halves."""
    terms: Counter[tuple[int, int]] = Counter()
    for a, b in zip(above.tolist(), below.tolist(), strict=True):
        common = gcd(a, b)
        terms[a // common, b // common] += 1
    sums = [(a * times, b) for (a, b), times in sorted(terms.items())]
    while len(sums) > 1:
        pairs = zip(sums[::2], sums[1::2], strict=False)
        rest = sums[-1:] if len(sums) % 2 else []
        sums = [(a * d + c * b, b * d) for (a, b), (c, d) in pairs] + rest
    return Fraction(*sums[0])


def epsilons_of(numbers: Numbers, interval: Int64, privacy: EpsIKAnonymity) -> list[Fraction]:
    """Neighbourhood width of each interval: listed or beta times the range, and at least the floors.

    Raises DataError when the list has another length than there are intervals.
    """
    count = int(interval[-1]) + 1 if len(interval) else 0
    first = np.searchsorted(interval, np.arange(count))
    last = np.append(first[1:], len(interval)) - 1
    if privacy.epsilons is not None:
        if len(privacy.epsilons) != count:
            raise DataError(
                f'"{numbers.attribute}" falls into {count} intervals, and epsilons lists {len(privacy.epsilons)}; list '
                "one for each interval, or give beta instead",
                column=numbers.attribute,
            )
        found = list(privacy.epsilons)
    else:
        beta = privacy.beta or Fraction(0)
        spans, own = np.unique(numbers.places[last] - numbers.places[first], return_inverse=True)
        widths = [beta * Fraction(span, numbers.unit) for span in spans.tolist()]
        found = [widths[i] for i in own.reshape(-1).tolist()]
    if privacy.eps_floor is not None:
        found = [max(epsilon, privacy.eps_floor) for epsilon in found]
    if privacy.eps_floor_share is not None:
        share = privacy.eps_floor_share
        found = [max(eps, share * numbers.at(end)) for eps, end in zip(found, last.tolist(), strict=True)]
    return found


def is_rising(epsilons: Sequence[Fraction]) -> bool:
    """Whether the widths never fall from one interval to the next, as the paper wants it."""
    return all(a <= b for a, b in pairwise(epsilons))
