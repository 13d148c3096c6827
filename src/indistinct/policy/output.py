"""How a release is written."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import (
    Field,
    StrictBool,
    model_validator,
)

from indistinct.policy.problems import Section, problem, refuse


class Output(Section):
    """How the release is written."""

    order: Literal["sorted", "shuffled", "kept"] = "sorted"
    """Order of the published rows; the order of the source can tell who is who, so kept must be confirmed."""
    suppressed_token: str = Field(default="*", min_length=1)
    """What stands for a suppressed value."""
    spreadsheet_safe: StrictBool = False
    """Quote the cells that a spreadsheet would run as a formula."""
    ranges: Literal["label", "columns", "struct"] = "label"
    """Ends of generalized numbers and dates beside their labels: in two columns each, or (Parquet) in one struct."""
    confirmed: StrictBool = False
    """A person has confirmed that the order of the source may be kept."""

    @model_validator(mode="after")
    def _published_is_confirmed(self) -> Self:
        if self.order == "kept" and not self.confirmed:
            sentence = "needs confirmed = true, because the order of the source can tell who is who"
            refuse([problem(("order",), sentence, self.order)])
        return self
