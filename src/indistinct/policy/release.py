"""What the reports say of a release in the words of who answers for it."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003  # pydantic reads it at run time
from datetime import date  # noqa: TC003  # pydantic reads it at run time
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from indistinct.policy.problems import Section, problem, refuse

Word = Literal[
    "title", "purpose", "recipient", "conditions", "legal_basis", "responsible", "review", "reasons"
]  # what may be called public
WORDS: tuple[Word, ...] = (
    "purpose", "recipient", "conditions", "legal_basis", "responsible", "review", "reasons",
)  # fmt: skip
"""What a report asks for: regulators ask for whom, by which means, who decided, and when it is reviewed."""


class Account(Section):
    """What the reports say of a release in the words of who answers for it; it changes nothing about the table.

    >>> Account(title="Stays 2024", responsible="Dr. Meyer", public=["title"]).shown_in_public()
    {'title': 'Stays 2024'}
    """

    title: str | None = Field(default=None, min_length=1)
    """Title of the report; default: the name of the published file."""
    purpose: str | None = Field(default=None, min_length=1)
    """What the published table is for."""
    recipient: str | None = Field(default=None, min_length=1)
    """Who gets it: internal, partners, researchers, public, or a text."""
    conditions: str | None = Field(default=None, min_length=1)
    """What the recipient may hold and may do: a contract, a safe room, anything."""
    legal_basis: str | None = Field(default=None, min_length=1)
    """The legal basis."""
    responsible: str | None = Field(default=None, min_length=1)
    """Who answers for the release."""
    review: date | None = None
    """When the decision is looked at again, a date such as 2027-06-30."""
    reasons: Mapping[str, str] = Field(default_factory=dict)
    """Why: a sentence for each parameter or column, such as { k = "...", ward = "..." }."""
    public: tuple[Word, ...] = ()
    """Which of these the public report and the manifest show; without it none."""
    key_file: str | None = Field(default=None, min_length=1)
    """Key of the fingerprint of the source in the internal report, relative to the policy file; made by releases key.
    """

    @model_validator(mode="after")
    def _public_is_said(self) -> Self:
        refuse(
            [
                problem(("public", place), f"is not said under [release]: set {word}, or leave it out here", word)
                for place, word in enumerate(self.public)
                if not getattr(self, word)
            ]
        )
        return self

    def shown(self) -> dict[str, Any]:
        """Return what is said, as plain data, in the order of the format."""
        found = {word: getattr(self, word) for word in ("title", *WORDS)}
        found["review"] = None if self.review is None else self.review.isoformat()
        return {word: dict(value) if word == "reasons" else value for word, value in found.items() if value}

    def shown_in_public(self) -> dict[str, Any]:
        """Return the part of it that is public."""
        return {word: value for word, value in self.shown().items() if word in self.public}
