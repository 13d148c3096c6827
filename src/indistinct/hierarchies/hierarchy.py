"""The record of one attribute's values and of how they generalize."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    IntArray = NDArray[np.int32]
    FloatArray = NDArray[np.float64]


class Fractions(Sequence[Fraction]):
    """Exact fractions ``numerators[i] / denominator``, made when asked for: a million of them cost nothing.

    ``numerators`` is an integer array (int64, or Python integers in an object array); ``denominator`` >= 1.

    >>> costs = Fractions(np.array([0, 2, 4]), 4)
    >>> costs[1], costs[1:] == (Fraction(1, 2), 1), costs.floats().tolist()
    (Fraction(1, 2), True, [0.0, 0.5, 1.0])
    """

    __slots__ = ("denominator", "numerators")

    def __init__(self, numerators: NDArray[Any], denominator: int) -> None:
        self.numerators = numerators
        self.denominator = denominator

    def __len__(self) -> int:
        return len(self.numerators)

    @overload
    def __getitem__(self, index: int) -> Fraction: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Fraction, ...]: ...
    def __getitem__(self, index: int | slice) -> Fraction | tuple[Fraction, ...]:
        if isinstance(index, slice):
            return tuple(Fractions(self.numerators[index], self.denominator))
        return Fraction(int(self.numerators[index]), self.denominator)

    def __iter__(self) -> Iterator[Fraction]:
        return (Fraction(numerator, self.denominator) for numerator in self.numerators.tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Fractions({self.numerators!r}, {self.denominator})"

    def floats(self) -> FloatArray:
        """float64[.]: the same as doubles."""
        return np.asarray(self.numerators / self.denominator, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Level:
    """One level of generalization: which node each value belongs to, and what a node is called and costs.

    ``node_of`` is int32[n_values]; nodes are numbered 0.. in value order and every node is a contiguous run
    of values. ``labels[node]`` is the published text. ``costs[node]`` is the exact LM cost of the node in [0,
    1].
    """

    node_of: IntArray
    labels: tuple[str, ...]
    costs: Sequence[Fraction]

    def float_costs(self) -> FloatArray:
        """float64[n_nodes]: the costs as doubles."""
        if isinstance(self.costs, Fractions):
            return self.costs.floats()
        return np.array([float(cost) for cost in self.costs], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Sets:
    """What sets of values cost: ``costs[n]`` for n = 0.. values of a ``domain`` of so many; larger ones are no sets."""

    domain: int
    costs: Sequence[Fraction]

    @property
    def most(self) -> int:
        """Most values that are published as a set."""
        return len(self.costs) - 1


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The values of one attribute that occur in a table, in canonical order, with their generalizations.

    A value's *code* is its index. Codes follow the declared domain order (numbers, dates, an ordinal order,
    the leaf order of a hierarchy), else code-point order. A missing value, where the column has one, is the
    last code; its text is None and it joins the others only at the root (unless a hierarchy file has a row
    for it).

    ``texts`` holds the text of each value. ``levels[0]`` is the finest that is published: the identity, unless
    a floor joins values (``min_level``: the levels below it are that level; ``top`` and ``bottom`` of intervals). An
    attribute without a hierarchy has only that level and is never changed. ``height`` = number of levels - 1.
    ``finer`` are the levels below ``min_level`` as they were before the floor joined them: none is published.

    With ``lower`` and ``upper`` (float64[n_values], kind ``range``) a class is published as the range of its
    members and a box [lo, hi] of codes costs ``upper[hi] - lower[lo]`` (already divided by the domain width);
    otherwise it is published as the smallest node that covers lo and hi. A box that mixes missing and present
    values costs 1 and is published as the root label ``root``.

    With ``sets`` a class is published as the set of its values where they are few enough and missing is not mixed with
    present ones (``label_of``); otherwise as the smallest node that covers them.

    ``positions`` are the exact places of the present values on their scale (the number, the day, the rank),
    empty for text. ``spellings`` maps the other spellings of a value ("05") to its text ("5").
    """

    attribute: str
    kind: str
    texts: tuple[str | None, ...]
    levels: tuple[Level, ...]
    root: str = "*"
    lower: FloatArray | None = None
    upper: FloatArray | None = None
    exact_lower: Sequence[Fraction] = ()
    exact_upper: Sequence[Fraction] = ()
    range_labels: RangeLabels | None = None
    sets: Sets | None = None
    weight: Fraction = Fraction(1)
    min_level: int = 0
    max_level: int | None = None
    finer: tuple[Level, ...] = field(default=(), repr=False)
    positions: Sequence[Fraction] = field(default=(), repr=False)
    spellings: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def size(self) -> int:
        """Number of codes, the missing one included."""
        return len(self.texts)

    @property
    def missing(self) -> int:
        """Code of the missing value, or -1."""
        return len(self.texts) - 1 if self.texts and self.texts[-1] is None else -1

    @property
    def height(self) -> int:
        """Number of levels above the values."""
        return len(self.levels) - 1

    @property
    def is_fixed(self) -> bool:
        """Whether the attribute is never changed."""
        return len(self.levels) == 1 and self.lower is None

    @property
    def is_range(self) -> bool:
        """Whether a class is published as the range of its members."""
        return self.lower is not None

    @property
    def is_ordered(self) -> bool:
        """Whether the codes of the present values follow a scale: numbers, dates or a declared order."""
        places = self.positions
        if isinstance(places, Fractions):
            numerators = places.numerators
            return bool((numerators[1:] > numerators[:-1]).all()) if len(numerators) else self.missing == 0
        return bool(places) and all(a < b for a, b in pairwise(places))

    def codes(self) -> dict[str | None, int]:
        """Code of every text that occurs, other spellings of one value and the missing value (None) included.

        >>> from indistinct.hierarchies import ranges
        >>> ranges.build("age", ["7", "07", None, "5"]).codes()
        {'5': 0, '7': 1, None: 2, '07': 1}
        """
        known = {text: code for code, text in enumerate(self.texts)}
        known.update({spelling: known[text] for spelling, text in self.spellings.items()})
        return known

    def cost(self, lo: int, hi: int) -> Fraction:
        """Exact LM cost in [0, 1] of publishing the box of codes ``lo..hi``.

        >>> from indistinct.hierarchies import suppression
        >>> suppression.build("sex", ["f", "m"]).cost(0, 1)
        Fraction(1, 1)
        """
        if self.is_range:
            missing = self.missing
            if hi == missing:
                return Fraction(0) if lo == hi else Fraction(1)
            return self.exact_upper[hi] - self.exact_lower[lo]
        level, node = self.smallest(lo, hi)
        return self.levels[level].costs[node]

    def meeting(self, lo: int, hi: int, least: int = 0) -> int:
        """Lowest level, at least ``least``, at which one node covers the codes ``lo`` and ``hi``.

        Raises ValueError when no node does (a hierarchy that ends in several labels).
        """
        for number in range(min(max(self.min_level, least), self.height), len(self.levels)):
            node_of = self.levels[number].node_of
            if node_of[lo] == node_of[hi]:
                return number
        message = f"no node of {self.attribute} covers codes {lo} and {hi}"
        raise ValueError(message)

    def smallest(self, lo: int, hi: int, least: int = 0) -> tuple[int, int]:
        """Level, at least ``least``, and node that are published for the codes ``lo`` to ``hi``.

        It is the smallest node that covers both, or the root where that node has its label. Raises as ``meeting`` does.
        """
        level = self.meeting(lo, hi, least)
        node = int(self.levels[level].node_of[lo])
        return (self.height, 0) if level and self.is_root(level, node) else (level, node)

    def smallest_nodes(self, lo: NDArray[Any], hi: NDArray[Any]) -> tuple[IntArray, IntArray]:
        """``smallest`` of many boxes at once: the level and the node of each.

        >>> from indistinct.hierarchies import suppression
        >>> [ends.tolist() for ends in suppression.build("sex", ["f", "m"]).smallest_nodes(np.array([0, 0]), [0, 1])]
        [[0, 1], [0, 0]]
        """
        lo, hi = np.asarray(lo), np.asarray(hi)
        level, node = np.full(len(lo), -1, np.int32), np.zeros(len(lo), np.int32)
        left = np.arange(len(lo))
        for number in range(min(self.min_level, self.height), len(self.levels)):
            node_of = self.levels[number].node_of
            low = node_of[lo[left]]
            meet = low == node_of[hi[left]]
            level[left[meet]], node[left[meet]] = number, low[meet]
            left = left[~meet]
        if len(left):
            self.meeting(int(lo[left[0]]), int(hi[left[0]]))  # says which codes no node covers
        roots = (number for number in range(1, self.height) if self.root in self.levels[number].labels)
        for number in roots if len(self.levels[-1].labels) == 1 else ():
            is_root = np.array([label == self.root for label in self.levels[number].labels], np.bool_)
            here = np.flatnonzero(level == number)
            here = here[is_root[node[here]]]
            level[here], node[here] = self.height, 0
        return level, node

    def is_root(self, level: int, node: int) -> bool:
        """Whether a node is published as the root, so that a reader takes it for everything."""
        return self.levels[level].labels[node] == self.root and len(self.levels[-1].labels) == 1

    def label(self, lo: int, hi: int) -> str | None:
        """Write the published text of a class of codes ``lo..hi``; None = missing."""
        if self.is_range and lo == hi == self.missing:
            return None
        if self.range_labels is not None and hi != self.missing:
            return self.range_labels(lo, hi)
        if self.is_range:
            return self.root
        return self.node_label(*self.smallest(lo, hi))

    def label_of(self, codes: Sequence[int]) -> str | None:
        """Write the published text of a class that holds the values ``codes``, ascending; None = missing.

        >>> from indistinct.hierarchies import sets
        >>> sets.build("dose", ["1,5", "2", "3"], type="decimal", decimal=",").label_of([0, 2])
        '{"1,5", 3}'
        """
        if self.sets is not None and len(codes) > 1 and codes[-1] == self.missing:
            return self.root
        if self.sets is not None and 1 < len(codes) <= self.sets.most:
            return f"{{{', '.join(_element(self.texts[code] or '') for code in codes)}}}"
        return self.label(codes[0], codes[-1])

    def cost_of(self, codes: Sequence[int]) -> Fraction:
        """Exact LM cost of a class that holds the values ``codes``, ascending, whatever the kind.

        >>> from indistinct.hierarchies import sets
        >>> sets.build("work", ["a", "b", "c", "d", "e"], most=3).cost_of([0, 2, 4])
        Fraction(1, 2)
        """
        if self.sets is not None and len(codes) > 1:
            if codes[-1] == self.missing:
                return self.levels[-1].costs[0]
            if len(codes) <= self.sets.most:
                return self.sets.costs[len(codes)]
        return self.cost(codes[0], codes[-1])

    def node_label(self, level: int, node: int) -> str | None:
        """Write the published text of a node; None where the node is the missing value alone."""
        node_of = self.levels[level].node_of
        missing = self.missing
        if missing >= 0 and node_of[missing] == node and (missing == 0 or node_of[missing - 1] != node):
            return None
        return self.levels[level].labels[node]

    def top_labels(self) -> tuple[str, ...]:
        """Return the labels in which the hierarchy ends; more than one where it has no root.

        >>> from indistinct.hierarchies import taxonomy
        >>> taxonomy.build("grade", ["A", "C"], [("A", "low"), ("B", "low"), ("C", "high")]).top_labels()
        ('low', 'high')
        """
        top = len(self.levels) - 1
        nodes = int(self.levels[top].node_of.max(initial=-1)) + 1
        labels = (self.node_label(top, node) for node in range(nodes))
        return tuple(label for label in labels if label is not None)


