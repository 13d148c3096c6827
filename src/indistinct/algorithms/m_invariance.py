"""m-invariance generalization: groups of different values, in which everybody keeps the values of earlier releases.

    division:   persons with a signature (the values of their group in earlier releases) into a bucket for each signature
    balancing:  every bucket gets equally many rows of each of its values: newcomers fill in, then counterfeits
    assignment: the other newcomers into new buckets of m or more values; who fits in none waits for the next release
    split:      every bucket into groups of one row of each value, near each other in the quasi-identifiers

A group is published with the ranges of its rows, and with the number of its counterfeits. Every group has somebody's
row: the value of a bucket that the most persons have needs no counterfeit.

*Newcomers.* With c_v newcomers of value v, g groups of m or more values can be made of them if and only if
sum_v min(c_v, g) >= m g. The largest such g leaves the fewest behind, c_v - g of each value that has more. Value after
value is then dealt in a circle of g groups: no group gets a value twice, and each gets m or more. While a bucket is
balanced a newcomer is taken only if no other one has to wait for that, else a counterfeit. These choices are ours.

Which of the persons with equal quasi-identifiers and equal value goes where is not decided here: nothing published
depends on it.

Source: X. Xiao, Y. Tao, SIGMOD 2007, 689-700, doi:10.1145/1247480.1247556.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.curve import curve_order
from indistinct.algorithms.balanced_split import Places, balanced_split
from indistinct.algorithms.obstacles import obstacle, percent
from indistinct.errors import InfeasibleError, PolicyError
from indistinct.policy.privacy import MInvariance
from indistinct.tables.records import SUPPRESSED, Assignment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Frequencies, Signatures

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Bucket = tuple[int, ...]  # the values of a signature, ascending
    Demand = Counter[tuple[Bucket, int]]  # rows by bucket and value


def m_invariance(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Form groups that satisfy m-invariance with the ``signatures`` of earlier releases; newcomers may have to wait.

    ``reasons`` of the assignment counts those as ``postponed``; ``counterfeits`` are the rows of nobody.

    Raises InfeasibleError when earlier releases show fewer than m values to somebody, or more newcomers have to wait
    than the suppression limit lets go; PolicyError for other models, and for quasi-identifiers that cannot be
    generalized to one label; whatever ``progress`` raises. Not checked: that persons have one row each.
    """
    model = _model_of(frequencies, policy)
    progress("search", 0, 2)
    rows = _rows(frequencies, model.attribute)
    bucket_of = division(frequencies.signatures, model)
    demand, counterfeits = balancing(rows, bucket_of, model.m)
    assignment(rows.newcomers - _taken(demand, len(rows.newcomers)), demand, model.m)
    progress("search", 1, 2)
    waiting = _refuse_waiting(rows.newcomers, demand, frequencies.total, policy, model)
    places = _places(rows, bucket_of, demand, counterfeits)
    group = balanced_split(places)
    progress("search", 2, 2)
    return _assignment(frequencies, rows, places, group, waiting)


@dataclass(frozen=True)
class _Rows:
    """All rows along the Hilbert curve: ``cell``, ``value`` and ``signature`` (-1: newcomer) int64[n].

    ``codes`` int32[n, d] of the quasi-identifiers, ``weight`` float64[d] of a step of each. ``newcomers`` int64[m]: their
    number by value.
    """

    cell: Int64
    value: Int64
    signature: Int64
    codes: Int32
    weight: NDArray[np.float64]
    newcomers: Int64


def _rows(frequencies: Frequencies, attribute: str) -> _Rows:
    quasi = frequencies.quasi
    codes = frequencies.codes[:, : len(quasi)]
    line = curve_order(codes, [hierarchy.size for hierarchy in quasi])
    cell = np.repeat(line, frequencies.rows[line])
    value = frequencies.sensitive_codes(attribute).astype(np.int64)[cell]
    signatures = frequencies.signatures
    signature = np.full(len(cell), -1, np.int64) if signatures is None else signatures.of_cell.astype(np.int64)[cell]
    weight = np.array([float(hierarchy.weight) / max(1, hierarchy.size - 1) for hierarchy in quasi])
    size = frequencies.references[attribute].hierarchy.size
    return _Rows(cell, value, signature, codes[cell], weight, np.bincount(value[signature < 0], minlength=size))


