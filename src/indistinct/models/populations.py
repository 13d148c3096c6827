"""What models ask of the population table that stands behind a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indistinct.errors import DataError, UnsupportedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from indistinct.policy.privacy import Privacy
    from indistinct.tables.records import Classes, CoveredPopulation

    Int64 = NDArray[np.int64]


def population_of(privacy: Privacy, classes: Classes) -> CoveredPopulation:
    """Population of the classes.

    Raises UnsupportedError where it is not known, DataError where it does not hold the rows of a class.
    """
    population = classes.population
    if population is None:
        raise UnsupportedError(f"{privacy.model} needs the population of each class, which is not known here")
    short = int((population.rows < classes.rows).sum())
    if short:
        raise DataError(
            f"{short} of {len(classes)} classes have more rows than the population that their labels cover; the"
            " population must contain the table: is it the right file?"
        )
    return population


def population_rows(privacy: Privacy, classes: Classes) -> Int64:
    """int64[g]: rows of the population that each class covers."""
    return population_of(privacy, classes).rows
