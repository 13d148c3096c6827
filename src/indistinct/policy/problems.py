"""From what pydantic found wrong to one plain sentence for each problem.

A sentence names the place (``privacy[1].t``), the value, the valid range and, where there is one, the remedy.
Places and values of a policy are settings, not data about persons, so they may be shown and logged.
"""

from __future__ import annotations

import ast
import json
from contextvars import ContextVar
from datetime import date
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from functools import cache
from inspect import cleandoc, getsource
from itertools import pairwise, takewhile
from textwrap import dedent
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from indistinct.errors import PolicyError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pydantic.fields import FieldInfo

    Place = tuple[str | int, ...]

_SIGNS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
_SCHEMA_KEYS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_NAMES: dict[object, str] = {
    int: "a whole number",
    float: "a number",
    Fraction: "a number",
    bool: "true or false",
    str: "a text in quotes",
    date: "a date, such as 2027-06-30",
}
_PLURALS: dict[object, str] = {int: "whole numbers", Fraction: "numbers", str: "texts in quotes"}
TAGS = ("model", "kind", "method", "algorithm")
_inside: ContextVar[bool] = ContextVar("inside another section", default=False)


def _complete(schema: dict[str, Any], section: type[BaseModel]) -> None:
    """Mend the JSON Schema of a section: ranges, required tags, no null as in TOML, short descriptions."""
    for name, field in section.model_fields.items():
        kind, limits = _unwrap(field)
        entry = schema["properties"][field.alias or name]
        if kind in (int, float, Fraction):
            entry |= {_SCHEMA_KEYS[key]: _json_number(limit) for key, limit in limits.items()}
        if isinstance(field.default, Fraction):
            entry["default"] = _json_number(field.default)
        if field.default is None:
            del entry["default"]
            choices = [choice for choice in entry.pop("anyOf", []) if choice != {"type": "null"}]
            for choice in choices:
                choice.pop("ge", None)
                choice.pop("gt", None)
            entry |= choices[0] if len(choices) == 1 else {"anyOf": choices} if choices else {}
    for name, text in _docstrings(section).items():
        schema["properties"][name]["description"] = text
    schema["description"] = (section.__doc__ or "").partition("\n\n")[0].replace("``", "").strip()
    tags = [tag for tag in TAGS if {"default", "const"} <= schema["properties"].get(tag, {}).keys()]
    if tags and not getattr(section, "optional_tag", False):
        schema["required"] = [*tags, *schema.get("required", [])]


def _docstrings(section: type[BaseModel]) -> dict[str, str]:
    """Texts that stand below the fields, read from the source only when a schema is asked for: importing stays fast."""
    found: dict[str, str] = {}
    for owner in section.__mro__[: section.__mro__.index(BaseModel)]:
        for name, text in _texts_below(owner).items():
            if name in section.model_fields:
                found.setdefault(section.model_fields[name].alias or name, text)
    return found


@cache  # finding the source of a class parses its whole file, and many sections share their bases
def _texts_below(owner: type) -> dict[str, str]:
    (definition,) = ast.parse(dedent(getsource(owner))).body
    found: dict[str, str] = {}
    for field, below in pairwise(getattr(definition, "body", ())):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found.setdefault(name, cleandoc(text))
    return found


def _json_number(limit: Any) -> int | float:
    return int(limit) if limit == int(limit) else float(limit)


