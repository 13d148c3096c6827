"""Parameters of the models for numeric sensitive values, where near values tell as much as equal ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, PlainValidator, StrictBool, WithJsonSchema, model_validator

from indistinct.policy.parameters import Exact, OneAttribute, Whole, exact, whole
from indistinct.policy.problems import problem, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.policy.parameters import Number


def _levels(value: Any) -> int | tuple[Fraction, ...]:
    """Read a number of levels, or the points at which a new level begins."""
    if isinstance(value, list | tuple):
        points = tuple(exact(point) for point in value)
        if not points or any(a >= b for a, b in pairwise(points)):
            message = "must list rising cut points, at least one"
            raise ValueError(message)
        return points
    try:
        number = whole(value)
    except ValueError:
        number = 0
    if number < 1:
        message = "must be a whole number, levels >= 1, or a list of rising cut points"
        raise ValueError(message)
    return number


Levels = Annotated[
    int | tuple[Fraction, ...],
    PlainValidator(_levels),
    WithJsonSchema(
        {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "array", "items": {"type": ["number", "string"]}}]}
    ),
]


class Numeric(OneAttribute):
    """Base of the models that measure how near values are: the attribute is an integer, a decimal or a date."""

    @property
    def needs_zero(self) -> bool:
        """Whether distances are relative to the values, so that the zero of the scale matters: no dates."""
        return False


class KeAnonymity(Numeric):
    """At least ``k`` different sensitive values in every class, and a range of at least ``e``.

    max - min >= e. ``k``: whole number, k >= 1; ``e``: number, e >= 0, in the unit of the values (days for
    dates). ``count``: ``distinct`` values, as the paper has it, or ``rows`` (persons, with a person key).

    Examples
    --------
    >>> KeAnonymity("wage", 3, "49.5").e
    Fraction(99, 2)

    References
    ----------
    Zhang, Koudas, Srivastava and Yu, ICDE 2007, https://doi.org/10.1109/ICDE.2007.367857.
    """

    model: Literal["ke_anonymity"] = "ke_anonymity"
    k: Whole = Field(ge=1)
    """Least number of different values (or rows) of a class."""
    e: Exact = Field(ge=0)
    """Least difference between the largest and the smallest value of a class."""
    count: Literal["distinct", "rows"] = "distinct"
    """Whether k counts different values or rows."""
    order = ("attribute", "k", "e", "count")

    if TYPE_CHECKING:

        def __init__(self, attribute: str, k: int, e: Number, count: str = "distinct") -> None: ...

    @property
    def is_void(self) -> bool:
        """Whether k = 1 and e = 0."""
        return self.k == 1 and self.e == 0


class EpsMAnonymity(Numeric):
    """Around every sensitive value of a class lie at most a share 1/``m`` of its rows.

    The neighbourhood of x is [x - epsilon, x + epsilon] (``absolute``) or [x (1 - epsilon), x (1 + epsilon)]
    (``relative``), closed, the row itself included. ``epsilon`` >= 0, relative < 1; ``m``: whole number, m >= 1.

    Examples
    --------
    >>> EpsMAnonymity("wage", "0.1", 2, kind="relative").epsilon
    Fraction(1, 10)

    References
    ----------
    Li, Tao and Xiao, SIGMOD 2008, https://doi.org/10.1145/1376616.1376666.
    """

    model: Literal["eps_m_anonymity"] = "eps_m_anonymity"
    epsilon: Exact = Field(ge=0)
    """How far near values are apart at most."""
    m: Whole = Field(ge=1)
    """At most one in m rows of a class is near any value."""
    kind: Literal["absolute", "relative"] = "absolute"
    """Whether epsilon is a difference, or a share of the value."""
    order = ("attribute", "epsilon", "m", "kind")

    if TYPE_CHECKING:

        def __init__(self, attribute: str, epsilon: Number, m: int, kind: str = "absolute") -> None: ...

    @model_validator(mode="after")
    def _relative_below_one(self) -> Self:
        if self.kind == "relative" and self.epsilon >= 1:
            refuse([problem(("epsilon",), 'must be below 1 for kind = "relative": 0 <= epsilon < 1', self.epsilon)])
        return self

    @property
    def needs_zero(self) -> bool:
        """Whether epsilon is relative."""
        return self.kind == "relative"

    @property
    def is_void(self) -> bool:
        """Whether m = 1."""
        return self.m == 1


class GradedL(Numeric):
    """The values of every class lie on at least ``l`` different levels.

    ``levels``: a number L of levels of equal width over ``domain`` [low, high] (default: smallest and largest
    value of the table), level of x = min(floor((x - low) L / (high - low)), L - 1); or the rising points at
    which a new level begins. ``l``: whole number, 1 <= l <= number of levels.

    Examples
    --------
    >>> GradedL("wage", 2, [1000, "2500.5"]).levels
    (Fraction(1000, 1), Fraction(5001, 2))

    References
    ----------
    Han, Yu, Yu and Jia, J. Computer Research and Development 48(1), 2011.
    """

    model: Literal["graded_l"] = "graded_l"
    l: Whole = Field(ge=1)  # noqa: E741  # the letter of the literature
    """Least number of different levels of a class."""
    levels: Levels
    """Number of levels, or the cut points between them."""
    domain: tuple[Exact, Exact] | None = None
    """Lowest and highest value that the levels cover; the range of the table when left out."""
    order = ("attribute", "l", "levels", "domain")

    if TYPE_CHECKING:

        def __init__(
            self,
            attribute: str,
            l: int,  # noqa: E741
            levels: int | Sequence[Number],
            domain: tuple[Number, Number] | None = None,
        ) -> None: ...

    @model_validator(mode="after")
    def _fits(self) -> Self:
        found = []
        if self.domain is not None and self.domain[0] >= self.domain[1]:
            found.append(problem(("domain",), "must be [lowest, highest] with lowest < highest", self.domain))
        if self.domain is not None and not isinstance(self.levels, int):
            found.append(problem(("domain",), "belongs to a number of levels; cut points need none", self.domain))
        number = self.levels if isinstance(self.levels, int) else len(self.levels) + 1
        if self.l > number:
            found.append(problem(("l",), f"must be at most the number of levels, which is {number}", self.l))
        refuse(found)
        return self

    @property
    def is_void(self) -> bool:
        """Whether l = 1."""
        return self.l == 1


class EpsIKAnonymity(Numeric):
    """In every group at least ``k`` rows have neighbourhoods that do not meet, and nobody's holds more than half.

    The values are cut into intervals where the relative distance of neighbours is at least ``w`` times the
    mean; interval i has its own eps_i: from the list ``epsilons``, or ``beta`` times its range, at least
    ``eps_floor`` and ``eps_floor_share`` times its largest value. A group has k to 2k rows.

    ``k`` >= 1; 0 < ``w`` <= 1 (the paper: 0.5 to 1); 0 < ``beta`` <= 1. ``points``: one for each ``distinct``
    value, or for each of the ``records``. ``negative_values``: an ``error``, or ``shift`` them for the intervals
    only. ``separation``: ``disjoint`` neighbourhoods, or ``step7`` of the paper, which promises no risk of at
    most 1/2. ``same_interval_only``: neighbours of other intervals do not count, as the paper literally says.

    Examples
    --------
    >>> EpsIKAnonymity("wage", 2, beta="0.25").beta
    Fraction(1, 4)

    References
    ----------
    Wang and Wen, Computer Systems and Applications 28(7):184-190, 2019.
    """

    model: Literal["eps_i_k_anonymity"] = "eps_i_k_anonymity"
    k: Whole = Field(ge=1)
    """Least number of separated rows of a group."""
    w: Exact = Field(default=exact(1), gt=0, le=1)
    """A distance of at least w times the mean cuts the values."""
    epsilons: tuple[Annotated[Exact, Field(ge=0)], ...] | None = Field(default=None, min_length=1)
    """eps of each interval, lowest interval first; either this or beta."""
    beta: Exact | None = Field(default=None, gt=0, le=1)
    """eps of each interval as a share of its range."""
    eps_floor: Exact | None = Field(default=None, ge=0)
    """Least eps of every interval."""
    eps_floor_share: Exact | None = Field(default=None, ge=0, le=1)
    """Least eps of every interval as a share of its largest value."""
    points: Literal["distinct", "records"] = "distinct"
    """Whether distances are taken between different values, or between records."""
    negative_values: Literal["error", "shift"] = "error"
    """What to do about negative values, which have no relative distance."""
    separation: Literal["disjoint", "step7"] = "disjoint"
    """When two rows count as separated."""
    same_interval_only: StrictBool = False
    """Count as neighbours only rows of the same interval."""
    order = ("attribute", "k", "w", "epsilons", "beta")

    if TYPE_CHECKING:

        def __init__(
            self,
            attribute: str,
            k: int,
            w: Number = 1,
            epsilons: Sequence[Number] | None = None,
            beta: Number | None = None,
            *,
            eps_floor: Number | None = None,
            eps_floor_share: Number | None = None,
            points: str = "distinct",
            negative_values: str = "error",
            separation: str = "disjoint",
            same_interval_only: bool = False,
        ) -> None: ...

    @model_validator(mode="after")
    def _one_source_of_eps(self) -> Self:
        if (self.epsilons is None) == (self.beta is None):
            refuse([problem(("epsilons",), "or beta must be given, and not both: one eps for each interval")])
        return self

    @property
    def needs_zero(self) -> bool:
        """Whether distances are relative: always."""
        return True

    @property
    def is_void(self) -> bool:
        """Whether k = 1."""
        return self.k == 1