def division(signatures: Signatures | None, model: MInvariance) -> list[Bucket]:
    """List the bucket of each signature."""
    if signatures is None:
        return []
    ends = zip(signatures.start[:-1].tolist(), signatures.start[1:].tolist(), strict=True)
    buckets = [tuple(signatures.value[begin:end].tolist()) for begin, end in ends]
    least = min(map(len, buckets), default=model.m)
    if least < model.m:
        raise InfeasibleError(
            f'an earlier release shows groups of {least} values of "{model.attribute}", and nobody may get other '
            f"values than before: m = {model.m} is out of reach",
            f"it can be met with m = {least}" if least > 1 else "",
        )
    return buckets


def balancing(rows: _Rows, bucket_of: list[Bucket], m: int) -> tuple[Demand, Demand]:
    """Fill every bucket up: the newcomers that it takes of each value, and its counterfeits."""
    size = len(rows.newcomers)
    old = rows.signature >= 0
    keys, number = np.unique(rows.signature[old] * size + rows.value[old], return_counts=True)
    present: dict[Bucket, dict[int, int]] = {}
    for key, count in zip(keys.tolist(), number.tolist(), strict=True):
        present.setdefault(bucket_of[key // size], {})[key % size] = count
    left = rows.newcomers.copy()
    taken: Demand = Counter()
    counterfeits: Demand = Counter()
    for bucket in sorted(present):
        height = max(present[bucket].values())
        for value in bucket:
            lacking = height - present[bucket].get(value, 0)
            fill = _spared(left, value, lacking, m)
            left[value] -= fill
            taken[bucket, value] += fill
            counterfeits[bucket, value] += lacking - fill
    return +taken, +counterfeits


def _spared(newcomers: Int64, value: int, wanted: int, m: int) -> int:
    """How many newcomers of a value, at most ``wanted``, can be taken so that no more of the others have to wait."""
    now = int(postponed(newcomers, m).sum())
    low, high = 0, min(wanted, int(newcomers[value])) + 1
    left = newcomers.copy()
    while high - low > 1:
        middle = (low + high) // 2
        left[value] = newcomers[value] - middle
        low, high = (middle, high) if int(postponed(left, m).sum()) <= now else (low, middle)
    return low


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


def _taken(demand: Demand, size: int) -> Int64:
    """int64[size]: rows of each value over all buckets."""
    taken = np.zeros(size, np.int64)
    for (_, value), number in demand.items():
        taken[value] += number
    return taken


def assignment(left: Int64, demand: Demand, m: int) -> None:
    """Deal the newcomers that are left in a circle of groups; add to ``demand`` what each signature needs of them."""
    groups = most_groups(left, m)
    if not groups:
        return
    dealt = np.minimum(left, groups)
    value = np.repeat(np.arange(len(dealt)), dealt)
    order = np.argsort(np.arange(len(value)) % groups, kind="stable")
    ends = np.searchsorted(np.sort(np.arange(len(value)) % groups), np.arange(1, groups))
    for bucket, number in Counter(tuple(part.tolist()) for part in np.split(value[order], ends)).items():
        for own in bucket:
            demand[bucket, own] += number


def _refuse_waiting(newcomers: Int64, demand: Demand, total: int, policy: Policy, model: MInvariance) -> int:
    """Return how many newcomers have to wait, and refuse it when they are too many."""
    waiting = int((newcomers - _taken(demand, len(newcomers))).sum())
    allowed = policy.suppression.allowed(total)
    if waiting <= allowed and waiting < total:
        return waiting
    most = int(newcomers.max())
    raise InfeasibleError(
        f'{waiting} of {int(newcomers.sum())} newcomers fit in no group of {model.m} different values of '
        f'"{model.attribute}" (the most frequent value has {most} of them) and would have to wait for a later release, '
        f"more than the {allowed} of {total} rows that the policy lets go",
        f"it can be met with a suppression limit of {percent(waiting, total)}" if waiting < total else "",
    )


def _places(rows: _Rows, bucket_of: list[Bucket], demand: Demand, counterfeits: Demand) -> Places:
    number: dict[Bucket, int] = {}
    kept_by_old = {bucket_of[i] for i in np.unique(rows.signature).tolist() if i >= 0}
    for bucket in sorted(kept_by_old | {bucket for bucket, _ in demand}):
        number[bucket] = len(number)
    own = np.array([number.get(bucket, -1) for bucket in bucket_of] + [-1], np.int64)[rows.signature]
    for value in np.flatnonzero(rows.newcomers).tolist():
        here = np.flatnonzero((rows.signature < 0) & (rows.value == value))
        wanted = {number[bucket]: count for (bucket, v), count in demand.items() if v == value}
        own[here] = _spread(wanted, len(here))
    kept = np.flatnonzero(own >= 0)
    size = len(rows.newcomers)
    places = np.bincount(own[kept] * size + rows.value[kept], minlength=len(number) * size).reshape(-1, size)
    height = places.max(axis=1, initial=0)
    row, bucket, value, codes = [kept], [own[kept]], [rows.value[kept]], [rows.codes[kept]]
    order = np.argsort(own[kept] * size + rows.value[kept], kind="stable")
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(places.reshape(-1))])
    for (name, lacking), count in sorted(counterfeits.items()):
        b = number[name]
        full = b * size + int(places[b].argmax())
        near = start[full] + (2 * np.arange(count) + 1) * height[b] // (2 * count)
        row.append(np.full(count, -1))
        bucket.append(np.full(count, b))
        value.append(np.full(count, lacking))
        codes.append(rows.codes[kept[order[near]]])
    return Places(
        np.concatenate(row),
        np.concatenate(bucket),
        np.concatenate(value),
        np.concatenate(codes),
        rows.weight,
        height,
    )


