"""Normal noise, independent for one column or correlated as several columns are.

Definition, source and worked example: docs/transforms.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indistinct.errors import DataError
from indistinct.notices import Sentence
from indistinct.transforms.columns import Outcome, numbers_of, written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.policy.transforms import AdditiveNoise, CorrelatedNoise
    from indistinct.transforms.chance import Chance
    from indistinct.transforms.columns import Column

    Float64 = NDArray[np.float64]


def additive_noise(request: AdditiveNoise, columns: Mapping[str, Column], chance: Chance) -> Outcome:
    """Add independent normal noise to one column."""
    return _noisy(request, [columns[request.attribute]], chance)


def correlated_noise(request: CorrelatedNoise, columns: Mapping[str, Column], chance: Chance) -> Outcome:
    """Add normal noise to several columns whose covariance is a multiple of theirs.

    Raises DataError where fewer than two rows have a value in every column.
    """
    return _noisy(request, [columns[name] for name in request.attributes], chance)


def _noisy(request: AdditiveNoise | CorrelatedNoise, own: Sequence[Column], chance: Chance) -> Outcome:
    read = [numbers_of(column) for column in own]
    before = np.column_stack([numbers for numbers, _ in read])
    complete = ~np.isnan(before).any(axis=1)
    if int(complete.sum()) < 2:
        names = ", ".join(f'"{column.name}"' for column in own)
        raise DataError(f"noise needs two rows with a value of {names}", column=own[0].name)
    share = float(request.share)
    covariance = np.atleast_2d(np.cov(before[complete], rowvar=False))
    after = before + share * chance.normal(len(before), len(own)) @ _root(covariance).T
    if request.keep_variance:
        mean = before[complete].mean(axis=0)
        after = mean + (after - mean) / np.sqrt(1 + share**2)
    changed, loss, said = {}, {}, []
    for column, (_, unit), old, new in zip(own, read, before.T, after.T, strict=True):
        changed[column.name] = written(column, new, unit)
        difference = numbers_of(changed[column.name])[0] - old
        spread = float(np.std(old[~np.isnan(old)]))
        error = float(np.sqrt(np.nanmean(difference**2)))
        loss[column.name] = {"root_mean_square_change": error, "share_of_deviation": error / spread if spread else 0.0}
        said.append(Sentence('"{name}" by {error:.4g}', name=column.name, error=error))
    return Outcome(changed, loss, Sentence("root mean square change of {changes}", changes=tuple(said)))


def _root(covariance: Float64) -> Float64:
    """Return a matrix R with R R' = covariance, also where columns depend on each other."""
    values, vectors = np.linalg.eigh(covariance)
    found: Float64 = vectors * np.sqrt(np.maximum(values, 0.0))
    return found
