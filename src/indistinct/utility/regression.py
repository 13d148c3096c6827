"""Coefficients of a linear regression before and after, with their intervals and how far these overlap.

Ordinary least squares of an ordered column on others. Ordered predictors enter by place and midpoint (days for dates,
ranks for ordinal columns), categories by the share of the cell that lies in each leaf (0 or 1 for an exact value), the
most frequent leaf left out. b = (X'WX)^-1 X'Wy, variance s^2 (X'WX)^-1 with s^2 = residual sum of squares / (n - p);
intervals b +- t(0.975, n - p) se. *Overlap* is the mean of the shares of the two intervals that are common, 1 when they
are equal, below 0 when they are apart.

Source: A. Karr and others, The American Statistician 60(3), 2006, doi:10.1198/000313006X124640 (overlap).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import PolicyError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.losses.axes import Axis
    from indistinct.utility.tables import TablePair

    Float64 = NDArray[np.float64]

MOST_LEAVES = 30


def regression(pair: TablePair, formula: str) -> dict[str, Any]:
    """Fit ``"y ~ a + b"`` on both tables; rows with a missing value are left out and counted.

    Raises PolicyError for a formula that names no columns of the table, a target without an order, a category with more
    than 30 leaves.
    """
    target, predictors = _terms(pair, formula)
    own = pair.narrowed([target.name, *(axis.name for axis in predictors)])
    names, before_columns, after_columns = ["(intercept)"], [], []
    for place, axis in enumerate(own.axes[1:], 1):
        if axis.is_ordered:
            assert axis.at is not None  # noqa: S101  # ordered
            names.append(axis.name)
            before_columns.append(axis.at[own.before[:, place]])
            after_columns.append(axis.middle[own.after[:, place]])
            continue
        assert axis.leaf is not None  # noqa: S101  # a category
        leaf_rows = np.bincount(axis.leaf[own.before[:, place]], own.rows_before, len(axis.leaves))
        base = int(leaf_rows.argmax())
        shares = axis.covers.toarray() / np.maximum(axis.widths, 1).reshape(-1, 1)
        for leaf in np.flatnonzero(leaf_rows > 0).tolist():
            if leaf == base:
                continue
            names.append(f"{axis.name} = {'(missing)' if axis.leaves[leaf] is None else axis.leaves[leaf]}")
            before_columns.append((axis.leaf[own.before[:, place]] == leaf).astype(np.float64))
            after_columns.append(shares[own.after[:, place], leaf])
    assert target.at is not None  # noqa: S101  # checked by _parts
    before = _fit(target.at[own.before[:, 0]], before_columns, own.rows_before)
    after = _fit(target.middle[own.after[:, 0]], after_columns, own.rows_after)
    found: dict[str, Any] = {"formula": formula, "rows": {"before": before["rows"], "after": after["rows"]}}
    found["r_squared"] = {"before": before["r_squared"], "after": after["r_squared"]}
    found["coefficients"] = [
        {
            "name": name,
            "before": one,
            "after": other,
            "overlap": None if one is None or other is None else overlap(one["interval"], other["interval"]),
        }
        for name, one, other in zip(names, before["coefficients"], after["coefficients"], strict=True)
    ]
    return found


def overlap(one: list[float], other: list[float]) -> float:
    """Mean share of two intervals that is common; negative when they are apart.

    >>> overlap([0.0, 2.0], [1.0, 3.0]), overlap([0.0, 1.0], [2.0, 3.0])
    (0.5, -1.0)
    """
    common = min(one[1], other[1]) - max(one[0], other[0])
    lengths = [end - begin for begin, end in (one, other)]
    if min(lengths) <= 0:
        return 1.0 if one == other else 0.0
    return (common / lengths[0] + common / lengths[1]) / 2


def _terms(pair: TablePair, formula: str) -> tuple[Axis, list[Axis]]:
    left, sign, right = formula.partition("~")
    names = [part.strip() for part in right.split("+")]
    known = {axis.name: axis for axis in pair.axes}
    if not sign or not all(names):
        raise PolicyError(f'a regression is written "y ~ a + b", not "{formula}"')
    for name in (left.strip(), *names):
        if name not in known:
            raise PolicyError(f'the regression names "{name}", which is no column of both tables', column=name)
    target, predictors = known[left.strip()], [known[name] for name in dict.fromkeys(names)]
    if not target.is_ordered:
        raise PolicyError(
            f'"{target.name}" has no order: a linear regression needs type integer, decimal, date or ordinal '
            "in the policy",
            column=target.name,
        )
    for axis in predictors:
        if not axis.is_ordered and len(axis.leaves) > MOST_LEAVES:
            raise PolicyError(
                f'"{axis.name}" has {len(axis.leaves)} categories, too many for a regression; the most are '
                f"{MOST_LEAVES}",
                column=axis.name,
            )
    return target, predictors


def _fit(y: Float64, columns: list[Float64], rows: NDArray[Any]) -> dict[str, Any]:
    from scipy import linalg, stats

    x = np.column_stack([np.ones(len(y)), *columns])
    known = ~(np.isnan(y) | np.isnan(x).any(axis=1))
    x, y, weight = x[known], y[known], rows[known].astype(np.float64)
    total, width = round(float(weight.sum())), x.shape[1]
    if total <= width:
        return {"rows": total, "r_squared": None, "coefficients": [None] * width}
    gram = x.T @ (x * weight.reshape(-1, 1))
    inverse = linalg.pinvh(gram)
    b = inverse @ (x.T @ (weight * y))
    residual = float(weight @ (y - x @ b) ** 2)
    mean = float(weight @ y) / total
    spread = float(weight @ (y - mean) ** 2)
    error = np.sqrt(np.clip(np.diag(inverse), 0, None) * residual / (total - width))
    half = float(stats.t.ppf(0.975, total - width)) * error
    return {
        "rows": total,
        "r_squared": 1 - residual / spread if spread > 0 else None,
        "coefficients": [
            {"estimate": float(at), "interval": [float(at - by), float(at + by)]}
            for at, by in zip(b, half, strict=True)
        ],
    }
