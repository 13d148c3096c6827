"""Population uniqueness: rows that have nobody like them in the whole population, estimated from the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.models.estimators import ESTIMATORS, estimate, size_counts
from indistinct.risk.figure import Figure, share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]


def population_uniqueness(sizes: Int64, population: int) -> list[Figure]:
    """Estimate the share of a population of N people that is unique in it, by each estimator.

    Estimates, not bounds; definitions and sources: ``models.estimators`` and docs/estimators.md. The share is None
    where the equations of an estimator have no solution.

    Raises PolicyError when the population is smaller than the table.
    """
    figures = []
    distinct, numbers = size_counts(sizes)
    for name in ESTIMATORS:
        found = estimate(name, distinct, numbers, population)
        if found is None:
            values: dict[str, Any] = {"estimator": name, "share": None, "model": None}
            sentence = "the class sizes of this table do not fit this model; there is no estimate"
        else:
            values = {"estimator": name, "share": found.share, "model": found.model}
            people = round(found.share * population)
            by = f", by {found.model}" if found.model != name else ""
            part = share(people, population)
            sentence = f"about {people} of {population} people ({part}) are unique{by} (an estimate)"
            later = estimate(name, distinct, numbers, 2 * population)
            if later is not None and later.share > found.share:
                sentence += (
                    f"; it would rise to {100 * later.share:.3g} % in a population twice as large, which no true share "
                    "does: do not rely on it"
                )
        figures.append(Figure("population_uniqueness", values, sentence))
    return figures
