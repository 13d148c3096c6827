"""What an attack found, and how sure the numbers are.

For every attacked person an attack has a *prior*, what someone believes who knows only the distribution of the whole
table, and a *posterior*, what the attacker believes of the same claim. The *gain* is the mean of posterior - prior.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    Float64 = NDArray[np.float64]
    Int64 = NDArray[np.int64]
    Bool = NDArray[np.bool_]

LEVEL = 0.95
# 1,000 draws have ten beyond either end of an interval of this level
FINEST = 0.98 + 1e-9
Z95 = 1.959963984540054
ROUNDS = 1000
MOST_DISTINCT = 5000
WORST_SHOWN = 5
# a belief that rises by more than this is something learnt, where an attack has no sharper criterion of its own
NOTABLE = 0.1


@dataclass(frozen=True)
class Outcome:
    """One attack on one attribute (None: on identity). Arrays have one entry for each kind of persons.

    ``weight`` int64[.] persons of the kind; ``prior`` and ``posterior`` float64[.] in [0, 1]; ``learnt`` bool[.];
    ``row`` int64[.] the data row (from 1) of one of them in ``table``. ``reason`` is a sentence with the counts,
    ``details`` are further figures without values of the table, ``show(i)`` tells what was learnt about kind i, for the
    console only. ``contrast``: how often the same guess is right about persons held out, where that was measured; then
    the gain is ``risk = (attack - control)/(1 - control)``, since what holds for everybody is no leak.
    ``remedies``: what would stop it beside what the attack names, where that depends on how the column is published.
    """

    attribute: str | None
    weight: Int64 = field(repr=False)
    prior: Float64 = field(repr=False)
    posterior: Float64 = field(repr=False)
    learnt: Bool = field(repr=False)
    row: Int64 = field(repr=False)
    table: str
    reason: str
    details: Mapping[str, Any] = field(default_factory=dict)
    show: Callable[[int], str] = field(default=str, repr=False)
    contrast: Contrast | None = None
    remedies: tuple[str, ...] = ()

    @property
    def gain(self) -> float:
        """The mean rise of belief, or the risk beyond the control group."""
        if self.contrast is not None:
            return self.contrast.risk
        return _mean(self.posterior - self.prior, self.weight)

    def interval(self, level: float = LEVEL) -> dict[str, Any]:
        """Return an interval of the gain from persons drawn anew."""
        if self.contrast is not None:
            low, high, method = self.contrast.interval(level)
        else:
            low, high, method = bootstrap(self.posterior - self.prior, self.weight, level)
        return {"low": low, "high": high, "method": method}

    def worst(self) -> list[int]:
        """Return the kinds of persons about whom most is learnt, at most five; those about whom nothing is are out."""
        rise = np.round(self.posterior - self.prior, 12)
        order = np.lexsort((np.arange(len(rise)), -rise, ~self.learnt))
        found: dict[int, int] = {}  # one case for each row
        for kind in order.tolist():
            if len(found) == WORST_SHOWN or not (rise[kind] > 0 or self.learnt[kind]):
                break
            found.setdefault(int(self.row[kind]), kind)
        return list(found.values())

    def document(self, attack: str, stopped_by: Sequence[str]) -> dict[str, Any]:
        """Return the entry of the JSON document."""
        persons = int(self.weight.sum())
        learnt = int(self.weight[self.learnt].sum())
        rise = self.posterior - self.prior
        return {
            "attack": attack,
            "attribute": self.attribute,
            "ran": True,
            "persons": persons,
            "learnt": learnt,
            "learnt_share": _share(learnt, persons),
            "learnt_interval": {"low": wilson(learnt, persons)[0], "high": wilson(learnt, persons)[1],
                                "method": "wilson"},
            "prior": _mean(self.prior, self.weight),
            "posterior": _mean(self.posterior, self.weight),
            "gain": self.gain,
            "gain_interval": self.interval(),
            "contrast": None if self.contrast is None else self.contrast.document(),
            "largest_gain": round(float(rise.max(initial=0.0)), 12),
            "worst": [
                {"table": self.table, "row": int(self.row[kind]), "prior": round(float(self.prior[kind]), 12),
                 "posterior": round(float(self.posterior[kind]), 12)}
                for kind in self.worst()
            ],
            "stopped_by": [*stopped_by, *self.remedies],
            "reason": self.reason,
            "details": dict(self.details),
        }  # fmt: skip


@dataclass(frozen=True)
class Idle:
    """An attack that was not run, and what it would need."""

    attribute: str | None
    reason: str

    def document(self, attack: str) -> dict[str, Any]:
        """Return the entry of the JSON document."""
        return {"attack": attack, "attribute": self.attribute, "ran": False, "reason": self.reason}


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share (JASA 22:209-212, 1927).

    >>> [round(end, 4) for end in wilson(0, 10)], [round(end, 4) for end in wilson(10, 10)]
    ([0.0, 0.2775], [0.7225, 1.0])
    """
    if trials == 0:
        return 0.0, 1.0
    share, z2 = successes / trials, Z95 * Z95
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = Z95 * sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials)) / (1 + z2 / trials)
    return round(max(0.0, centre - half), 12), round(min(1.0, centre + half), 12)


