"""A policy from the roles of the columns alone: types and hierarchies as a draft proposes them."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from indistinct.errors import PolicyError, SchemaError
from indistinct.formats.registry import open_source
from indistinct.formats.source import TableOptions
from indistinct.notices import Notice, Sentence
from indistinct.policy import Policy, Suggestion
from indistinct.policy import given as given_policy
from indistinct.policy.draft import section
from indistinct.policy.privacy import DistinctL, KAnonymity, TCloseness
from indistinct.session.column_counts import measured

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indistinct.policy import ColumnFacts, GivenPolicy, Privacy
    from indistinct.policy.parameters import Number
    from indistinct.policy.roles import Role
    from indistinct.tables.count import Progress

_ORDERED = ("integer", "decimal", "date")


class ByRole(TypedDict, total=False):
    """The roles of the columns and what must hold, in place of a policy."""

    quasi_identifiers: Sequence[str]
    sensitive: Sequence[str]
    identifying: Sequence[str]
    insensitive: Sequence[str]
    person: str | None
    k: int
    l: int | None  # noqa: E741  # the letter of the literature
    t: Number | None
    others: Literal["refuse", "drop"]


def policy_or_roles(
    table: Any,
    policy: GivenPolicy | None,
    roles: ByRole,
    *,
    query: str | None,
    sql_table: str | None,
    progress: Progress,
) -> tuple[Policy, list[Notice]]:
    """Take the policy, or make one of the roles where there is none; and what is to be said of it.

    Raises PolicyError for both, or neither; else what ``policy_by_roles`` and reading a policy raise.
    """
    if policy is None:
        if not roles:
            message = "give a policy, or name the columns by role: quasi_identifiers=[...], k=5"
            raise PolicyError(message, key="policy")
        made, notice = policy_by_roles(table, roles, query=query, sql_table=sql_table, progress=progress)
        return made, [notice]
    if roles:
        raise PolicyError("give a policy, or the roles of the columns, not both", key=next(iter(roles)))
    return given_policy(policy), []


def policy_by_roles(
    table: Any, given: ByRole, *, query: str | None = None, sql_table: str | None = None, progress: Progress
) -> tuple[Policy, Notice]:
    """Make a policy of named roles, with types and hierarchies as a draft of the table proposes; and say which.

    Every column is named, or ``others = "drop"`` leaves the rest out. ``l`` and ``t`` hold for each sensitive column, t
    by ordered distance for numbers and dates and by equal distance otherwise.

    Raises TypeError for an unknown argument; PolicyError for a column with two roles or none, or without ``k``;
    SchemaError for a column that the table lacks.
    """
    unknown = given.keys() - ByRole.__annotations__.keys()
    if unknown:
        message = f'there is no argument "{min(unknown)}"; there are {", ".join(ByRole.__annotations__)}'
        raise TypeError(message)
    if "k" not in given:
        raise PolicyError("say how many look-alikes everybody has at least: k=5", key="k")
    source = open_source(table, TableOptions(query=query, table=sql_table))
    facts = {one.name: one for one in measured(source, progress=progress).facts}
    roles = _roles(given, list(facts), source.name)
    attributes = {name: _attribute(facts[name], role) for name, role in roles.items() if name != given.get("person")}
    sensitive = [name for name, role in roles.items() if role == "sensitive"]
    settings: dict[str, Any] = {"attributes": attributes, "privacy": _models(given, sensitive, attributes)}
    if any(facts[name].decimal == "," for name in attributes):
        settings["table"] = {"decimal": ","}
    person = given.get("person")
    policy = Policy(version=2, **settings, **({} if person is None else {"person": {"key": person}}))
    spelled = "; ".join(f"{name}: {_spelled(own)}" for name, own in attributes.items() if len(own) > 1)
    message = Sentence(
        "types and hierarchies are those that a draft of this table proposes ({told}); release.policy has them all",
        told=spelled,
    )
    return policy, Notice("proposed", None, message)


def _spelled(own: Mapping[str, Any]) -> str:
    kind = [own["hierarchy"]["kind"]] if "hierarchy" in own else []
    missing = [f"{' and '.join(map(repr, own['missing_values']))} missing"] if "missing_values" in own else []
    return ", ".join([own.get("type", "text"), *kind, *missing])


def _roles(given: ByRole, columns: list[str], file: str) -> dict[str, Role]:
    """Return the role of each column; what is not named is refused, or identifying where it is to be dropped."""
    named: tuple[tuple[Role, Sequence[str]], ...] = (
        ("quasi_identifying", given.get("quasi_identifiers", ())),
        ("sensitive", given.get("sensitive", ())),
        ("identifying", given.get("identifying", ())),
        ("insensitive", given.get("insensitive", ())),
    )
    person = given.get("person")
    roles: dict[str, Role] = {} if person is None else {person: "identifying"}
    for role, names in named:
        for name in [names] if isinstance(names, str) else names:
            if roles.setdefault(name, role) != role:
                raise PolicyError(f'"{name}" is given as {roles[name]} and as {role}; a column has one role')
    for name in roles:
        if name not in columns:
            raise SchemaError.unknown_column(name, columns, file=file)
    left = [name for name in columns if name not in roles]
    others = given.get("others", "refuse")
    if others not in ("refuse", "drop"):
        raise PolicyError(f'others = "{others}" says nothing; write "drop" or "refuse"', key="others")
    if left and others == "refuse":
        listed = ", ".join(f'"{name}"' for name in left)
        message = (
            f"the table has columns without a role: {listed}; name each under quasi_identifiers, sensitive, "
            'identifying or insensitive, or leave them out with others="drop"'
        )
        raise PolicyError(message, column=left[0])
    return {name: roles.get(name, "identifying") for name in columns}


def _attribute(facts: ColumnFacts, role: Role) -> dict[str, Any]:
    """Return the section of one column, as the draft writes it under this role."""
    text = "\n".join(section(facts, Suggestion(role, "")))
    found: dict[str, Any] = tomllib.loads(text, parse_float=Decimal)["attributes"][facts.name]
    return found


def _models(given: ByRole, sensitive: Sequence[str], attributes: Mapping[str, Any]) -> list[Privacy]:
    diverse, close = given.get("l"), given.get("t")
    if (diverse is not None or close is not None) and not sensitive:
        raise PolicyError("l and t protect sensitive columns, and none is named: sensitive=[...]", key="sensitive")
    models: list[Privacy] = [KAnonymity(given["k"])]
    if diverse is not None:
        models += [DistinctL(name, diverse) for name in sensitive]
    if close is not None:
        kinds = {name: attributes[name].get("type", "text") for name in sensitive}
        models += [TCloseness(name, close, "ordered" if kind in _ORDERED else "equal") for name, kind in kinds.items()]
    return models
