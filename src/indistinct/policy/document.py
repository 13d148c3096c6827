"""The policy: all that the user decided, checked as far as it can be without the table."""

from __future__ import annotations

import codecs
import hashlib
import json
from collections import Counter
from collections.abc import Mapping  # pydantic reads it at run time
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import (
    BeforeValidator,
    Field,
    PlainValidator,
    PrivateAttr,
    StrictBool,
    WithJsonSchema,
    model_validator,
)

from indistinct.errors import PolicyError
from indistinct.notices import Notice
from indistinct.outputs import Origin, origin
from indistinct.policy.files import files_of
from indistinct.policy.generalization import ORDERED_TYPES, TREES, TYPES_OF_KIND, Generalization, Range, Set
from indistinct.policy.parameters import Exact, Whole, exact, plain, whole
from indistinct.policy.privacy import AnyPrivacy, EpsIKAnonymity, KmAnonymity, NTCloseness, Numeric, TCloseness, Tiered
from indistinct.policy.problems import Section, check_word, nearest, path, problem, refuse, show
from indistinct.policy.roles import AnyRole  # noqa: TC001  # pydantic reads it at run time
from indistinct.policy.transforms import AnyTransform, Km, LocalSuppression

if TYPE_CHECKING:
    from os import PathLike

    from pydantic_core import InitErrorDetails

NUMERIC_TYPES = ("integer", "decimal", "date")
AlgorithmName = Literal[
    "local",
    "optimal",
    "generalize_step",
    "datafly",
    "samarati",
    "incognito",
    "ola",
    "flash",
    "top_down_specialization",
    "mu_argus",
    "mondrian",
    "merge",
    "hilbert",
    "mdav",
    "k_member",
    "k_similar",
    "univariate_microaggregation",
    "t_closeness_first",
    "sabre",
    "graded_local",
    "eps_m_partition",
    "anatomy",
    "largest_bucket_first",
    "ke_partition",
    "km",
    "safepub",
    "m_invariance",
]
ALGORITHMS: tuple[str, ...] = get_args(AlgorithmName)
# algorithms that compare every row with every other, in parts if asked to
QUADRATIC = ("mdav", "k_member", "k_similar")
# algorithms that form classes of rows by nearness, of which a mean, a median or a mode can be published
AGGREGATING = (
    "univariate_microaggregation",
    "mdav",
    "k_member",
    "k_similar",
    "hilbert",
    "t_closeness_first",
    "mondrian",
)
# losses that a search can make small, and the algorithms that search for them
LOSSES: tuple[str, ...] = ("lm", "gcp", "iloss", "precision")
SEARCHING: tuple[str, ...] = ("local", "optimal")
MEASURED_ONLY: tuple[str, ...] = (
    "ambiguity",
    "average_class_size",
    "classification_metric",
    "discernibility",
    "discernibility_star",
    "kl",
    "nonuniform_entropy",
)
# the algorithm that is taken for a model where the policy names none
ALGORITHM_OF_MODEL = {
    "eps_i_k_anonymity": "largest_bucket_first",
    "ke_anonymity": "ke_partition",
    "eps_m_anonymity": "eps_m_partition",
    "graded_l": "graded_local",
    "km_anonymity": "km",
    "m_invariance": "m_invariance",
}
# what a person can confirm of a column: rare values may be published, and so may what tells a generalized column
CONFIRMABLE: tuple[str, ...] = ("unique", "restates")
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12} | {
    f"{letter}iB": 2 ** (10 * power) for power, letter in enumerate("KMGT", 1)
}
_BYTES = rf"^\s*[0-9]+(\.[0-9]+)?\s*({'|'.join(_UNITS)})\s*$"


def _ends(value: Any) -> tuple[Fraction, Fraction] | tuple[date, date]:
    """Read ``[lowest, highest]``: two numbers or two ISO dates."""
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


