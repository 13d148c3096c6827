"""Parameters of the models that keep the distribution of a class close to that of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from indistinct.policy.parameters import Distance, Exact, OneAttribute, Whole

if TYPE_CHECKING:
    from indistinct.policy.parameters import Number


class Distant(OneAttribute):
    """Base of the models that measure a distance between values."""

    if TYPE_CHECKING:
        distance: Distance


class TCloseness(Distant):
    """The distribution of the sensitive values of every class is within ``t`` of that of the table.

    EMD(P_E, Q) <= t. ``t``: number, 0 <= t <= 1; t = 1 is no protection. ``distance``: ``ordered``, ``equal``
    or ``hierarchical``; it is always declared, never guessed from the values.

    Examples
    --------
    >>> TCloseness("disease", "1/6", distance="equal").t
    Fraction(1, 6)

    References
    ----------
    Li, Li and Venkatasubramanian, ICDE 2007, https://doi.org/10.1109/ICDE.2007.367856.
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


class NTCloseness(Distant):
    """The values of every class are within ``t`` of those of a natural superset of at least ``n`` rows.

    D(P_E, P_F) <= t for a class F of more general levels that contains E and has at least n published rows. ``n``:
    whole number, n >= 1; ``t``: number, 0 <= t <= 1; ``distance`` as in t_closeness.

    Examples
    --------
    >>> NTCloseness("disease", 1000, "0.15", distance="equal").n
    1000

    References
    ----------
    Li, Li and Venkatasubramanian, TKDE 22(7), 2010, https://doi.org/10.1109/TKDE.2009.139.
    """

    model: Literal["n_t_closeness"] = "n_t_closeness"
    n: Whole = Field(ge=1)
    """Least number of rows of a superset."""
    t: Exact = Field(ge=0, le=1)
    """Largest distance of a class from its superset; a number, or a text such as "1/6"."""
    distance: Distance
    """ordered (numbers, dates, ordinal values), equal, or hierarchical (needs a hierarchy)."""
    order = ("attribute", "n", "t", "distance")

    if TYPE_CHECKING:

        def __init__(self, attribute: str, n: int, t: Number, distance: str) -> None: ...

    @property
    def is_void(self) -> bool:
        """Whether t = 1 or n = 1."""
        return self.t == 1 or self.n == 1


class BetaLikeness(OneAttribute):
    """No sensitive value gains more than ``beta`` in a class, relative to its share of the table.

    (p_v - q_v) / q_v <= beta for every value v of a class; with kind = "enhanced" at most min(beta, -ln q_v).
    ``beta``: number, beta > 0; ``kind``: ``basic`` or ``enhanced``.

    Examples
    --------
    >>> BetaLikeness("disease", "0.6").kind
    'basic'

    References
    ----------
    Cao and Karras, PVLDB 5(11), 2012, https://doi.org/10.14778/2350229.2350255.
    """

    model: Literal["beta_likeness"] = "beta_likeness"
    beta: Exact = Field(gt=0)
    """Largest relative gain of a value in a class."""
    kind: Literal["basic", "enhanced"] = "basic"
    """basic, or enhanced: frequent values may gain less."""
    order = ("attribute", "beta", "kind")

    if TYPE_CHECKING:

        def __init__(self, attribute: str, beta: Number, kind: str = "basic") -> None: ...


class DeltaDisclosure(OneAttribute):
    """The share of every sensitive value in a class is within a factor of that in the table.

    abs(log(p_v / q_v)) < delta, strict, for every value v of the column; with absent = "lenient" values that a
    class lacks are passed over. ``delta``: number, delta > 0; ``base``: 2 or "e".

    Examples
    --------
    >>> DeltaDisclosure("disease", 1).base
    2

    References
    ----------
    Brickell and Shmatikov, KDD 2008, https://doi.org/10.1145/1401890.1401904.
    """

    model: Literal["delta_disclosure"] = "delta_disclosure"
    delta: Exact = Field(gt=0)
    """The logarithm of the ratio of the shares stays below this number."""
    absent: Literal["strict", "lenient"] = "strict"
    """A class must have every value of the column (strict), or values that it lacks are passed over (lenient)."""
    base: Literal[2, "e"] = 2
    """Base of the logarithm."""
    order = ("attribute", "delta", "absent", "base")

    if TYPE_CHECKING:

        def __init__(self, attribute: str, delta: Number, absent: str = "strict", base: int | str = 2) -> None: ...
