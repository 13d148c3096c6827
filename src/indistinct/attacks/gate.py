"""The gate of ``attack``: which outcomes are above the limit, by which end of their interval, and which did not run.

Where several outcomes are judged by an end of their interval, the interval is that of level 1 - 0.05/m, m the number of
outcomes (Bonferroni): together they cover with 95 %. *Lower*: an outcome is above when the whole interval is, so that
chance alone fails nobody. *Upper*: it is above unless the whole interval lies within the limit, so that little data
pass nobody. *Estimate* asks the figure itself.

Attacks on identity that k-anonymity bounds are judged by the 1/k that the policy asked for: k = 5 grants 1/5.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.attacks.outcome import LEVEL, Outcome
from indistinct.policy.privacy import KAnonymity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from indistinct.attacks.contract import Attack

FAIL_ON = ("average", "worst")
FAIL_AT = ("estimate", "lower", "upper")
# beliefs are shown with 12 digits
CLOSE = 1e-9


@dataclass(frozen=True)
class Gate:
    """What a release must keep to: ``limit`` of the gain, None where nothing is asked, and attacks that must run.

    ``on``: the mean or the worst case decides; ``at``: the estimate, or the lower or upper end of its interval; ``k``
    what the policy asks of sizes, 1 where it asks nothing.
    """

    limit: Fraction | None
    on: str
    at: str
    k: int
    required: Sequence[str] = field(default=())

    def judged(self, by: Attack, outcome: Outcome, outcomes: int) -> dict[str, Any] | None:
        """Say whether an outcome is above the limit, and what was compared with what; None without a limit."""
        if self.limit is None:
            return None
        limit, why, level = float(self.limit), "the limit that was given", None
        of_size = outcome.attribute is None and KAnonymity in by.bounded_by and self.k > 1
        if of_size:  # the belief itself, not what it gains over a smaller one
            limit, why = 1 / self.k, f"1/{self.k}, since the policy asks for k = {self.k}"
            outcome = replace(outcome, prior=np.zeros(len(outcome.posterior)), contrast=None)
        if self.on == "worst":
            value = float((outcome.posterior - outcome.prior).max(initial=0.0))
        elif self.at == "estimate":
            value = outcome.gain
        else:
            level = 1 - (1 - LEVEL) / max(1, outcomes)
            value = outcome.interval(level)["low" if self.at == "lower" else "high"]
        return {
            "above": value > limit + CLOSE,
            "compared": "belief" if of_size else "gain",
            "value": round(value, 12),
            "limit": limit,
            "why": why,
            "level": level,
        }

    def missing(self, entries: Sequence[Mapping[str, Any]]) -> list[str]:
        """Name the attacks that were required and did not run."""
        ran = {entry["attack"] for entry in entries if entry["ran"]}
        return [name for name in self.required if name not in ran]

    @property
    def is_requested(self) -> bool:
        """Whether anything is required."""
        return self.limit is not None or bool(self.required)
