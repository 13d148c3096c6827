"""All losses by name, in the order of reports, and what callers ask of all of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from indistinct.policy import recoding as policy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.losses.contract import Loss
    from indistinct.tables.records import Assignment, Frequencies, Recoding

# each module holds its records in LOSSES
FILES = (
    "lm", "gcp", "iloss", "precision", "nonuniform_entropy", "average_class_size", "discernibility", "ambiguity",
    "kullback_leibler",
)  # fmt: skip
LOSSES: Mapping[str, Loss] = {
    loss.name: loss for file in FILES for loss in import_module(f"indistinct.losses.{file}").LOSSES
}


def require_words(losses: Mapping[str, Loss]) -> None:
    """Refuse losses that the policy does not know by the same words; raises TypeError.

    >>> require_words(LOSSES)
    """
    for loss in losses.values():
        words = policy.MEASURED_ONLY if loss.prices is None else policy.LOSSES
        if loss.name not in words:
            place = "MEASURED_ONLY" if loss.prices is None else "LOSSES"
            raise TypeError(f"the loss {loss.name} is missing in policy.recoding.{place}")


require_words(LOSSES)


def summary(frequencies: Frequencies, assignment: Assignment, recoding: Recoding) -> dict[str, Any]:
    """All losses of a release as they stand in the JSON documents; ``nonuniform_entropy`` is the share."""
    found: dict[str, Any] = {}
    for loss in LOSSES.values():
        if not loss.costly:
            found[loss.name], by_attribute = loss.measure(frequencies, assignment, recoding)
            if loss.by_attribute:
                found[_by_attribute(loss)] = {name: float(figure) for name, figure in by_attribute.items()}
    return found


def costly(frequencies: Frequencies, assignment: Assignment, recoding: Recoding) -> dict[str, Any]:
    """Return the losses that only reports have; None where one would take too long."""
    return {loss.name: loss.measure(frequencies, assignment, recoding)[0] for loss in LOSSES.values() if loss.costly}


def size_losses(sizes: Sequence[int], suppressed: int) -> dict[str, float]:
    """Return the losses that are functions of the sizes of the published classes and of the suppressed rows.

    >>> size_losses([2, 3], 1)
    {'average_class_size': 2.5, 'discernibility': 19, 'discernibility_star': 14}
    """
    return {loss.name: loss.of_sizes(sizes, suppressed) for loss in LOSSES.values() if loss.of_sizes is not None}


def of_domains() -> list[str]:
    """Return the entries of a document that tell of the domains of columns."""
    found = []
    for loss in LOSSES.values():
        if loss.of_domains:
            found += [loss.name, *[_by_attribute(loss)] * loss.by_attribute]
    return found


def priced(hierarchies: Sequence[Hierarchy], loss: str) -> tuple[Hierarchy, ...]:
    """Return the hierarchies with the costs and weights under which LM is the loss of that name.

    Searches minimise ``(1/n) (sum over published rows of c(r) + suppressed rows)``, c(r) the weighted mean of the costs
    of the row's nodes. A loss whose cell costs depend on the node alone, are exact, grow with generalization and are 1
    for a suppressed row is minimised by the same search under other prices. The others cannot be had this way: classes
    (discernibility, average class size, ambiguity, KL) or original values (non-uniform entropy) enter their costs, or
    they are not monotone (classification metric).

    >>> from indistinct.hierarchies import suppression
    >>> [h.cost(0, 1) for h in priced([suppression.build("sex", ["f", "m"])], "precision")]
    [Fraction(1, 1)]
    """
    prices = LOSSES[loss].prices if loss in LOSSES else None
    if prices is None:
        message = f"no search minimises {loss}"
        raise ValueError(message)
    return prices(hierarchies)


def _by_attribute(loss: Loss) -> str:
    return f"{loss.name}_by_attribute"