class Section(BaseModel):
    """Base of every part of a policy: closed to unknown keys, frozen, and refusing with a PolicyError.

    ``hints`` says what to do instead of keys that somebody may try; ``optional_tag``: the section is the one that is
    meant where the key that tells sections apart (one of ``TAGS``) is left out.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, json_schema_extra=_complete)
    hints: ClassVar[dict[str, str]] = {}
    optional_tag: ClassVar[bool] = False

    def __init__(self, /, **data: Any) -> None:
        # pydantic calls this for nested sections too: only the outermost turns problems into the final error
        outermost = not _inside.get()
        token = _inside.set(True)
        try:
            super().__init__(**data)
        except ValidationError as error:
            if outermost:
                raise refusal(error, type(self)) from None
            raise
        finally:
            _inside.reset(token)


def problem(place: Place, sentence: str, value: object = None) -> InitErrorDetails:
    """One finding of a cross check."""
    return InitErrorDetails(
        type=PydanticCustomError("policy", "{sentence}", {"sentence": sentence, "show": value is not None}),
        loc=place,
        input=value,
    )


def refuse(problems: Sequence[InitErrorDetails]) -> None:
    """Raise all findings of a cross check at once, if there are any; for use inside validators."""
    if problems:
        title = "policy"
        raise ValidationError.from_exception_data(title, list(problems))


def nearest(word: str, known: Iterable[str]) -> str:
    """End of a sentence that names the nearest known word, or all of them.

    >>> nearest("atribute", ["attribute", "t"])
    'did you mean "attribute"?'
    >>> nearest("x", ["alpha", "k"])
    'choose from: alpha, k'
    """
    words = list(known)
    near = get_close_matches(str(word).casefold(), words, n=1, cutoff=0.6)
    return f'did you mean "{near[0]}"?' if near else f"choose from: {', '.join(words)}"


def check_tag(table: Mapping[str, Any], tag: str, known: Collection[str]) -> None:
    """Refuse a table whose ``tag`` (``model``, ``kind``) is absent or unknown."""
    if table.get(tag) is None:
        refuse([problem((tag,), f"is missing; choose from: {', '.join(known)}")])
    check_word((tag,), table[tag], known)


def check_word(place: Place, word: object, known: Collection[str]) -> None:
    """Refuse a word that is not known."""
    if not isinstance(word, str):
        refuse([problem(place, f"must be a text in quotes; choose from: {', '.join(known)}", word)])
    elif word not in known:
        refuse([problem(place, f"is unknown; {nearest(word, known)}", word)])


def show(value: object) -> str:
    """Write a value as the policy file would, shortened.

    >>> show(Fraction(1, 6)), show("a"), show(True), show([1, 2])
    ('1/6', '"a"', 'true', '[1, 2]')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
    elif isinstance(value, Fraction):
        finite = Decimal(value.numerator) / value.denominator
        text = str(finite) if Fraction(finite) == value else str(value)
    elif isinstance(value, list | tuple):
        text = f"[{', '.join(show(item) for item in value)}]"
    elif isinstance(value, date):
        text = value.isoformat()
    else:
        text = "a table" if isinstance(value, dict | BaseModel) else str(value)
    return text if len(text) <= 80 else f"{text[:76]} ..."


def path(place: Place) -> str:
    """Write a place as a path: keys joined by dots, positions (from 0) in brackets.

    >>> path(("privacy", 1, "t")), path(("attributes", "date of birth", "role"))
    ('privacy[1].t', 'attributes."date of birth".role')
    """
    text = ""
    for step in place:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            bare = step.replace("_", "").replace("-", "").isalnum()
            text += f"{'.' if text else ''}{step if bare else json.dumps(step, ensure_ascii=False)}"
    return text


def refusal(error: ValidationError, section: type[BaseModel]) -> PolicyError:
    """Build the error for all that pydantic found wrong with ``section``; ``where`` has the first place."""
    found = [_read(detail, section) for detail in error.errors(include_url=False)]
    lines = list(dict.fromkeys(line for _, line in found))
    if len(lines) == 1:
        return PolicyError(lines[0], key=found[0][0])
    return PolicyError(f"the policy has {len(lines)} problems:", key=found[0][0]).listing(*lines)


class _Target(NamedTuple):
    """Where a place leads: what is shown of it, its field, the section of the field, the privacy model."""

    place: Place
    field: FieldInfo | None
    owner: type[BaseModel] | None
    model: str


def _read(detail: Any, section: type[BaseModel]) -> tuple[str, str]:
    """Return the place and the whole line."""
    target = _follow(detail["loc"], section)
    where = path(target.place) or "policy"
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    suffix = f" ({target.model})" if target.model else ""
    if kind == "policy":
        shown = f" = {show(value)}" if context["show"] else ""
        sentence = context["sentence"]
        joint = " " if sentence.startswith("is ") else ": "
        return where, f"{where}{shown}{suffix}{joint}{sentence}"
    if kind == "missing":
        return where, f"{where} is missing{suffix}; it must be {_valid(target)}"
    if kind == "extra_forbidden":
        key = str(target.place[-1])
        hint = getattr(target.owner, "hints", {}).get(key) or nearest(key, _keys(target.owner))
        return where, f"{where}{suffix} is an unknown key; {hint}"
    if kind == "string_too_short":
        return where, f"{where} is empty{suffix}; give it a text, or leave it out"
    if kind == "value_error":
        limits = _range(target)
        sentence = str(context["error"]) + (f", {limits}" if limits else "")
    else:
        sentence = f"must be {_valid(target)}"
    return where, f"{where} = {show(value)}{suffix}: {sentence}"


