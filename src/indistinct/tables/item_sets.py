"""Set-valued cells: texts that list items, split once for each distinct text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.hierarchies.items import items_of
from indistinct.tables.records import ItemSets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def item_sets(texts: Sequence[str | None], separator: str, text_of: NDArray[np.integer[Any]]) -> ItemSets:
    """Split texts into sets of items (``items_of``), numbered in code-point order.

    ``text_of`` int64[g] says which text each class has; a missing text is the empty set.

    >>> found = item_sets(["b; a;b", None], ";", np.array([1, 0]))
    >>> found.start.tolist(), found.item.tolist(), found.items
    ([0, 0, 2], [0, 1], 2)
    """
    return numbered_sets([items_of(text, separator) for text in texts], text_of)


def numbered_sets(split: Sequence[Sequence[str]], text_of: NDArray[np.integer[Any]]) -> ItemSets:
    """Number the items of sets, each in code-point order, in code-point order."""
    number = {item: place for place, item in enumerate(sorted({item for own in split for item in own}))}
    lengths = np.array([len(own) for own in split], np.int64)
    flat = np.array([number[item] for own in split for item in own], np.int32)
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    own_lengths = lengths[text_of]
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(own_lengths)])
    places = np.arange(start[-1]) - np.repeat(start[:-1] - first[text_of], own_lengths)
    return ItemSets(start, flat[places], len(number))
