"""One column as a measure sees it: a domain, where original values lie in it, what published labels cover of it.

Three kinds. *discrete*: whole numbers, days, ranks; a cell is a closed range of them. *continuous*: decimals; a cell is
a range with a length, a single value has length 0. *categories*: leaves; a cell is a set of leaves. The domain is the
declared one, else smallest to largest original value; of categories the leaves of the hierarchy file and the values of
the original, a missing value among them where it occurs. A missing value of an ordered column lies in no range. Cells
are cut to the domain.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, isinf
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from indistinct.errors import UnsupportedError
from indistinct.hierarchies.item_labels import ItemReader
from indistinct.hierarchies.labels import Interval, Reader, parse
from indistinct.hierarchies.values import EPOCH, exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Float64 = NDArray[np.float64]
    Bool = NDArray[np.bool_]
    Predicate = tuple[float, float] | Bool

Kind = Literal["discrete", "continuous", "categories"]
NAN = float("nan")
EXACT = 2**53  # from here on a double and the next whole number are the same


@dataclass(frozen=True)
class Axis:
    """A column. ``type`` is that of the policy; ``weight`` its importance in the loss.

    Ordered kinds: ``at`` float64[n] the place of each original text, ``low`` and ``high`` float64[labels] the closed
    ends of each published label (NaN: missing, or not readable), ``bound`` its upper end as it is written (LM measures
    days and decimals by that); ``domain`` smallest and largest place. Categories:
    ``leaves``, ``leaf`` int64[n] the leaf of each original text; label i covers the leaves
    ``covered[start[i]:start[i + 1]]``. ``unread`` labels could not be read.
    """

    name: str
    kind: Kind
    type: str
    weight: Fraction
    before: tuple[str | None, ...]
    after: tuple[str | None, ...]
    domain: tuple[float, float] = (0.0, 0.0)
    at: Float64 | None = None
    low: Float64 | None = None
    high: Float64 | None = None
    bound: Float64 | None = None
    leaves: tuple[str | None, ...] = ()
    leaf: NDArray[np.int64] | None = None
    start: NDArray[np.int64] | None = None
    covered: NDArray[np.int64] | None = None
    unread: int = 0

    @property
    def is_ordered(self) -> bool:
        """Whether cells are ranges on a scale."""
        return self.kind != "categories"

    @property
    def size(self) -> float:
        """Values of a discrete domain, length of a continuous one, number of leaves."""
        if self.kind == "categories":
            return float(len(self.leaves))
        return self.domain[1] - self.domain[0] + (self.kind == "discrete")

    @cached_property
    def covers(self) -> Any:
        """float64[labels, leaves] as a sparse matrix: 1 where a label covers a leaf. Only measures of utility ask."""
        from scipy.sparse import csr_array

        start, covered = self._spans()
        return csr_array((np.ones(len(covered)), covered, start), shape=(len(self.after), len(self.leaves)))

    def _spans(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if self.start is None or self.covered is None:
            message = f"{self.name} has no leaves"
            raise TypeError(message)
        return self.start, self.covered

    @cached_property
    def widths(self) -> Float64:
        """float64[labels]: how much of the domain each label covers; leaves, values or length; NaN for missing."""
        if self.low is None or self.high is None:
            return np.diff(self._spans()[0]).astype(np.float64)
        return np.asarray(self.high - self.low + (self.kind == "discrete"))

    @cached_property
    def middle(self) -> Float64:
        """float64[labels]: midpoints of ordered cells."""
        if self.low is None or self.high is None:
            message = f"{self.name} has no scale"
            raise TypeError(message)
        return np.asarray((self.low + self.high) / 2)

    def matches(self, wanted: Predicate) -> Bool:
        """bool[n]: which original texts lie in a range (closed) or a set of leaves."""
        if isinstance(wanted, tuple):
            assert self.at is not None  # noqa: S101  # ranges are asked of ordered axes only
            return np.asarray((self.at >= wanted[0]) & (self.at <= wanted[1]))
        assert self.leaf is not None  # noqa: S101  # sets are asked of categories only
        return np.asarray(wanted[self.leaf])

    def shares(self, wanted: Predicate) -> Float64:
        """float64[labels]: the share of each published cell that lies in a range or a set of leaves.

        A single value of a continuous column counts 1 if it is inside; a missing value of an ordered column 0.
        """
        if not isinstance(wanted, tuple):
            inside = self.covers @ wanted.astype(np.float64)
            return np.asarray(np.divide(inside, self.widths, out=np.zeros(len(inside)), where=self.widths > 0))
        low, high, begin, end = self.low, self.high, *wanted
        assert low is not None and high is not None  # noqa: PT018, S101  # as above
        known = ~np.isnan(low)
        overlap = np.clip(np.minimum(high, end) - np.maximum(low, begin) + (self.kind == "discrete"), 0, None)
        whole = self.widths > 0
        share = np.divide(overlap, self.widths, out=np.zeros(len(low)), where=known & whole)
        point = known & ~whole
        share[point] = (low[point] >= begin) & (low[point] <= end)
        return np.asarray(share)

    def wanted(self, generator: np.random.Generator, share: float) -> Predicate:
        """Draw a range of ceil(size * share) consecutive values, at least 1, or as many leaves, at random."""
        if self.kind == "continuous":
            length = self.size * share
            begin = self.domain[0] + generator.random() * (self.size - length)
            return begin, begin + length
        number = min(max(1, ceil(self.size * share - 1e-9)), int(self.size))
        if self.kind == "discrete":
            places = int(self.size) - number + 1
            drawn = int(generator.integers(places)) if places < EXACT else floor(generator.random() * places)
            begin = self.domain[0] + drawn
            return begin, begin + number - 1
        chosen = np.zeros(len(self.leaves), np.bool_)
        chosen[generator.permutation(len(self.leaves))[:number]] = True
        return chosen

    def draw(self, generator: np.random.Generator, label: NDArray[np.integer[Any]]) -> Float64:
        """float64[rows]: a place, or the number of a leaf, drawn evenly from the cell of each row; NaN for missing."""
        if self.low is None or self.high is None:
            start, covered = self._spans()
            length = np.diff(start)[label]
            at = start[label] + np.floor(generator.random(len(label)) * length).astype(np.int64)
            return np.where(length > 0, covered[np.minimum(at, max(len(covered) - 1, 0))], NAN)
        low, high = self.low[label], self.high[label]
        if self.kind == "discrete":
            return np.asarray(low + np.floor(generator.random(len(label)) * (high - low + 1)))
        return np.asarray(low + generator.random(len(label)) * (high - low))

    def costs(self) -> Float64:
        """float64[labels]: the LM cost of each label, from what it covers."""
        whole = self.size - 1 if self.kind != "continuous" else self.size
        if whole <= 0:
            return np.zeros(len(self.after))
        covered = self.widths - 1 if self.kind != "continuous" else self.widths
        if self.type == "date" and self.bound is not None and self.low is not None:
            own = set(self.before)  # a day that is the value itself hides nothing
            itself = np.array([label is not None and label in own for label in self.after], np.bool_)
            covered = np.where(itself, 0.0, self.bound - self.low)
        return np.clip(np.where(np.isnan(covered), 0.0, covered) / whole, 0.0, 1.0)


def axis_of(
    name: str,
    before: Sequence[str | None],
    after: Sequence[str | None],
    type: str = "text",
    *,
    rows: Sequence[Sequence[str]] | None = None,
    token: str = "*",  # noqa: S107  # the mark of a suppressed cell
    character: str = "*",
    filled: bool = False,
    domain: Sequence[Any] | None = None,
    weight: Fraction = Fraction(1),
    decimal: str = ".",
    format: str | None = None,
    order: Sequence[str] | None = None,
    separator: str | None = None,
    values: Sequence[str] | None = None,
) -> Axis:
    """Read the distinct texts of a column before and after publication as the policy declares them.

    With a ``separator`` cells are sets of items and ``rows`` the tree of these; the leaves are the original cells. With
    ``values``, some or all of the domain, a column published as sets: its values are categories, whatever its type.

    Raises UnsupportedError for numbers whose distance is no double.

    >>> age = axis_of("age", ["20", "25", "39"], ["[20, 30)", "39", "*"], "integer")
    >>> age.kind, age.widths.tolist(), age.shares((20.0, 24.0)).tolist()
    ('discrete', [10.0, 1.0, 20.0], [0.5, 0.0, 0.25])
    """
    reading: dict[str, Any] = {"decimal": decimal, "format": format, "order": order, "character": character}
    if type in ("integer", "decimal", "date", "ordinal") and values is None:
        return _ordered(name, before, after, type, reading, rows=rows, token=token, domain=domain, weight=weight)
    known = () if separator is not None else (row[0] for row in rows or ())
    leaves = list(dict.fromkeys([*known, *(values or ()), *(text for text in before if text is not None)]))
    everything: list[str | None] = [*leaves, None] if None in before else [*leaves]
    reader = (
        Reader(everything, type, rows=rows, token=token, filled=filled, **reading)
        if separator is None
        else ItemReader(everything, separator, rows or (), token)
    )
    place = {leaf: number for number, leaf in enumerate(everything)}
    found = [reader.find(label) for label in after]
    return Axis(
        name,
        "categories",
        type,
        weight,
        tuple(before),
        tuple(after),
        leaves=tuple(everything),
        leaf=np.array([place[text] for text in before], np.int64),
        start=np.concatenate([[0], np.cumsum([len(part) for part in found])]).astype(np.int64),
        covered=np.concatenate([*found, np.zeros(0, np.int64)]).astype(np.int64),
        unread=sum(len(part) == 0 for part in found),
    )


def _ordered(
    name: str,
    before: Sequence[str | None],
    after: Sequence[str | None],
    type: str,
    reading: dict[str, Any],
    *,
    rows: Sequence[Sequence[str]] | None,
    token: str,
    domain: Sequence[Any] | None,
    weight: Fraction,
) -> Axis:
    kind: Kind = "continuous" if type == "decimal" else "discrete"
    at = np.array([_place(text, type, reading) for text in before])
    present = at[~np.isnan(at)]
    if domain is not None:
        ends = (_end(domain[0]), _end(domain[1]))
    else:
        ends = (float(present.min()), float(present.max())) if len(present) else (0.0, 0.0)
    if isinf(ends[1] - ends[0]):
        raise UnsupportedError(
            f'the numbers of "{name}" lie further apart than 1.8e308, so that no figure can say how far; declare the '
            "column as text, or write it in larger units",
            column=name,
        )
    reader = Reader(before, type, rows=rows, token=token, **reading)
    low, high, bound, unread = np.full(len(after), NAN), np.full(len(after), NAN), np.full(len(after), NAN), 0
    for number, label in enumerate(after):
        if label is None:
            continue
        found = _ends(label, type, reading, reader, at, ends, token)
        if found is None:
            unread += 1
            continue
        low[number], high[number], bound[number] = found
    cut_low, cut_high = np.maximum(low, ends[0]), np.minimum(high, ends[1])
    inside = cut_low <= cut_high
    low, high = np.where(inside, cut_low, low), np.where(inside, cut_high, high)
    bound = np.maximum(np.minimum(bound, ends[1]), low)
    return Axis(name, kind, type, weight, tuple(before), tuple(after), ends, at, low, high, bound, unread=unread)


def _end(value: Any) -> float:
    return float(value.toordinal() - EPOCH) if isinstance(value, date) else float(exact(value, "domain"))


def _place(text: str | None, type: str, reading: dict[str, Any]) -> float:
    if text is None:
        return NAN
    found = parse(text, type, **reading)
    if isinstance(found, Interval) and found.low is not None:
        return float(found.low)
    return NAN


def _ends(
    label: str,
    type: str,
    reading: dict[str, Any],
    reader: Reader,
    at: Float64,
    domain: tuple[float, float],
    token: str,
) -> tuple[float, float, float] | None:
    """Closed ends of what a label covers, and its upper end as written."""
    if label in ("*", token):
        return (*domain, domain[1])
    found = parse(label, type, **reading)
    if isinstance(found, Interval):
        low = domain[0] if found.low is None else float(found.low)
        high = domain[1] if found.high is None else float(found.high)
        bound = high
        if type == "decimal":
            return low, high, bound
        if found.low is not None and not found.low_closed:
            low = floor(low) + 1
        if found.high is not None and not found.high_closed:
            high = ceil(high) - 1
        last = float(floor(high))
        # a range of days that names its last one is as wide as from day to day
        return float(ceil(low)), last, last if type == "date" and label.rstrip().endswith("]") else bound
    places = at[reader.find(label)]
    places = places[~np.isnan(places)]
    return (float(places.min()), float(places.max()), float(places.max())) if len(places) else None
