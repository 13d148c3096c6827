"""Household risk: who finds one member finds all."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from indistinct.risk.figure import Figure, things

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    Int32 = NDArray[np.int32]
    Float64 = NDArray[np.float64]


def household_risk(risk_of_row: Float64, household_of_row: Int32, households: int) -> Float64:
    """Return the risk of each household: ``r_h = 1 - product over its rows of (1 - r_i)``; float64[households].

    Assumes that its members are found independently. A certain member makes a certain household.

    Source: L. Franconi, S. Polettini, PSD 2004, LNCS 3050, 262-272, doi:10.1007/978-3-540-25955-8_20.

    >>> household_risk(np.array([0.5, 0.5, 0.25]), np.array([0, 0, 1], np.int32), 2).round(9).tolist()
    [0.75, 0.25]
    """
    with np.errstate(divide="ignore"):
        missed = np.log1p(-np.minimum(risk_of_row, 1.0))
    certain = np.isneginf(missed)
    total = np.bincount(household_of_row, np.where(certain, 0.0, missed), households)
    sure = np.bincount(household_of_row, certain, households) > 0
    found: Float64 = np.where(sure, 1.0, -np.expm1(total))
    return found


def household(
    risk_of_row: Float64, household_of_row: Int32, households: int, threshold: Fraction, basis: str
) -> tuple[Figure, Float64]:
    """Summarise the household risk; also the risk of each household. ``basis`` names the risk of the single rows."""
    risk = household_risk(risk_of_row, household_of_row, households)
    members = np.bincount(household_of_row, minlength=households)
    at_risk = risk > float(threshold)
    rows = int(members[at_risk].sum())
    values = {
        "basis": basis,
        "households": households,
        "largest": int(members.max()),
        "highest": float(risk.max()),
        "expected_households": fsum(risk.tolist()),
        "households_at_risk": int(at_risk.sum()),
        "rows_at_risk": rows,
    }
    sentence = (
        f"{things(len(household_of_row), 'rows')} live in {things(households, 'households')}; in "
        f"{things(int(at_risk.sum()), 'households')} with {things(rows, 'rows')} some member is found with a "
        f"probability above {threshold}, and the others with them"
    )
    return Figure("household", values, sentence), risk