def _confirmations(value: Any) -> Any:
    """Read what a person has confirmed of a column: true (all of it), false, or a list of it."""
    if isinstance(value, bool):
        return value
    names = ", ".join(f'"{name}"' for name in CONFIRMABLE)
    if not isinstance(value, list | tuple) or any(item not in CONFIRMABLE for item in value):
        message = f"must be true or false, or a list of what is confirmed, from {names}"
        raise ValueError(message)
    return tuple(dict.fromkeys(value))


def _algorithm(value: Any) -> Any:
    check_word((), value, ALGORITHMS)
    return value


def _loss(value: Any) -> Any:
    if value in MEASURED_ONLY:
        sentence = f"is measured in reports and no search makes it small; choose from: {', '.join(LOSSES)}"
        refuse([problem((), sentence, value)])
    check_word((), value, LOSSES)
    return value


def _seconds(value: Any) -> float:
    return float(exact(value))


Confirmed = Annotated[
    Any,
    PlainValidator(_confirmations),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"enum": [*CONFIRMABLE]}}]}),
]


class Table(Section):
    """How the table is read, and the role of columns that are not named."""

    source: str | None = Field(default=None, min_length=1)
    """The table, relative to the policy file; it may be given on the command line instead."""
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)
    """What separates the fields of a text file; found out when left out."""
    encoding: str = "utf-8"
    """Encoding of a text file; a byte-order mark is accepted."""
    missing: tuple[str, ...] = ("",)
    """Exactly these texts are missing values in text files; "NA" and "null" are text unless listed."""
    decimal: Literal[".", ","] = "."
    """The decimal mark."""
    trim: Literal["names", "cells", "none"] = "names"
    """Whether blanks are cut off around column names, around cells too, or nowhere."""
    unlisted: AnyRole | None = None
    """Role of the columns that the policy does not name; without it they are an error."""
    unlisted_confirmed: Confirmed = False
    """What a person has confirmed of columns that are not named, as ``confirmed`` of an attribute."""
    max_line_bytes: Whole = Field(default=16777216, ge=1)
    """Longest line accepted in a text file, in bytes."""

    @model_validator(mode="after")
    def _readable(self) -> Self:
        found = []
        if self.delimiter is not None and self.delimiter in '"\r\n':
            found.append(problem(("delimiter",), "must be one character, not a quote or a line break", self.delimiter))
        if self.delimiter is not None and self.delimiter == self.decimal:
            found.append(
                problem(("delimiter",), "is also the decimal mark; set decimal to the other one", self.delimiter)
            )
        try:
            codecs.lookup(self.encoding)
        except (LookupError, ValueError):
            found.append(problem(("encoding",), "is unknown; use a name such as utf-8, cp1252, latin-1", self.encoding))
        refuse(found)
        return self


class Person(Section):
    """Several rows may belong to one person; sizes count persons."""

    key: str = Field(min_length=1)
    """The column that tells persons apart; it is identifying."""


