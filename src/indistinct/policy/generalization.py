"""How the values of one attribute may be generalized, as a policy states it; ``hierarchies/`` builds it.

A specification is ``{ kind = "...", ... }`` or ``{ file = "..." }``. Checked here: all that can be known
without the table. Not checked: that the file exists and is a hierarchy, that values lie inside breaks.
"""

from __future__ import annotations

from fractions import Fraction  # noqa: TC003  # pydantic reads it at run time
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema, model_validator

from indistinct.policy.parameters import Exact, Whole, exact
from indistinct.policy.problems import Section, check_tag, problem, refuse, show

ORDERED_TYPES = ("integer", "decimal", "date", "ordinal")
# units of the calendar, fine to coarse; a week crosses the ends of all coarser ones
CALENDAR = ("day", "week", "month", "quarter", "half", "year", "decade", "century")


class Taxonomy(Section):
    """The levels stand in a CSV file as ARX writes it: leaf, level 1, ..., top; the separator is sniffed."""

    optional_tag = True
    kind: Literal["file"] = "file"
    file: str = Field(min_length=1)
    """Path of the file, relative to the policy file."""


class Intervals(Section):
    """Intervals of numbers: ``widths``, each a multiple of the one before, or nested ``breaks``."""

    kind: Literal["intervals"] = "intervals"
    widths: tuple[Annotated[Exact, Field(gt=0)], ...] | None = Field(default=None, min_length=1)
    """Width of the intervals of each level; each a multiple of the one before."""
    breaks: tuple[Annotated[tuple[Exact, ...], Field(min_length=2)], ...] | None = Field(default=None, min_length=1)
    """Ends of the intervals of each level, ascending; every list has the same ends and adds no break."""
    origin: Exact | None = None
    """A number at which intervals begin, default 0; with widths only."""
    bottom: Exact | None = None
    """Bottom coding: smaller values are one interval on every level, 0 included."""
    top: Exact | None = None
    """Top coding: values from here on are one interval on every level, 0 included."""

    @model_validator(mode="after")
    def _nested(self) -> Self:
        found = []
        if (self.widths is None) == (self.breaks is None):
            found.append(problem((), "needs either widths, such as [5, 10, 20], or breaks, and not both"))
        if self.origin is not None and self.breaks is not None:
            found.append(problem(("origin",), "goes with widths, not with breaks; leave it out", self.origin))
        for position, (fine, coarse) in enumerate(pairwise(self.widths or ()), 1):
            if coarse <= fine or (coarse / fine).denominator != 1:
                sentence = f"must be a multiple of the width before it, {show(fine)}"
                found.append(problem(("widths", position), sentence, coarse))
        for position, ends in enumerate(self.breaks or ()):
            if any(low >= high for low, high in pairwise(ends)):
                found.append(problem(("breaks", position), "must ascend", ends))
        for position, (fine_ends, ends) in enumerate(pairwise(self.breaks or ()), 1):
            if not set(ends) <= set(fine_ends) or (ends[0], ends[-1]) != (fine_ends[0], fine_ends[-1]):
                sentence = f"must have the ends of the list before it, {show(fine_ends)}, and only breaks of it"
                found.append(problem(("breaks", position), sentence, ends))
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            found.append(problem(("bottom",), f"must be below top, which is {show(self.top)}", self.bottom))
        refuse(found)
        return self


class Masking(Section):
    """Each level replaces one more character, from the right or from the left."""

    kind: Literal["masking"] = "masking"
    from_: Literal["right", "left"] = Field(default="right", alias="from")
    """The end at which masking begins."""
    character: str = Field(default="*", min_length=1, max_length=1)
    """What stands for a masked character."""
    fill: Literal["longest"] | None = None
    """Fill shorter values up with the mask first, so that 02139 and 02139-4307 meet in 02139*****."""


class Dates(Section):
    """Levels of the calendar, fine to coarse."""

    kind: Literal["dates"] = "dates"
    levels: tuple[Literal["day", "week", "month", "quarter", "half", "year", "decade", "century"], ...] = Field(
        min_length=1
    )
    """Units, fine to coarse, of which the first is the finest that is published; a week can only be the last."""

    @model_validator(mode="after")
    def _nested(self) -> Self:
        ranks = [CALENDAR.index(level) for level in self.levels]
        if any(fine >= coarse for fine, coarse in pairwise(ranks)):
            refuse([problem(("levels",), f"must go from fine to coarse: {', '.join(CALENDAR)}", self.levels)])
        if "week" in self.levels[:-1]:
            refuse([problem(("levels",), "a week fits into no coarser unit; let it be the last level", self.levels)])
        return self


