"""(eps_i,k)-anonymity: in every group k rows are separated, and no row has half of the group near it.

Definition: the sensitive numbers are cut into intervals, each with its own eps_i (``intervals``). The neighbourhood of
a row t with value v is I(t) = [v - eps, v + eps], closed, eps that of t's interval; its *risk* is the share of the rows
of its group E in I(t), t itself excluded: |N_E(t)| / |E|. A group

- has k <= |E| <= 2k rows (``sizes_fit``),
- holds at least k rows that are pairwise separated: neighbourhoods that do not meet, |v - v'| > eps + eps', across
  intervals too (``separation = "disjoint"``, the definition); or a difference above eps for rows of one interval, and
  nothing for rows of different intervals (``"step7"`` of the paper's algorithm),
- and, if disjoint, has no risk above 1/2. With step7 the paper's Theorem 2 fails ({100, 112, 105, 106}, eps = 10,
  k = 2: three of four rows are near 105), so there the risk is reported and nothing is promised.

Rows of other intervals count as neighbours unless ``same_interval_only``. An attacker counts the row itself too, which
gives up to (k + 1) / 2k; both numbers are reported.

**On the classes of a generalized table the size cap has no meaning**: here k separated rows and risk <= 1/2 are judged,
without the cap; that is *proximity risk* (``risk.proximity``). Groups of a two-table release are judged with it
(``sizes_fit``). With a person key a class also has at least k persons; risks count rows.

What it does not give: rows of intervals of one value have eps = 0 and no protection from near values; the
quasi-identifiers are not k-anonymous where they are published as they are.

Closure. Not merge-closed: a union may put many rows around one value, and beyond 2k rows. Removing another class
leaves E alone. The largest number of separated rows is the largest set of disjoint intervals, found exactly by taking
the one that ends first. The dates have no zero, so relative distances, and this model, are for numbers only.

Source: T. Wang, M. Wen, Computer Systems and Applications 28(7):184-190, 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models.contract import SEPARATION, Context, Criterion, Evaluation, Model, Promise, needing
from indistinct.models.exact import largest_ratio, rational, subject
from indistinct.models.intervals import epsilons_of, intervals_of, is_rising
from indistinct.models.numbers import largest, numbers_of, series_of, windows
from indistinct.policy.privacy import EpsIKAnonymity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.models.numbers import Numbers
    from indistinct.tables.records import Classes

    Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Neighbourhoods:
    """What surrounds each number of a column, all int64[m].

    ``interval``; ranks ``low..high`` of the numbers in the neighbourhood; ``left`` and ``right``: ends of stretches
    that meet iff two rows are *not* separated, of which only the order counts.
    """

    interval: Int64
    low: Int64
    high: Int64
    left: Int64
    right: Int64


def neighbourhoods_of(
    numbers: Numbers,
    interval: Int64,
    epsilons: Sequence[Fraction],
    *,
    separation: str = "disjoint",
    same_interval_only: bool = False,
) -> Neighbourhoods:
    """Work out the neighbourhoods of the numbers of a column, exactly; ``epsilons`` has one for each interval."""
    places, _, widths = numbers.scaled(*epsilons)
    step = np.array(widths, places.dtype)[interval]
    low, high = windows(places, places - step, places + step)
    if same_interval_only:
        low = np.maximum(low, np.searchsorted(interval, interval, side="left"))
        high = np.minimum(high, np.searchsorted(interval, interval, side="right") - 1)
    centre = places if separation == "disjoint" else 2 * places
    left, right = centre - step, centre + step
    if separation == "step7":  # cut at the ends of the interval, so that rows of two intervals never meet
        first = np.searchsorted(interval, interval, side="left")
        last = np.searchsorted(interval, interval, side="right") - 1
        left, right = np.maximum(left, centre[first]), np.minimum(right, centre[last])
    if places.dtype == object:  # only their order is compared
        ranks = np.unique(np.concatenate([left, right]), return_inverse=True)[1].reshape(-1).astype(np.int64)
        left, right = ranks[: len(places)], ranks[len(places) :]
    return Neighbourhoods(interval, low, high, left, right)


@dataclass(frozen=True)
class Groups:
    """What was measured in each class, int64[g].

    ``rows``; ``separated``: the largest number of pairwise separated rows; ``near``: the largest number of rows in the
    neighbourhood of one row, this row included.
    """

    rows: Int64
    separated: Int64
    near: Int64

    @property
    def risk(self) -> Fraction:
        """Largest risk of a row, itself excluded."""
        return largest_ratio(self.near - 1, self.rows)

    @property
    def risk_including_self(self) -> Fraction:
        """Largest share of a class around one of its rows, the row included."""
        return largest_ratio(self.near, self.rows)

    @property
    def at_most_half(self) -> NDArray[np.bool_]:
        """bool[g]: classes in which no row has a risk above 1/2, itself excluded."""
        return 2 * (self.near - 1) <= self.rows


def measure(classes: Classes, numbers: Numbers, around: Neighbourhoods) -> Groups:
    """Count separated rows and neighbours in every class."""
    from indistinct.kernels.spacing import disjoint

    series = series_of(classes.histograms[numbers.attribute], numbers)
    near = largest(series.between(around.low[series.rank], around.high[series.rank]), series)
    order = np.lexsort((around.right[series.rank], series.owner))
    rank = series.rank[order]
    separated = np.zeros(len(classes), np.int64)
    disjoint(series.start, around.left[rank], around.right[rank], separated)
    return Groups(classes.rows, separated, near)


def prepared(privacy: EpsIKAnonymity, numbers: Numbers) -> tuple[list[Fraction], Neighbourhoods]:
    """Widths and neighbourhoods that a policy's parameters give over the reference table."""
    interval = intervals_of(numbers, privacy.w, privacy.points, shift=privacy.negative_values == "shift")
    epsilons = epsilons_of(numbers, interval, privacy)
    around = neighbourhoods_of(
        numbers,
        interval,
        epsilons,
        separation=privacy.separation,
        same_interval_only=privacy.same_interval_only,
    )
    return epsilons, around


