"""Published cells as numbers that a learner can use.

- ``midpoint``: an ordered cell is the middle of its range, a category the share of the cell in each leaf (an exact
  value is one 1, the node ``{a, b}`` is 1/2 and 1/2);
- ``bounds``: an ordered cell is its two ends, a category as above;
- ``nodes``: an ordered cell is its middle, a category has one 0/1 column for each published label that covers it, so
  that an exact value and the nodes above it share columns.

A missing value of an ordered column is the middle of the domain, with a column of its own that is 1. The columns of an
encoding depend on the domain and on the published labels, never on a target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from indistinct.errors import PolicyError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.losses.axes import Axis

    Float64 = NDArray[np.float64]

Encoding = Literal["midpoint", "bounds", "nodes"]
ENCODINGS: tuple[str, ...] = get_args(Encoding)
WIDEST = 2000


def encoded(axis: Axis, how: Encoding = "midpoint") -> tuple[list[str], Float64, Float64]:
    """Names of the features of a column, and their values for each original text and for each published label.

    Raises PolicyError for an unknown encoding or a category of more than 2000 features.

    >>> from indistinct.losses.axes import axis_of
    >>> age = axis_of("age", ["20", "40"], ["[20, 30)", "40"], "integer")
    >>> names, before, after = encoded(age, "bounds")
    >>> names, before.tolist(), after.tolist()
    (['age from', 'age to'], [[20.0, 20.0], [40.0, 40.0]], [[20.0, 29.0], [40.0, 40.0]])
    """
    if how not in ENCODINGS:
        raise PolicyError(f'there is no encoding "{how}"; there are {", ".join(ENCODINGS)}')
    return _ordered(axis, how) if axis.is_ordered else _categories(axis, how)


def _ordered(axis: Axis, how: Encoding) -> tuple[list[str], Float64, Float64]:
    assert axis.at is not None and axis.low is not None and axis.high is not None  # noqa: PT018, S101  # ordered
    bounds = [(axis.at, axis.at), (axis.low, axis.high)]
    names = [f"{axis.name} from", f"{axis.name} to"] if how == "bounds" else [axis.name]
    gone = [np.isnan(low) for low, _ in bounds]
    found = []
    for (low, high), lost in zip(bounds, gone, strict=True):
        columns = [low, high] if how == "bounds" else [(low + high) / 2]
        columns = [np.where(lost, sum(axis.domain) / 2, column) for column in columns]
        found.append([*columns, lost.astype(np.float64)] if gone[0].any() or gone[1].any() else columns)
    if len(found[0]) > len(names):
        names.append(f"{axis.name} missing")
    return names, np.column_stack(found[0]), np.column_stack(found[1])


def _categories(axis: Axis, how: Encoding) -> tuple[list[str], Float64, Float64]:
    assert axis.leaf is not None  # noqa: S101  # a category
    columns = len(axis.after) if how == "nodes" else len(axis.leaves)
    if columns > WIDEST:
        raise PolicyError(
            f'"{axis.name}" would be {columns} features; leave the column out or give it a coarser hierarchy',
            column=axis.name,
        )
    covers = axis.covers.toarray()
    if how != "nodes":
        names = [f"{axis.name} = {_text(leaf)}" for leaf in axis.leaves]
        return names, np.eye(len(axis.leaves))[axis.leaf], covers / np.maximum(axis.widths, 1).reshape(-1, 1)
    names = [f"{axis.name} in {_text(label)}" for label in axis.after]
    common = covers @ covers.T
    inside = (common == covers.sum(axis=1).reshape(-1, 1)).astype(np.float64)  # label i lies within label j
    return names, np.ascontiguousarray(covers.T[axis.leaf]), inside


def _text(value: Any) -> str:
    return "(missing)" if value is None else str(value)
