"""What a policy says of one column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    Field,
    PlainValidator,
    StrictBool,
    WithJsonSchema,
    model_validator,
)

from indistinct.policy.generalization import ORDERED_TYPES, TYPES_OF_KIND, Dates, Generalization, Range, Set
from indistinct.policy.parameters import Exact, Whole, exact, plain_section
from indistinct.policy.problems import Section, problem, refuse, show
from indistinct.policy.roles import AnyRole  # noqa: TC001  # pydantic reads it at run time
from indistinct.policy.table import Confirmed  # noqa: TC001  # pydantic reads it at run time

if TYPE_CHECKING:
    from pydantic_core import InitErrorDetails


def _domain(value: Any) -> tuple[Fraction, Fraction] | tuple[date, date] | str:
    """Read ``[lowest, highest]``, two numbers or two ISO dates; or the name of a domain of pseudonyms."""
    if isinstance(value, str) and value.strip():
        return value
    message = "must be [lowest, highest], two numbers or two dates such as 2024-01-31"
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(message)
    try:
        if all(type(end) is date or (isinstance(end, str) and end.count("-") == 2) for end in value):
            low, high = (end if type(end) is date else date.fromisoformat(end) for end in value)
            return low, high
        return exact(value[0]), exact(value[1])
    except ValueError:
        raise ValueError(message) from None


_PAIR = {"type": "array", "items": {"type": ["number", "string"]}, "minItems": 2, "maxItems": 2}


class Attribute(Section):
    """What the user decided about one column.

    ``weight`` > 0 is the importance in the loss: a weight of 0 would let an algorithm destroy the column for
    nothing; a column of no use is better dropped (role identifying) or given a small weight. ``min_level`` is
    a floor under every algorithm, ``max_level`` a ceiling of full-domain search; both count from 0, the value itself.
    The first of the ``levels`` of dates is a floor too, and ``top`` and ``bottom`` of intervals pool always.

    Raises PolicyError for settings that do not fit together: ``format`` without type date, ``order`` without
    type ordinal, a kind of hierarchy that cannot take the type, ``action`` on a column that is not
    identifying, a pseudonym without the place of its key. Not checked: values of the table, files.

    Examples
    --------
    >>> Attribute(role="QI", type="integer", hierarchy={"kind": "range"}).role
    'quasi_identifying'
    """

    hints: ClassVar[dict[str, str]] = {"key": "a key never stands in a policy; name key_file or key_env"}

    role: AnyRole
    """identifying, quasi_identifying, sensitive or insensitive."""
    type: Literal["text", "integer", "decimal", "date", "ordinal"] = "text"
    """How the texts of the column are read."""
    separator: str | None = Field(default=None, min_length=1)
    """What separates the items of a set-valued quasi-identifier, for km_anonymity; hierarchy is then one of items."""
    format: str | None = Field(default=None, min_length=1)
    """How dates are written, such as "%d.%m.%Y"; default "%Y-%m-%d"."""
    order: tuple[str, ...] | None = Field(default=None, min_length=1)
    """The values of an ordinal column, lowest first."""
    missing_values: tuple[str, ...] = ()
    """Texts that are missing values in this column alone, beside [table] missing: "-9", "999"."""
    partial: StrictBool = False
    """Dates may be written to the month or the year only (2024-02, 2024), each at its place in the calendar."""
    hierarchy: Generalization | None = None
    """How values may be generalized; without it the column is never changed."""
    domain: (
        Annotated[
            tuple[Fraction, Fraction] | tuple[date, date] | str,
            PlainValidator(_domain),
            WithJsonSchema({"anyOf": [_PAIR, {"type": "string", "minLength": 1}]}),
        ]
        | None
    ) = None
    """Lowest and highest possible value, for the loss; default: those of the table. Of pseudonyms a text: for whom they
    are made, so that another recipient gets others."""
    public_domain: StrictBool = False
    """Whether domain, values and order may be known to everybody: they stand in the public form of the policy."""
    weight: Exact = Field(default=Fraction(1), gt=0)
    """Importance of a quasi-identifier in the loss."""
    min_level: Whole = Field(default=0, ge=0)
    """Floor of a quasi-identifier: no algorithm publishes a finer level of generalization."""
    max_level: Whole | None = Field(default=None, ge=0)
    """Highest level that full-domain search may use; other algorithms refuse it."""
    action: Literal["drop", "mask", "pseudonym"] | None = None
    """What becomes of an identifying column; default drop."""
    key_file: str | None = Field(default=None, min_length=1)
    """File that holds the key of the pseudonyms; the key itself never stands in a policy."""
    key_env: str | None = Field(default=None, min_length=1)
    """Environment variable that holds the key of the pseudonyms."""
    mapping_file: str | None = Field(default=None, min_length=1)
    """Protected file for the table of values and pseudonyms, if wanted."""
    missing: Literal["drop", "first", "last"] | None = None
    """Missing sensitive values under ordered distance: rows left out, or a value at that end of the order."""
    confirmed: Confirmed = False
    """A person has confirmed that the column may be published though nearly unique, or though it tells another one."""

    if TYPE_CHECKING:  # mappings stand for sections, numbers and texts for exact values

        def __init__(self, /, **data: Any) -> None: ...

    @property
    def is_ordered(self) -> bool:
        """Whether the values have an order of their own: numbers, dates, ordinal values."""
        return self.type in ORDERED_TYPES

    def confirms(self, what: str) -> bool:
        """Whether a person has confirmed this of the column: ``unique`` or ``restates``.

        >>> Attribute(role="insensitive", confirmed=["restates"]).confirms("unique")
        False
        """
        return self.confirmed is True or (self.confirmed is not False and what in self.confirmed)

    @property
    def spec(self) -> dict[str, Any] | None:
        """The hierarchy as a plain mapping, as in the file; None when the column is never changed."""
        return None if self.hierarchy is None else plain_section(self.hierarchy)

    @property
    def ends(self) -> tuple[Fraction, Fraction] | tuple[date, date] | None:
        """The declared lowest and highest value."""
        return None if isinstance(self.domain, str) else self.domain

    @property
    def fine_step(self) -> Fraction | str | None:
        """The step of a grid that is as fine as the values of the column: 1 of whole numbers, a day of dates."""
        step = self.hierarchy.step if isinstance(self.hierarchy, Range) else None
        fine = step == "day" or (isinstance(step, Fraction) and step < 2)
        return step if fine and self.type in ("integer", "date") else None

    @property
    def floor(self) -> str | None:
        """The setting under which some values are never published as they are; None when all may be.

        >>> Attribute(role="qi", type="date", hierarchy={"kind": "dates", "levels": ["year"]}).floor
        'levels'
        """
        settings = ("levels", "top", "bottom")
        return "min_level" if self.min_level else next((key for key in settings if key in (self.spec or {})), None)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        refuse([*self._type_problems(), *self._set_problems(), *self._level_problems(), *self._role_problems()])
        return self

    def _type_problems(self) -> list[InitErrorDetails]:
        found = []
        if self.format is not None and self.type != "date":
            found.append(problem(("format",), f'is for type = "date"; the type is "{self.type}"', self.format))
        elif self.format is not None and not _is_date_format(self.format):
            found.append(problem(("format",), 'is no format of dates; write it as "%d.%m.%Y"', self.format))
        found += self._partial_problems()
        if self.order is not None and self.type != "ordinal":
            found.append(problem(("order",), f'is for type = "ordinal"; the type is "{self.type}"', self.order))
        if self.order is None and self.type == "ordinal":
            found.append(problem(("order",), 'is missing; type = "ordinal" needs the values, lowest first'))
        twice = [value for value, times in Counter(self.order or ()).items() if times > 1]
        if twice:
            found.append(problem(("order",), f"lists {show(twice[0])} twice; list each value once", self.order))
        kind = self.hierarchy.kind if self.hierarchy else "suppress"
        types = TYPES_OF_KIND.get(kind, (self.type,))
        if self.type not in types:
            remedy = f"set type to {' or '.join(types)}, or choose another kind"
            sentence = f'cannot take type = "{self.type}"; {remedy}'
            found.append(problem(("hierarchy", "kind"), sentence, kind))
        if isinstance(self.hierarchy, Range) and self.hierarchy.step is not None:
            step, place = self.hierarchy.step, ("hierarchy", "step")
            if isinstance(step, str) and self.type != "date":
                found.append(problem(place, "is a unit of dates; give a number", step))
            if self.hierarchy.bounds is None and self.type in ("integer", "ordinal"):
                found.append(problem(place, f'goes with bounds = "snapped", not the default of {self.type}', step))
        return found

    def _partial_problems(self) -> list[InitErrorDetails]:
        levels = self.hierarchy.levels if isinstance(self.hierarchy, Dates) else ()
        sentences = {
            f'is for type = "date"; the type is "{self.type}"': self.type != "date",
            "is for dates written as 2024-02-28, 2024-02, 2024; leave format out": self.format is not None,
            f"is for quasi-identifiers; the role is {self.role}": self.role != "quasi_identifying",
            'needs hierarchy = { kind = "dates", levels = [...] }': not levels,
            'goes with levels other than "week": a month lies in no week': "week" in levels,
        }
        wrong = [sentence for sentence, holds in sentences.items() if holds]
        return [problem(("partial",), wrong[0], self.partial)] if self.partial and wrong else []

    def _set_problems(self) -> list[InitErrorDetails]:
        """Settings that say nothing about sets of values."""
        found: list[InitErrorDetails] = []
        if not isinstance(self.hierarchy, Set):
            return found
        if self.domain is not None:
            found.append(problem(("domain",), "is for ranges; list the domain of sets as values", self.domain))
        if self.min_level > 0 or self.max_level is not None:
            key, level = ("min_level", self.min_level) if self.min_level > 0 else ("max_level", self.max_level)
            found.append(problem((key,), 'is for levels, and kind "set" has none; set most', level))
        if self.separator is not None:
            sentence = "is for single values; a column with a separator takes the file of a tree of its items"
            found.append(problem(("hierarchy", "kind"), sentence, "set"))
        return found

    def _level_problems(self) -> list[InitErrorDetails]:
        found = []
        if isinstance(self.domain, str) and self.action != "pseudonym":
            sentence = 'must be [lowest, highest]; the name of a domain goes with action = "pseudonym"'
            found.append(problem(("domain",), sentence, self.domain))
        elif self.ends is not None and self.action == "pseudonym":
            sentence = "must be a text, the name of the recipient or project that the pseudonyms are for"
            found.append(problem(("domain",), sentence, self.domain))
        elif self.ends is not None:
            low, high = self.ends
            needed = {"date": date, "integer": Fraction, "decimal": Fraction}.get(self.type)
            if needed is None:
                sentence = f'is for type integer, decimal or date; the type is "{self.type}"'
                found.append(problem(("domain",), sentence, self.domain))
            elif not isinstance(low, needed):
                sentence = f"must be two {'dates' if needed is date else 'numbers'}, as the type is {self.type}"
                found.append(problem(("domain",), sentence, self.domain))
            elif low >= high:  # type: ignore[operator]  # both ends are of one kind
                found.append(problem(("domain",), "must be [lowest, highest] with lowest < highest", self.domain))
        if self.max_level is not None and self.min_level > self.max_level:
            sentence = f"must be at most max_level, which is {self.max_level}"
            found.append(problem(("min_level",), sentence, self.min_level))
        return found

    def _role_problems(self) -> list[InitErrorDetails]:
        found = []
        if self.action is not None and self.role != "identifying":
            found.append(problem(("action",), f"is for identifying columns; the role is {self.role}", self.action))
        if self.action == "pseudonym" and (self.key_file is None) == (self.key_env is None):
            sentence = "needs the place of its key: either key_file or key_env (the key never stands in a policy)"
            found.append(problem(("action",), sentence, self.action))
        if self.separator is not None and self.role != "quasi_identifying":
            sentence = f"is for set-valued quasi-identifiers; the role is {self.role}"
            found.append(problem(("separator",), sentence, self.separator))
        for name in ("key_file", "key_env", "mapping_file"):
            value = getattr(self, name)
            if value is not None and self.action != "pseudonym":
                found.append(problem((name,), 'goes with action = "pseudonym"; leave it out', value))
        if self.missing is not None and self.role != "sensitive":
            found.append(problem(("missing",), f"is for sensitive columns; the role is {self.role}", self.missing))
        elif self.missing in ("first", "last") and not self.is_ordered:
            sentence = f'needs an ordered type ({", ".join(ORDERED_TYPES)}); the type is "{self.type}"'
            found.append(problem(("missing",), sentence, self.missing))
        return found


def _is_date_format(text: str) -> bool:
    example = datetime(2001, 2, 3, 4, 5, 6)  # noqa: DTZ001  # a calendar date, nowhere in particular
    try:
        return "%" in text and datetime.strptime(example.strftime(text), text).year == 2001  # noqa: DTZ007  # as above
    except ValueError:
        return False


def snapped(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Name the bounds of the ranges of integers ``snapped`` where a policy, as it was given, names none.

    >>> snapped({"age": {"type": "integer", "hierarchy": {"kind": "range"}}})["age"]["hierarchy"]
    {'kind': 'range', 'bounds': 'snapped'}
    """
    return {name: _snapped(attribute) for name, attribute in attributes.items()}


def _snapped(attribute: Any) -> Any:
    if isinstance(attribute, Attribute):
        given, kind = attribute.hierarchy, attribute.type
        default = isinstance(given, Range) and given.bounds is None and kind == "integer"
        return attribute.model_copy(update={"hierarchy": Range(bounds="snapped")}) if default else attribute
    given = attribute.get("hierarchy") if isinstance(attribute, Mapping) else None
    if not isinstance(given, Mapping) or attribute.get("type") != "integer":
        return attribute
    default = given.get("kind") == "range" and given.get("bounds") is None
    return {**attribute, "hierarchy": {**given, "bounds": "snapped"}} if default else attribute