def sizes_fit(classes: Classes, k: int) -> NDArray[np.bool_]:
    """bool[g]: groups of k to 2k rows; asked of two-table releases only."""
    return (classes.rows >= k) & (classes.rows <= 2 * k)


def evaluate(privacy: EpsIKAnonymity, classes: Classes, context: Context) -> Evaluation:
    """Judge k separated rows and, if disjoint, risk <= 1/2 in every class, without the size cap."""
    numbers = numbers_of(context.references[privacy.attribute])
    epsilons, around = prepared(privacy, numbers)
    groups = measure(classes, numbers, around)
    separated = groups.separated if classes.persons is None else np.minimum(groups.separated, classes.persons)
    enough, quiet = separated >= privacy.k, groups.at_most_half
    promised = privacy.separation == "disjoint"
    satisfied = enough & quiet if promised else enough
    best = _best(groups, int(separated.min()))
    clauses = []
    if not enough.all():
        clauses.append(f"{subject(enough, 'has', 'have')} fewer than {privacy.k} separated rows")
    if not quiet.all():
        clauses.append(f"{subject(quiet, 'has', 'have')} a row with more than half of the class near it")
    if not clauses:
        clauses.append(
            f"every class has {privacy.k} separated rows and no row with more than half of the class near it"
        )
    clauses.append(f"the largest risk is {groups.risk}, with the row itself {groups.risk_including_self}")
    if not promised:
        clauses.append("step7 promises no bound of the risk")
    return Evaluation(
        satisfied,
        (groups.near - 1) / groups.rows,
        best,
        "; ".join([*clauses, *remarks(numbers, around.interval, epsilons)]),
        more_is_better=False,
    )


def remarks(numbers: Numbers, interval: Int64, epsilons: Sequence[Fraction]) -> list[str]:
    """Say which rows have no protection, and where the widths do not grow with the values."""
    found = []
    bare = np.array([epsilon == 0 for epsilon in epsilons], np.bool_)[interval]
    if bare.any():
        rows, total = int(numbers.counts[bare].sum()), int(numbers.counts.sum())
        found.append(f"{rows} of {total} rows lie in intervals with eps = 0 and have no protection from near values")
    if not is_rising(epsilons):
        found.append("eps does not grow with the values everywhere")
    return found


def _best(groups: Groups, k: int) -> dict[str, Any]:
    return {"k": k, "risk": rational(groups.risk), "risk_including_self": rational(groups.risk_including_self)}


def achieved(classes: Classes, context: Context, attribute: str, **parameters: Any) -> dict[str, Any]:
    """Largest k and risks that the classes reach, for given parameters (default beta = 1/10)."""
    given = parameters if parameters.keys() & {"beta", "epsilons"} else {**parameters, "beta": Fraction(1, 10)}
    numbers = numbers_of(context.references[attribute])
    _, around = prepared(EpsIKAnonymity(attribute, 1, **given), numbers)
    groups = measure(classes, numbers, around)
    return _best(groups, int(groups.separated.min()))


def criteria(privacy: EpsIKAnonymity, context: Context) -> tuple[Criterion, ...] | None:  # noqa: ARG001  # the contract's
    """No compiled form."""
    return None


def shortfall(privacy: EpsIKAnonymity, root: Classes, context: Context) -> str:
    """Say what fails in the class of the whole table; smaller classes may still satisfy the model."""
    return f"as one class, {evaluate(privacy, root, context).reason}; smaller classes may hold, but none were found"


MODEL = Model(
    EpsIKAnonymity,
    title="(eps_i,k)-anonymity (proximity risk)",
    scope="class",
    looks_at="input",
    merge_closed=False,
    absorbing=False,
    evaluate=evaluate,
    achieved=achieved,
    criteria=criteria,
    shortfall=shortfall,
    promises=lambda privacy: Promise(rows=privacy.k, candidates=privacy.k),
    needs=needing(SEPARATION),  # a property of groups of k to 2k rows
)