def bootstrap(values: Float64, weight: Int64, level: float = LEVEL) -> tuple[float, float, str]:
    """Return an interval of the mean of ``values``, each held by ``weight`` persons: quantiles of 1,000 draws.

    Persons are drawn with replacement (Efron, Ann. Statist. 7:1-26, 1979), with a fixed seed: it protects nothing. More
    than 5,000 different values, or a level above 98 %, whose ends lie further out than 1,000 draws show: the normal
    approximation instead, and the method says so.

    >>> bootstrap(np.array([0.5]), np.array([7]))
    (0.5, 0.5, 'bootstrap')
    """
    total = int(weight.sum())
    if total == 0:
        return 0.0, 0.0, "none"
    distinct, held = _distinct(values, weight)
    if len(distinct) > MOST_DISTINCT or level > FINEST:
        mean = float(held @ distinct) / total
        half = _z(level) * sqrt(max(0.0, float(held @ (distinct - mean) ** 2)) / total / total)
        return round(mean - half, 12), round(mean + half, 12), "normal"
    low, high = np.quantile(_means(distinct, held, 0), [(1 - level) / 2, (1 + level) / 2])
    return round(float(low), 12), round(float(high), 12), "bootstrap"


def _distinct(values: Float64, weight: Int64) -> tuple[Float64, Float64]:
    distinct, inverse = np.unique(np.round(values, 12), return_inverse=True)
    held: Float64 = np.bincount(inverse.reshape(-1), weights=weight.astype(np.float64)).astype(np.float64)
    return distinct, held


def _means(distinct: Float64, held: Float64, seed: int) -> Float64:
    total = int(held.sum())
    draws = np.random.default_rng(seed).multinomial(total, held / held.sum(), size=ROUNDS)
    means: Float64 = draws @ distinct / total
    return means


def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


@dataclass(frozen=True)
class Contrast:
    """How often a guess is right: about the attacked persons, and about others who are not in the release.

    ``scores`` float64[.] in [0, 1] of kinds of persons, ``rows`` int64[.] how many persons are of each; the same for
    the ``control_scores`` of persons held out. ``naive``: how often somebody is right who has no release. ``tried``: of
    so many guesses this is the best, so that the interval is that of level 1 - 0.05/tried. ``spread``: the
    standard deviation of the risk, where persons have no score of their own.

    >>> ones, none = np.array([1.0]), np.array([0.0])
    >>> Contrast(np.array([1.0, 0.0]), np.array([6, 4]), np.array([1.0, 0.0]), np.array([2, 8])).risk
    0.5
    """

    scores: Float64 = field(repr=False)
    rows: Int64 = field(repr=False)
    control_scores: Float64 = field(repr=False)
    control_rows: Int64 = field(repr=False)
    naive: float | None = None
    tried: int = 1
    spread: float | None = None

    @property
    def attack(self) -> float:
        """How often the guess is right about the attacked."""
        return _mean(self.scores, self.rows)

    @property
    def control(self) -> float:
        """How often it is right about persons held out."""
        return _mean(self.control_scores, self.control_rows)

    @property
    def risk(self) -> float:
        """(attack - control)/(1 - control): the share of what could still be learnt that was."""
        return round(float(_risk(self.attack, self.control)), 12)

    def interval(self, level: float = LEVEL) -> tuple[float, float, str]:
        """Return an interval of the risk: both groups of persons are drawn anew."""
        if not int(self.rows.sum()) or not int(self.control_rows.sum()):
            return -1.0, 1.0, "none"
        level = 1 - (1 - level) / self.tried
        if self.spread is not None:
            half = _z(level) * self.spread
            return round(self.risk - half, 12), round(self.risk + half, 12), "permutation"
        attack = _means(*_distinct(self.scores, self.rows), 0)
        control = _means(*_distinct(self.control_scores, self.control_rows), 1)
        draws = _risk(attack, control)
        if level <= FINEST:
            low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
            return round(float(low), 12), round(float(high), 12), "bootstrap"
        half = _z(level) * float(np.std(draws))
        return round(self.risk - half, 12), round(self.risk + half, 12), "normal"

    def document(self) -> dict[str, Any]:
        """Return the figures of both groups."""
        found: dict[str, Any] = {}
        for name, scores, rows in (
            ("attack", self.scores, self.rows), ("control", self.control_scores, self.control_rows),
        ):  # fmt: skip
            low, high, method = bootstrap(scores, rows)
            interval = {"low": low, "high": high, "method": method}
            found[name] = {"persons": int(rows.sum()), "right": _mean(scores, rows), "interval": interval}
        return {**found, "naive": self.naive, "risk": self.risk}


def _risk(attack: Any, control: Any) -> Any:
    """Divide what was learnt by what could be; nothing can be where the control group is always right."""
    return np.where(control < 1, (attack - control) / np.maximum(1 - control, 1e-12), 0.0)


def share_of(weight: Int64, chosen: Bool) -> float:
    """Return the share of the persons who are chosen."""
    return _share(int(weight[chosen].sum()), int(weight.sum()))


def listed(numbers: Sequence[int]) -> str:
    """Write row numbers."""
    return ", ".join(map(str, numbers))


def _share(part: int, whole: int) -> float:
    return round(part / whole, 12) if whole else 0.0


def _mean(values: Float64, weight: Int64) -> float:
    total = int(weight.sum())
    return round(float(weight @ values) / total, 12) if total else 0.0