class Attribute(Section):
    """What the user decided about one column.

    ``weight`` > 0 is the importance in the loss: a weight of 0 would let an algorithm destroy the column for
    nothing; a column of no use is better dropped (role identifying) or given a small weight. ``min_level <=
    max_level`` bound full-domain search and count from 0, the value itself.

    >>> Attribute(role="QI", type="integer", hierarchy={"kind": "range"}).role
    'quasi_identifying'

    Raises PolicyError for settings that do not fit together: ``format`` without type date, ``order`` without
    type ordinal, a kind of hierarchy that cannot take the type, ``action`` on a column that is not
    identifying, a pseudonym without the place of its key. Not checked: values of the table, files.
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
    hierarchy: Generalization | None = None
    """How values may be generalized; without it the column is never changed."""
    domain: (
        Annotated[
            tuple[Fraction, Fraction] | tuple[date, date],
            PlainValidator(_ends),
            WithJsonSchema({"type": "array", "items": {"type": ["number", "string"]}, "minItems": 2, "maxItems": 2}),
        ]
        | None
    ) = None
    """Lowest and highest possible value, for the loss; default: those of the table."""
    weight: Exact = Field(default=Fraction(1), gt=0)
    """Importance of a quasi-identifier in the loss."""
    min_level: Whole = Field(default=0, ge=0)
    """Lowest level of generalization that full-domain search may use."""
    max_level: Whole | None = Field(default=None, ge=0)
    """Highest level of generalization that full-domain search may use."""
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
        return None if self.hierarchy is None else _plain(self.hierarchy)

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
        if self.domain is not None:
            low, high = self.domain
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


class Suppression(Section):
    """Which rows may go, and how."""

    limit: Exact = Field(default=Fraction(0), ge=0, le=1)
    """Largest share of rows that may be suppressed, 0 to 1."""
    rows: Literal["drop", "exempt", "test"] = "drop"
    """Suppressed rows: left out, or published with suppressed quasi-identifiers, exempt or tested."""

    @model_validator(mode="before")
    @classmethod
    def _no_percent(cls, data: Any) -> Any:
        if isinstance(data, dict):
            try:
                limit = exact(data.get("limit", 0))
            except ValueError:
                return data
            if 1 < limit <= 100:
                share = show(limit / 100)
                share = share.ljust(4, "0") if "." in share else f"{share}.00"
                sentence = f"must be a share of the rows, 0 <= limit <= 1; did you mean {share}?"
                refuse([problem(("limit",), sentence, data["limit"])])
        return data

    def allowed(self, rows: int) -> int:
        """Return how many of ``rows`` may be suppressed: floor(limit * rows), exactly.

        >>> Suppression(limit=0.29).allowed(100)
        29
        """
        return int(self.limit * rows)


class Missing(Section):
    """What a missing quasi-identifier equals."""

    rule: Literal["own"] = "own"
    """own: a missing value equals only a missing value."""


class Recoding(Section):
    """How the release is searched."""

    algorithm: Annotated[
        AlgorithmName,
        BeforeValidator(_algorithm),
    ] = "local"
    """local: each class as suits it; optimal: one level per column, proven; the others: see the documentation."""
    mode: Literal["strict", "relaxed"] = "strict"
    """mondrian: strict keeps equal rows together, relaxed may divide them."""
    partner: Literal["distance", "loss"] = "distance"
    """merge: the partner that leaves the least distance, or of those that lower it the one that adds least loss."""
    partition: Whole | None = Field(default=None, ge=2)
    """k_member, k_similar, mdav: most rows clustered together, as the work grows with their square."""
    aggregate: Literal["range", "mean", "median", "mode"] = "range"
    """What a class publishes: a range or label that covers it, or one value that stands for it and covers nothing."""
    quality: Literal["fast", "balanced", "best"] = "balanced"
    """How long local recoding improves its result."""
    time_budget: Annotated[float, BeforeValidator(_seconds)] | None = Field(default=None, gt=0)
    """Seconds for best quality and best-effort searches."""
    loss: Annotated[Literal["lm", "gcp", "iloss", "precision"], BeforeValidator(_loss)] = "lm"
    """The loss that is minimised."""
    form: Literal["two_tables", "permuted"] = "two_tables"
    """How an algorithm of groups publishes: quasi-identifiers and sensitive values apart, or permuted by group."""
    target: str | None = Field(default=None, min_length=1)
    """The column that the published data are to tell about, for top_down_specialization."""
    combinations: Whole = Field(default=3, ge=1)
    """Most columns of a combination that must not be rare, for mu_argus."""

    @model_validator(mode="after")
    def _has_target(self) -> Self:
        if self.algorithm == "top_down_specialization" and self.target is None:
            sentence = f'is missing; algorithm = "{self.algorithm}" needs the column that the data are to tell about'
            refuse([problem(("target",), sentence)])
        return self

    @model_validator(mode="after")
    def _keys_of_algorithms(self) -> Self:
        found = []
        if self.mode != "strict" and self.algorithm != "mondrian":
            found.append(problem(("mode",), f"is for mondrian; the algorithm is {self.algorithm}", self.mode))
        if self.partner != "distance" and self.algorithm != "merge":
            found.append(problem(("partner",), f"is for merge; the algorithm is {self.algorithm}", self.partner))
        if self.partition is not None and self.algorithm not in QUADRATIC:
            sentence = f"is for {', '.join(QUADRATIC)}; the algorithm is {self.algorithm}"
            found.append(problem(("partition",), sentence, self.partition))
        if self.aggregate != "range" and self.algorithm not in AGGREGATING:
            sentence = f"is for {', '.join(AGGREGATING)}; the algorithm is {self.algorithm}"
            found.append(problem(("aggregate",), sentence, self.aggregate))
        refuse(found)
        return self

    @model_validator(mode="after")
    def _loss_is_searched(self) -> Self:
        if self.loss != "lm" and self.algorithm not in SEARCHING:
            sentence = (
                f"cannot be chosen for {self.algorithm}: of a loss other than lm only {' and '.join(SEARCHING)} know"
            )
            refuse([problem(("loss",), sentence, self.loss)])
        return self


class Output(Section):
    """How the release is written."""

    order: Literal["sorted", "shuffled", "kept"] = "sorted"
    """Order of the published rows; the order of the source can tell who is who, so kept must be confirmed."""
    suppressed_token: str = Field(default="*", min_length=1)
    """What stands for a suppressed value."""
    spreadsheet_safe: StrictBool = False
    """Quote the cells that a spreadsheet would run as a formula."""
    ranges: Literal["label", "columns", "struct"] = "label"
    """Ends of generalized numbers and dates beside their labels: in two columns each, or (Parquet) in one struct."""
    confirmed: StrictBool = False
    """A person has confirmed that the order of the source may be kept."""

    @model_validator(mode="after")
    def _kept_is_confirmed(self) -> Self:
        if self.order == "kept" and not self.confirmed:
            sentence = "needs confirmed = true, because the order of the source can tell who is who"
            refuse([problem(("order",), sentence, self.order)])
        return self


class Run(Section):
    """Where and with what the work is done; it changes nothing about the release."""

    temp_dir: str | None = Field(default=None, min_length=1)
    """Folder for what does not fit into memory during verification, relative to the policy file; default: beside
    the output."""
    memory_limit: str | None = None
    """Memory that the recount of the written file stays within, such as "8 GiB"."""

    @model_validator(mode="after")
    def _limit_has_unit(self) -> Self:
        try:
            amount = self.memory_bytes
        except ValueError:
            amount = 0
        if amount is not None and amount < 1:
            sentence = f'must be an amount with a unit ({", ".join(_UNITS)}), such as "8 GiB"'
            refuse([problem(("memory_limit",), sentence, self.memory_limit)])
        return self

    @property
    def memory_bytes(self) -> int | None:
        """The memory limit in bytes.

        >>> Run(memory_limit="1.5 KiB").memory_bytes
        1536
        """
        if self.memory_limit is None:
            return None
        text = self.memory_limit.strip()
        unit = next((unit for unit in sorted(_UNITS, key=len, reverse=True) if text.endswith(unit)), None)
        if unit is None:
            message = "no unit"
            raise ValueError(message)
        return int(exact(text.removesuffix(unit)) * _UNITS[unit])


class Releases(Section):
    """Which earlier releases a new one must go with; it changes nothing about the release, it may refuse it."""

    hints: ClassVar[dict[str, str]] = {"key": "a key never stands in a policy; name key_file or key_env"}

    ledger: str = Field(min_length=1)
    """The ledger of earlier releases, relative to the policy file."""
    key_file: str | None = Field(default=None, min_length=1)
    """File that holds the key of the ledger, in another folder."""
    key_env: str | None = Field(default=None, min_length=1)
    """Environment variable that holds the key of the ledger."""
    require: Literal["compatible", "m_invariance"] = "compatible"
    """compatible: no guarantee is seen to break; m_invariance: it is proved that signatures of m are kept."""
    m: Whole | None = Field(default=None, ge=2)
    """How many different values m-invariance demands in each class."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        found = []
        keyed = self.key_file is not None or self.key_env is not None
        if self.key_file is not None and self.key_env is not None:
            found.append(problem(("key_env",), "stands beside key_file; name one place of the key", self.key_env))
        if self.require == "m_invariance" and not keyed:
            sentence = "needs the key of the ledger (key_file or key_env): who is in both releases must be known"
            found.append(problem(("require",), sentence, self.require))
        if (self.require == "m_invariance") != (self.m is not None):
            sentence = 'goes with require = "m_invariance", and that needs it: the values that each class must have'
            found.append(problem(("m",), sentence, self.m))
        refuse(found)
        return self


