"""Parameters of the models that are about several releases of one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from indistinct.policy.parameters import OneAttribute, Whole

if TYPE_CHECKING:
    from collections.abc import Sequence


def _names(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class MInvariance(OneAttribute):
    """``m`` or more rows with different values in every group, and everybody keeps the values of their group.

    ``m``: whole number, m >= 2. ``history``: names of earlier releases in the ledger of ``[releases]``; left out: all
    of them; ``[]``: this is the first release. Who is who is told by the key of ``[person]``.

    >>> MInvariance("disease", 2, history=[]).history
    ()

    Source: Xiao and Tao, SIGMOD 2007, https://doi.org/10.1145/1247480.1247556.
    """

    model: Literal["m_invariance"] = "m_invariance"
    m: Whole = Field(ge=2)
    """Least number of different values in a group."""
    history: Annotated[tuple[Annotated[str, Field(min_length=1)], ...] | None, BeforeValidator(_names)] = None
    """Names of earlier releases in the ledger; all of them when left out, none for a first release."""
    order = ("attribute", "m", "history")

    if TYPE_CHECKING:

        def __init__(self, attribute: str, m: int, history: Sequence[str] | None = None) -> None: ...
