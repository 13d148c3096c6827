"""The strictest parameters that a table can be had with at a loss: what ``explain`` searches for."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any

from indistinct.decision.decide import decide
from indistinct.errors import InfeasibleError
from indistinct.losses import lm
from indistinct.policy.recoding import Improving
from indistinct.session.item_sets import with_item_levels
from indistinct.tables.classes import recoding_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from indistinct.policy import Policy
    from indistinct.session.prepare import Prepared

PRECISION = 5  # bits


def reachable(prepared: Prepared, limit: Fraction, say: Callable[[str, str], None]) -> list[dict[str, Any]]:
    """Find the strictest parameter of each model that is reached within a loss, the others as they are."""
    policy = prepared.policy
    recoding = policy.recoding
    if isinstance(recoding, Improving):  # many runs: each as fast as it can be
        recoding = recoding.model_copy(update={"quality": "fast", "time_budget": None})
    found = []
    for place, model in enumerate(policy.privacy):
        for name in ("k", "l", "t"):
            value = getattr(model, name, None)
            if value is None or (name == "l" and not isinstance(value, int)):
                continue

            def works(candidate: Any, place: int = place, name: str = name) -> bool:
                changed = list(policy.privacy)
                changed[place] = changed[place].model_copy(update={name: candidate})
                changed_policy = policy.model_copy(update={"privacy": tuple(changed), "recoding": recoding})
                return _loses(prepared, changed_policy) <= limit

            best = least_t(works) if name == "t" else largest_whole(works, prepared.counted.frequencies.total)
            entry = {"model": model.model, "attribute": getattr(model, "attribute", None), "parameter": name}
            shown = None if best is None else float(best) if name == "t" else int(best)
            found.append({**entry, "loss": float(limit), "reached": shown, "asked": float(value)})
            of = f' of "{entry["attribute"]}"' if entry["attribute"] else ""
            what = "smallest" if name == "t" else "largest"
            answer = "none was found" if best is None else f"{shown:g} is reached"
            say("reachable", f"{model.model}{of}: the {what} {name} at a loss of {100 * float(limit):g} %: {answer}")
    return found


def _loses(prepared: Prepared, policy: Policy) -> Fraction:
    """LM of the release under another policy; 2 where there is none."""
    try:
        prepared = with_item_levels(replace(prepared, policy=policy))
        assignment = decide(prepared)
    except InfeasibleError:
        return Fraction(2)
    frequencies = prepared.counted.frequencies
    return lm(frequencies, assignment, recoding_of(frequencies, assignment))[0]


def largest_whole(works: Callable[[int], bool], most: int) -> int | None:
    """Largest whole number that works, exact below 64 and within 1/32 above, by halving on a scale of ratios.

    Needs about 10 searches for a table of 20,000 rows.
    """
    if not works(1):
        return None
    low, high = 1, most + 1
    while high - low > max(1, low >> PRECISION):
        middle = min(max(isqrt(low * high), low + 1), high - 1)
        low, high = (middle, high) if works(middle) else (low, middle)
    return low


def least_t(works: Callable[[Fraction], bool]) -> Fraction | None:
    """Smallest hundredth that works, by halving."""
    if not works(Fraction(1)):
        return None
    low, high = 0, 100
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if works(Fraction(middle, 100)) else (middle, high)
    return Fraction(high, 100)
