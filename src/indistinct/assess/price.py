"""What each promise of a policy costs: the same counted table decided again with the promises added one after another.

The runs are searches of quality ``fast`` where the algorithm has qualities, so that the steps compare like with like.
A price tells of the original (a run without l or t is what an attacker would want): it stands in internal documents.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from indistinct.algorithms import form_of
from indistinct.decision.decide import decide, suppressed_rows
from indistinct.errors import Cancelled, IndistinctError
from indistinct.losses import lm
from indistinct.models import Context, record_of
from indistinct.policy.recoding import Improving
from indistinct.session.item_sets import with_item_levels
from indistinct.session.verdicts import judge
from indistinct.tables.classes import classes_of, merged, recoding_of
from indistinct.tables.count import silent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indistinct.policy import Policy
    from indistinct.policy.privacy import Privacy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.count import Progress

NOTHING = 0.005  # less is the scatter of quick searches


def quick(policy: Policy) -> Policy:
    """Return the policy with a search that ends soon, where its algorithm has one."""
    if not isinstance(policy.recoding, Improving):
        return policy
    return policy.model_copy(
        update={"recoding": policy.recoding.model_copy(update={"quality": "fast", "time_budget": None})}
    )


def under(prepared: Prepared, privacy: Sequence[Privacy], progress: Progress = silent) -> dict[str, Any]:
    """Decide a counted table under other promises; say what is lost, and how large the groups come out.

    ``status`` is ``done``, or the kind of the error that there was; then ``reason`` says why.
    """
    changed = replace(prepared, policy=quick(prepared.policy).model_copy(update={"privacy": tuple(privacy)}))
    try:
        own = with_item_levels(changed)
        assignment = decide(own, progress)
    except Cancelled:
        raise
    except IndistinctError as error:
        return {"status": error.kind, "reason": error.public_message}
    frequencies = own.counted.frequencies
    recoding = recoding_of(frequencies, assignment)
    mean, by_attribute = lm(frequencies, assignment, recoding)
    classes = classes_of(frequencies, merged(assignment, recoding))
    entries = judge(own.policy, classes, Context(frequencies.references))[0]
    return {
        "status": "done",
        "lm": float(mean),
        "lm_by_attribute": {name: float(loss) for name, loss in by_attribute.items()},
        "smallest": int(classes.sizes.min()),
        "classes": len(classes),
        "achieved": [entry["achieved"] for entry in entries],
        "suppressed_rows": suppressed_rows(assignment),
    }


def priced_by_steps(policy: Policy) -> bool:
    """Whether promises can be priced one after another: a table of classes, nothing that is drawn or remembered."""
    alone = all(record_of(model).scope in ("class", "release") for model in policy.privacy)
    return alone and form_of(policy) == "one_table" and not policy.item_columns


def prices(
    prepared: Prepared,
    *,
    whole: dict[str, Any] | None = None,
    seconds: float | None = None,
    progress: Progress = silent,
) -> list[dict[str, Any]]:
    """Add the promises of a policy one after another, those of the size of groups first; what each one costs.

    An entry has the ``place`` of the model in the policy, the ``lm`` reached with it and all before, its own ``cost``,
    and the ``smallest`` group. ``whole``: what ``under`` found for all promises, where that is known already.
    ``seconds``: no run begins after them, and entries that were not reached are left out.
    """
    privacy = prepared.policy.privacy
    order = sorted(range(len(privacy)), key=lambda place: (bool(privacy[place].attributes_used), place))
    start, found, before = perf_counter(), list[dict[str, Any]](), 0.0
    for number, place in enumerate(order):
        if seconds is not None and perf_counter() - start > seconds:
            break
        run = whole if number == len(order) - 1 else None
        run = run or under(prepared, [privacy[one] for one in sorted(order[: number + 1])], progress)
        if run["status"] != "done":
            break
        found.append({"place": place, "lm": run["lm"], "cost": run["lm"] - before, "smallest": run["smallest"],
                      "lm_by_attribute": run["lm_by_attribute"]})  # fmt: skip
        before = run["lm"]
    return found


def deciding(found: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the price of the later promise that costs most; None where what comes after the first costs nothing."""
    later = [entry for entry in found[1:] if entry["cost"] > NOTHING]
    return max(later, key=lambda entry: entry["cost"]) if later else None
