"""How many rows stand in classes of which size: the risk histogram in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.risk.figure import share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]

BANDS = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))


def class_sizes(rows: Int64, sizes: Int64) -> list[dict[str, Any]]:
    """Count classes and rows by bands of class size; ``rows_up_to`` adds up from the smallest size.

    A band from a to b holds the rows whose prosecutor risk lies between 1/b and 1/a; empty bands are left out.

    >>> import numpy as np
    >>> [(band["from"], band["rows"], band["rows_up_to"]) for band in class_sizes(np.array([1, 3]), np.array([1, 3]))]
    [(1, 1, 1), (3, 3, 4)]
    """
    found: list[dict[str, Any]] = []
    total, so_far = int(rows.sum()), 0
    for low, high in BANDS:
        here = (sizes >= low) & (sizes <= high) if high is not None else sizes >= low
        count = int(rows[here].sum())
        if not count:
            continue
        so_far += count
        band = f"{low}" if high == low else f"{low} to {high}" if high else f"{low} or more"
        risk = "certain" if low == 1 else f"at most 1 in {low}"
        found.append(
            {
                "from": low,
                "to": high,
                "classes": int(here.sum()),
                "rows": count,
                "rows_up_to": so_far,
                "sentence": f"{count} rows stand in classes of {band}: the risk of each is {risk}; "
                f"{share(so_far, total)} of all rows are in classes of this size or smaller",
            }
        )
    return found
