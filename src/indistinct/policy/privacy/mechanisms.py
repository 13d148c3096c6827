"""Parameters of the models that are guarantees of how a table is made."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from indistinct.policy.parameters import Exact, Privacy, Whole, exact
from indistinct.policy.problems import problem, refuse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from indistinct.policy.parameters import Number


def _epsilon(value: object) -> str:
    """Read an epsilon: a number above 0, or ``ln x`` with x above 1; returns it as text."""
    message = 'must be a number above 0, or a text such as "ln 2"'
    logarithm = re.fullmatch(r"\s*ln\s+(\S+)\s*", value) if isinstance(value, str) else None
    try:
        number = exact(logarithm[1] if logarithm else value)
    except ValueError:
        raise ValueError(message) from None
    if number <= (1 if logarithm else 0):
        raise ValueError(message)
    if logarithm:
        return f"ln {number}"
    if number > _LARGEST:
        raise ValueError(f"must be at most {_LARGEST}: more is no protection")
    return str(Decimal(number.numerator) / number.denominator) if _is_decimal(number) else str(number)


def _is_decimal(number: Fraction) -> bool:
    return 10**25 % number.denominator == 0


_LARGEST = 20
Epsilon = Annotated[
    str,
    BeforeValidator(_epsilon),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^(ln )?\d+(\.\d+|/\d+)?$"}]}),
]


class Safepub(Privacy):
    """(epsilon, delta)-differential privacy by sampling, fixed ``levels`` and dropping small classes.

    ``epsilon``: number above 0, or "ln x" with x > 1; ``delta``: number, 0 < delta < 1, far below 1 / rows;
    ``levels``: one level for every quasi-identifier, chosen without looking at the data.

    >>> Safepub("ln 2", "1e-5", levels={"age": 2}).epsilon
    'ln 2'

    Source: Li, Qardaji and Su, ASIACCS 2012, https://arxiv.org/abs/1101.2604; Bild, Kuhn and Prasser, PoPETs 2018(1),
    https://doi.org/10.1515/popets-2018-0004.
    """

    model: Literal["safepub"] = "safepub"
    epsilon: Epsilon
    """Budget of this release; those of several releases add up."""
    delta: Exact = Field(gt=0, lt=1)
    """Probability with which the bound may fail."""
    levels: dict[str, Annotated[Whole, Field(ge=0)]] = Field(min_length=1)
    """Level of every quasi-identifier."""
    order = ("epsilon", "delta", "levels")

    if TYPE_CHECKING:

        def __init__(self, epsilon: Number, delta: Number, levels: Mapping[str, int]) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _no_search(cls, data: Any) -> Any:
        if isinstance(data, dict) and "search_epsilon" in data:
            sentence = "is known but not built yet; this version has fixed levels"
            refuse([problem(("search_epsilon",), sentence, data["search_epsilon"], planned=True)])
        return data