def _element(text: str) -> str:
    """Write one value of a set, in quotes where it would else be read otherwise."""
    if text and text == text.strip() and not set(text) & set(',{}"'):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


class RangeLabels:
    """Writes the published text of a range of codes; each kind of bounds has its own subclass."""

    def __call__(self, lo: int, hi: int) -> str:
        """Text for the members ``lo..hi`` (present values only)."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Grouping:
    """A level over the present values, with or without the missing one: see ``Level``."""

    node_of: IntArray
    labels: Sequence[str]
    costs: Fractions


def assemble(
    attribute: str,
    kind: str,
    texts: Sequence[str],
    groupings: Sequence[Grouping] = (),
    *,
    missing: bool,
    add_root: bool = True,
    root: str = "*",
    wide: bool = True,
    floor: Grouping | None = None,
    **fields: Any,
) -> Hierarchy:
    """Build the record from the levels of the present values.

    Adds the identity (or ``floor``, which joins values that are never told apart) below, the missing value (if there
    is one) as a node of its own on every level that does not have it yet, and with ``add_root`` the root on top.
    ``wide``: whether the domain of the present values has more than one point; the root costs 0 where it has one and
    no value is missing. ``fields`` go to the record.
    """
    size = len(texts) + missing
    published = (*texts, None) if missing else tuple(texts)
    values = np.arange(len(texts), dtype=np.int32)
    finest = floor or Grouping(values, texts, Fractions(np.zeros(len(texts), np.int64), 1))
    levels: list[Level] = []
    for grouping in (finest, *groupings):
        node_of, names, costs = grouping.node_of.astype(np.int32), tuple(grouping.labels), grouping.costs
        if len(node_of) < size:
            node_of = np.append(node_of, np.int32(len(names)))
            names = (*names, "")
            costs = Fractions(np.append(costs.numerators, 0), costs.denominator)
        levels.append(Level(node_of, names, costs))
    if add_root:
        cost = Fraction(int(wide or (missing and len(texts) > 0)))
        levels.append(Level(np.zeros(size, np.int32), (root,), (cost,)))
    return Hierarchy(attribute, kind, published, tuple(levels), root, **fields)


def runs(*keys: NDArray[Any]) -> tuple[IntArray, NDArray[np.int64]]:
    """Enumerate the runs of equal keys: the run of each position, and the first position of each run.

    >>> [part.tolist() for part in runs(np.array([5, 5, 7]), np.array([0, 1, 1]))]
    [[0, 1, 2], [0, 1, 2]]
    """
    size = len(keys[0])
    if size == 0:
        return np.zeros(0, np.int32), np.zeros(0, np.int64)
    new = np.zeros(size, np.bool_)
    new[0] = True
    for key in keys:
        new[1:] |= (key[1:] != key[:-1]).astype(np.bool_)
    return (np.cumsum(new) - 1).astype(np.int32), np.flatnonzero(new)
