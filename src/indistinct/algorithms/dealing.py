"""What the algorithms share that publish sensitive values by group: slots, places, and who gets which place.

A *slot* is one sensitive value inside one class (of quasi-identifiers; the whole table where these stay exact), a
*place* is one row's worth of a slot in a group. An algorithm decides on slots, that is on counts of values; then
``deal`` gives the places of a slot to its rows at random, so that which of several equal values a person got says
nothing. That randomness protects: it comes from the operating system.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from indistinct.errors import PolicyError, UnsupportedError
from indistinct.policy.parameters import Privacy
from indistinct.policy.problems import name_of
from indistinct.tables.classes import whole_tuples
from indistinct.tables.order import secret_words
from indistinct.tables.records import SUPPRESSED, Assignment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.notices import Sentence
    from indistinct.policy import Policy
    from indistinct.tables.records import Frequencies

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    # so many random words; tests give none, and rows then get their places in order
    Words = Callable[[int], NDArray[np.uint64]]

Model = TypeVar("Model", bound=Privacy)
FLAGS = 1 << 24


@dataclass(frozen=True)
class Slots:
    """The sensitive values of each class, with their rows.

    Slots of class j are ``class_start[j]:class_start[j + 1]``, ascending by ``value`` (int32[slots], codes or their
    ranks); ``rows`` int64[slots]. ``portions`` says how quasi-identifiers are published; ``of_part`` int32[.] is the
    slot of each of its entries, -1 where it is suppressed.
    """

    class_start: Int64
    value: Int32
    rows: Int64
    portions: Assignment
    of_part: Int32


def attribute_of(policy: Policy, frequencies: Frequencies, name: str, held: tuple[type[Privacy], ...]) -> str:
    """Return the one sensitive attribute of a release in groups.

    Raises PolicyError when a model is none of those that algorithm ``name`` holds (``held``), when none is about a
    sensitive attribute, or several are about different ones; UnsupportedError with a person key: a group counts rows.
    """
    for model in policy.privacy:
        if not isinstance(model, held):
            names = ", ".join(map(name_of, held))
            raise PolicyError(
                f'"{name}" cannot hold {model.model}; it holds {names}, and "local" holds models of classes',
                key="recoding.algorithm",
            )
    used = sorted({attribute for model in policy.privacy for attribute in model.attributes_used})
    if len(used) != 1:
        found = f"the models are about {len(used)} ({', '.join(used)})" if used else "no model is about one"
        raise PolicyError(
            f'"{name}" publishes one sensitive attribute by group; {found}; name one in [[privacy]]',
            key="recoding.algorithm",
        )
    if frequencies.persons is not None:
        raise UnsupportedError(
            f'"{name}" counts rows, and with a person key a group could hold several rows of one person; keep one row '
            "for each person and drop [person], or use an algorithm of classes such as local",
            key="recoding.algorithm",
        )
    return used[0]


def slots_of(
    frequencies: Frequencies, attribute: str, classes: Assignment | None = None, rank: Int64 | None = None
) -> Slots:
    """Count the rows of each (class, value); without classes every tuple is published as it is, and all are one class.

    ``rank`` int64[codes] says what the value of each code is, where codes have another order or are spellings.

    >>> import numpy as np
    >>> from indistinct.hierarchies import build_hierarchy
    >>> from indistinct.tables.count import frequencies_of
    >>> quasi, sensitive = (build_hierarchy(name, ["a", "b"], spec=None) for name in "qs")
    >>> cells = np.array([[0, 0], [1, 0], [1, 1]], np.int32)
    >>> counted = frequencies_of((quasi,), (sensitive,), cells, np.array([4, 1, 2]))
    >>> slots_of(counted, "s").rows.tolist()
    [5, 2]
    """
    portions = whole_tuples(frequencies) if classes is None else classes
    size = frequencies.references[attribute].hierarchy.size
    class_of = (portions.class_of if classes is not None else np.zeros(len(portions.cell), np.int32)).astype(np.int64)
    published = np.flatnonzero(class_of != SUPPRESSED)
    values = frequencies.sensitive_codes(attribute)[portions.cell[published]].astype(np.int64)
    values = values if rank is None else rank[values]
    keys, own = _ranked(class_of[published] * size + values)
    of_part = np.full(len(portions.cell), -1, np.int32)
    of_part[published] = own
    rows = np.zeros(len(keys), np.int64)
    np.add.at(rows, of_part[published], portions.count[published])
    class_start = np.searchsorted(keys // size, np.arange(int(class_of.max(initial=-1)) + 2)).astype(np.int64)
    return Slots(class_start, (keys % size).astype(np.int32), rows, portions, of_part)


def deal(
    slots: Slots,
    place_slot: Int32,
    place_group: Int32,
    *,
    reasons: Mapping[str, int] | None = None,
    notes: tuple[Sentence, ...] = (),
    words: Words = secret_words,
) -> Assignment:
    """Give the places of every slot to its rows, in an order that random ``words`` decide.

    ``place_slot`` and ``place_group`` int32[p] name the slot and the group of every place; rows that get none are
    suppressed.
    """
    from indistinct.kernels.dealing import groups_by_slot, rows_by_slot

    portions = slots.portions
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(slots.rows)])
    part, group_of = np.zeros(int(start[-1]), np.int32), np.full(int(start[-1]), SUPPRESSED, np.int32)
    rows_by_slot(slots.of_part, portions.count, start, words(len(part)), part)
    groups_by_slot(place_slot, place_group, start, group_of)
    gone = np.flatnonzero(slots.of_part < 0).astype(np.int32)
    part = np.concatenate([part, gone])
    count = np.concatenate([np.ones(len(group_of), np.int64), portions.count[gone]])
    group_of = np.concatenate([group_of, np.full(len(gone), SUPPRESSED, np.int32)])
    class_of, classes = renumbered(np.where(group_of == SUPPRESSED, np.int32(SUPPRESSED), portions.class_of[part]))
    group_of, groups = renumbered(group_of)
    return Assignment(
        portions.cell[part],
        count,
        class_of,
        classes,
        notes=(*portions.notes, *notes),
        group_of=group_of,
        groups=groups,
        reasons=dict(reasons or {}),
    )


def _ranked(keys: Int64) -> tuple[Int64, Int64]:
    """Return the distinct keys (>= 0), ascending, and which of them each is; by flags where these are few."""
    bound = int(keys.max(initial=-1)) + 1
    if bound > FLAGS:
        distinct, rank = np.unique(keys, return_inverse=True)
        return distinct, rank.reshape(-1)
    present = np.zeros(bound, np.bool_)
    present[keys] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[keys]


def renumbered(numbers: Int32) -> tuple[Int32, int]:
    """Number what is left 0, 1, ..., in its order; -1 stays.

    >>> import numpy as np
    >>> renumbered(np.array([4, -1, 2, 4], np.int32))
    (array([ 1, -1,  0,  1], dtype=int32), 2)
    """
    present = np.zeros(int(numbers.max(initial=-1)) + 2, np.bool_)
    present[numbers] = True
    present[-1] = False
    rank = np.cumsum(present, dtype=np.int32) - np.int32(1)
    rank[-1] = SUPPRESSED
    return rank[numbers], int(present.sum())


def strictest(models: Sequence[Privacy], kind: type[Model]) -> Model | None:
    """Return the one model of a kind; PolicyError when there are several.

    Several of one model on one attribute would have to hold together, which these algorithms do not attempt.
    """
    found = [model for model in models if isinstance(model, kind)]
    if len(found) > 1:
        raise PolicyError(
            f"{name_of(kind)} stands {len(found)} times under [[privacy]]; keep the strictest", key="privacy"
        )
    return found[0] if found else None
