"""Distributions and contingency tables before and after, the release spread evenly inside its cells.

*Total variation* of two distributions p, q is (1/2) sum |p_i - q_i|, in [0, 1]: the share of the rows that would have
to move. Ordered columns are cut into at most ``BINS`` parts of equal width, or one for each value where there are few;
categories with more leaves keep the most frequent and join the others. *Cramér's V* = sqrt(X^2 / (n min(r - 1, c - 1)))
of a contingency table, in [0, 1], 0 without association. A dropped row is in no table after.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.losses.axes import EXACT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.losses.axes import Axis
    from indistinct.utility.tables import TablePair

    Float64 = NDArray[np.float64]

BINS = 12


@dataclass(frozen=True)
class Bins:
    """Parts of a domain: ``before`` float64[n, b], 1 where a text lies, and ``after`` float64[labels, b], shares."""

    names: tuple[str, ...]
    before: Float64
    after: Float64


def bins_of(axis: Axis, weight: Float64, most: int = BINS) -> Bins:
    """Cut an axis into at most ``most`` parts, and one for missing values; ``weight`` float64[n] rows of each text."""
    if axis.is_ordered:
        return _ordered_bins(axis, most)
    leaf_rows = np.bincount(axis.leaf, weight, len(axis.leaves))  # type: ignore[arg-type]  # categories have leaves
    order = np.argsort(-leaf_rows, kind="stable")
    shown = order if len(order) <= most else order[: most - 1]
    part = np.full(len(axis.leaves), len(shown))
    part[shown] = np.arange(len(shown))
    names = [_text(axis.leaves[place]) for place in shown.tolist()]
    if len(shown) < len(order):
        names.append(f"{len(order) - len(shown)} others")
    grouping = np.zeros((len(axis.leaves), len(names)))
    grouping[np.arange(len(part)), part] = 1
    covered = np.asarray(axis.covers @ grouping)
    widths = axis.widths.reshape(-1, 1)
    after = np.divide(covered, widths, out=np.zeros_like(covered), where=widths > 0)
    return Bins(tuple(names), grouping[axis.leaf], after)


def _text(value: str | None) -> str:
    return "(missing)" if value is None else value


def _ordered_bins(axis: Axis, most: int) -> Bins:
    low, high = axis.domain
    if axis.kind == "discrete" and max(abs(low), abs(high)) < EXACT:
        step = max(1, -(-int(axis.size) // most))
        starts = np.arange(low, high + 1, step)
        ranges = [(float(start), float(min(start + step - 1, high))) for start in starts]
    else:
        edges = np.linspace(low, high, most + 1) if high > low else np.array([low, high])
        ranges = [(float(a), float(b)) for a, b in pairwise(edges)]
    from indistinct.utility.places import place_text

    names = [
        place_text(axis, a) if a == b else f"{place_text(axis, a)} \N{EN DASH} {place_text(axis, b)}" for a, b in ranges
    ]
    assert axis.at is not None and axis.low is not None  # noqa: PT018, S101  # ordered
    ends = np.array([b for _, b in ranges])
    part = np.minimum(np.searchsorted(ends, np.nan_to_num(axis.at)), len(ranges) - 1)
    before = np.zeros((len(axis.before), len(ranges)))
    before[np.arange(len(part)), part] = 1
    before[np.isnan(axis.at)] = 0
    after = np.column_stack([axis.shares(one) for one in ranges])
    total = after.sum(axis=1, keepdims=True)  # a single value on the edge of two parts is in both
    after = np.divide(after, total, out=np.zeros_like(after), where=total > 0)
    gone, lost = np.isnan(axis.at), np.isnan(axis.low)
    if gone.any() or lost.any():
        names.append("(missing)")
        before = np.column_stack([before, gone])
        after = np.column_stack([after, lost])
    return Bins(tuple(names), before, after)


def total_variation(one: Float64, other: Float64) -> float:
    """(1/2) sum |p - q| of two tables of counts, each divided by its total; 1 where one of them is empty."""
    if not one.sum() or not other.sum():
        return float(one.sum() != other.sum())
    return float(np.abs(one / one.sum() - other / other.sum()).sum() / 2)


def cramers_v(table: Float64) -> float | None:
    """Cramér's V of a contingency table; None where a side has fewer than two values.

    >>> cramers_v(np.array([[5.0, 0.0], [0.0, 5.0]]))
    1.0
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape, default=0) < 2:
        return None
    total = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    chi = float(((table - expected) ** 2 / expected).sum())
    return min(1.0, sqrt(chi / (total * (min(table.shape) - 1))))


