"""Which keys occur once, and where the first repetition is: open addressing with stamps instead of clearing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.kernels import lean
from indistinct.kernels.counting import slot_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Bool = NDArray[np.bool_]


@lean
def mark_alone(keys: Int64, slots: Int64, owner: Int32, stamps: Int32, stamp: int, out: Bool) -> None:
    """Say of each key whether no other is equal.

    ``slots`` int64[2^p], ``owner`` int32[2^p] and ``stamps`` int32[2^p] are working space of at least twice the number
    of keys; a slot is taken when its stamp is ``stamp``, which must be new in every call. ``out`` bool[len(keys)].
    """
    mask = len(slots) - 1
    for row in range(len(keys)):
        key = keys[row]
        slot = slot_of(key, mask)
        while stamps[slot] == stamp and slots[slot] != key:
            slot = (slot + 1) & mask
        if stamps[slot] != stamp:
            stamps[slot] = stamp
            slots[slot] = key
            owner[slot] = row
            out[row] = True
        else:
            out[owner[slot]] = False
            out[row] = False


@lean
def first_repetition(keys: Int64, slots: Int64, owner: Int32, stamps: Int32, stamp: int) -> tuple[int, int]:
    """Return the first pair of positions with equal keys, (-1, -1) if all differ; working space as above."""
    mask = len(slots) - 1
    for row in range(len(keys)):
        key = keys[row]
        slot = slot_of(key, mask)
        while stamps[slot] == stamp and slots[slot] != key:
            slot = (slot + 1) & mask
        if stamps[slot] == stamp:
            return owner[slot], row
        stamps[slot] = stamp
        slots[slot] = key
        owner[slot] = row
    return -1, -1


@lean
def never_met(
    keys: Int64, table: Int32, left: Int64, pairs: int, slots: Int64, owner: Int32, stamps: Int32, stamp: int,
    previous: Int32,
) -> tuple[int, bool]:  # fmt: skip
    """Go through pairs of rows with equal keys; keep in ``left`` the columns on which none of them agrees.

    ``table`` int32[rows, columns]; ``left`` int64[.] columns, of which the first so many as returned remain;
    ``previous`` int32[rows] working space: the row before with the same key. The second value says whether all pairs
    were seen; at most about ``pairs`` are. Other working space as above.
    """
    mask = len(slots) - 1
    number = len(left)
    seen = 0
    for row in range(len(keys)):
        key = keys[row]
        slot = slot_of(key, mask)
        while stamps[slot] == stamp and slots[slot] != key:
            slot = (slot + 1) & mask
        if stamps[slot] == stamp:
            earlier = owner[slot]
            previous[row] = earlier
            while earlier >= 0:
                seen += 1
                place = 0
                while place < number:
                    column = left[place]
                    if table[row, column] == table[earlier, column]:
                        number -= 1
                        left[place] = left[number]
                    else:
                        place += 1
                if number == 0:
                    return 0, False
                if seen >= pairs:
                    return number, False
                earlier = previous[earlier]
        else:
            stamps[slot] = stamp
            slots[slot] = key
            previous[row] = -1
        owner[slot] = row
    return number, True
