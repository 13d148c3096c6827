"""One run of a comparison: an algorithm decides on counts, and what it would publish is judged and measured."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct import losses
from indistinct.algorithms import form_of, named
from indistinct.decision.decide import decide, stars_rows, suppressed_rows
from indistinct.errors import Cancelled, IndistinctError, InfeasibleError, UnsupportedError
from indistinct.models import Context
from indistinct.models.contract import MECHANISM
from indistinct.models.exact import rational
from indistinct.models.safepub import budget as spent_by
from indistinct.models.safepub import mechanism
from indistinct.policy import Policy
from indistinct.policy.epsilon import Epsilon
from indistinct.policy.privacy import KAnonymity, Safepub
from indistinct.proof.groups import judge_both
from indistinct.session.item_sets import sets_of_assignment, with_item_levels
from indistinct.session.verdicts import judge
from indistinct.tables.classes import classes_of, groups_of, merged, recoding_of
from indistinct.utility.code_queries import code_queries, query_error

if TYPE_CHECKING:
    from indistinct.assess.run_store import Store
    from indistinct.session.prepare import Prepared
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Classes


@dataclass
class Budget:
    """What runs of safepub on one table may spend, and have spent: epsilons and deltas of runs add up."""

    limit: Epsilon | None = None
    spent: Epsilon = field(default_factory=Epsilon)
    delta: Fraction = Fraction(0)
    runs: int = 0

    def require(self, model: Safepub) -> None:
        """Refuse a run that there is no budget for; raises UnsupportedError."""
        if self.limit is None:
            raise UnsupportedError(
                "safepub draws a sample at random, and looking at a run of it spends privacy: say how much the "
                f"comparison may spend in all (--epsilon-budget {model.epsilon} allows one run)"
            )
        total = self.spent + model.budget
        if not total.is_within(self.limit):
            raise UnsupportedError(
                f"the runs of safepub would have spent epsilon = {total} with this one, more than the budget "
                f"{self.limit}; raise the budget, or leave safepub out"
            )

    def charge(self, run: dict[str, Any]) -> None:
        """Add what a run has spent."""
        if run.get("budget"):
            self.spent += Epsilon.read(run["budget"]["epsilon"])
            self.delta += Fraction(run["budget"]["delta"])
            self.runs += 1

    def document(self) -> dict[str, Any] | None:
        """What was spent in all; None where nothing was, and nothing was allowed."""
        if self.limit is None and not self.runs:
            return None
        limit = None if self.limit is None else str(self.limit)
        return {"epsilon": str(self.spent), "delta": str(self.delta), "limit": limit, "runs": self.runs}


def is_drawn(policy: Policy, name: str) -> bool:
    """Whether an algorithm draws its release at random from a budget, so that no k is asked of it."""
    return MECHANISM in named(name).offers and any(isinstance(model, Safepub) for model in policy.privacy)


def varied(policy: Policy, name: str, k: int | None) -> Policy:
    """Return the policy with another algorithm and another k.

    A k takes the place of ``safepub``, which cannot be held beside it; the algorithm of that name keeps the model.
    """
    plain = policy.plain()
    plain["recoding"] = {**plain.get("recoding", {}), "algorithm": name}
    if k is not None and not is_drawn(policy, name):
        models = [model for model in policy.privacy if not isinstance(model, Safepub | KAnonymity)]
        plain["privacy"] = [KAnonymity(k), *models]
    return Policy(**plain).at(policy.base, from_flags=policy.from_flags)


def compared(
    prepared: Prepared, name: str, k: int | None, table: str, store: Store | None, budget: Budget, progress: Progress
) -> dict[str, Any]:
    """Take a run from the store, or do it and store it; ``table`` is the fingerprint of the table.

    A run of safepub is charged to the budget when its sample was drawn, even if nothing of it could be published.
    """
    request = {"algorithm": name, "k_asked": k}
    try:
        policy = varied(prepared.policy, name, k)
    except IndistinctError as error:
        return {**request, **_failure(error)}
    key = {"policy": policy.hash(), "table": table}
    known = None if store is None else store.get(key)
    if known is not None:
        return {**known, **request, "reused": True}
    drawn = next((model for model in policy.privacy if isinstance(model, Safepub)), None)
    spent = {"budget": spent_by(drawn)} if drawn is not None else {}
    start = perf_counter()
    _forget_peak()
    try:
        if drawn is not None and is_drawn(policy, name):
            budget.require(drawn)
        own = with_item_levels(replace(prepared, policy=policy))
        assignment = decide(own, progress)
        used = {"seconds": round(perf_counter() - start, 3), "peak_memory_bytes": _peak()}
        found = {**request, **_measured(own, assignment), **spent, **used}
    except Cancelled:
        raise
    except IndistinctError as error:
        found = {
            **request,
            **_failure(error),
            "seconds": round(perf_counter() - start, 3),
            "peak_memory_bytes": _peak(),
        }
        found |= spent if isinstance(error, InfeasibleError) else {}
    budget.charge(found)
    if store is not None and found["status"] != UnsupportedError.kind:  # another budget may allow it
        store.add(key, found)
    return {**found, "reused": False}


def _failure(error: IndistinctError) -> dict[str, Any]:
    """Describe a run without result: documents are kept, so the sentence holds no values of the table."""
    nearest = error.nearest if isinstance(error, InfeasibleError) and not error.shown else ""
    return {"status": error.kind, "reason": error.public_message, "nearest": nearest}


def _measured(prepared: Prepared, assignment: Assignment) -> dict[str, Any]:
    """Judge what a run would publish and measure what it loses."""
    policy, frequencies = prepared.policy, prepared.counted.frequencies
    recoding = recoding_of(frequencies, assignment)
    stars_rows(prepared, assignment, recoding)
    alike = merged(assignment, recoding)
    classes = classes_of(frequencies, alike)
    classes = replace(classes, sets=sets_of_assignment(policy, frequencies, alike))
    context = Context(frequencies.references)
    groups = None if assignment.group_of is None else groups_of(frequencies, assignment)
    models = judge(policy, classes, context)[0] if groups is None else judge_both(policy, groups, classes, context)
    broken = [entry for entry in models if not entry["satisfied"]]
    names = [hierarchy.attribute for hierarchy in frequencies.quasi]
    attribute = next((name for model in policy.privacy for name in model.attributes_used), None)
    smallest = int(classes.sizes.min())
    request = code_queries(frequencies, attribute)
    return {
        "status": "not satisfied" if broken else "done",
        "reason": broken[0]["reason"] if broken else "",
        "form": form_of(policy),
        "k": smallest,
        "largest_risk": rational(Fraction(1, smallest)),
        "largest_share": largest_share(classes if groups is None else groups, attribute),
        "models": models,
        "loss": losses.summary(frequencies, assignment, recoding),
        "query_error": query_error(frequencies, assignment, recoding, request, sampled=_sampled(policy)),
        "suppressed_rows": suppressed_rows(assignment),
        "classes": len(classes),
        "groups": None if groups is None else len(groups),
        "smallest_group": None if groups is None else int(groups.rows.min()),
        "levels": None if assignment.levels is None else dict(zip(names, assignment.levels, strict=True)),
        "proven_optimal": assignment.proven,
        "notes": list(assignment.notes),
    }


def _sampled(policy: Policy) -> float:
    """Probability with which a row is in the release, which its readers know."""
    drawn = [model for model in policy.privacy if isinstance(model, Safepub)]
    return float(mechanism(drawn[0].epsilon, drawn[0].search_epsilon).beta) if drawn else 1.0


def largest_share(classes: Classes, attribute: str | None) -> dict[str, Any] | None:
    """Largest share of the rows of a class or group that have one sensitive value: the surest guess of it, exact."""
    if attribute is None or attribute not in classes.histograms:
        return None
    histogram = classes.histograms[attribute]
    most = np.maximum.reduceat(histogram.count, histogram.start[:-1])
    return rational(max(Fraction(*pair) for pair in set(zip(most.tolist(), classes.rows.tolist(), strict=True))))


def _forget_peak() -> None:
    """Let the system begin to measure the largest memory of this process anew, where it can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _peak() -> int | None:
    """Largest memory of this process in bytes since it was last forgotten; None where the system does not say."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    return None