def _spread(wanted: Mapping[int, int], total: int) -> Int64:
    """int64[total]: which bucket each of ``total`` rows along the curve goes to, every bucket evenly spread."""
    wanted = {**wanted, -1: total - sum(wanted.values())}
    bucket = np.repeat(list(wanted), list(wanted.values()))
    place = np.concatenate([(np.arange(count) + 0.5) / max(count, 1) for count in wanted.values()])
    return bucket[np.lexsort([bucket, place])]


def _assignment(frequencies: Frequencies, rows: _Rows, places: Places, group: Int64, waiting: int) -> Assignment:
    real = places.row >= 0
    groups = int(group.max(initial=-1)) + 1
    class_of = np.full(len(rows.cell), SUPPRESSED, np.int64)
    class_of[places.row[real]] = group[real]
    keys, count = np.unique(rows.cell * (groups + 1) + class_of + 1, return_counts=True)
    old, fake = int((rows.signature >= 0).sum()), int((~real).sum())
    note = (
        f"persons who keep the values of earlier releases: {old}; newcomers: {len(rows.cell) - old - waiting}; newcomers "
        f"who wait for a later release: {waiting}; counterfeit rows, of nobody: {fake}"
    )
    return Assignment(
        (keys // (groups + 1)).astype(np.int32),
        count.astype(np.int64),
        (keys % (groups + 1) - 1).astype(np.int32),
        groups,
        notes=(note,),
        reasons={"postponed": waiting} if waiting else {},
        counterfeits=np.column_stack([group[~real], places.value[~real]]).astype(np.int32),
    )


def _model_of(frequencies: Frequencies, policy: Policy) -> MInvariance:
    model = policy.privacy[0] if policy.privacy else None
    if len(policy.privacy) != 1 or not isinstance(model, MInvariance):
        others = [other.model for other in policy.privacy if not isinstance(other, MInvariance)]
        raise PolicyError(
            f'"m_invariance" holds the model m_invariance for one attribute and no other'
            f"{': leave out ' + ', '.join(others) if others else ''}; its groups keep their values over releases, "
            "and a model of classes would change them",
            key="privacy",
        )
    for hierarchy in frequencies.quasi:
        if not hierarchy.is_range and (reason := obstacle(hierarchy, hierarchy.height)):
            raise PolicyError(
                f"m_invariance joins people by their values in earlier releases, however different they are: {reason}; "
                f'give "{hierarchy.attribute}" a hierarchy with one top label, such as {{ kind = "range" }} or '
                '{ kind = "suppress" }',
                column=hierarchy.attribute,
            )
    return model
