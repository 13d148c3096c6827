"""Anatomy: groups of l rows with l different sensitive values; quasi-identifiers stay exact, the link is cut.

    while at least l values have rows left: a new group with one row of each of the l most frequent
    each remaining row (at most l - 1, all different): into a random group that lacks its value

Possible if and only if no value has more than n / l rows. Every group then holds l or more values once each, so the
best guess of the value of somebody in a group is at most 1/l. What it does not do: the presence of a person can be
seen, and who is the only one with certain quasi-identifiers stays so.

With k-anonymity too, ``local`` first forms classes of k rows in which no value has more than a share 1/l, and Anatomy
runs inside each class; classes are then published as ``local`` would.

Example (l = 2): aaabbccd gives {a, b}, {a, c}, {a, b}, {c, d}; ties go to the lesser value.

Source: Xiao and Tao, Anatomy: simple and effective privacy preservation, VLDB 2006, 139-150.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from secrets import SystemRandom
from typing import TYPE_CHECKING

import numpy as np

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.dealing import attribute_of, deal, slots_of
from indistinct.algorithms.local import local
from indistinct.errors import InfeasibleError
from indistinct.policy.privacy import AlphaK, DistinctL, EntropyL, KAnonymity, PSensitiveK
from indistinct.policy.recoding import Anatomy
from indistinct.tables.order import secret_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from indistinct.algorithms.dealing import Words
    from indistinct.policy import Policy
    from indistinct.policy.privacy import Privacy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

HELD = (DistinctL, AlphaK, EntropyL, PSensitiveK, KAnonymity)


def anatomy(frequencies: Frequencies, policy: Policy, progress: Progress, words: Words = secret_words) -> Assignment:
    """Form groups of l rows with different values, exact quasi-identifiers, nothing suppressed.

    Raises InfeasibleError when a value has more than n / l rows; PolicyError for models that it cannot hold;
    UnsupportedError with a person key; whatever ``progress`` raises.
    """
    attribute = attribute_of(policy, frequencies, "anatomy", HELD)
    length = max(map(values_needed, policy.privacy))
    _refuse_frequent(frequencies, attribute, length)
    progress("search", 0, 1)
    classes = _classes(frequencies, policy, attribute, length, progress)
    slots = slots_of(frequencies, attribute, classes)
    choose = SystemRandom().randrange if words is secret_words else _first
    place_slot, place_group = anatomize(slots.class_start, slots.rows, length, choose)
    progress("search", 1, 1)
    return deal(slots, place_slot, place_group, words=words)


def values_needed(model: Privacy) -> int:
    """How many different values, once each, make a group satisfy a model (1 for a model of quasi-identifiers).

    >>> values_needed(DistinctL("s", 3)), values_needed(AlphaK("s", "0.4", 2)), values_needed(EntropyL("s", "2.5"))
    (3, 3, 3)
    """
    if isinstance(model, DistinctL | EntropyL):
        return ceil(model.l)
    if isinstance(model, AlphaK):
        return max(ceil(1 / model.alpha), model.k)
    if isinstance(model, PSensitiveK):
        return max(model.p, model.k)
    return 1


def anatomize(class_start: Int64, rows: Int64, length: int, choose: Callable[[int], int]) -> tuple[Int32, Int32]:
    """Return the slot and the group of every place: groups of ``length`` slots or, with leftovers, some more.

    ``class_start`` and ``rows`` as in ``Slots``; ``choose(n)`` returns a number below n, at random where it protects.
    Not checked: that no slot has more than 1/``length`` of the rows of its class.

    >>> slot, group = anatomize(np.array([0, 3]), np.array([2, 2, 1]), 2, lambda n: 0)
    >>> sorted(zip(group.tolist(), slot.tolist()))
    [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    """
    from indistinct.kernels.grouping import form_groups

    own = np.arange(len(rows), dtype=np.int64)
    left = rows.copy()
    members = np.zeros((int(rows.sum()) // length + 1, length), np.int32)
    class_of = np.zeros(len(members), np.int32)
    groups = form_groups(class_start, own, own, own, left, length, members, class_of)
    slot = members[:groups].reshape(-1)
    group = np.repeat(np.arange(groups, dtype=np.int32), length)
    begin = np.searchsorted(class_of[:groups], np.arange(len(class_start)))
    owner = np.searchsorted(class_start, np.flatnonzero(left), "right") - 1
    late: list[tuple[int, int]] = []
    for extra, c in zip(np.flatnonzero(left).tolist(), owner.tolist(), strict=True):
        without = np.flatnonzero((members[begin[c] : begin[c + 1]] != extra).all(axis=1))
        late.append((extra, int(begin[c] + without[choose(len(without))])))
    extra_slot, extra_group = np.array(late, np.int32).reshape(-1, 2).T
    return np.concatenate([slot, extra_slot]), np.concatenate([group, extra_group])


def _first(_number: int) -> int:
    return 0


def _refuse_frequent(frequencies: Frequencies, attribute: str, length: int) -> None:
    reference = frequencies.references[attribute]
    most = int(reference.counts.max())
    if most * length > reference.total:
        nearest = reference.total // most
        blank = ", the missing one," if int(reference.counts.argmax()) == reference.hierarchy.missing else ""
        raise InfeasibleError(
            f'the most frequent value of "{attribute}"{blank} has {most} of {reference.total} rows, over one in '
            f"{length}; every group needs {length} different values",
            f"at most {nearest} different values in a group can be had" if nearest > 1 else "",
        )


def _classes(
    frequencies: Frequencies, policy: Policy, attribute: str, length: int, progress: Progress
) -> Assignment | None:
    """Find classes that are k-anonymous and leave Anatomy room; None where no model asks for classes."""
    sizes: Sequence[Privacy] = [model for model in policy.privacy if isinstance(model, KAnonymity)]
    if not sizes:
        return None
    shares = AlphaK(attribute, Fraction(1, length), 1)
    return local(frequencies, policy.model_copy(update={"privacy": (*sizes, shares)}), progress)


ALGORITHM = Algorithm(Anatomy, anatomy, "permuting", deals=True)
