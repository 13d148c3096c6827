"""Parameters of the models of set-valued columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from indistinct.policy.parameters import Privacy, Whole


class KmAnonymity(Privacy):
    """Every set of at most ``m`` items of a set-valued column that occurs is held by at least ``k`` rows.

    ``attribute``: a quasi-identifier with a ``separator``; ``k``, ``m``: whole numbers, at least 1; k = 1 is no
    protection. The algorithm ``km`` holds it, by the tree of items that is the column's ``hierarchy``.

    Examples
    --------
    >>> KmAnonymity("items", k=5, m=2).m
    2

    References
    ----------
    Terrovitis, Mamoulis and Kalnis, PVLDB 1(1), 2008, https://doi.org/10.14778/1453856.1453874.
    """

    model: Literal["km_anonymity"] = "km_anonymity"
    attribute: str = Field(min_length=1)
    """The set-valued quasi-identifier."""
    k: Whole = Field(ge=1)
    """Least number of rows that hold a set."""
    m: Whole = Field(ge=1)
    """Most items that others know of somebody."""
    order = ("attribute", "k", "m")

    if TYPE_CHECKING:

        def __init__(self, attribute: str, k: int, m: int) -> None: ...

    @property
    def is_void(self) -> bool:
        """Whether k = 1."""
        return self.k == 1
