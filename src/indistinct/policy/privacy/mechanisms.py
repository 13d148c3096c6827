"""Parameters of the models that are guarantees of how a table is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from indistinct.policy.epsilon import Epsilon as Budget
from indistinct.policy.parameters import Exact, Privacy, Whole
from indistinct.policy.problems import problem, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indistinct.policy.parameters import Number


def _epsilon(value: object) -> str:
    return str(Budget.read(value))


Epsilon = Annotated[
    str,
    BeforeValidator(_epsilon),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^(ln )?\d+(\.\d+|/\d+)?$"}]}),
]


class Safepub(Privacy):
    """(epsilon, delta)-differential privacy by sampling, a recoding scheme and dropping small classes.

    ``epsilon``: number above 0, or "ln x" with x > 1, the budget of the whole release; ``delta``: number, 0 < delta <
    1, far below 1 / rows. The scheme is either fixed, ``levels``: one level for every quasi-identifier, chosen without
    looking at the data; or searched, ``search_epsilon``: number above 0 and below epsilon, the part of the budget that
    the search spends.

    Examples
    --------
    >>> Safepub("ln 2", "1e-5", levels={"age": 2}).epsilon
    'ln 2'
    >>> Safepub(1, "1e-5", search_epsilon="0.2").search_epsilon
    Fraction(1, 5)

    References
    ----------
    Li, Qardaji and Su, ASIACCS 2012, https://arxiv.org/abs/1101.2604; Bild, Kuhn and Prasser, PoPETs 2018(1),
    https://doi.org/10.1515/popets-2018-0004.
    """

    model: Literal["safepub"] = "safepub"
    epsilon: Epsilon
    """Budget of this release; those of several releases add up."""
    delta: Exact = Field(gt=0, lt=1)
    """Probability with which the bound may fail."""
    levels: dict[str, Annotated[Whole, Field(ge=0)]] | None = Field(default=None, min_length=1)
    """Level of every quasi-identifier; left out when they are searched."""
    search_epsilon: Exact | None = Field(default=None, gt=0)
    """Part of epsilon that chooses the levels by the exponential mechanism."""
    order = ("epsilon", "delta", "levels")

    if TYPE_CHECKING:

        def __init__(
            self,
            epsilon: Number,
            delta: Number,
            levels: Mapping[str, int] | None = None,
            *,
            search_epsilon: Number | None = None,
        ) -> None: ...

    @property
    def budget(self) -> Budget:
        """The epsilon as a number that can be added and compared."""
        return Budget.read(self.epsilon)

    @model_validator(mode="after")
    def _one_scheme(self) -> Self:
        if (self.levels is None) == (self.search_epsilon is None):
            sentence = (
                "is needed once: either levels, one for every quasi-identifier, chosen without looking at the data, or "
                "search_epsilon, the part of epsilon that chooses them"
            )
            refuse([problem(("levels",), sentence)])
        if self.search_epsilon is not None and not Budget(self.search_epsilon).is_below(self.budget):
            sentence = f"must be less than epsilon, which is {self.epsilon}: the rest of it is spent on the release"
            refuse([problem(("search_epsilon",), sentence, self.search_epsilon)])
        return self
