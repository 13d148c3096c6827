"""The parameters of the privacy models, as a policy states them. What they mean is in ``models/``.

Every class refuses values out of range with a PolicyError that names the parameter and its valid range:

>>> TCloseness("disease", "1.5", distance="equal")
Traceback (most recent call last):
    ...
indistinct.errors.PolicyError: t = 1.5 (t_closeness): must be a number, 0 <= t <= 1
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from indistinct.policy.problems import Section, check_tag, problem, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

# what a threshold may be given as; each class also states its arguments for type checkers, which cannot see
# that the base class takes positional ones
Number = int | float | str | Decimal | Fraction
# no threshold needs more digits; without a bound 1e999999999 would fill the memory before it is refused
_DIGITS = 300


def exact(value: object) -> Fraction:
    """Read a number exactly: a text like ``"1/6"`` as written, a float by its shortest text.

    >>> exact(0.1), exact("1/6"), exact("0.2")
    (Fraction(1, 10), Fraction(1, 6), Fraction(1, 5))

    Raises ValueError for anything else: booleans, NaN, infinities, and numbers of more than 300 digits before
    or after the point.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction | str):
        message = "must be a number, or a text such as '1/6'"
        raise ValueError(message)  # noqa: TRY004  # pydantic collects ValueErrors only
    if isinstance(value, Fraction):
        return value
    text = repr(value) if isinstance(value, float) else str(value) if not isinstance(value, str) else value.strip()
    try:
        if re.fullmatch(r"[+-]?\d+/\d+", text, re.ASCII):
            return Fraction(text)
        decimal = Decimal(text)
    except (ValueError, ZeroDivisionError, InvalidOperation):
        decimal = Decimal("NaN")
    if not decimal.is_finite() or (decimal and abs(decimal.adjusted()) > _DIGITS):
        message = "must be a finite number, or a text such as '1/6'"
        raise ValueError(message)
    return Fraction(decimal)


def whole(value: object) -> int:
    """Read a whole number: 3 or 3.0, never a text, a boolean or 2.5.

    >>> whole(3), whole(Decimal("3.0"))
    (3, 3)

    Raises ValueError otherwise.
    """
    message = "must be a whole number"
    if isinstance(value, str):
        raise ValueError(message)  # noqa: TRY004  # pydantic collects ValueErrors only
    try:
        number = exact(value)
    except ValueError:
        raise ValueError(message) from None
    if number.denominator != 1:
        raise ValueError(message)
    return number.numerator


def plain(value: Fraction) -> int | float | str:
    """Write an exact number so that reading it again gives the same: 5, 0.2 or "1/6".

    >>> plain(Fraction(5)), plain(Fraction(1, 5)), plain(Fraction(1, 6))
    (5, 0.2, '1/6')
    """
    if value.denominator == 1:
        return int(value)
    try:
        as_float = float(value)
    except OverflowError:
        return str(value)
    return as_float if Fraction(repr(as_float)) == value else str(value)


Exact = Annotated[
    Fraction,
    BeforeValidator(exact),
    PlainSerializer(plain),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^-?\d+(\.\d+|/\d+)?$"}]}),
]
Whole = Annotated[int, BeforeValidator(whole)]
Distance = Literal["ordered", "equal", "hierarchical"]

# models that the policy format knows and this version does not have yet
PLANNED_MODELS: tuple[str, ...] = (
    "k_map", "n_t_closeness", "beta_likeness", "delta_disclosure", "delta_presence", "ke_anonymity",
    "eps_m_anonymity", "graded_l", "eps_i_k_anonymity", "km_anonymity", "pd_recursive", "npd_recursive",
    "m_invariance", "average_risk", "sample_uniqueness", "population_uniqueness", "profitability", "safepub",
)  # fmt: skip


class Privacy(Section):
    """Base of the parameter classes; positional arguments follow the order of the fields."""

    model: str
    order: ClassVar[tuple[str, ...]] = ()

    def __init__(self, /, *args: Any, **kwargs: Any) -> None:
        name = type(self).__name__
        if len(args) > len(self.order):
            message = f"{name} takes at most {len(self.order)} positional arguments: {', '.join(self.order)}"
            raise TypeError(message)
        positional = dict(zip(self.order, args, strict=False))
        if twice := sorted(positional.keys() & kwargs.keys()):
            message = f"{name} got {twice[0]} twice"
            raise TypeError(message)
        super().__init__(**positional, **kwargs)

    @property
    def attributes_used(self) -> tuple[str, ...]:
        """Sensitive attributes that the model looks at."""
        return ()

    @property
    def is_void(self) -> bool:
        """Whether every table satisfies the model with these parameters, so that it protects nobody."""
        return False


