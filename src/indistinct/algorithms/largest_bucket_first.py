"""Largest bucket first: groups of k to 2k rows in which k values are separated, for (eps_i,k)-anonymity.

    buckets: each interval [a, b] of values is cut into pieces of width eps_i; eps_i = 0: one bucket
    while k buckets have rows: a new group, from the fullest bucket downwards (ties: lesser values) the smallest row
        of each that is separated from all rows chosen so far, until there are k; a bucket without such a row is passed
        over; stop when k are not found
    each row left over, values ascending: into the first group with fewer than 2k rows in which everybody's risk stays
        at most 1/2 (with ``separation = "step7"`` only the size counts); where there is none it is suppressed

Quasi-identifiers stay exact, so the time depends on the values and not on the number of other columns. With
k-anonymity too, ``local`` first forms classes of at least 2k rows with k different values, groups are formed inside
each class, and a class that then is too small is suppressed; quasi-identifiers are published by class.

Choices where the paper is silent. Which of several equal values a row has is dealt at random. A group takes k rows
beyond its first k, so with B rows in the largest bucket and g groups at least B - g - gk rows are suppressed. The
search for k rows is greedy, as in the paper, and may miss sets that exist.

Example (k = 2, beta = 1/4): 100, 150, 200, 4500, 4800, 5200 has eps 25 and 175; {100, 200}, {150, 4500}, {4800, 5200}.

Source: T. Wang, M. Wen, Computer Systems and Applications 28(7):184-190, 2019, section 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.dealing import attribute_of, deal, renumbered, slots_of, strictest
from indistinct.algorithms.local import local
from indistinct.errors import InfeasibleError
from indistinct.models.contract import SEPARATION
from indistinct.models.eps_i_k_anonymity import prepared
from indistinct.models.numbers import numbers_of
from indistinct.notices import Sentence
from indistinct.policy.privacy import DistinctL, EpsIKAnonymity, KAnonymity
from indistinct.policy.recoding import LargestBucketFirst
from indistinct.tables.order import secret_words
from indistinct.tables.records import SUPPRESSED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from indistinct.algorithms.dealing import Words
    from indistinct.models.eps_i_k_anonymity import Neighbourhoods
    from indistinct.models.numbers import Numbers
    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

HELD = (EpsIKAnonymity, KAnonymity)


def largest_bucket_first(
    frequencies: Frequencies, policy: Policy, progress: Progress, words: Words = secret_words
) -> Assignment:
    """Form groups that satisfy (eps_i,k)-anonymity, and suppress the rows that fit in none.

    ``reasons`` of the assignment counts suppressed rows by ``size`` (no group had room) and ``proximity`` (no group
    with room could take the value), and by ``class`` where k-anonymity left a class too small.

    Raises InfeasibleError when no group can be formed or more rows fit in none than the suppression limit lets go;
    DataError for missing or negative values; PolicyError and UnsupportedError as ``attribute_of``.
    """
    attribute = attribute_of(policy, frequencies, "largest_bucket_first", HELD)
    privacy = strictest(policy.privacy, EpsIKAnonymity)
    assert privacy is not None  # noqa: S101  # the one model held that is about an attribute
    numbers = numbers_of(frequencies.references[attribute])
    epsilons, around = prepared(privacy, numbers)
    progress("search", 0, 2)
    classes = _classes(frequencies, policy, privacy, progress)
    slots = slots_of(frequencies, attribute, classes, numbers.rank)
    progress("search", 1, 2)
    bucket = buckets_of(numbers, around.interval, epsilons)
    found = form(slots.class_start, slots.value, slots.rows, bucket, around, privacy)
    reasons = dict(found.reasons)
    assignment = deal(slots, found.slot, found.group, words=words)
    if classes is not None:
        size = max(model.k for model in policy.privacy if isinstance(model, KAnonymity))
        assignment, gone = _without_small_classes(assignment, size)
        reasons["class"] = gone + int(classes.count[classes.class_of == SUPPRESSED].sum())
    reasons = {reason: rows for reason, rows in reasons.items() if rows}
    suppressed = int(assignment.count[assignment.class_of == SUPPRESSED].sum())
    _refuse_lost(suppressed, frequencies, policy, privacy, reasons)
    progress("search", 2, 2)
    notes = (*assignment.notes, _account(reasons, suppressed)) if suppressed else assignment.notes
    return replace(assignment, reasons=reasons, notes=notes)


def buckets_of(numbers: Numbers, interval: Int64, epsilons: Sequence[Fraction]) -> Int64:
    """int64[m]: the bucket of each number, ascending; floor((v - a) / eps) in its interval [a, b], b in the last one.

    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from indistinct.models.numbers import Numbers
    >>> numbers = Numbers("s", np.array([0, 4, 5, 9, 10, 70]), 1, np.ones(6, np.int64), np.arange(6))
    >>> buckets_of(numbers, np.array([0, 0, 0, 0, 0, 1]), [Fraction(5), Fraction(0)]).tolist()
    [0, 0, 1, 1, 1, 2]
    """
    places, _, widths = numbers.scaled(*epsilons)
    first = np.searchsorted(interval, np.arange(len(epsilons)))
    last = np.append(first[1:], len(interval)) - 1
    width = np.array(widths, places.dtype)
    span = places[last] - places[first]
    # a width of 0 gives one bucket
    pieces = np.where(width > 0, np.maximum(1, -(-span // np.maximum(width, 1))), 1)
    inside = np.minimum((places - places[first][interval]) // np.maximum(width, 1)[interval], (pieces - 1)[interval])
    new = np.ones(len(places), np.bool_)
    new[1:] = (interval[1:] != interval[:-1]) | np.asarray(inside[1:] != inside[:-1], np.bool_)
    return np.cumsum(new) - 1


@dataclass(frozen=True)
class Formed:
    """Places of the groups: ``slot`` and ``group`` int32[p]; ``reasons`` counts the rows that fit in none."""

    slot: Int32
    group: Int32
    reasons: dict[str, int]


def form(
    class_start: Int64, value: Int32, rows: Int64, bucket: Int64, around: Neighbourhoods, privacy: EpsIKAnonymity
) -> Formed:
    """Form groups inside each class and place what is left over; ``value`` int32[slots] are ranks of numbers.

    ``class_start`` and ``rows`` as in ``Slots``; ``bucket`` and ``around`` are those of all numbers.
    """
    from indistinct.kernels.grouping import FREE, form_groups
    from indistinct.kernels.leftovers import place_leftovers

    k, left = privacy.k, rows.copy()
    members = np.full((int(rows.sum()) // k + 1, 2 * k), FREE, np.int32)
    class_of = np.zeros(len(members), np.int32)
    begins, ends, low, high = (
        np.ascontiguousarray(ranks[value]) for ranks in (around.left, around.right, around.low, around.high)
    )
    groups = form_groups(class_start, bucket[value], begins, ends, left, k, members, class_of)
    reasons = np.zeros(2, np.int64)
    bounded = int(privacy.separation == "disjoint")
    interval, place = around.interval[value], value.astype(np.int64)
    place_leftovers(class_start, interval, low, high, place, left, k, bounded, members, class_of, groups, reasons)
    members = members[:groups]
    group, at = np.nonzero(members != FREE)
    counted = dict(zip(("size", "proximity"), reasons.tolist(), strict=True))
    return Formed(members[group, at], group.astype(np.int32), counted)


def _classes(
    frequencies: Frequencies, policy: Policy, privacy: EpsIKAnonymity, progress: Progress
) -> Assignment | None:
    """Find k-anonymous classes with room for groups; None where no model asks for classes."""
    sizes = [model.k for model in policy.privacy if isinstance(model, KAnonymity)]
    if not sizes:
        return None
    wanted = (KAnonymity(max(*sizes, 2 * privacy.k)), DistinctL(privacy.attribute, privacy.k))
    return local(frequencies, policy.model_copy(update={"privacy": wanted}), progress)


def _without_small_classes(assignment: Assignment, size: int) -> tuple[Assignment, int]:
    """Suppress the classes that have fewer rows than ``size`` left, with their groups; and how many rows went."""
    assert assignment.group_of is not None  # noqa: S101  # it was dealt in groups
    published = assignment.class_of != SUPPRESSED
    rows = np.zeros(assignment.classes, np.int64)
    np.add.at(rows, assignment.class_of[published], assignment.count[published])
    small = rows < size
    if not small.any():
        return assignment, 0
    gone = published & small[assignment.class_of]
    class_of, group_of = (
        np.where(gone, np.int32(SUPPRESSED), numbers) for numbers in (assignment.class_of, assignment.group_of)
    )
    (class_of, classes), (group_of, groups) = renumbered(class_of), renumbered(group_of)
    whole = replace(assignment, class_of=class_of, classes=classes, group_of=group_of, groups=groups)
    return whole, int(assignment.count[gone].sum())


def _account(reasons: dict[str, int], suppressed: int) -> Sentence:
    words = {
        "size": Sentence("because no group had room"),
        "proximity": Sentence("because every group with room has too many values near theirs"),
        "class": Sentence("because their class was too small"),
    }
    return Sentence(
        "{n} rows fit in no group and were suppressed: {reasons}",
        "{n} row fits in no group and was suppressed: {reasons}",
        n=suppressed,
        reasons=tuple(Sentence("{rows} {why}", rows=rows, why=words[reason]) for reason, rows in reasons.items()),
    )


def _refuse_lost(
    suppressed: int, frequencies: Frequencies, policy: Policy, privacy: EpsIKAnonymity, reasons: dict[str, int]
) -> None:
    total = frequencies.total
    if suppressed == total:
        raise InfeasibleError(
            f'no group of {privacy.k} rows with separated values of "{privacy.attribute}" can be formed',
            "a smaller k, a smaller beta or smaller epsilons leave more values separated",
        )
    if suppressed > policy.suppression.allowed(total):
        limit = ceil(10_000 * suppressed / total) / 10_000
        raise InfeasibleError(
            f"{_account(reasons, suppressed)}, more than the {policy.suppression.allowed(total)} of {total} that the "
            "policy lets go",
            f"it can be met with a suppression limit of {limit} or more, or with a smaller k",
        )


ALGORITHM = Algorithm(LargestBucketFirst, largest_bucket_first, "permuting", offers=frozenset({SEPARATION}), deals=True)
