"""The parameters of the transforms, as ``[[transforms]]`` of a policy states them. What they mean: docs/transforms.md.

A new transform adds its class here, its function to ``transforms/`` and its section to docs/transforms.md.
"""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema, model_validator

from indistinct.policy.parameters import Exact, Whole, exact
from indistinct.policy.problems import Section, check_tag, problem, refuse

LARGEST_SET = 12


class Transform(Section):
    """Base of the parameter classes. ``types`` are the types of columns that the transform takes; empty: any."""

    method: str
    types: ClassVar[tuple[str, ...]] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that the transform names."""
        return ()


class _OfOne(Transform):
    """Base of transforms of one column."""

    attribute: str = Field(min_length=1)
    """The column that is changed."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.attribute,)


class LocalSuppression(Transform):
    """Blanks single cells until every combination of the columns occurs at least k times."""

    method: Literal["local_suppression"] = "local_suppression"
    k: Whole = Field(ge=2)
    """Least number of rows of every combination."""
    attributes: tuple[str, ...] = Field(default=(), max_length=LARGEST_SET)
    """Quasi-identifiers whose cells may be blanked, together one combination; default: all of them."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, where they are named."""
        return self.attributes


def _limit(value: object) -> Fraction | str:
    """Read the limit of a coding: a number, a date, or a value of an ordinal column."""
    if isinstance(value, date):
        return value.isoformat()
    try:
        return exact(value)
    except ValueError:
        if isinstance(value, str) and value:
            return value
    message = "must be a number, a date, or a value of an ordinal column"
    raise ValueError(message)


_Limit = Annotated[
    Fraction | str,
    PlainValidator(_limit),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}]}),
]


class _Coding(_OfOne):
    """Base of top and bottom coding."""

    types = ("integer", "decimal", "date", "ordinal")
    limit: _Limit
    """The outermost value that is kept."""
    replacement: Literal["limit", "mean"] = "limit"
    """What is published in place of values beyond the limit: the limit, or the mean of those values."""


class TopCoding(_Coding):
    """Replaces every value above a limit."""

    method: Literal["top_coding"] = "top_coding"


class BottomCoding(_Coding):
    """Replaces every value below a limit."""

    method: Literal["bottom_coding"] = "bottom_coding"


class Pram(_OfOne):
    """Changes the values of a column at random, by a transition matrix."""

    method: Literal["pram"] = "pram"
    retain: Exact | None = Field(default=None, ge=0, le=1)
    """Probability that a value stays; the others of the column share the rest equally. Either this or matrix."""
    matrix: dict[str, dict[str, Exact]] | None = Field(default=None, min_length=1)
    """For each value the probabilities of the values it becomes; each row has the sum 1."""
    invariant: bool = False
    """Whether a second step is added, after which every value is expected as often as before."""

    @model_validator(mode="after")
    def _has_one_matrix(self) -> Self:
        if (self.retain is None) == (self.matrix is None):
            refuse([problem((), "needs either retain (one probability) or matrix (one for each pair of values)")])
        found = []
        for value, row in (self.matrix or {}).items():
            if any(share < 0 for share in row.values()):
                found.append(problem(("matrix", value), "holds a negative probability"))
            elif sum(row.values(), Fraction(0)) != 1:
                found.append(problem(("matrix", value), f"has the sum {sum(row.values(), Fraction(0))}; it must be 1"))
            strange = [other for other in row if other not in (self.matrix or {})]
            if strange:
                found.append(problem(("matrix", value, strange[0]), "has no row of its own; give each value one"))
        refuse(found)
        return self


class _Noise(Transform):
    """Base of the transforms that add normal noise."""

    types = ("integer", "decimal", "date")
    share: Exact = Field(gt=0)
    """Standard deviation of the noise, as a share of that of the column."""
    keep_variance: bool = False
    """Whether values are drawn together around the mean afterwards, so that the variance is expected as before."""


class AdditiveNoise(_Noise, _OfOne):
    """Adds independent normal noise to the numbers of a column."""

    method: Literal["additive_noise"] = "additive_noise"


class CorrelatedNoise(_Noise):
    """Adds normal noise to several columns that is correlated as they are."""

    method: Literal["correlated_noise"] = "correlated_noise"
    attributes: tuple[str, ...] = Field(min_length=2)
    """The columns that are changed."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.attributes


class RankSwapping(_OfOne):
    """Swaps each value with one whose rank is near."""

    types = ("integer", "decimal", "date", "ordinal")
    method: Literal["rank_swapping"] = "rank_swapping"
    share: Exact = Field(gt=0, le=1)
    """Largest difference of ranks, as a share of the rows."""


class Km(_OfOne):
    """Generalizes the items of a set-valued column along a tree until it is k^m-anonymous."""

    method: Literal["km"] = "km"
    hierarchy: str = Field(min_length=1)
    """File with a row for each item: item, level 1, ..., top; relative to the policy file."""
    k: Whole = Field(ge=2)
    """Least number of rows that hold a set."""
    m: Whole = Field(ge=1)
    """Most items that others know of somebody."""


class ShiftDates(Transform):
    """Moves all dates of a person by one secret number of days, so that the time between events stays."""

    method: Literal["shift_dates"] = "shift_dates"
    attributes: tuple[str, ...] = Field(min_length=1)
    """Columns of dates that are moved together."""
    days: Whole = Field(ge=1, le=36_525)
    """Most days that a person is moved by, into the past or the future; every whole number up to it is equally likely.
    """
    types: ClassVar[tuple[str, ...]] = ("date",)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.attributes


class Sampling(Transform):
    """Keeps a random sample of the rows, drawn without replacement."""

    method: Literal["sampling"] = "sampling"
    share: Exact | None = Field(default=None, gt=0, le=1)
    """Share of the rows that is kept, rounded down to whole rows. Either this or rows."""
    rows: Whole | None = Field(default=None, ge=1)
    """Number of rows that is kept."""

    @model_validator(mode="after")
    def _has_one_size(self) -> Self:
        if (self.share is None) == (self.rows is None):
            refuse([problem((), "needs either share (of the rows) or rows (a number)")])
        return self


def check_method(item: Any) -> Any:
    """Refuse a ``[[transforms]]`` table whose ``method`` is absent or unknown."""
    if isinstance(item, dict):
        check_tag(item, "method", METHODS)
    return item


AnyTransform = Annotated[
    LocalSuppression
    | TopCoding
    | BottomCoding
    | Pram
    | AdditiveNoise
    | CorrelatedNoise
    | RankSwapping
    | Km
    | ShiftDates
    | Sampling,
    Field(discriminator="method"),
    BeforeValidator(check_method),
]  # fmt: skip
METHODS: tuple[str, ...] = tuple(kind.model_fields["method"].default for kind in get_args(get_args(AnyTransform)[0]))