class Policy(Section):
    """What the user decided about one table.

    >>> from indistinct.policy import KAnonymity
    >>> policy = Policy(
    ...     attributes={"age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range"}}},
    ...     privacy=[KAnonymity(5)],
    ...     suppression={"limit": 0.02},
    ... )
    >>> policy.quasi_identifiers, policy.suppression.limit
    (('age',), Fraction(1, 50))

    Raises PolicyError with every problem on a line of its own: place, value, valid range, remedy. Not checked:
    anything that needs the table (``resolve``) or files. Whether a privacy model is named is left to
    ``require_models``, because an audit needs none.
    """

    version: Annotated[Literal[1], BeforeValidator(whole)] = 1
    """Version of the policy format."""
    table: Table = Field(default_factory=Table)
    person: Person | None = None
    attributes: Mapping[str, Attribute] = Field(default_factory=dict)
    """The columns by name; the order of the quasi-identifiers is theirs."""
    privacy: tuple[AnyPrivacy, ...] = ()
    """The privacy models; all of them must hold."""
    transforms: tuple[AnyTransform, ...] = ()
    """Transforms of single cells and rows, applied in this order by a step of its own; they give no k."""
    suppression: Suppression = Field(default_factory=Suppression)
    missing: Missing = Field(default_factory=Missing)
    recoding: Recoding = Field(default_factory=Recoding)
    output: Output = Field(default_factory=Output)
    releases: Releases | None = None
    run: Run = Field(default_factory=Run)

    _base: Path = PrivateAttr(default_factory=Path)
    _from_flags: bool = PrivateAttr(default=False)
    _file: Origin | None = PrivateAttr(default=None)

    if TYPE_CHECKING:  # mappings stand for sections, numbers and texts for exact values

        def __init__(self, /, **data: Any) -> None: ...

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        refuse(
            [
                *self._role_problems(),
                *self._privacy_problems(),
                *self._target_problems(),
                *self._transform_problems(),
            ]
        )
        self._choose_algorithm()
        return self

    def _choose_algorithm(self) -> None:
        """Where the policy names no algorithm, take the one that a model needs.

        ``ke_anonymity`` beside other models is held by ``local``, in classes of one table.
        """
        models = [model.model for model in self.privacy]
        needed = [ALGORITHM_OF_MODEL[name] for name in models if name in ALGORITHM_OF_MODEL]
        if needed == ["ke_partition"] and len(models) > 1:
            return
        if needed and "algorithm" not in self.recoding.model_fields_set:
            chosen = self.recoding.model_copy(update={"algorithm": needed[0]})
            object.__setattr__(self, "recoding", chosen)  # a default that depends on another section

    def _target_problems(self) -> list[InitErrorDetails]:
        target = self.recoding.target
        attribute = None if target is None else self.attributes.get(target)
        if attribute is None or attribute.role in ("sensitive", "insensitive"):
            return []
        sentence = f"must name a sensitive or insensitive column; its role is {attribute.role}"
        return [problem(("recoding", "target"), sentence, target)]

    def _transform_problems(self) -> list[InitErrorDetails]:
        found = []
        for position, transform in enumerate(self.transforms):
            several = "attributes" in type(transform).model_fields
            place = ("transforms", position, "attributes" if several else "attribute")
            twice = [name for name, times in Counter(transform.names).items() if times > 1]
            found += [problem(place, "is named twice", name) for name in twice]
            for name in transform.names:
                attribute = self.attributes.get(name)
                if attribute is None or (self.person is not None and name == self.person.key):
                    found.append(problem(place, f"is not declared; {nearest(name, self.attributes)}", name))
                elif attribute.role == "identifying":
                    sentence = "is identifying, and such columns are not published; name another column"
                    found.append(problem(place, sentence, name))
                elif isinstance(transform, LocalSuppression) and attribute.role != "quasi_identifying":
                    sentence = f"must be quasi-identifiers; the role is {attribute.role}"
                    found.append(problem(place, sentence, name))
                elif transform.types and attribute.type not in transform.types:
                    sentence = f'has type = "{attribute.type}"; {transform.method} takes {", ".join(transform.types)}'
                    found.append(problem(place, sentence, name))
                elif isinstance(transform, Km) and attribute.separator is None:
                    sentence = f"needs to know its items: set {path(('attributes', name))}.separator"
                    found.append(problem(place, sentence, name))
                elif getattr(transform, "replacement", "") == "mean" and attribute.type == "ordinal":
                    found.append(problem(place, "is ordinal, which has no mean; use the limit", name))
        return found

    def _role_problems(self) -> list[InitErrorDetails]:
        found = []
        if self.person is not None:
            key = self.attributes.get(self.person.key)
            if key is not None and key.role != "identifying":
                place = ("attributes", self.person.key, "role")
                sentence = "must be identifying, because the column is the person key; or leave the attribute out"
                found.append(problem(place, sentence, key.role))
        if not self.quasi_identifiers and self.table.unlisted != "quasi_identifying":
            sentence = (
                "name no quasi-identifier: give the role quasi_identifying to the columns that "
                "others may know about a person"
            )
            found.append(problem(("attributes",), sentence))
        return found

    def _privacy_problems(self) -> list[InitErrorDetails]:
        found = []
        for position, model in enumerate(self.privacy):
            if isinstance(model, KmAnonymity):
                found += self._set_problems(model, position)
            for name in model.attributes_used:
                place = (
                    "privacy",
                    position,
                    "attributes" if "attributes" in type(model).model_fields else "attribute",
                )
                attribute = self.attributes.get(name)
                is_person = self.person is not None and name == self.person.key
                if attribute is None and not is_person and self.table.unlisted == "sensitive":
                    attribute = Attribute(role="sensitive")
                if attribute is None or is_person:
                    remedy = (
                        nearest(name, self.sensitive_attributes)
                        if self.sensitive_attributes
                        else (f'add [{path(("attributes", name))}] with role = "sensitive"')
                    )
                    what = "is the person key, not a sensitive attribute" if is_person else "is not declared"
                    found.append(problem(place, f"{what}; {remedy}", name))
                elif attribute.role != "sensitive":
                    sentence = f"must name a sensitive attribute; its role is {attribute.role}"
                    found.append(problem(place, sentence, name))
                elif isinstance(model, TCloseness | NTCloseness):
                    found += _distance_problems(model, attribute, position)
                elif isinstance(model, Numeric):
                    found += _number_problems(model, attribute, position)
        return found

    def _set_problems(self, model: KmAnonymity, position: int) -> list[InitErrorDetails]:
        place, attribute = ("privacy", position, "attribute"), self.attributes.get(model.attribute)
        if attribute is None:
            return [problem(place, f"is not declared; {nearest(model.attribute, self.attributes)}", model.attribute)]
        if attribute.role != "quasi_identifying":
            return [problem(place, f"must be a quasi-identifier; its role is {attribute.role}", model.attribute)]
        if attribute.separator is None:
            sentence = f"needs to know its items: set {path(('attributes', model.attribute))}.separator"
            return [problem(place, sentence, model.attribute)]
        return []

    @property
    def base(self) -> Path:
        """The folder of the policy file; relative paths in the policy begin there."""
        return self._base

    @property
    def from_flags(self) -> bool:
        """Whether the policy was made from command-line flags, so that columns not named bring a warning."""
        return self._from_flags

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The policy file and the files that it names to be read: nothing that is made under it overwrites one."""
        found = [] if self._file is None else [self._file]
        found += [origin(self.locate(file.text), file.what) for file in files_of(self.plain()) if file.is_read]
        return tuple(found)

    def at(self, base: Path, *, from_flags: bool = False, file: Origin | None = None) -> Policy:
        """Return the same policy with the folder at which its relative paths begin."""
        policy = self.model_copy()
        policy._base = base  # noqa: SLF001  # its own private attribute
        policy._from_flags = from_flags  # noqa: SLF001  # as above
        policy._file = file or self._file  # noqa: SLF001  # as above
        return policy

    def locate(self, text: str) -> Path:
        """Return the path of a file that the policy names, seen from the folder of the policy file."""
        return self._base / text

    def names_with(self, role: str) -> tuple[str, ...]:
        """Return the declared attributes of one role, in the order of the policy."""
        return tuple(name for name, attribute in self.attributes.items() if attribute.role == role)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The declared quasi-identifiers, in the order of the policy."""
        return self.names_with("quasi_identifying")

    @property
    def sensitive_attributes(self) -> tuple[str, ...]:
        """The declared sensitive attributes, in the order of the policy."""
        return self.names_with("sensitive")

    @property
    def item_columns(self) -> tuple[str, ...]:
        """The set-valued columns that models look at; their hierarchy is one of items, not of cells."""
        return tuple(dict.fromkeys(model.attribute for model in self.privacy if isinstance(model, KmAnonymity)))

    def require_models(self) -> None:
        """Raise PolicyError when the policy names no privacy model, as every release needs one.

        Raises it too when a set-valued column has no tree of items to generalize them by; an audit needs none.
        """
        for name in self.item_columns:
            if "file" not in (self.attributes[name].spec or {}):
                message = (
                    f'km_anonymity generalizes the items of "{name}" along a tree: give it as '
                    'hierarchy = { file = "..." }, one row for each item, from the item to the top'
                )
                raise PolicyError(message, key=path(("attributes", name, "hierarchy")))
        if not self.privacy:
            message = (
                "the policy names no privacy model, so a release would protect nobody: "
                'add at least one [[privacy]] table, such as model = "k_anonymity" and k = 5'
            )
            raise PolicyError(message, key="privacy")

    def notices(self) -> tuple[Notice, ...]:
        """Return warnings about what is valid and yet unlikely to be meant.

        >>> from indistinct.policy import KAnonymity
        >>> Policy(attributes={"age": {"role": "qi"}}, privacy=[KAnonymity(1)]).notices()[0].kind
        'no-protection'
        """
        found = []
        for position, model in enumerate(self.privacy):
            if model.is_void:
                place = path(("privacy", position))
                sentence = f"{place} ({model.model}) is no protection: every table satisfies it"
                used = model.attributes_used
                found.append(Notice("no-protection", used[0] if used else None, sentence))
            if isinstance(model, EpsIKAnonymity) and model.w < Fraction(1, 2):
                sentence = (
                    f"w = {show(model.w)} is below 0.5, the least that the paper uses: many small intervals follow"
                )
                found.append(Notice("unusual", model.attribute, sentence))
        protected = {
            name
            for model in self.privacy
            for name in (model.holds if isinstance(model, Tiered) else model).attributes_used
        }
        for name, attribute in self.attributes.items():
            if self.privacy and attribute.role == "sensitive" and name not in protected:
                sentence = f'no privacy model looks at the sensitive column "{name}"; it is published unprotected'
                found.append(Notice("unprotected", name, sentence))
            if attribute.role != "quasi_identifying":
                defaults = ("weight", "min_level", "max_level")
                extra = [key for key in defaults if getattr(attribute, key) != _default(Attribute, key)]
                found += [
                    Notice("unused", name, f'{key} of "{name}" has no effect: it is for quasi-identifiers')
                    for key in extra
                ]
        return tuple(found)

    def plain(self) -> dict[str, Any]:
        """Return the policy as plain data in the order of the format, defaults left out.

        >>> Policy(attributes={"age": {"role": "qi"}}).plain()
        {'version': 1, 'attributes': {'age': {'role': 'quasi_identifying'}}}
        """
        data: dict[str, Any] = _plain(self)
        return data

    def hash(self) -> str:
        """Return the SHA-256 (hexadecimal) of the canonical form: what was decided, whatever the spelling.

        Synonyms, comments, defaults written out, ``[run]`` and ``[releases]`` make no difference; the order of
        attributes does, because it decides ties.
        """
        data = {key: value for key, value in self.plain().items() if key not in ("run", "releases")}
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    @classmethod
    def load(cls, source: str | PathLike[str]) -> Policy:
        r"""Read a policy from a file, or from a TOML text (a str with a line break).

        >>> Policy.load('[attributes.age]\nrole = "qi"\n').quasi_identifiers
        ('age',)

        Raises PolicyError naming file, line and column for bad TOML, and as ``Policy`` does.
        """
        from indistinct.policy.load import load

        return load(source)

    def dumps(self) -> str:
        """Return the policy as TOML, defaults left out."""
        from indistinct.policy.load import dumps

        return dumps(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy to a file; in an existing policy what differs is changed and comments stay."""
        from indistinct.policy.load import save

        save(self, path)

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema of the policy format, for editors and forms.

        It knows types, ranges and names; what needs two keys at once (``p <= k``) only ``Policy`` checks.
        Roles are listed in lower case with ``_``; other spellings are accepted by ``Policy`` all the same.
        """
        schema = Policy.model_json_schema()
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **schema,
            "title": "indistinct policy",
        }


