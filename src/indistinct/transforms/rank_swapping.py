"""Swapping each value of a column with one whose rank is near.

Definition, source and worked example: docs/transforms.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.notices import Sentence
from indistinct.transforms.columns import Outcome, places_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indistinct.policy.transforms import RankSwapping
    from indistinct.transforms.chance import Chance
    from indistinct.transforms.columns import Column

WORDS = 1 << 16


def rank_swapping(request: RankSwapping, columns: Mapping[str, Column], chance: Chance) -> Outcome:
    """Swap values whose ranks differ by floor(share * n) at most; equal values are ranked at random."""
    from indistinct.kernels.swapping import swap

    column = columns[request.attribute]
    at, _ = places_of(column)
    present = np.flatnonzero(at >= 0)
    ranked = present[np.lexsort((chance.words(len(present)), at[present]))]
    reach = int(request.share * len(ranked))
    partner = np.full(len(ranked), -1, np.int64)
    done = 0
    while reach and done < len(ranked):
        done = swap(partner, done, reach, chance.words(WORDS + 2).copy())
    partner = np.where(partner < 0, np.arange(len(ranked)), partner)
    codes = column.codes.copy()
    codes[ranked] = column.codes[ranked[partner]]
    swapped = int((at != places_of(column.changed(column.texts, codes))[0]).sum())
    distance = np.abs(partner - np.arange(len(ranked)))
    loss = {
        "changed": swapped,
        "share": swapped / len(at),
        "mean_rank_distance": float(distance.mean()) / len(ranked) if len(ranked) else 0.0,
    }
    sentence = Sentence(
        '{n} of {rows} rows have another value of "{name}"; every value occurs as often as before',
        n=swapped,
        rows=len(at),
        name=column.name,
    )
    return Outcome({column.name: column.changed(column.texts, codes)}, loss, sentence)