class _OneAttribute(Privacy):
    attribute: str
    """The sensitive attribute that the model looks at."""

    @property
    def attributes_used(self) -> tuple[str, ...]:
        """The one attribute."""
        return (self.attribute,)


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


class AlphaK(_OneAttribute):
    """At least ``k`` rows, and no (listed) sensitive value makes up more than ``alpha`` of a class.

    n_E >= k and c_v / n_E <= alpha for every value v in ``values`` (default: all). ``alpha``: 0 < alpha <= 1,
    1 switches the bound off; ``k``: whole number, k >= 1. That the values occur in the table is not checked
    here.

    >>> AlphaK("disease", "0.5", 3).alpha
    Fraction(1, 2)

    Source: Wong, Li, Fu and Wang, KDD 2006, https://doi.org/10.1145/1150402.1150499.
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


class PSensitiveK(_OneAttribute):
    """At least ``k`` rows and ``p`` distinct sensitive values in every class.

    Whole numbers, 1 <= p <= k.

    >>> PSensitiveK("disease", p=2, k=3).p
    2

    Source: Truta and Vinay, ICDE Workshops 2006, https://doi.org/10.1109/ICDEW.2006.116.
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


class DistinctL(_OneAttribute):
    """At least ``l`` distinct sensitive values in every class.

    ``l``: whole number, l >= 1; l = 1 is no protection.

    >>> DistinctL("disease", 3).l
    3

    Source: Machanavajjhala and others, TKDD 1(1), 2007, https://doi.org/10.1145/1217299.1217302.
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


class EntropyL(_OneAttribute):
    """The entropy of the sensitive values of every class is at least ln ``l``.

    - sum p_v ln p_v >= ln l. ``l``: number, l >= 1; l = 1 is no protection.

    >>> EntropyL("disease", "2.5").l
    Fraction(5, 2)

    Source: Machanavajjhala and others, TKDD 1(1), 2007, https://doi.org/10.1145/1217299.1217302.
    """

    model: Literal["entropy_l"] = "entropy_l"
    l: Exact = Field(ge=1)  # noqa: E741  # the letter of the literature
    """The entropy of a class is at least the logarithm of this number."""
    estimator: Literal["shannon"] = "shannon"
    """How the entropy is estimated."""
    order = ("attribute", "l", "estimator")

    if TYPE_CHECKING:

        def __init__(self, attribute: str, l: Number, estimator: str = "shannon") -> None: ...  # noqa: E741

    @model_validator(mode="before")
    @classmethod
    def _known_estimator(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("estimator") == "grassberger":
            sentence = 'is known but not built yet; this version has: "shannon"'
            refuse([problem(("estimator",), sentence, "grassberger", planned=True)])
        return data

    @property
    def is_void(self) -> bool:
        """Whether l = 1."""
        return self.l == 1


class RecursiveCL(_OneAttribute):
    """The most frequent value is less than ``c`` times the sum from the ``l``-th most frequent on.

    r_1 < c (r_l + ... + r_m), counts sorted r_1 >= ... >= r_m; strict. ``c``: number, c > 0; ``l``: whole
    number, l >= 1.

    >>> RecursiveCL("disease", c="1.5", l=3).c
    Fraction(3, 2)

    Source: Machanavajjhala and others, TKDD 1(1), 2007, https://doi.org/10.1145/1217299.1217302.
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


class JointL(Privacy):
    """Each attribute in turn is diverse where the others join the quasi-identifiers.

    ``attributes``: two or more, all different; ``kind``: ``distinct_l``, ``entropy_l`` or ``recursive_cl``;
    ``l`` >= 1, whole except for entropy; ``c`` > 0 for ``recursive_cl`` only.

    >>> JointL(["disease", "drug"], "recursive_cl", 2, c=3).c
    Fraction(3, 1)

    Source: Machanavajjhala and others, TKDD 1(1), 2007, https://doi.org/10.1145/1217299.1217302.
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


class TCloseness(_OneAttribute):
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


MODEL_CLASSES: tuple[type[Privacy], ...] = (
    KAnonymity, AlphaK, PSensitiveK, DistinctL, EntropyL, RecursiveCL, JointL, TCloseness,
)  # fmt: skip
MODEL_NAMES: tuple[str, ...] = tuple(kind.model_fields["model"].default for kind in MODEL_CLASSES)


def check_model(item: Any) -> Any:
    """Refuse a ``[[privacy]]`` table whose ``model`` is absent, unknown or not built yet."""
    if isinstance(item, dict):
        check_tag(item, "model", MODEL_NAMES, PLANNED_MODELS)
    return item


AnyPrivacy = Annotated[
    KAnonymity | AlphaK | PSensitiveK | DistinctL | EntropyL | RecursiveCL | JointL | TCloseness,
    Field(discriminator="model"),
    BeforeValidator(check_model),
]
