"""Parameters of the models that keep the distribution of a class close to that of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from indistinct.policy.parameters import Distance, Exact, OneAttribute

if TYPE_CHECKING:
    from indistinct.policy.parameters import Number


class TCloseness(OneAttribute):
    """The distribution of the sensitive values of every class is within ``t`` of that of the table.

    EMD(P_E, Q) <= t. ``t``: number, 0 <= t <= 1; t = 1 is no protection. ``distance``: ``ordered``, ``equal``
    or ``hierarchical``; it is always declared, never guessed from the values.

    >>> TCloseness("disease", "1/6", distance="equal").t
    Fraction(1, 6)

    Source: Li, Li and Venkatasubramanian, ICDE 2007, https://doi.org/10.1109/ICDE.2007.367856.
    """

    model: Literal["t_closeness"] = "t_closeness"
    t: Exact = Field(ge=0, le=1)
    """Largest distance of a class from the table; a number, or a text such as "1/6"."""
    distance: Distance
    """ordered (numbers, dates, ordinal values), equal, or hierarchical (needs a hierarchy)."""
    order = ("attribute", "t", "distance")

    if TYPE_CHECKING:

        def __init__(self, attribute: str, t: Number, distance: str) -> None: ...

    @property
    def is_void(self) -> bool:
        """Whether t = 1."""
        return self.t == 1
