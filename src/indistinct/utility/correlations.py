"""Pearson correlations of ordered columns before and after, with 95 % intervals.

Generalized cells enter by their midpoints, which pull correlations towards those of the classes. The interval is that
of Fisher's z: tanh(atanh(r) +- 1.96 / sqrt(n - 3)); it speaks of sampling only, not of what generalization did.
"""

from __future__ import annotations

from itertools import combinations
from math import atanh, sqrt, tanh
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.utility.distributions import scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.utility.tables import TablePair

    Float64 = NDArray[np.float64]


def correlations(pair: TablePair) -> list[dict[str, Any]]:
    """Correlation of each pair of ordered columns in both tables; rows with a missing value in either are left out."""
    found = []
    ordered = [place for place, axis in enumerate(pair.axes) if axis.is_ordered]
    for one, other in combinations(ordered, 2):
        first, second = pair.axes[one], pair.axes[other]
        assert first.at is not None and second.at is not None  # noqa: PT018, S101  # ordered
        before = _pearson(first.at[pair.before[:, one]], second.at[pair.before[:, other]], pair.rows_before)
        after = _pearson(first.middle[pair.after[:, one]], second.middle[pair.after[:, other]], pair.rows_after)
        found.append({"columns": [first.name, second.name], "before": before, "after": after})
    return found


def _pearson(x: Float64, y: Float64, rows: NDArray[Any]) -> dict[str, Any] | None:
    known = ~(np.isnan(x) | np.isnan(y))
    x, y, weight = x[known], y[known], rows[known].astype(np.float64)
    total = float(weight.sum())
    if total < 4:
        return None
    x, y = scaled(x)[0], scaled(y)[0]
    x, y = x - (weight @ x) / total, y - (weight @ y) / total
    spread = sqrt(float(weight @ x**2) * float(weight @ y**2))
    if spread == 0:
        return None
    r = min(1.0, max(-1.0, float(weight @ (x * y)) / spread))
    if abs(r) == 1:
        return {"r": r, "interval": [r, r]}
    half = 1.96 / sqrt(total - 3)
    return {"r": r, "interval": [tanh(atanh(r) - half), tanh(atanh(r) + half)]}
