"""Groups of neighbours in a declared order."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import PolicyError
from indistinct.hierarchies.hierarchy import Fractions, Grouping, Hierarchy, assemble, runs
from indistinct.hierarchies.values import exact, limits, quoted, range_text, scale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indistinct.hierarchies.values import Scale

    Groups = Sequence[Sequence[str]] | Mapping[str, Sequence[str]]
    Named = list[tuple[str, int]]


def build(
    attribute: str,
    texts: Sequence[str | None],
    *,
    order: Sequence[str] | None,
    sizes: Sequence[Any] | None = None,
    groups: Sequence[Groups] | None = None,
    domain: Sequence[Any] | None = None,
) -> Hierarchy:
    """Build the levels value, one for each size or list of groups, and the root ``*``.

    ``sizes``: each a multiple of the one before; a group is that many neighbours of the order, from its
    beginning. ``groups``: for each level either lists of neighbours, or names with lists. Groups without a
    name are written ``[a, c]``, a single value as itself. LM cost of a group: ``(last rank - first rank) /
    (domain_last - domain_first)``, clipped to the domain (default the whole order); root 1.

    Raises PolicyError when sizes or groups do not nest, groups are not made of neighbours or leave values
    out; DataError for values outside the order.

    >>> build("size", ["XL", "S"], order=["S", "M", "L", "XL"], sizes=[2]).levels[1].labels
    ('[S, M]', '[L, XL]')
    """
    found = scale(attribute, texts, "ordinal", order=order)
    low, high = limits(found, domain, order=order)
    names = tuple(order or ())
    if (sizes is None) == (groups is None):
        raise PolicyError(f'ordinal levels of column "{attribute}" need either sizes or groups', column=attribute)
    if groups is None:
        levels = [_sized(names, size) for size in _sizes(attribute, sizes or ())]
    else:
        levels = [_listed(attribute, names, level, number) for number, level in enumerate(groups, 1)]
        _check_nested(attribute, levels)
    ends = int(low), int(high)
    return assemble(
        attribute,
        "ordinal",
        found.texts,
        [_grouping(found, level, ends) for level in levels],
        missing=found.missing,
        wide=high > low,
        positions=found.fractions,
        spellings=found.spellings,
    )


def _grouping(found: Scale, level: Named, ends: tuple[int, int]) -> Grouping:
    """``level``: label and first rank of each group in order, closed by the number of ranks."""
    starts = np.array([start for _, start in level], dtype=np.int64)
    group = np.searchsorted(starts, found.positions, side="right") - 1
    node_of, first = runs(group)
    kept = group[first]
    low, high = ends
    if low == high:
        costs = Fractions(np.zeros(len(kept), np.int64), 1)
    else:
        costs = Fractions(np.minimum(starts[kept + 1] - 1, high) - np.maximum(starts[kept], low), high - low)
    return Grouping(node_of, [level[index][0] for index in kept.tolist()], costs)


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


def _sized(order: Sequence[str], size: int) -> Named:
    starts = range(0, len(order), size)
    return [*((_label(order[start : start + size]), start) for start in starts), ("", len(order))]


def _listed(attribute: str, order: Sequence[str], groups: Groups, number: int) -> Named:
    named = groups.items() if hasattr(groups, "items") else [(_label(group), group) for group in groups]
    level = []
    start = 0
    for label, group in sorted(
        named, key=lambda item: [order.index(text) if text in order else -1 for text in item[1]]
    ):
        if not group or tuple(group) != tuple(order[start : start + len(group)]):
            raise PolicyError(
                f'groups of column "{attribute}", level {number}: [{", ".join(group)}] must be neighbours of the '
                f"order and written in it; the next value of the order is {quoted(order[start : start + 1]) or 'none'}",
                column=attribute,
            )
        level.append((label, start))
        start += len(group)
    if start < len(order):
        raise PolicyError(
            f'groups of column "{attribute}", level {number}, leave out "{order[start]}"', column=attribute
        )
    return [*level, ("", len(order))]


def _label(group: Sequence[str]) -> str:
    return group[0] if len(group) == 1 else range_text(group[0], group[-1]) if group else ""


def _check_nested(attribute: str, levels: Sequence[Named]) -> None:
    sets: dict[str, tuple[int, int]] = {}
    for number, (fine, coarse) in enumerate(pairwise([None, *levels]), 1):
        starts = [start for _, start in coarse or ()]
        if fine is not None and not set(starts) <= {start for _, start in fine}:
            raise PolicyError(
                f'groups of column "{attribute}", level {number}, cut through a group of level {number - 1}',
                column=attribute,
            )
        for (label, start), (_, stop) in pairwise(coarse or ()):
            if sets.setdefault(label, (start, stop)) != (start, stop):
                raise PolicyError(
                    f'groups of column "{attribute}": the name "{label}" stands for two different groups',
                    column=attribute,
                )
