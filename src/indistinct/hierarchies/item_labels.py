"""Which sets of items a published set of labels covers; shares nothing with how labels are chosen.

A set of labels covers a set of items if every item lies under one of the labels, and every label has one of the items
under it: so nothing is left out and nothing invented. A label that no row of the tree has stands for itself. The
suppression token alone covers everything; a missing cell is a set without items.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from indistinct.hierarchies.items import items_of
from indistinct.hierarchies.labels import Reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray


class ItemReader(Reader):
    """The distinct original cells of a set-valued column; asked as ``Reader`` is.

    ``rows`` are those of the tree of items: item, level 1, ..., top.

    >>> rows = [("beer", "drinks"), ("wine", "drinks"), ("milk", "dairy")]
    >>> reader = ItemReader(["beer;milk", "wine", "milk", None], ";", rows)
    >>> reader.find("drinks;dairy").tolist(), reader.find("drinks").tolist(), reader.find("").tolist()
    ([0], [1], [3])
    """

    def __init__(
        self,
        texts: Sequence[str | None],
        separator: str,
        rows: Sequence[Sequence[str]] = (),
        token: str = "*",  # noqa: S107  # the mark of a suppressed cell
    ) -> None:
        super().__init__(texts, token=token)
        self._separator = separator
        self._sets = [frozenset(items_of(text, separator)) for text in texts]
        self._under: defaultdict[str, set[str]] = defaultdict(set)
        for row in rows:
            for label in row:
                self._under[label].add(row[0])
        self._holders: defaultdict[str, set[int]] = defaultdict(set)
        for number, own in enumerate(self._sets):
            for item in own or {""}:
                self._holders[item].add(number)

    def agrees(
        self, labels: Sequence[str | None], label: NDArray[np.integer], value: NDArray[np.integer]
    ) -> NDArray[np.bool_]:
        """bool[pairs]: whether ``labels[label[i]]`` covers cell number ``value[i]``, asking these pairs only."""
        under = [None if text == self.token else self._leaves(text) for text in labels]
        pairs = zip(label.tolist(), value.tolist(), strict=True)
        return np.array([_covers(under[mine], self._sets[other]) for mine, other in pairs], np.bool_)

    def _leaves(self, text: str | None) -> list[set[str]]:
        return [self._under.get(label) or {label} for label in items_of(text, self._separator)]

    def _find(self, label: str | None) -> Iterable[int]:
        if label == self.token:
            return range(len(self.texts))
        under = self._leaves(label)
        # whatever is covered holds an item under the first label
        near = {number for item in (under[0] if under else {""}) for number in self._holders.get(item, ())}
        return [number for number in near if _covers(under, self._sets[number])]


def _covers(under: list[set[str]] | None, items: frozenset[str]) -> bool:
    """Whether labels with these leaves cover a set of items; None covers everything."""
    if under is None:
        return True
    return all(not leaves.isdisjoint(items) for leaves in under) and items <= set().union(*under)
