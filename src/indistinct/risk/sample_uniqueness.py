"""Sample uniqueness: rows that are alone with their quasi-identifiers in the table."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from indistinct.risk.figure import Figure, share, things

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]


def sample_uniqueness(rows: Int64, sizes: Int64) -> Figure:
    """Share of the rows whose class has one member: ``sum of n_j with f_j = 1``, over n. Exact.

    Source: C. Skinner, D. Holmes, J. Official Statistics 14(4):361-372, 1998.

    >>> import numpy as np
    >>> sample_uniqueness(np.array([1, 1, 2]), np.array([1, 1, 2])).values["rows"]
    2
    """
    total, unique = int(rows.sum()), int(rows[sizes == 1].sum())
    return Figure(
        "sample_uniqueness",
        {"rows": unique, "share": Fraction(unique, total)},
        f"{things(unique, 'rows')} of {total} ({share(unique, total)}) are unique in the table",
        (sizes == 1).astype(float),
    )
