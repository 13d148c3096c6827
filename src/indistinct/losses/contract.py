"""What a loss is to the rest of the system."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from fractions import Fraction

    from indistinct.hierarchies.hierarchy import Hierarchy, Level
    from indistinct.tables.records import Assignment, Frequencies, Recoding

    Figure = float | int | None
    ByAttribute = Mapping[str, Fraction]


class Measure(Protocol):
    """Measures a release: its figure as the documents have it, and by quasi-identifier where there is one."""

    def __call__(
        self, frequencies: Frequencies, assignment: Assignment, recoding: Recoding
    ) -> tuple[Figure, ByAttribute]:
        """Measure a release."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One information-loss measure: its name in documents, how it is measured, and what its figure tells.

    Reports name it by the message ``loss.NAME`` of each catalogue; a policy may name it where ``prices`` are given.

    ``of_domains``: the figure follows from the published labels and the domains of their columns; it is public where
    these are, and ``proof.label_losses`` works it out. ``of_sizes(sizes, suppressed)``: it follows from the sizes of
    the published classes and the suppressed rows, which everybody can count, so that it is public and its claim is
    checked. One with neither stays with the steward. ``prices(hierarchies)``: the hierarchies with the costs under
    which LM is this loss, where a search can make it small. ``by_attribute``: documents have the figure of each
    quasi-identifier too. ``compared``: it is a column of ``compare``. ``costly``: it is measured for reports only.
    """

    name: str
    measure: Measure
    of_domains: bool
    of_sizes: Callable[[Sequence[int], int], float] | None
    prices: Callable[[Sequence[Hierarchy]], tuple[Hierarchy, ...]] | None
    by_attribute: bool = False
    compared: bool = False
    costly: bool = False

    def __post_init__(self) -> None:
        """Refuse a loss that would be told by two rules."""
        if self.of_domains and self.of_sizes is not None:
            raise TypeError(f"the loss {self.name} follows from the sizes of classes; then it tells of no domain")


def exactly(measure: Callable[..., tuple[Fraction, ByAttribute]]) -> Measure:
    """Return a measure whose exact mean is written as a float."""

    def measured(frequencies: Frequencies, assignment: Assignment, recoding: Recoding) -> tuple[Figure, ByAttribute]:
        mean, by_attribute = measure(frequencies, assignment, recoding)
        return float(mean), by_attribute

    return measured


def of_classes(of_sizes: Callable[[Sequence[int], int], float]) -> Measure:
    """Return the measure of a loss that follows from the sizes of the classes and the suppressed rows."""
    from indistinct.losses.cells import class_rows

    def measured(
        frequencies: Frequencies,  # noqa: ARG001  # the contract's
        assignment: Assignment,
        recoding: Recoding,  # noqa: ARG001  # the contract's
    ) -> tuple[Figure, ByAttribute]:
        rows, suppressed = class_rows(assignment)
        return of_sizes(rows.tolist(), suppressed), {}

    return measured


def with_levels(hierarchy: Hierarchy, cost: Callable[[Hierarchy, int, Level], Any]) -> Hierarchy:
    """Return a hierarchy with other costs: ``cost(hierarchy, number, level)`` for each level."""
    return replace(
        hierarchy,
        levels=tuple(
            replace(level, costs=cost(hierarchy, number, level)) for number, level in enumerate(hierarchy.levels)
        ),
    )
