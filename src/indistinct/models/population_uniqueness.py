"""Population uniqueness: of the population that a release is a sample of, few are estimated to be unique.

Definition: estimate of S_1 / N <= threshold, S_1 the members of the population of N who are alone in their class
there, estimated from the class sizes of the release by Pitman's, Zayatz's or the SNB model or Dankar's rule
(``estimators``, docs/estimators.md). Sizes count distinct persons where there is a person key, else rows; suppressed
rows are taken not to be in the sample. Where an estimator has no solution the model is not satisfied.

It is an estimate, in doubles, under the assumption of a simple random sample: it bounds nobody's risk.

Scope release: one verdict on all classes together. *Violating classes* are, in canonical order, the fewest classes of
one without which the estimate holds (``estimators.least_suppressed`` says when fewer might do): after all of them all
estimators give 0. The estimate for what is left assumes a random sample, which a table without its unique rows is not.

Closure: none. Merging classes may raise an estimate.

Source: F. Dankar, K. El Emam, A. Neisa, T. Roffey, BMC Med Inform Decis Mak 12:66, 2012,
doi:10.1186/1472-6947-12-66, and those in ``estimators``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models.contract import LEVELS, Context, Evaluation, Model, needing, no_criteria, no_number, reason_of
from indistinct.models.estimators import Estimate, estimate, least_suppressed, size_counts
from indistinct.policy.privacy import PopulationUniqueness

if TYPE_CHECKING:
    from indistinct.tables.records import Classes


def measure(classes: Classes, estimator: str, population: int) -> Estimate | None:
    """Estimate the share of the population that is unique."""
    return estimate(estimator, *size_counts(classes.sizes), population)


def evaluate(privacy: PopulationUniqueness, classes: Classes, context: Context) -> Evaluation:  # noqa: ARG001  # the contract's
    """Compare the estimate with the threshold.

    Raises PolicyError when the population is smaller than the release.
    """
    found = measure(classes, privacy.estimator, privacy.population_size)
    alone = classes.sizes == 1
    holds = found is not None and found.share <= privacy.threshold
    satisfied, fewest = np.ones(len(classes), np.bool_), True
    if not holds:
        counts = size_counts(classes.sizes)
        gone, fewest = least_suppressed(privacy.estimator, *counts, privacy.population_size, privacy.threshold)
        satisfied[np.flatnonzero(alone)[:gone]] = False
    count = f"{int(alone.sum())} of {int(classes.sizes.sum())} are alone in their class"
    if found is None:
        sentence = (
            f"{count}; the {privacy.estimator} model has no solution for these class sizes: use another estimator"
        )
    else:
        sentence = (
            f"{count}; {100 * found.share:.4g} % of a population of {privacy.population_size} are estimated to be"
            f" unique ({found.model}), {'at most' if holds else 'more than'} {100 * float(privacy.threshold):.4g} %"
        )
    if not holds and gone:
        number = "fewest" if fewest else "fewest found"
        sentence += f"; without {gone} of the {int(alone.sum())} ({number}) it would hold"
    best = _best(found)
    return Evaluation(satisfied, alone.astype(np.float64), best, sentence, more_is_better=False)


def _best(found: Estimate | None) -> dict[str, Any]:
    return {"threshold": None if found is None else {"decimal": found.share}}


def achieved(
    classes: Classes, context: Context, attribute: str | None, estimator: str, population_size: int
) -> dict[str, Any]:  # the arguments are the contract's
    """Smallest threshold that the release satisfies: the estimate; None where there is none."""
    del context, attribute
    return _best(measure(classes, estimator, population_size))


MODEL = Model(
    PopulationUniqueness,
    title="population uniqueness",
    scope="release",
    looks_at="published",
    merge_closed=False,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=no_criteria,
    shortfall=reason_of(evaluate),
    promises=no_number,
    needs=needing(LEVELS),
)
