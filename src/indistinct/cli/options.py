"""Options that belong together, as dataclasses: what many commands share, and what one command groups.

A command that takes such a class as a parameter has its fields as options of its own (``grouped``).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, get_type_hints

import typer

from indistinct.cli.common import (
    Debug,
    Decimal,
    Encoding,
    Engine,
    Hierarchies,
    Json,
    ManifestFile,
    Missing,
    Orders,
    OutputTable,
    Qi,
    Query,
    Quiet,
    Sensitive,
    SqlTable,
    Types,
    names,
    pairs,
    place,
    print_json,
    progress,
    tell,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from indistinct.cli.common import Report
    from indistinct.policy import Policy
    from indistinct.policy import Reading as Flags


def grouped(command: Callable[..., int]) -> Callable[..., int]:
    """Let a command take dataclasses of options: on the command line their fields stand in their place."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {}
    options: list[Parameter] = []
    for name, own in signature(command).parameters.items():
        if is_dataclass(hints[name]):
            groups[name] = hints[name]
            kinds = get_type_hints(hints[name], include_extras=True)
            options += [
                Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=kinds[field.name])
                for field in fields(hints[name])
            ]
        else:
            options.append(own.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name]))

    @wraps(command)
    def called(**given: Any) -> int:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        return command(**given)

    called.__signature__ = Signature(options, return_annotation=int)  # type: ignore[attr-defined]  # Typer reads it
    called.__annotations__ = {option.name: option.annotation for option in options}
    return called


@dataclass(frozen=True)
class Answer:
    """How a command answers: one JSON document, an account for people, or nothing."""

    json: Json = False
    quiet: Quiet = False
    debug: Debug = False  # read by the entry point

    def progress(self) -> AbstractContextManager[Report]:
        """Show progress, where nobody asked for silence."""
        return progress(quiet=self.quiet or self.json)

    def give(self, document: Mapping[str, Any], *account: object) -> None:
        """Print the document, or tell people the texts and answers of the account."""
        if self.json:
            print_json(document)
        elif not self.quiet:
            for one in account:
                tell(one if isinstance(one, str) else repr(one))


@dataclass(frozen=True)
class Database:
    """Which rows of a database are the table."""

    query: Query = None
    sql_table: SqlTable = None


@dataclass(frozen=True)
class Where:
    """What does the work, and where in a database its result goes."""

    engine: Engine = None
    output_table: OutputTable = None
    manifest: ManifestFile = None


@dataclass(frozen=True)
class Counting:
    """What counts a table that is judged."""

    engine: Engine = None


@dataclass(frozen=True)
class Reading:
    """How the columns of a table are read where no policy says it."""

    qi: Qi = None
    sensitive: Sensitive = None
    type_: Types = None
    order: Orders = None
    hierarchy: Hierarchies = None
    decimal: Decimal = None
    encoding: Encoding = None
    missing: Missing = None

    @property
    def flags(self) -> Flags:
        """The options as the functions of the library take them."""
        orders = pairs(self.order, "--order", listed=False)
        return {
            "qi": names(self.qi), "sensitive": names(self.sensitive), "types": pairs(self.type_, "--type"),
            "orders": {name: text.split(",") for name, text in orders.items()},
            "hierarchies": pairs(self.hierarchy, "--hierarchy"), "missing": self.missing, "decimal": self.decimal,
            "encoding": self.encoding,
        }  # fmt: skip


def refuse_both(policy: Path | None, given: list[str]) -> None:
    """Refuse a policy together with options that it replaces."""
    if policy is not None and given:
        message = f"give either --policy or the options that it replaces, not both; given are {', '.join(given)}"
        raise typer.BadParameter(message)


def source_of(table: str | None, policy: Policy) -> str | Path:
    """Take the table that the command names, or else the policy."""
    if table is not None:
        return place(table)
    if policy.table.source is None:
        message = "say which table: as the argument, or as [table] source in the policy"
        raise typer.BadParameter(message)
    return place(policy.table.source, policy.base)
