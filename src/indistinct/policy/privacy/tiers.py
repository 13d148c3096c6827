"""Parameters of a model that is asked of part of the classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field

from indistinct.policy.parameters import OneAttribute
from indistinct.policy.privacy.diversity import AlphaK, DistinctL, EntropyL, PSensitiveK, RecursiveCL
from indistinct.policy.privacy.identity import KAnonymity
from indistinct.policy.problems import check_tag, name_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def _check(item: Any) -> Any:
    if isinstance(item, dict):
        check_tag(item, "model", TIER_MODELS)
    return item


AnyTierModel = Annotated[
    KAnonymity | AlphaK | PSensitiveK | DistinctL | EntropyL | RecursiveCL,
    Field(discriminator="model"),
    BeforeValidator(_check),
]
TIER_MODELS: tuple[str, ...] = tuple(map(name_of, get_args(get_args(AnyTierModel)[0])))


class Tiered(OneAttribute):
    """Every class that holds a row with one of ``values`` satisfies the model ``holds``; other classes are not asked.

    ``attribute``: the sensitive attribute of the values; ``values``: at least one, all of which occur in the table;
    ``holds``: k_anonymity, alpha_k, p_sensitive_k, distinct_l, entropy_l or recursive_cl.

    Examples
    --------
    >>> Tiered("disease", ["HIV"], KAnonymity(10)).holds.k
    10
    """

    model: Literal["tiered"] = "tiered"
    values: tuple[str, ...] = Field(min_length=1)
    """The values that ask for the model."""
    holds: AnyTierModel
    """The model of the classes that hold one of them."""
    order = ("attribute", "values", "holds")

    if TYPE_CHECKING:

        def __init__(self, attribute: str, values: Sequence[str], holds: Any) -> None: ...

    @property
    def attributes_used(self) -> tuple[str, ...]:
        """The attribute of the values, and those of the model."""
        return tuple(dict.fromkeys((self.attribute, *self.holds.attributes_used)))

    @property
    def is_void(self) -> bool:
        """Whether the model of the tier is."""
        return self.holds.is_void
