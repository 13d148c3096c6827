"""Parameters of the models that keep the sensitive values of a class apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, model_validator

from indistinct.policy.parameters import Exact, OneAttribute, Privacy, Whole
from indistinct.policy.problems import problem, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.policy.parameters import Number


class AlphaK(OneAttribute):
    """At least ``k`` rows, and no (listed) sensitive value makes up more than ``alpha`` of a class.

    n_E >= k and c_v / n_E <= alpha for every value v in ``values`` (default: all). ``alpha``: 0 < alpha <= 1,
    1 switches the bound off; ``k``: whole number, k >= 1. That the values occur in the table is not checked
    here.

    Examples
    --------
    >>> AlphaK("disease", "0.5", 3).alpha
    Fraction(1, 2)

    References
    ----------
    Wong, Li, Fu and Wang, KDD 2006, https://doi.org/10.1145/1150402.1150499.
    """

    model: Literal["alpha_k"] = "alpha_k"
    alpha: Exact = Field(gt=0, le=1)
    """Largest share of one sensitive value in a class."""
    k: Whole = Field(ge=1)
    """Least number of rows (persons, with a person key) of a class."""
    values: tuple[str, ...] | None = Field(default=None, min_length=1)
    """The values whose share is bounded; all when left out."""
    order = ("attribute", "alpha", "k", "values")

    if TYPE_CHECKING:

        def __init__(self, attribute: str, alpha: Number, k: int, values: Sequence[str] | None = None) -> None: ...

    @property
    def is_void(self) -> bool:
        """Whether alpha = 1 and k = 1."""
        return self.k == 1 and self.alpha == 1


class PSensitiveK(OneAttribute):
    """At least ``k`` rows and ``p`` distinct sensitive values in every class.

    Whole numbers, 1 <= p <= k.

    Examples
    --------
    >>> PSensitiveK("disease", p=2, k=3).p
    2

    References
    ----------
    Truta and Vinay, ICDE Workshops 2006, https://doi.org/10.1109/ICDEW.2006.116.
    """

    model: Literal["p_sensitive_k"] = "p_sensitive_k"
    p: Whole = Field(ge=1)
    """Least number of distinct sensitive values of a class, at most k."""
    k: Whole = Field(ge=1)
    """Least number of rows (persons, with a person key) of a class."""
    order = ("attribute", "p", "k")

    if TYPE_CHECKING:

        def __init__(self, attribute: str, p: int, k: int) -> None: ...

    @model_validator(mode="after")
    def _p_at_most_k(self) -> Self:
        if self.p > self.k:
            refuse([problem(("p",), f"must be at most k, which is {self.k}: 1 <= p <= k", self.p)])
        return self

    @property
    def is_void(self) -> bool:
        """Whether k = 1 (and so p = 1)."""
        return self.k == 1


class DistinctL(OneAttribute):
    """At least ``l`` distinct sensitive values in every class.

    ``l``: whole number, l >= 1; l = 1 is no protection.

    Examples
    --------
    >>> DistinctL("disease", 3).l
    3

    References
    ----------
    Machanavajjhala and others, TKDD 1(1), 2007, https://doi.org/10.1145/1217299.1217302.
    """

    model: Literal["distinct_l"] = "distinct_l"
    l: Whole = Field(ge=1)  # noqa: E741  # the letter of the literature
    """Least number of distinct sensitive values of a class."""
    order = ("attribute", "l")

    if TYPE_CHECKING:

        def __init__(self, attribute: str, l: int) -> None: ...  # noqa: E741

    @property
    def is_void(self) -> bool:
        """Whether l = 1."""
        return self.l == 1


class EntropyL(OneAttribute):
    """The entropy of the sensitive values of every class is at least ln ``l``.

    - sum p_v ln p_v >= ln l. ``l``: number, l >= 1; l = 1 is no protection. ``estimator``: ``shannon``, or
    ``grassberger`` for the corrected estimate and at least l distinct values.

    Examples
    --------
    >>> EntropyL("disease", "2.5").l
    Fraction(5, 2)

    References
    ----------
    Machanavajjhala and others, TKDD 1(1), 2007, https://doi.org/10.1145/1217299.1217302.
    """

    model: Literal["entropy_l"] = "entropy_l"
    l: Exact = Field(ge=1)  # noqa: E741  # the letter of the literature
    """The entropy of a class is at least the logarithm of this number."""
    estimator: Literal["shannon", "grassberger"] = "shannon"
    """How the entropy is estimated; grassberger corrects for small classes, and merged classes may fail it."""
    order = ("attribute", "l", "estimator")

    if TYPE_CHECKING:

        def __init__(self, attribute: str, l: Number, estimator: str = "shannon") -> None: ...  # noqa: E741

    @property
    def is_void(self) -> bool:
        """Whether l = 1."""
        return self.l == 1


class RecursiveCL(OneAttribute):
    """The most frequent value is less than ``c`` times the sum from the ``l``-th most frequent on.

    r_1 < c (r_l + ... + r_m), counts sorted r_1 >= ... >= r_m; strict. ``c``: number, c > 0; ``l``: whole
    number, l >= 1.

    Examples
    --------
    >>> RecursiveCL("disease", c="1.5", l=3).c
    Fraction(3, 2)

    References
    ----------
    Machanavajjhala and others, TKDD 1(1), 2007, https://doi.org/10.1145/1217299.1217302.
    """

    model: Literal["recursive_cl"] = "recursive_cl"
    c: Exact = Field(gt=0)
    """The most frequent value stays below c times the sum of the rarer ones."""
    l: Whole = Field(ge=1)  # noqa: E741  # the letter of the literature
    """The sum begins with the l-th most frequent value."""
    order = ("attribute", "c", "l")

    if TYPE_CHECKING:

        def __init__(self, attribute: str, c: Number, l: int) -> None: ...  # noqa: E741

    @property
    def is_void(self) -> bool:
        """Whether l = 1 and c > 1."""
        return self.l == 1 and self.c > 1


class PdRecursive(OneAttribute):
    """Recursive diversity of the values outside ``Y``, whose disclosure would be harmless.

    c_v < c (n_E - c_v - the l - 2 largest counts of other values) for every value v outside Y; strict. ``c``:
    number, c > 0; ``l``: whole number, l >= 1. That the values occur in the table is not checked here.

    Examples
    --------
    >>> PdRecursive("disease", c=2, l=3, Y=["healthy"]).Y
    ('healthy',)

    References
    ----------
    Machanavajjhala and others, TKDD 1(1), 2007, https://doi.org/10.1145/1217299.1217302.
    """

    model: Literal["pd_recursive"] = "pd_recursive"
    c: Exact = Field(gt=0)
    """The most frequent value outside Y stays below c times the sum of the rarer ones."""
    l: Whole = Field(ge=1)  # noqa: E741  # the letter of the literature
    """So many of the most frequent values, less one, are left out of the sum."""
    Y: tuple[str, ...] = Field(min_length=1)
    """The values that may be disclosed."""
    order = ("attribute", "c", "l", "Y")

    if TYPE_CHECKING:

        def __init__(self, attribute: str, c: Number, l: int, Y: Sequence[str]) -> None: ...  # noqa: E741, N803

    @property
    def is_void(self) -> bool:
        """Whether l = 1 and c > 1."""
        return self.l == 1 and self.c > 1


class NpdRecursive(OneAttribute):
    """pd-recursive diversity, and every value of ``W`` makes up at least ``c2`` percent of every class.

    100 c_w >= c2 n_E for every w in W. ``c2``: number, 0 <= c2 <= 100; the others as in pd_recursive.

    Examples
    --------
    >>> NpdRecursive("disease", c=2, l=3, Y=["healthy"], c2=10, W=["hiv"]).c2
    Fraction(10, 1)

    References
    ----------
    Machanavajjhala and others, TKDD 1(1), 2007, https://doi.org/10.1145/1217299.1217302.
    """

    model: Literal["npd_recursive"] = "npd_recursive"
    c: Exact = Field(gt=0)
    """The most frequent value outside Y stays below c times the sum of the rarer ones."""
    l: Whole = Field(ge=1)  # noqa: E741  # the letter of the literature
    """So many of the most frequent values, less one, are left out of the sum."""
    Y: tuple[str, ...] = Field(min_length=1)
    """The values that may be disclosed."""
    c2: Exact = Field(ge=0, le=100)
    """Least share, in percent, of every value of W in a class."""
    W: tuple[str, ...] = Field(min_length=1)
    """The values whose absence from a class must not be learnt."""
    order = ("attribute", "c", "l", "Y", "c2", "W")

    if TYPE_CHECKING:

        def __init__(
            self,
            attribute: str,
            c: Number,
            l: int,  # noqa: E741
            Y: Sequence[str],  # noqa: N803
            c2: Number,
            W: Sequence[str],  # noqa: N803
        ) -> None: ...


class JointL(Privacy):
    """Each attribute in turn is diverse where the others join the quasi-identifiers.

    ``attributes``: two or more, all different; ``kind``: ``distinct_l``, ``entropy_l`` or ``recursive_cl``;
    ``l`` >= 1, whole except for entropy; ``c`` > 0 for ``recursive_cl`` only.

    Examples
    --------
    >>> JointL(["disease", "drug"], "recursive_cl", 2, c=3).c
    Fraction(3, 1)

    References
    ----------
    Machanavajjhala and others, TKDD 1(1), 2007, https://doi.org/10.1145/1217299.1217302.
    """

    model: Literal["joint_l"] = "joint_l"
    attributes: tuple[str, ...] = Field(min_length=2)
    """The sensitive attributes, two or more."""
    kind: Literal["distinct_l", "entropy_l", "recursive_cl"]
    """Which diversity each of them has."""
    l: Exact = Field(ge=1)  # noqa: E741  # the letter of the literature
    """The l of that diversity."""
    c: Exact | None = Field(default=None, gt=0)
    """The c of recursive diversity."""
    order = ("attributes", "kind", "l", "c")

    if TYPE_CHECKING:

        def __init__(
            self,
            attributes: Sequence[str],
            kind: str,
            l: Number,  # noqa: E741
            c: Number | None = None,
        ) -> None: ...

    @model_validator(mode="after")
    def _fits_kind(self) -> Self:
        found = []
        if len(set(self.attributes)) < len(self.attributes):
            found.append(problem(("attributes",), "names an attribute twice; name each once", self.attributes))
        if self.kind != "entropy_l" and self.l.denominator != 1:
            found.append(problem(("l",), f'must be a whole number, l >= 1, for kind = "{self.kind}"', self.l))
        if self.kind == "recursive_cl" and self.c is None:
            found.append(problem(("c",), 'is missing; kind = "recursive_cl" needs a number, c > 0'))
        if self.kind != "recursive_cl" and self.c is not None:
            found.append(problem(("c",), 'belongs to kind = "recursive_cl" only; leave it out', self.c))
        refuse(found)
        return self

    @property
    def attributes_used(self) -> tuple[str, ...]:
        """All attributes."""
        return self.attributes

    @property
    def is_void(self) -> bool:
        """Whether l = 1, and c > 1 where there is a c."""
        return self.l == 1 and (self.c is None or self.c > 1)
