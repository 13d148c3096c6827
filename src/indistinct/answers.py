"""Parts of answers with typed fields: they are the parts of the JSON document, and answer ``[...]`` as it does."""

from __future__ import annotations

from typing import Any


class Losses(dict[str, Any]):
    """The information losses of a release, by their names in the document; LM, the figure of merit, as fields too.

    >>> found = Losses(lm=0.25, lm_by_attribute={"age": 0.25}, discernibility=16)
    >>> found.lm, found["discernibility"], found.document() == dict(found)
    (0.25, 16, True)
    """

    @property
    def lm(self) -> float:
        """The mean loss of a cell of the quasi-identifiers, 0 to 1."""
        return float(self["lm"])

    @property
    def lm_by_attribute(self) -> dict[str, float]:
        """LM of each quasi-identifier."""
        return dict(self["lm_by_attribute"])

    def document(self) -> dict[str, Any]:
        """Return the part of the document as a plain dictionary."""
        return dict(self)


class Verdict(dict[str, Any]):
    """What was found of one model: what was asked, what the table reaches, and whether it holds.

    >>> found = Verdict(model="k_anonymity", required={"k": 3}, achieved={"k": 2}, satisfied=False, reason="too small")
    >>> found.model, found.satisfied, found["achieved"], found.attributes
    ('k_anonymity', False, {'k': 2}, ())
    """

    @property
    def model(self) -> str:
        """The model, as the policy names it."""
        return str(self["model"])

    @property
    def attributes(self) -> tuple[str, ...]:
        """The sensitive attributes that it is about."""
        attribute = self.get("attribute")
        return (*([] if attribute is None else [str(attribute)]), *map(str, self.get("attributes") or ()))

    @property
    def required(self) -> dict[str, Any] | None:
        """The parameters that were asked for; None where nothing was."""
        found: dict[str, Any] | None = self["required"]
        return found

    @property
    def achieved(self) -> Any:
        """The best parameters that the table satisfies: a dictionary, or a list of alternatives."""
        return self["achieved"]

    @property
    def satisfied(self) -> bool | None:
        """Whether it holds; None where nothing was asked."""
        found: bool | None = self["satisfied"]
        return found

    @property
    def reason(self) -> str | None:
        """A sentence about the class that decides, where there is one."""
        found: str | None = self.get("reason")
        return found

    def document(self) -> dict[str, Any]:
        """Return the part of the document as a plain dictionary."""
        return dict(self)
