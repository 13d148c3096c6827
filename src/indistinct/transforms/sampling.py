"""A random sample of the rows, drawn without replacement.

Definition, source and worked example: docs/transforms.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import InfeasibleError
from indistinct.notices import Sentence
from indistinct.transforms.columns import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indistinct.policy.transforms import Sampling
    from indistinct.transforms.chance import Chance
    from indistinct.transforms.columns import Column


def sampling(request: Sampling, columns: Mapping[str, Column], chance: Chance) -> Outcome:
    """Keep a sample in which every set of that many rows is equally likely.

    Raises InfeasibleError for a sample of no row, or of more rows than there are.
    """
    total = len(next(iter(columns.values())).codes)
    size = request.rows if request.rows is not None else int((request.share or 0) * total)
    if not 1 <= size <= total:
        raise InfeasibleError(f"a sample of {size} of {total} rows cannot be drawn", f"ask for 1 to {total} rows")
    rows = np.sort(chance.order(total)[:size])
    loss = {"rows_left_out": total - size, "share": (total - size) / total}
    return Outcome({}, loss, Sentence("{n} of {rows} rows were drawn", n=size, rows=total), rows)
