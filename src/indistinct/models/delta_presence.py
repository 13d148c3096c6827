"""delta-presence: whether somebody of the population is in the table stays uncertain.

Definition: minimum <= n_E / N_E <= maximum for every *population* class E, N_E the rows of the population table and n_E
the published rows whose labels are those of E; 0 <= minimum <= maximum <= 1. Population classes without a published
row have 0 and are tested too, so with minimum > 0 no class may be suppressed, and every member of the population must
be covered by a published class.

Defined where the labels cut the population into classes: full-domain recoding. Boxes that overlap would count people
twice: then no class satisfies it.

Closure. Merge-closed: the ratio of a union is a mediant of those of its parts, it lies between them. Not absorbing:
1/2 merged with 1/1 is 2/3. Suppressing another class leaves the ratio of E alone, but what is suppressed has 0: so the
scope is the release, and with minimum > 0 *all* classes violate when one does, because none may go.

Source: M. Nergiz, M. Atzori, C. Clifton, SIGMOD 2007, 665-676, doi:10.1145/1247480.1247554.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from indistinct.models.contract import LEVELS, Context, Evaluation, Model, needing, no_number, reason_of
from indistinct.models.exact import at_most, largest_ratio, rational, subject
from indistinct.models.populations import population_of

if TYPE_CHECKING:
    from indistinct.policy.privacy import DeltaPresence
    from indistinct.tables.records import Classes, CoveredPopulation
from indistinct.policy.privacy import DeltaPresence

if TYPE_CHECKING:
    from indistinct.tables.records import Classes


def evaluate(privacy: DeltaPresence, classes: Classes, context: Context) -> Evaluation:  # noqa: ARG001  # the contract's
    """Compare the share of the population that each class publishes with both bounds."""
    population = population_of(privacy, classes)
    low, high = _extremes(classes, population)
    satisfied = at_most(classes.rows, population.rows, privacy.maximum)
    satisfied &= at_most(population.rows - classes.rows, population.rows, 1 - privacy.minimum)
    sentence = f"the shares of the population that are published lie between {low} and {high}"
    overlap = int(population.rows.sum()) + population.outside != population.total
    if overlap:
        sentence = "some rows of the population are covered by several classes, so their share is not defined"
        satisfied[:] = False
    elif privacy.minimum > 0 and population.outside:
        sentence = f"{population.outside} rows of the population are in no published class: their share is 0"
    elif not satisfied.all():
        outside = subject(satisfied, "publishes", "publish")
        sentence = f"{outside} a share outside [{privacy.minimum}, {privacy.maximum}]; {sentence}"
    if privacy.minimum > 0 and (population.outside or not satisfied.all()):
        satisfied[:] = False
    best = {"minimum": rational(low), "maximum": rational(high)}
    return Evaluation(satisfied, classes.rows / population.rows, best, sentence, more_is_better=False)


def _extremes(classes: Classes, population: CoveredPopulation) -> tuple[Fraction, Fraction]:
    """Smallest and largest share over all population classes."""
    low = Fraction(0) if population.outside else 1 - largest_ratio(population.rows - classes.rows, population.rows)
    return low, largest_ratio(classes.rows, population.rows)


def achieved(classes: Classes, *_: Any) -> dict[str, Any]:
    """Smallest and largest share; None where the population is not known."""
    if classes.population is None:
        return {"minimum": None, "maximum": None}
    low, high = _extremes(classes, classes.population)
    return {"minimum": rational(low), "maximum": rational(high)}


def criteria(privacy: DeltaPresence, context: Context) -> None:  # the contract's
    """Compile nothing: the population is not counted in compiled searches."""


MODEL = Model(
    DeltaPresence,
    title="delta-presence",
    scope="release",
    looks_at="population",
    merge_closed=True,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=reason_of(evaluate),
    promises=no_number,
    needs=needing(LEVELS),
)
