"""How many rows may be left out, and what becomes of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

from pydantic import (
    Field,
    model_validator,
)

from indistinct.policy.parameters import Exact, exact
from indistinct.policy.problems import Section, problem, refuse, show


class Suppression(Section):
    """Which rows may go, and how."""

    limit: Exact = Field(default=Fraction(0), ge=0, le=1)
    """Largest share of rows that may be suppressed, 0 to 1."""
    rows: Literal["drop", "exempt", "test"] = "drop"
    """Suppressed rows: left out, or published with suppressed quasi-identifiers, exempt or tested."""

    @model_validator(mode="before")
    @classmethod
    def _no_percent(cls, data: Any) -> Any:
        if isinstance(data, dict):
            try:
                limit = exact(data.get("limit", 0))
            except ValueError:
                return data
            if 1 < limit <= 100:
                share = show(limit / 100)
                share = share.ljust(4, "0") if "." in share else f"{share}.00"
                sentence = f"must be a share of the rows, 0 <= limit <= 1; did you mean {share}?"
                refuse([problem(("limit",), sentence, data["limit"])])
        return data

    def allowed(self, rows: int) -> int:
        """Return how many of ``rows`` may be suppressed: floor(limit * rows), exactly.

        >>> Suppression(limit=0.29).allowed(100)
        29
        """
        return int(self.limit * rows)
