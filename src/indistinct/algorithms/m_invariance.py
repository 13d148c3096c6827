"""m-invariance generalization: groups of different values, in which everybody keeps the values of earlier releases.

    division:   persons with a signature (the values of their group in earlier releases) into a bucket for each
    balancing:  every bucket gets equally many rows of each of its values: newcomers fill in, then counterfeits
    assignment: the other newcomers into new buckets of m or more values; who fits in none waits for a later release
    split:      every bucket into groups of one row of each value, near each other in the quasi-identifiers
    matching:   rows of one value change places within their bucket, newcomers anywhere, while that loses less

A group is published with the ranges of its rows, and with the number of its counterfeits. Every group has somebody's
row: the value of a bucket that the most persons have needs no counterfeit.

*Newcomers.* The paper has newcomers of whom no value has a share above 1 / m; here those who are too many wait
(``eligibility``). ``local`` then forms classes in which no value has such a share, as for Anatomy; in each of them
value after value is dealt in a circle of groups: no group gets a value twice and each gets m or more. Such a group is a
bucket of its own and needs no split. While an old bucket is balanced a newcomer is taken only if no other one has to
wait for that, else a counterfeit. These choices are ours.

Which of the persons with equal quasi-identifiers and equal value goes where is not decided here: nothing published
depends on it.

Source: X. Xiao, Y. Tao, SIGMOD 2007, 689-700, doi:10.1145/1247480.1247556.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.balanced_split import Places, balanced_split
from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.curve import curve_order
from indistinct.algorithms.eligibility import most_groups, spared
from indistinct.algorithms.local import local
from indistinct.algorithms.obstacles import obstacle, percent
from indistinct.algorithms.rematching import rematched
from indistinct.errors import InfeasibleError, PolicyError, UnsupportedError
from indistinct.models.contract import HISTORY
from indistinct.notices import Sentence
from indistinct.policy.privacy import AlphaK, MInvariance
from indistinct.policy.recoding import MInvarianceBuckets
from indistinct.policy.suppression import Suppression
from indistinct.tables.apply import part_of_rows
from indistinct.tables.count import frequencies_of, silent
from indistinct.tables.records import SUPPRESSED, Assignment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Frequencies, Signatures

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Buckets = dict[tuple[int, ...], int]  # number of each by its values, ascending


def m_invariance(frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
    """Form groups that satisfy m-invariance with the ``signatures`` of earlier releases; newcomers may have to wait.

    ``reasons`` of the assignment counts those as ``postponed``; ``counterfeits`` are the rows of nobody.

    Raises InfeasibleError when earlier releases show fewer than m values to somebody, or more newcomers have to wait
    than the suppression limit lets go; PolicyError for other models, and for quasi-identifiers that cannot be
    generalized to one label; UnsupportedError without a history (it may be empty); whatever ``progress`` raises. Not
    checked: that persons have one row each.
    """
    model = _model_of(frequencies, policy)
    signatures = frequencies.signatures
    if signatures is None:
        raise UnsupportedError(
            "m_invariance is decided with the ledger of earlier releases, which anonymize, verify and releases read; "
            "other commands cannot say anything about it"
        )
    progress("search", 0, 3)
    rows = _rows(frequencies, signatures, model.attribute)
    buckets, bucket_of = division(rows, signatures, model)
    counterfeits = balancing(rows, buckets, bucket_of, model.m)
    progress("search", 1, 3)
    assignment(frequencies, policy, rows, bucket_of)
    progress("search", 2, 3)
    _refuse_waiting(rows, bucket_of, policy, model)
    places = _places(rows, bucket_of, counterfeits)
    newcomers = (places.row >= 0) & (rows.signature[places.row] < 0)
    group = rematched(places, balanced_split(places), newcomers)
    progress("search", 3, 3)
    return _assignment(rows, places, group)


@dataclass(frozen=True)
class _Rows:
    """All rows along the Hilbert curve: ``cell``, ``value`` and ``signature`` (-1: newcomer) int64[n].

    ``codes`` int32[n, d] of the quasi-identifiers ``quasi``. ``newcomers`` int64[m]: their number by value.
    """

    cell: Int64
    value: Int64
    signature: Int64
    codes: Int32
    quasi: tuple[Hierarchy, ...]
    newcomers: Int64


def _rows(frequencies: Frequencies, signatures: Signatures, attribute: str) -> _Rows:
    quasi = frequencies.quasi
    codes = frequencies.codes[:, : len(quasi)]
    line = curve_order(codes, [hierarchy.size for hierarchy in quasi])
    cell = np.repeat(line, frequencies.rows[line])
    value = frequencies.sensitive_codes(attribute).astype(np.int64)[cell]
    signature = signatures.of_cell.astype(np.int64)[cell]
    size = frequencies.references[attribute].hierarchy.size
    return _Rows(cell, value, signature, codes[cell], quasi, np.bincount(value[signature < 0], minlength=size))


def division(rows: _Rows, signatures: Signatures, model: MInvariance) -> tuple[Buckets, Int64]:
    """Number the buckets of the signatures, and say in which one each row is (int64[n], -1: none yet)."""
    ends = zip(signatures.start[:-1].tolist(), signatures.start[1:].tolist(), strict=True)
    buckets = {tuple(signatures.value[begin:end].tolist()): i for i, (begin, end) in enumerate(ends)}
    least = min(map(len, buckets), default=model.m)
    if least < model.m:
        raise InfeasibleError(
            f'an earlier release shows groups of {least} values of "{model.attribute}", and nobody may get other '
            f"values than before: m = {model.m} is out of reach",
            f"it can be met with m = {least}" if least > 1 else "",
        )
    return buckets, rows.signature.copy()


def balancing(rows: _Rows, buckets: Buckets, bucket_of: Int64, m: int) -> dict[tuple[int, int], int]:
    """Fill every bucket up with newcomers, and return how many counterfeits it needs by (bucket, value)."""
    size = len(rows.newcomers)
    old = rows.signature >= 0
    present = np.bincount(rows.signature[old] * size + rows.value[old], minlength=len(buckets) * size).reshape(-1, size)
    left, counterfeits = rows.newcomers.copy(), {}
    wanted: dict[int, dict[int, int]] = {}
    for bucket, number in buckets.items():
        height = int(present[number].max())
        for value in bucket:
            missing = height - int(present[number, value])
            fill = spared(left, value, missing, m)
            left[value] -= fill
            if fill:
                wanted.setdefault(value, {})[number] = fill
            if missing > fill:
                counterfeits[number, value] = missing - fill
    for value, by_bucket in wanted.items():
        here = np.flatnonzero(~old & (rows.value == value))
        bucket_of[here] = _spread(by_bucket, len(here))
    return counterfeits


def assignment(frequencies: Frequencies, policy: Policy, rows: _Rows, bucket_of: Int64) -> None:
    """Deal the other newcomers, class by class of ``local``, in a circle of groups: new buckets of one group each."""
    model = policy.privacy[0]
    assert isinstance(model, MInvariance)  # noqa: S101  # it was asked for
    part = _groups(frequencies, policy, rows, np.flatnonzero(bucket_of < 0), model)
    order = np.lexsort([rows.value, part])
    last = int(bucket_of.max(initial=-1))
    for own in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
        if part[own[0]] < 0:
            continue
        groups = len(own) // model.m  # no value has more rows than that
        bucket_of[own] = last + 1 + np.arange(len(own)) % groups
        last += groups


def _groups(frequencies: Frequencies, policy: Policy, rows: _Rows, free: Int64, model: MInvariance) -> Int64:
    """int64[n]: classes of the newcomers among whom nobody has to wait, in which no value has a share above 1 / m."""
    part = np.full(len(rows.cell), SUPPRESSED, np.int64)
    for value in np.unique(rows.value[free]).tolist():  # those who wait are spread along the curve
        here = free[rows.value[free] == value]
        most = most_groups(np.bincount(rows.value[free]), model.m)
        part[here] = _spread({0: min(most, len(here))}, len(here))
    placed = np.flatnonzero(part >= 0)
    if not len(placed):
        return part
    cells, where, number = np.unique(rows.cell[placed], return_inverse=True, return_counts=True)
    counted = frequencies_of(frequencies.quasi, frequencies.sensitive, frequencies.codes[cells], number)
    targets = {
        "privacy": (AlphaK(model.attribute, Fraction(1, model.m), 1),),
        "suppression": Suppression(limit=Fraction(0)),
    }
    found = local(counted, policy.model_copy(update=targets), silent)
    entry = part_of_rows(found, where.reshape(-1).astype(np.int32), [np.arange(len(where))])
    part[placed] = found.class_of[entry]
    return part


def _refuse_waiting(rows: _Rows, bucket_of: Int64, policy: Policy, model: MInvariance) -> None:
    """Refuse it when too many newcomers have to wait."""
    waiting, total = int((bucket_of < 0).sum()), len(bucket_of)
    allowed = policy.suppression.allowed(total)
    if waiting <= allowed and waiting < total:
        return
    raise InfeasibleError(
        f"{waiting} of {int(rows.newcomers.sum())} newcomers fit in no group of {model.m} different values of "
        f'"{model.attribute}" (the most frequent value has {int(rows.newcomers.max())} of them) and would have to wait '
        f"for a later release, more than the {allowed} of {total} rows that the policy lets go",
        f"it can be met with a suppression limit of {percent(waiting, total)}" if waiting < total else "",
    )


def _places(rows: _Rows, bucket_of: Int64, counterfeits: Mapping[tuple[int, int], int]) -> Places:
    bucketed, size = np.flatnonzero(bucket_of >= 0), len(rows.newcomers)
    used, bucket = np.unique(bucket_of[bucketed], return_inverse=True)
    value = rows.value[bucketed]
    order = np.argsort(bucket * size + value, kind="stable")
    ordered = (bucket * size + value)[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    counts = np.diff(np.append(first, len(ordered)))
    height = np.zeros(len(used), np.int64)
    np.maximum.at(height, ordered[first] // size, counts)
    # where the rows of the value begin that its bucket has most of: counterfeits stand beside these
    full = np.zeros(len(height), np.int64)
    most = counts == height[ordered[first] // size]
    full[(ordered[first] // size)[most]] = first[most]
    added = list(counterfeits)
    numbers = np.array(list(counterfeits.values()), np.int64)
    b, v = (np.repeat(np.array([key[i] for key in added], np.int64), numbers) for i in (0, 1))
    b = np.searchsorted(used, b)
    step = np.arange(len(b)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    near = order[full[b] + (2 * step + 1) * height[b] // (2 * np.repeat(numbers, numbers))]
    return Places(
        np.concatenate([bucketed, np.full(len(b), -1)]),
        np.concatenate([bucket, b]),
        np.concatenate([value, v]),
        np.concatenate([rows.codes[bucketed], rows.codes[bucketed[near]]]),
        rows.quasi,
        height,
    )


def _spread(wanted: Mapping[int, int], total: int) -> Int64:
    """int64[total]: which bucket each of ``total`` rows along the curve goes to, every bucket evenly spread."""
    wanted = {**wanted, -1: total - sum(wanted.values())}
    bucket = np.repeat(list(wanted), list(wanted.values()))
    place = np.concatenate([(np.arange(count) + 0.5) / max(count, 1) for count in wanted.values()])
    return bucket[np.lexsort([bucket, place])]


def _assignment(rows: _Rows, places: Places, group: Int64) -> Assignment:
    real = places.row >= 0
    groups = int(group.max(initial=-1)) + 1
    class_of = np.full(len(rows.cell), SUPPRESSED, np.int64)
    class_of[places.row[real]] = group[real]
    keys, count = np.unique(rows.cell * (groups + 1) + class_of + 1, return_counts=True)
    old, waiting = int((rows.signature >= 0).sum()), int((class_of < 0).sum())
    note = Sentence(
        "persons who keep the values of earlier releases: {old}; newcomers: {new}; newcomers who wait for a later "
        "release: {waiting}; counterfeit rows, of nobody: {fakes}",
        old=old,
        new=len(rows.cell) - old - waiting,
        waiting=waiting,
        fakes=int((~real).sum()),
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


ALGORITHM = Algorithm(MInvarianceBuckets, m_invariance, "adding", offers=frozenset({HISTORY}))
