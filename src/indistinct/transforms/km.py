"""k^m-anonymity of a set-valued column by generalizing its items along a tree, everywhere alike.

As a transform, for tables that other models must hold for too, and the search behind ``algorithms.km``. Definition,
method, source and worked example: docs/transforms.md.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import DataError, InfeasibleError
from indistinct.hierarchies.items import items_of
from indistinct.hierarchies.taxonomy import check, read_taxonomy
from indistinct.models.km_anonymity import rarest, rarest_set
from indistinct.notices import Sentence
from indistinct.tables.item_sets import numbered_sets
from indistinct.transforms.columns import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.policy.transforms import Km
    from indistinct.transforms.chance import Chance
    from indistinct.transforms.columns import Column


def km(request: Km, columns: Mapping[str, Column], chance: Chance) -> Outcome:  # noqa: ARG001  # the contract's
    """Replace items by labels of the tree until every set of at most m of them is held by k rows.

    Raises HierarchyError for a file that is none, DataError for items without a row in it, InfeasibleError when fewer
    than k rows have items or the tree ends too early.
    """
    column = columns[request.attribute]
    tree = Tree(read_taxonomy(request.hierarchy), column.name)
    split = [items_of(text, column.separator) for text in column.texts]
    rows = np.bincount(column.codes[column.codes >= 0], minlength=len(split))
    held = holders(split, rows)
    label_of = generalized(split, rows, tree, column.separator, [(request.k, request.m)])
    new = [joined(own, label_of, column.separator) for own in split]
    texts = sorted(set(new))
    place = {text: number for number, text in enumerate(texts)}
    number_of = np.array([*(place[text] for text in new), -1], np.int32)
    total = sum(held.values())
    lost = sum((tree.cost(label_of[item]) * count for item, count in held.items()), Fraction(0))
    moved = sum(label_of[item] != item for item in held)
    loss = {"ncp": float(lost / total) if total else 0.0, "items": len(held), "generalized": moved}
    sentence = Sentence(
        '{n} of {items} items of "{name}" are generalized to {labels} labels in all; every set of at most {m} labels '
        "is held by at least {k} rows",
        n=moved,
        items=len(held),
        name=column.name,
        labels=len(set(label_of.values())),
        m=request.m,
        k=request.k,
    )
    return Outcome({column.name: column.changed(texts, number_of[column.codes])}, loss, sentence)


class Tree:
    """A hierarchy of items: ``path`` from each leaf to its top, labels repeated along it left out."""

    def __init__(self, rows: Sequence[Sequence[str]], attribute: str) -> None:
        self.attribute = attribute
        self.leaves = check(rows, attribute).leaves
        self.path = {row[0]: tuple(dict.fromkeys(row)) for row in rows}
        self.parent = {low: high for path in self.path.values() for low, high in pairwise(path)}
        self.below: defaultdict[str, list[str]] = defaultdict(list)
        for leaf, path in self.path.items():
            for label in path:
                self.below[label].append(leaf)

    def cost(self, label: str) -> Fraction:
        """NCP of a label: (its leaves - 1) / (all leaves - 1)."""
        return Fraction(len(self.below[label]) - 1, max(len(self.leaves) - 1, 1))


def holders(split: Sequence[Sequence[str]], rows: NDArray[np.int64]) -> Counter[str]:
    """Count the rows that hold each item."""
    held: Counter[str] = Counter()
    for own, count in zip(split, rows.tolist(), strict=True):
        held.update(dict.fromkeys(own, count))
    return held


def joined(items: Sequence[str], label_of: Mapping[str, str], separator: str) -> str:
    """Write the set of labels of some items."""
    return separator.join(sorted({label_of[item] for item in items}))


def generalized(
    split: Sequence[Sequence[str]],
    rows: NDArray[np.int64],
    tree: Tree,
    separator: str,
    request: Sequence[tuple[int, int]],
) -> dict[str, str]:
    """Return the label of each item that occurs, so that every (k, m) ``request`` holds for the ``rows`` of each set.

    Raises DataError for items without a row in the tree and for labels that contain the separator, InfeasibleError
    when the tree ends too early.
    """
    held = holders(split, rows)
    if unplaced := sum(item not in tree.path for item in held):
        message = f'{unplaced} items of "{tree.attribute}" have no row in the hierarchy of km; add the rows'
        raise DataError(message, column=tree.attribute)
    label_of = {item: item for item in held}
    for k, m in request:
        _lift(label_of, split, rows, tree, k, m, held)
    if any(separator in label for label in label_of.values()):
        message = f'a label in the hierarchy of km contains the separator of "{tree.attribute}"; rename it'
        raise DataError(message, column=tree.attribute)
    return label_of


def _lift(
    label_of: dict[str, str],
    split: Sequence[Sequence[str]],
    rows: NDArray[np.int64],
    tree: Tree,
    k: int,
    m: int,
    held: Mapping[str, int],
) -> None:
    """Lift labels greedily, the rarest set first, by the cheapest of its labels.

    Sets of one label are mended first, then of two, and so on; a lift never makes a smaller set rarer.
    """
    for size in range(1, m + 1):
        while True:
            sets = numbered_sets([sorted({label_of[item] for item in own}) for own in split], np.arange(len(split)))
            names = sorted(set(label_of.values()))
            found = rarest_set(sets, rows, size)
            if found is None or found[0] >= k:
                break
            labels = [names[number] for number in found[1]]
            able = [label for label in labels if label in tree.parent]
            if not able:
                raise InfeasibleError(
                    f"a set of {size} labels at the top of the tree of km is held by {found[0]} rows, fewer than {k}",
                    "ask for a smaller k or m, or give the tree a common top",
                )
            label = min(able, key=lambda label: (_price(label, tree, label_of, held), label))
            up = tree.parent[label]
            label_of.update({leaf: up for leaf in tree.below[up] if leaf in label_of})
    assert int(rarest(sets, rows, m).min(initial=k)) >= min(k, int(rows.sum()))  # noqa: S101  # what was promised


def _price(label: str, tree: Tree, label_of: Mapping[str, str], held: Mapping[str, int]) -> Fraction:
    """Loss that lifting a label adds: NCP of each item under its parent, by the rows that hold it."""
    up = tree.parent[label]
    top = tree.cost(up)
    return sum(((top - tree.cost(label_of[i])) * held[i] for i in tree.below[up] if i in label_of), Fraction(0))
