"""Losses read off the labels of a published table, whoever made it.

LM, ILoss and GCP as in ``losses``, from what each published label covers of its domain; a row that is missing from the
published table costs as much as a suppressed one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.losses.gcp import GCP
from indistinct.losses.iloss import ILOSS
from indistinct.losses.lm import LM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.utility.tables import TablePair


def cell_losses(pair: TablePair, quasi: Sequence[str]) -> dict[str, Any]:
    """Mean LM, ILoss and GCP over the original rows, weighted by the weights of the attributes, and LM by attribute."""
    total = int(pair.rows_before.sum())
    gone = max(0, total - pair.published_rows)
    lm, iloss, gcp = {}, {}, {}
    for name in quasi:
        place = pair.position(name)
        axis = pair.axes[place]
        rows = np.bincount(pair.after[:, place], pair.rows_after, len(axis.after))
        cost, largest = axis.costs(), 1.0
        ncp = cost
        if not axis.is_ordered:
            largest = (axis.size - 1) / axis.size if axis.size else 0.0
            ncp = np.where(axis.widths > 1, axis.widths / max(axis.size, 1), 0.0)
        lm[name] = float((rows @ cost + gone) / total)
        iloss[name] = lm[name] * largest
        gcp[name] = float((rows @ ncp + gone) / total)
    weights = {name: float(pair.axes[pair.position(name)].weight) for name in quasi}
    whole = sum(weights.values()) or 1.0
    mean = {
        measure: sum(weights[name] * own[name] for name in quasi) / whole
        for measure, own in ((LM.name, lm), (ILOSS.name, iloss), (GCP.name, gcp))
    }
    return {**mean, "lm_by_attribute": lm}
