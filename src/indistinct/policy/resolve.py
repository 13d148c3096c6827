"""The roles of all columns of a table under a policy."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from indistinct.errors import SchemaError, together
from indistinct.notices import Notice, Sentence
from indistinct.policy.attribute import Attribute
from indistinct.policy.problems import path
from indistinct.policy.roles import ROLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indistinct.policy.document import Policy


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of all columns of one table under one policy.

    ``quasi`` in the order of the policy (columns that took the role of ``[table] unlisted`` follow in the
    order of the table), the others in the order of the table; every column is in exactly one of the four.
    ``person`` is the person key, also in ``identifying``. ``attributes`` has the settings of every column.
    ``unconfirmed`` are insensitive columns that are not confirmed to be unique, to be checked for rare values.
    ``notices`` are warnings.
    """

    identifying: tuple[str, ...]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    insensitive: tuple[str, ...]
    person: str | None = None
    unlisted: tuple[str, ...] = ()
    unconfirmed: tuple[str, ...] = ()
    attributes: Mapping[str, Attribute] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    notices: tuple[Notice, ...] = ()


def resolve(policy: Policy, columns: Sequence[str]) -> Roles:
    """Give every column of a table its role.

    >>> from indistinct.policy import Policy
    >>> resolve(Policy(attributes={"age": {"role": "qi"}, "name": {"role": "id"}}), ["name", "age"]).quasi
    ('age',)

    Raises SchemaError when the policy names a column that the table lacks (with the nearest that it has), or
    when the table has columns that the policy does not name and ``[table] unlisted`` is not set. Not checked:
    values.
    """
    _require_columns(policy, columns)
    person = policy.person.key if policy.person else None
    unlisted = tuple(name for name in columns if name not in policy.attributes and name != person)
    if unlisted and policy.table.unlisted is None:
        names = ", ".join(f'"{name}"' for name in unlisted)
        several = len(unlisted) > 1
        message = (
            f"the policy gives no role to the column{'s' if several else ''} {names}; name "
            f'{"each" if several else "it"} under [attributes], or set [table] unlisted = "insensitive" '
            "(or another role) for all columns that are not named"
        )
        raise SchemaError(message, column=unlisted[0], key="table.unlisted")
    attributes: dict[str, Attribute] = dict(policy.attributes)
    if person is not None:
        attributes.setdefault(person, Attribute(role="identifying"))
    for name in unlisted:
        confirmed = policy.table.unlisted_confirmed
        attributes[name] = Attribute(role=policy.table.unlisted or "insensitive", confirmed=confirmed)
    by_role: dict[str, list[str]] = {role: [] for role in ROLES}
    for name in columns:
        by_role[attributes[name].role].append(name)
    order = {name: position for position, name in enumerate(attributes)}
    notices = list(policy.notices())
    if policy.from_flags:
        notices += [
            Notice(
                "undeclared",
                name,
                Sentence('the column "{name}" has no role and is left unchanged, as insensitive', name=name),
            )
            for name in unlisted
        ]
    return Roles(
        identifying=tuple(by_role["identifying"]),
        quasi=tuple(sorted(by_role["quasi_identifying"], key=order.__getitem__)),
        sensitive=tuple(by_role["sensitive"]),
        insensitive=tuple(by_role["insensitive"]),
        person=person,
        unlisted=unlisted,
        unconfirmed=tuple(name for name in by_role["insensitive"] if not attributes[name].confirms("unique")),
        attributes=MappingProxyType({name: attributes[name] for name in columns}),
        notices=tuple(notices),
    )


def _require_columns(policy: Policy, columns: Sequence[str]) -> None:
    """Raise SchemaError for what the policy names and the table lacks."""
    needed = {name: path(("attributes", name)) for name in policy.attributes}
    if policy.person:
        needed = {policy.person.key: "person.key"} | needed
    absent = [name for name in needed if name not in columns]
    if not absent:
        return
    errors = [SchemaError.unknown_column(name, columns, key=needed[name]) for name in absent]
    raise together(errors, f"the table lacks {len(errors)} columns of the policy:")