def _keys(section: type[BaseModel] | None) -> list[str]:
    fields = section.model_fields if section is not None else {}
    return [field.alias or name for name, field in fields.items()]


def _follow(place: Place, section: type[BaseModel]) -> _Target:
    """Walk from ``section`` along ``place``, leaving out the tags that pydantic adds for unions."""
    kind: Any = section
    field: FieldInfo | None = None
    owner: type[BaseModel] | None = None
    model = str(_tag(section)) if "model" in section.model_fields else ""
    shown: list[str | int] = []
    for step in place:
        kind = _bare(kind)
        members = [member for member in _members(kind) if _tag(member) == step]
        if members:
            kind, model = members[0], str(step) if "model" in members[0].model_fields else model
            continue
        shown.append(step)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            owner = kind
            names = {info.alias or name: info for name, info in kind.model_fields.items()}
            field = names.get(str(step))
            kind = field.annotation if field is not None else None
        else:
            owner = None
            inner = [part for part in get_args(kind) if part is not Ellipsis]
            kind = inner[-1] if inner else None
    return _Target(tuple(shown), field, owner, model)


def _bare(kind: Any) -> Any:
    """Strip Annotated and ``| None``."""
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, UnionType):
        members = [part for part in get_args(kind) if part is not type(None)]
        return _bare(members[0]) if len(members) == 1 else kind
    return kind


def _members(kind: Any) -> list[type[BaseModel]]:
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else ()
    return [part for part in members if isinstance(part, type) and issubclass(part, BaseModel)]


def name_of(section: type[BaseModel]) -> str:
    """Return the name by which a policy asks for one of several kinds of section: the default of its tag."""
    return str(_tag(section))


def _tag(section: type[BaseModel]) -> object:
    return next((section.model_fields[tag].default for tag in TAGS if tag in section.model_fields), None)


def _unwrap(field: FieldInfo) -> tuple[Any, dict[str, Any]]:
    """Return the bare type of a field and its limits by name (``ge``, ``gt``, ``le``, ``lt``)."""
    metadata = list(field.metadata)
    kind: Any = field.annotation
    if get_origin(kind) in (Union, UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    if get_origin(kind) is Annotated:
        metadata += get_args(kind)[1:]
    limits = {key: getattr(item, key) for item in metadata for key in _SIGNS if hasattr(item, key)}
    return _bare(kind), limits


def _range(target: _Target) -> str:
    """Write the limits of a field: ``k >= 1``, ``0 <= t <= 1``; empty when there are none."""
    if target.field is None:
        return ""
    _, limits = _unwrap(target.field)
    name = next((step for step in reversed(target.place) if isinstance(step, str)), "value")
    low = next(((key, limits[key]) for key in ("ge", "gt") if key in limits), None)
    high = next(((key, limits[key]) for key in ("le", "lt") if key in limits), None)
    if low and high:
        first = "<=" if low[0] == "ge" else "<"
        return f"{low[1]} {first} {name} {_SIGNS[high[0]]} {high[1]}"
    end = low or high
    return f"{name} {_SIGNS[end[0]]} {end[1]}" if end else ""


def _valid(target: _Target) -> str:
    """Say what a field accepts: its type and its range."""
    if target.field is None:
        return "as the policy format says"
    kind, _ = _unwrap(target.field)
    positions = len(list(takewhile(lambda step: isinstance(step, int), reversed(target.place))))
    for _ in range(positions):
        inner = [part for part in get_args(kind) if part is not Ellipsis]
        kind = _bare(inner[-1]) if inner else kind
    limits = _range(target)
    return _name_of(kind, target) + (f", {limits}" if limits else "")


def _name_of(kind: Any, target: _Target) -> str:
    origin = get_origin(kind)
    if kind in _NAMES:
        return _NAMES[kind]
    if origin is Literal:
        choices = [show(choice) for choice in get_args(kind)]
        return choices[0] if len(choices) == 1 else f"one of {', '.join(choices)}"
    if origin is tuple:
        inner = _bare(get_args(kind)[0])
        if _members(inner):
            return f"a list of tables, each written as [[{path(target.place[:1])}]]"
        if get_origin(inner) is Literal:
            return f"a list of some of {', '.join(show(choice) for choice in get_args(inner))}"
        return f"a list of {_PLURALS.get(inner, 'lists')}"
    in_list = isinstance(target.place[-1], int) if target.place else False
    heading = f"[[{path(target.place[:-1])}]]" if in_list else f"[{path(target.place)}]"
    return f"a table, written as {heading}"
