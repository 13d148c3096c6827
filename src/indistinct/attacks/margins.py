"""Tables with given margins: how many rows of each group may have each value.

A table is ``c[g, v]``, with the sizes of the groups and the published counts of the values as margins. Its *weight* is
the number of ways to give single rows their values so that it comes out: ``prod_g n_g! / prod_gv c_gv!``; all weights
together are ``n! / prod_v c_v!``. A release allows a table when for each value its rows in the groups can be sent to
the places of that value in classes that cover them.
"""

from __future__ import annotations

from functools import cache
from math import factorial, prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Column = tuple[int, ...]
MOST_STATES = 200_000


def columns_of(sizes: Sequence[int], rows: int) -> Iterator[Column]:
    """Yield the ways to spread ``rows`` rows over groups of at most ``sizes``.

    >>> list(columns_of([2, 4], 2))
    [(0, 2), (1, 1), (2, 0)]
    """
    if len(sizes) == 1:
        if rows <= sizes[0]:
            yield (rows,)
        return
    for first in range(max(0, rows - sum(sizes[1:])), min(sizes[0], rows) + 1):
        for rest in columns_of(sizes[1:], rows - first):
            yield first, *rest


def _columns(sizes: Sequence[int], rows: int) -> int:
    """Count the ways to spread ``rows`` rows over groups of at most ``sizes`` without listing them."""
    ways = [1] + [0] * rows
    for size in sizes:
        ways = [sum(ways[max(0, taken - size) : taken + 1]) for taken in range(rows + 1)]
    return ways[rows]


def number(sizes: Sequence[int], counts: Sequence[int]) -> int | None:
    """Count the tables with these margins; None where even counting them takes too long.

    >>> number([3, 3, 4, 4], [5, 9])
    46
    >>> number([1] * 60, [30, 30]) is None
    True
    """
    if counts and _columns(sizes, counts[0]) > MOST_STATES:
        return None
    states = {tuple(sizes): 1}
    steps = 0
    for count in counts:
        after: dict[Column, int] = {}
        for left, times in states.items():
            for column in columns_of(left, count):
                steps += 1
                if steps > MOST_STATES:
                    return None
                rest = tuple(have - taken for have, taken in zip(left, column, strict=True))
                after[rest] = after.get(rest, 0) + times
        states = after
    return states.get((0,) * len(sizes), 0)


def tables_of(sizes: Sequence[int], counts: Sequence[int]) -> Iterator[tuple[Column, ...]]:
    """Yield the tables with these margins, one column for each value.

    >>> list(tables_of([2, 1], [1, 2]))
    [((0, 1), (2, 0)), ((1, 0), (1, 1))]
    """
    if len(counts) == 1:  # what is left over
        yield (tuple(sizes),)
        return
    for column in columns_of(sizes, counts[0]):
        rest = [have - taken for have, taken in zip(sizes, column, strict=True)]
        for more in tables_of(rest, counts[1:]):
            yield column, *more


def weight(sizes: Sequence[int], table: Sequence[Column]) -> int:
    """Count the ways to give single rows their values so that a table comes out (columns are those of the values).

    >>> weight([2, 4], [(1, 1), (1, 3)])
    8
    """
    return prod(map(factorial, sizes)) // prod(factorial(cell) for column in table for cell in column)


def allowed(
    sizes: Sequence[int], counts: Sequence[int], covers: Sequence[Sequence[int]], shown: Sequence[Sequence[int]]
) -> Iterator[tuple[Column, ...]]:
    """Yield the tables that a release allows, one column for each value.

    ``covers[g]`` are the classes that cover group g, ``shown[v][E]`` the rows of class E with value v.

    >>> list(allowed([1, 1], [1, 1], [[0], [0, 1]], [[1, 0], [0, 1]]))
    [((1, 0), (0, 1))]
    """
    choices = [
        [column for column in columns_of(sizes, count) if _fits(column, covers, places)]
        for count, places in zip(counts, shown, strict=True)
    ]

    def rest(value: int, left: Column) -> Iterator[tuple[Column, ...]]:
        if value == len(choices):
            if not any(left):
                yield ()
            return
        for column in choices[value]:
            after = tuple(have - taken for have, taken in zip(left, column, strict=True))
            if min(after) >= 0 and within(value + 1, after):
                for more in rest(value + 1, after):
                    yield column, *more

    @cache
    def within(value: int, left: Column) -> bool:
        return any(True for _ in rest(value, left))

    yield from rest(0, tuple(sizes))


def _fits(column: Column, covers: Sequence[Sequence[int]], places: Sequence[int]) -> bool:
    """Whether the rows of the groups find places in classes that cover them: a flow, by augmenting paths."""
    free = list(places)
    sent = [dict.fromkeys(own, 0) for own in covers]

    def send(group: int, tried: set[int]) -> bool:
        for place in covers[group]:
            if place in tried:
                continue
            tried.add(place)
            if free[place]:
                free[place] -= 1
                sent[group][place] += 1
                return True
            for other, own in enumerate(sent):
                if own.get(place) and send(other, tried):
                    own[place] -= 1
                    sent[group][place] += 1
                    return True
        return False

    return all(send(group, set()) for group, rows in enumerate(column) for _ in range(rows))
