"""Parameters of the models that hide who a row belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from indistinct.policy.parameters import Privacy, Whole


class KAnonymity(Privacy):
    """Every class has at least ``k`` rows (persons): n_E >= k.

    ``k``: whole number, k >= 1; k = 1 is no protection. That k is at most the number of rows is not checked
    here.

    >>> KAnonymity(5).k
    5

    Source: Samarati and Sweeney, SRI-CSL-98-04, 1998; Sweeney, https://doi.org/10.1142/S0218488502001648.
    """

    model: Literal["k_anonymity"] = "k_anonymity"
    k: Whole = Field(ge=1)
    """Least number of rows (persons, with a person key) of a class."""
    order = ("k",)

    if TYPE_CHECKING:

        def __init__(self, k: int) -> None: ...

    @property
    def is_void(self) -> bool:
        """Whether k = 1."""
        return self.k == 1