class Ordinal(Section):
    """Groups of neighbours in the declared order: ``sizes``, or ``groups`` listed for each level."""

    kind: Literal["ordinal"] = "ordinal"
    sizes: tuple[Annotated[Whole, Field(ge=1)], ...] | None = Field(default=None, min_length=1)
    """Number of neighbouring values that form a group, for each level; each a multiple of the one before."""
    groups: tuple[tuple[tuple[str, ...], ...], ...] | None = Field(default=None, min_length=1)
    """The groups of each level, each a list of neighbouring values."""

    @model_validator(mode="after")
    def _nested(self) -> Self:
        found = []
        if (self.sizes is None) == (self.groups is None):
            found.append(problem((), "needs either sizes, such as [2, 4], or groups, and not both"))
        for position, (fine, coarse) in enumerate(pairwise(self.sizes or ()), 1):
            if coarse <= fine or coarse % fine:
                found.append(problem(("sizes", position), f"must be a multiple of the size before it, {fine}", coarse))
        refuse(found)
        return self


def _step(value: Any) -> Fraction | str:
    """Read a step: a number above 0, or a unit of the calendar."""
    if isinstance(value, str) and value in CALENDAR:
        return value
    message = f"must be a number, step > 0, or for dates a unit: {', '.join(CALENDAR)}"
    try:
        step = exact(value)
    except ValueError:
        raise ValueError(message) from None
    if step <= 0:
        raise ValueError(message)
    return step


_STEP_SCHEMA = {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "minLength": 1}]}


class Range(Section):
    """A class is published as the range of its members."""

    kind: Literal["range"] = "range"
    bounds: Literal["snapped", "members", "region"] | None = None
    """members: smallest and largest member; snapped: outward to a grid; region: half way to the neighbours.
    Default: members for whole numbers, snapped otherwise."""
    step: Annotated[Fraction | str, PlainValidator(_step), WithJsonSchema(_STEP_SCHEMA)] | None = None
    """Step of the grid for snapped bounds; for dates a number of days or a unit such as "quarter"."""

    @model_validator(mode="after")
    def _step_needs_grid(self) -> Self:
        if self.step is not None and self.bounds not in ("snapped", None):
            refuse([problem(("step",), 'goes with bounds = "snapped"; leave it out', self.step)])
        return self


class Set(Section):
    """A class is published as the set of the values that occur in it, ``{a, b}``: no tree is needed.

    A set tells that each of its values occurs in the class.
    """

    kind: Literal["set"] = "set"
    most: Whole | None = Field(default=None, ge=1)
    """Most values of a set; what would list more is published as the root, or as the node of the file's tree."""
    file: str | None = Field(default=None, min_length=1)
    """Path of a hierarchy file, relative to the policy file: the tree above the sets."""
    values: tuple[str, ...] | None = Field(default=None, min_length=1)
    """The domain, in its order; default: the leaves of the file, the declared order, else the values that occur."""
    pad: Whole | None = Field(default=None, ge=2)
    """Not available: sets are not padded with values that do not occur."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        found = []
        if self.pad is not None:
            found.append(
                problem(("pad",), "is not available: sets list what occurs; leave it out, and lower most", self.pad)
            )
        if self.file is not None and self.values is not None:
            found.append(problem(("values",), "are those of the file; leave out values or file"))
        if self.values is not None and len(set(self.values)) < len(self.values):
            twice = next(text for place, text in enumerate(self.values) if text in self.values[:place])
            found.append(problem(("values",), "must differ", twice))
        refuse(found)
        return self


class Suppress(Section):
    """The value or ``*``."""

    kind: Literal["suppress"] = "suppress"


KINDS = ("intervals", "masking", "dates", "ordinal", "range", "set", "suppress")
# types that each kind can take; a file, set and suppress take any
TYPES_OF_KIND: dict[str, tuple[str, ...]] = {
    "intervals": ("integer", "decimal"),
    "masking": ("text",),
    "dates": ("date",),
    "ordinal": ("ordinal",),
    "range": ORDERED_TYPES,
}
# kinds with levels of nodes between the values and the root, as hierarchical distance needs them
TREES = ("file", "intervals", "masking", "dates", "ordinal")


def _with_kind(item: Any) -> Any:
    """Name the kind of ``{ file = ... }``, and refuse unknown kinds."""
    if not isinstance(item, dict):
        return item
    if "file" in item and "kind" not in item:
        return {**item, "kind": "file"}
    if item.get("kind") != "file":
        if "kind" not in item:
            choices = ", ".join(KINDS)
            refuse([problem((), f'needs a kind ({choices}) or a file, such as {{ kind = "suppress" }}')])
        check_tag(item, "kind", KINDS)
    return item


Generalization = Annotated[
    Taxonomy | Intervals | Masking | Dates | Ordinal | Range | Set | Suppress,
    Field(discriminator="kind"),
    BeforeValidator(_with_kind),
]
