"""Groups of neighbours in a declared order."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import PolicyError
from indistinct.hierarchies.hierarchy import Fractions, Grouping, Hierarchy, assemble, runs
from indistinct.hierarchies.values import exact, limits, quoted, range_text, scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.hierarchies.values import Scale


def build(
    attribute: str,
    texts: Sequence[str | None],
    *,
    order: Sequence[str] | None,
    sizes: Sequence[Any] | None = None,
    groups: Sequence[Sequence[Sequence[str]]] | None = None,
    domain: Sequence[Any] | None = None,
) -> Hierarchy:
    """Build the levels value, one for each size or list of groups, and the root ``*``.

    ``sizes``: each a multiple of the one before; a group is that many neighbours of the order, from its
    beginning. ``groups``: for each level lists of neighbours that follow the order. A group is written
    ``[a, c]``, a single value as itself. LM cost of a group: ``(last rank - first rank) /
    (domain_last - domain_first)``, clipped to the domain (default the whole order); root 1.

    Raises PolicyError when sizes or groups do not nest, groups are not made of neighbours or leave values
    out; DataError for values outside the order.

    >>> build("size", ["XL", "S"], order=["S", "M", "L", "XL"], sizes=[2]).levels[1].labels
    ('[S, M]', '[L, XL]')
    """
    found = scale(attribute, texts, "ordinal", order=order)
    names = tuple(order or ())
    low, high = limits(found, domain, order=names)
    if (sizes is None) == (groups is None):
        raise PolicyError(f'ordinal levels of column "{attribute}" need either sizes or groups', column=attribute)
    levels = [list(range(0, len(names), size)) for size in _sizes(attribute, sizes)] if sizes is not None else []
    levels += [_listed(attribute, names, level, number) for number, level in enumerate(groups or (), 1)]
    _check_nested(attribute, levels)
    return assemble(
        attribute,
        "ordinal",
        found.texts,
        [_grouping(found, names, starts, (int(low), int(high))) for starts in levels],
        missing=found.missing,
        wide=high > low,
        positions=found.fractions,
        spellings=found.spellings,
    )


def _grouping(found: Scale, order: Sequence[str], starts: Sequence[int], ends: tuple[int, int]) -> Grouping:
    """Build a level from the first ranks of its groups."""
    bounds = np.array([*starts, len(order)], dtype=np.int64)
    group = np.searchsorted(bounds, found.positions, side="right") - 1
    node_of, first = runs(group)
    lowest, highest = bounds[group[first]], bounds[group[first] + 1] - 1
    labels = [
        order[a] if a == b else range_text(order[a], order[b])
        for a, b in zip(lowest.tolist(), highest.tolist(), strict=True)
    ]
    low, high = ends
    steps = np.minimum(highest, high) - np.maximum(lowest, low) if low < high else np.zeros(len(first), np.int64)
    return Grouping(node_of, labels, Fractions(steps, max(high - low, 1)))


def _sizes(attribute: str, sizes: Sequence[Any]) -> list[int]:
    numbers = [exact(size, f'sizes of column "{attribute}"') for size in sizes]
    if not numbers or any(number < 1 or number.denominator > 1 for number in numbers):
        raise PolicyError(f'sizes of column "{attribute}" must be whole numbers from 1 up', column=attribute)
    for fine, coarse in pairwise(numbers):
        if coarse <= fine or (coarse / fine).denominator > 1:
            raise PolicyError(
                f'size {coarse} of column "{attribute}" must be a multiple of the size before it, {fine}, '
                "or the levels would not nest",
                column=attribute,
            )
    return [int(number) for number in numbers]


def _listed(attribute: str, order: Sequence[str], groups: Sequence[Sequence[str]], number: int) -> list[int]:
    """First ranks of listed groups, which must follow the order and leave nothing out."""
    what = f'groups of column "{attribute}", level {number}'
    starts = []
    rank = 0
    for group in groups:
        if not group or tuple(group) != tuple(order[rank : rank + len(group)]):
            expected = quoted(order[rank : rank + 1]) or "nothing"
            raise PolicyError(
                f"{what}: [{', '.join(group)}] must list neighbours of the order, beginning with {expected}",
                column=attribute,
            )
        starts.append(rank)
        rank += len(group)
    if rank < len(order):
        raise PolicyError(f'{what}, leave out "{order[rank]}"', column=attribute)
    return starts


def _check_nested(attribute: str, levels: Sequence[Sequence[int]]) -> None:
    for number, (fine, coarse) in enumerate(pairwise(levels), 2):
        if not set(coarse) <= set(fine):
            message = f'groups of column "{attribute}", level {number}, cut through a group of level {number - 1}'
            raise PolicyError(message, column=attribute)
