"""What an attack found, and how sure the numbers are.

For every attacked person an attack has a *prior*, what someone believes who knows only the distribution of the whole
table, and a *posterior*, what the attacker believes of the same claim. The *gain* is the mean of posterior - prior.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    Float64 = NDArray[np.float64]
    Int64 = NDArray[np.int64]
    Bool = NDArray[np.bool_]

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
    console only.
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
        low, high, method = bootstrap(rise, self.weight)
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
            "gain": _mean(rise, self.weight),
            "gain_interval": {"low": low, "high": high, "method": method},
            "largest_gain": round(float(rise.max(initial=0.0)), 12),
            "worst": [
                {"table": self.table, "row": int(self.row[kind]), "prior": round(float(self.prior[kind]), 12),
                 "posterior": round(float(self.posterior[kind]), 12)}
                for kind in self.worst()
            ],
            "stopped_by": list(stopped_by),
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


def bootstrap(values: Float64, weight: Int64) -> tuple[float, float, str]:
    """Return a 95 % interval of the mean of ``values``, each held by ``weight`` persons: 2.5 and 97.5 % of 1,000 draws.

    Persons are drawn with replacement (Efron, Ann. Statist. 7:1-26, 1979), with a fixed seed: it protects nothing. More
    than 5,000 different values: the normal approximation instead, and the method says so.

    >>> bootstrap(np.array([0.5]), np.array([7]))
    (0.5, 0.5, 'bootstrap')
    """
    total = int(weight.sum())
    if total == 0:
        return 0.0, 0.0, "none"
    distinct, inverse = np.unique(np.round(values, 12), return_inverse=True)
    held = np.bincount(inverse.reshape(-1), weights=weight.astype(np.float64))
    if len(distinct) > MOST_DISTINCT:
        mean = float(held @ distinct) / total
        half = Z95 * sqrt(max(0.0, float(held @ (distinct - mean) ** 2)) / total / total)
        return round(mean - half, 12), round(mean + half, 12), "normal"
    draws = np.random.default_rng(0).multinomial(total, held / held.sum(), size=ROUNDS)
    low, high = np.quantile(draws @ distinct / total, [0.025, 0.975])
    return round(float(low), 12), round(float(high), 12), "bootstrap"


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
