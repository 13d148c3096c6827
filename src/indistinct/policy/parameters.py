"""How the parameters of privacy models are read: exactly, and refused with the valid range."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from indistinct.policy.problems import TAGS, Section

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


def default_of(section: type[Section], name: str) -> Any:
    """Return the default of a field."""
    return section.model_fields[name].get_default(call_default_factory=True)


def plain_section(value: Any) -> Any:
    """Turn sections into plain data, in field order, leaving out defaults but for version and tags."""
    if isinstance(value, Section):
        given = {}
        for name, field in type(value).model_fields.items():
            item = getattr(value, name)
            is_tag = name == "version" or (name in TAGS and not type(value).optional_tag)
            if is_tag or item != default_of(type(value), name):
                given[field.alias or name] = plain_section(item)
        return given | {key: plain_section(item) for key, item in getattr(value, "unused", {}).items()}
    if isinstance(value, Mapping):
        return {key: plain_section(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [plain_section(item) for item in value]
    return plain(value) if isinstance(value, Fraction) else value


Exact = Annotated[
    Fraction,
    BeforeValidator(exact),
    PlainSerializer(plain),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^-?\d+(\.\d+|/\d+)?$"}]}),
]
Whole = Annotated[int, BeforeValidator(whole)]
Distance = Literal["ordered", "equal", "hierarchical"]


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


class OneAttribute(Privacy):
    """Base of the parameter classes that look at one sensitive attribute."""

    attribute: str
    """The sensitive attribute that the model looks at."""

    @property
    def attributes_used(self) -> tuple[str, ...]:
        """The one attribute."""
        return (self.attribute,)
