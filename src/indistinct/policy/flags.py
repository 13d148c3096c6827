"""A policy from command-line flags, for an audit without a policy file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from indistinct.errors import PolicyError
from indistinct.policy.document import Policy
from indistinct.policy.given import given
from indistinct.policy.parameters import exact, plain
from indistinct.policy.privacy import DistinctL, EntropyL, KAnonymity, Privacy, RecursiveCL, TCloseness
from indistinct.policy.problems import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indistinct.policy.given import GivenPolicy
    from indistinct.policy.parameters import Number

_KINDS = ("distinct", "entropy", "recursive")


class Reading(TypedDict, total=False):
    """How a table is to be read, without a policy: the columns by role, and how values are written."""

    qi: Sequence[str]
    sensitive: Sequence[str]
    identifying: Sequence[str]
    person: str | None
    types: Mapping[str, str] | None
    orders: Mapping[str, Sequence[str]] | None
    hierarchies: Mapping[str, str | Mapping[str, Any]] | None
    delimiter: str | None
    missing: Sequence[str] | None
    decimal: str | None
    encoding: str | None


class Flags(Reading, total=False):
    """What an audit needs beside: the thresholds that are to hold. See ``from_flags``."""

    k: Number | None
    l: Number | None  # noqa: E741  # the letter of the literature
    l_kind: str
    c: Number | None
    t: Number | None
    t_distance: str | None


def given_or_flags(policy: GivenPolicy | None, flags: Reading, known: type[Reading] = Reading) -> Policy:
    """Take the policy, or make one of the flags where there is none; ``known`` are the flags that the caller takes.

    >>> given_or_flags(None, Reading(qi=["age"])).quasi_identifiers
    ('age',)

    Raises TypeError for a flag that the caller does not take, as Python does; PolicyError for flags beside a policy,
    which would be judged as if they were not there, for no flags at all, and as ``given`` and ``from_flags`` do.
    """
    for name in flags:
        if name not in known.__annotations__:
            raise TypeError(f'there is no argument "{name}"; {nearest(name, known.__annotations__)}')
    if policy is None:
        if "qi" not in flags:
            message = "give a policy, or name the quasi-identifiers: qi=[...]"
            raise PolicyError(message, key="qi")
        return from_flags(**flags)
    if flags:
        message = f"give either a policy or the arguments that it replaces, not both; given are {', '.join(flags)}"
        raise PolicyError(message, key=next(iter(flags)))
    return given(policy)


def from_flags(
    qi: Sequence[str],
    sensitive: Sequence[str] = (),
    *,
    k: Number | None = None,
    l: Number | None = None,  # noqa: E741  # the letter of the literature
    l_kind: str = "distinct",
    c: Number | None = None,
    t: Number | None = None,
    t_distance: str | None = None,
    person: str | None = None,
    identifying: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    hierarchies: Mapping[str, str | Mapping[str, Any]] | None = None,
    delimiter: str | None = None,
    missing: Sequence[str] | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Policy:
    """Build the policy that the flags of ``audit`` describe.

    Columns not named are insensitive, and ``resolve`` warns of each. ``l`` (with ``l_kind`` distinct, entropy
    or recursive, the last with ``c``) and ``t`` (with ``t_distance`` ordered, equal or hierarchical) apply to
    every sensitive column. ``types`` are as in a policy; dates may have a format, ``"date:%d.%m.%Y"``.
    ``orders`` makes a column ordinal. ``hierarchies`` are files, or mappings as in a policy. Paths are
    relative to the current folder.

    >>> policy = from_flags(["zip", "age"], ["disease"], k=3, t="0.2", t_distance="equal")
    >>> [model.model for model in policy.privacy], policy.quasi_identifiers
    (['k_anonymity', 't_closeness'], ('zip', 'age'))

    Raises PolicyError for values out of range, a column with two roles, settings of a column without a role,
    and thresholds that lack their partner (``t`` without ``t_distance`` or the other way round, ``l_kind`` or ``c``
    without ``l``, ``l`` or ``t`` without a sensitive column).
    """
    qi, sensitive, identifying = (_listed(names) for names in (qi, sensitive, identifying))
    roles = _roles(qi, sensitive, identifying)
    attributes: dict[str, dict[str, Any]] = {name: {"role": role} for name, role in roles.items()}
    for name, kind in (types or {}).items():
        word, _, date_format = kind.partition(":")
        _settings(attributes, name, "--type")["type"] = word
        if date_format:
            attributes[name]["format"] = date_format
    for name, order in (orders or {}).items():
        settings = _settings(attributes, name, "--order")
        settings["order"] = list(order)
        settings.setdefault("type", "ordinal")
    for name, spec in (hierarchies or {}).items():
        settings = _settings(attributes, name, "--hierarchy")
        settings["hierarchy"] = {"file": spec} if isinstance(spec, str) else dict(spec)
    table: dict[str, Any] = {"unlisted": "insensitive"}
    given = {"delimiter": delimiter, "missing": missing, "decimal": decimal, "encoding": encoding}
    table |= {key: value for key, value in given.items() if value is not None}
    privacy: list[Privacy] = [] if k is None else [KAnonymity(_number(k))]
    privacy += _diversity(sensitive, l, l_kind, c)
    privacy += _closeness(sensitive, t, t_distance)
    policy = Policy(
        table=table,
        person=None if person is None else {"key": person},
        attributes=attributes,
        privacy=privacy,
    )
    return policy.at(Path(), from_flags=True)


def _listed(names: Sequence[str]) -> Sequence[str]:
    """Take a single text as the names that it lists, as on the command line."""
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else names


def _roles(qi: Sequence[str], sensitive: Sequence[str], identifying: Sequence[str]) -> dict[str, str]:
    if not qi:
        message = "--qi names no column: name the columns that others may know about a person"
        raise PolicyError(message, key="--qi")
    roles: dict[str, str] = {}
    for role, names in (("quasi_identifying", qi), ("sensitive", sensitive), ("identifying", identifying)):
        for name in names:
            if roles.setdefault(name, role) != role:
                message = f'"{name}" is given as {roles[name]} and as {role}; a column has one role'
                raise PolicyError(message, column=name)
    return roles


def _settings(attributes: dict[str, dict[str, Any]], name: str, flag: str) -> dict[str, Any]:
    if name not in attributes:
        hint = nearest(name, attributes)
        message = f'{flag} names "{name}", which is neither in --qi nor in --sensitive; {hint}'
        raise PolicyError(message, key=flag, column=name)
    return attributes[name]


def _diversity(
    sensitive: Sequence[str],
    l: Number | None,  # noqa: E741  # the letter of the literature
    kind: str,
    c: Number | None,
) -> list[Privacy]:
    if kind not in _KINDS:
        message = f'--l-kind "{kind}" is unknown; {nearest(kind, _KINDS)}'
        raise PolicyError(message, key="--l-kind")
    if c is not None and (kind != "recursive" or l is None):
        message = "--c belongs to recursive diversity: give it with --l and --l-kind recursive"
        raise PolicyError(message, key="--c")
    if l is None:
        if kind != "distinct":
            message = "--l-kind says what kind of diversity --l asks for: give --l too"
            raise PolicyError(message, key="--l-kind")
        return []
    if not sensitive:
        message = "--l needs a sensitive column: name it with --sensitive"
        raise PolicyError(message, key="--l")
    if kind == "recursive" and c is None:
        message = "--l-kind recursive needs --c, a number, c > 0"
        raise PolicyError(message, key="--c")
    number = _number(l)
    if kind == "recursive":
        return [RecursiveCL(name, c or 0, number) for name in sensitive]
    return [DistinctL(name, number) if kind == "distinct" else EntropyL(name, number) for name in sensitive]


def _number(value: Number) -> Any:
    """Turn the text of a flag into a number where it is one, so that "3" is a whole number."""
    try:
        return plain(exact(value))
    except ValueError:
        return value


def _closeness(sensitive: Sequence[str], t: Number | None, distance: str | None) -> list[Privacy]:
    if t is None:
        if distance is not None:
            message = "--t-distance says how --t is measured: give --t too"
            raise PolicyError(message, key="--t-distance")
        return []
    if not sensitive:
        message = "--t needs a sensitive column: name it with --sensitive"
        raise PolicyError(message, key="--t")
    if distance is None:
        message = "--t needs --t-distance: ordered, equal or hierarchical; the values do not tell which"
        raise PolicyError(message, key="--t-distance")
    return [TCloseness(name, t, distance) for name in sensitive]
