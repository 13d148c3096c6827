"""Which earlier releases a new one must go with."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import (
    Field,
    model_validator,
)

from indistinct.policy.keyed import Keyed
from indistinct.policy.parameters import Whole  # noqa: TC001  # pydantic reads it at run time
from indistinct.policy.problems import problem, refuse


class Releases(Keyed):
    """Which earlier releases a new one must go with; it changes nothing about the release, it may refuse it."""

    ledger: str = Field(min_length=1)
    """The ledger of earlier releases, relative to the policy file."""
    require: Literal["compatible", "m_invariance"] = "compatible"
    """compatible: no guarantee is seen to break; m_invariance: it is proved that signatures of m are kept."""
    m: Whole | None = Field(default=None, ge=2)
    """How many different values m-invariance demands in each class."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        found = []
        if self.require == "m_invariance" and not self.is_keyed:
            sentence = "needs the key of the ledger (key_file or key_env): who is in both releases must be known"
            found.append(problem(("require",), sentence, self.require))
        if (self.require == "m_invariance") != (self.m is not None):
            sentence = 'goes with require = "m_invariance", and that needs it: the values that each class must have'
            found.append(problem(("m",), sentence, self.m))
        refuse(found)
        return self