def _distance_problems(model: TCloseness | NTCloseness, attribute: Attribute, position: int) -> list[InitErrorDetails]:
    place = ("privacy", position, "distance")
    if model.distance == "ordered" and not attribute.is_ordered:
        sentence = (
            f'needs an order, and "{model.attribute}" has type = "{attribute.type}": set its type to '
            f"{', '.join(ORDERED_TYPES[:-1])}, or ordinal with its order"
        )
        return [problem(place, sentence, model.distance)]
    if model.distance == "hierarchical" and (attribute.hierarchy is None or attribute.hierarchy.kind not in TREES):
        has = f"has kind {attribute.hierarchy.kind}" if attribute.hierarchy else "is missing"
        sentence = f'needs a tree, and the hierarchy of "{model.attribute}" {has}: give one as {{ file = "..." }}'
        return [problem(place, sentence, model.distance)]
    return []


def _number_problems(model: Numeric, attribute: Attribute, position: int) -> list[InitErrorDetails]:
    place = ("privacy", position, "attribute")
    if attribute.type not in NUMERIC_TYPES:
        sentence = f'needs numbers, and its type is "{attribute.type}": set it to {", ".join(NUMERIC_TYPES)}'
        return [problem(place, sentence, model.attribute)]
    if attribute.type == "date" and model.needs_zero:
        sentence = "has dates, which have no zero, so no relative distance: use an absolute epsilon, or ke_anonymity"
        return [problem(place, sentence, model.attribute)]
    if attribute.missing in ("first", "last"):
        sentence = f'has missing = "{attribute.missing}", which is no number: set missing = "drop"'
        return [problem(place, sentence, model.attribute)]
    return []


def _default(section: type[Section], name: str) -> Any:
    return section.model_fields[name].get_default(call_default_factory=True)


def _plain(value: Any) -> Any:
    """Turn sections into plain data, in field order, leaving out defaults but for version and tags."""
    if isinstance(value, Section):
        kept = {}
        for name, field in type(value).model_fields.items():
            item = getattr(value, name)
            is_tag = name in ("version", "model", "method") or (name == "kind" and item != "file")
            if is_tag or item != _default(type(value), name):
                kept[field.alias or name] = _plain(item)
        return kept
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return plain(value) if isinstance(value, Fraction) else value