def distributions(pair: TablePair) -> list[dict[str, Any]]:
    """Distribution of each column before and after, their total variation, and means of ordered columns."""
    found = []
    for place, axis in enumerate(pair.axes):
        rows_before = np.bincount(pair.before[:, place], pair.rows_before, len(axis.before))
        rows_after = np.bincount(pair.after[:, place], pair.rows_after, len(axis.after))
        bins = bins_of(axis, rows_before.astype(np.float64))
        before, after = rows_before @ bins.before, rows_after @ bins.after
        entry: dict[str, Any] = {
            "column": axis.name,
            "kind": axis.kind,
            "values": list(bins.names),
            "before": [float(number) for number in before],
            "after": [float(number) for number in after],
            "total_variation": total_variation(before, after),
        }
        if axis.is_ordered and axis.type != "date":
            assert axis.at is not None  # noqa: S101  # ordered
            entry["mean"] = {
                "before": _mean(axis.at, rows_before.astype(np.float64)),
                "after": _mean(axis.middle, rows_after.astype(np.float64)),
            }
        if axis.unread:
            entry["unread_labels"] = axis.unread
        found.append(entry)
    return found


def _mean(values: Float64, rows: Float64) -> dict[str, Any] | None:
    """Mean with its 95 % interval, and the standard deviation."""
    known = ~np.isnan(values)
    values, rows = values[known], rows[known]
    total = float(rows.sum())
    if total < 2:
        return None
    values, exponent = scaled(values)
    mean = float(values @ rows) / total
    deviation = sqrt(max(0.0, float(rows @ (values - mean) ** 2) / (total - 1)))
    half = 1.96 * deviation / sqrt(total)
    mean, low, high, deviation = np.nan_to_num(np.ldexp([mean, mean - half, mean + half, deviation], exponent)).tolist()
    return {"mean": mean, "interval": [low, high], "deviation": deviation}


def scaled(values: Float64) -> tuple[Float64, int]:
    """Numbers over the power of two that brings them between -1 and 1, and its exponent: no square is too large.

    >>> scaled(np.array([3.0, -1.0]))
    (array([ 0.75, -0.25]), 2)
    """
    exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    return np.ldexp(values, -exponent), exponent


def contingency(pair: TablePair, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Contingency table of each pair of columns: Cramér's V before and after, and the total variation."""
    bins = {}
    for name in columns:
        place = pair.position(name)
        axis = pair.axes[place]
        weight = np.bincount(pair.before[:, place], pair.rows_before, len(axis.before)).astype(np.float64)
        bins[name] = bins_of(axis, weight, 8)
    found = []
    for one, other in combinations(columns, 2):
        narrow = pair.narrowed([one, other])
        before = _table(narrow.before, narrow.rows_before, bins[one].before, bins[other].before)
        after = _table(narrow.after, narrow.rows_after, bins[one].after, bins[other].after)
        found.append(
            {
                "columns": [one, other],
                "association": {"before": cramers_v(before), "after": cramers_v(after)},
                "total_variation": total_variation(before, after),
            }
        )
    return found


def _table(codes: NDArray[np.integer[Any]], rows: NDArray[Any], one: Float64, other: Float64) -> Float64:
    from scipy.sparse import coo_array

    counts = coo_array((rows.astype(np.float64), (codes[:, 0], codes[:, 1])), shape=(len(one), len(other)))
    return np.asarray(one.T @ (counts.tocsr() @ other))
