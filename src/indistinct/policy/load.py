"""Policies as TOML: read with exact numbers, written with comments kept."""

from __future__ import annotations

import os
import re
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from indistinct.errors import PolicyError
from indistinct.outputs import Output, check_outputs, origin, write_bytes
from indistinct.policy.files import files_of
from indistinct.policy.marks import open_marks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from indistinct.outputs import Origin
    from indistinct.policy.marks import Mark

P = TypeVar("P", bound="Document")


class Document(Protocol):
    """What a policy is to its file; ``document.Policy`` is one."""

    @property
    def base(self) -> Path:
        """The folder of its paths."""

    @property
    def from_flags(self) -> bool:
        """Whether it was made of flags."""

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The files that it names, and its own."""

    def plain(self) -> dict[str, Any]:
        """The policy as data, defaults left out."""

    def at(
        self, base: Path, *, from_flags: bool = False, file: Origin | None = None, marks: Sequence[Mark] = ()
    ) -> Self:
        """The same policy with paths seen from another folder."""

    def locate(self, text: str) -> Path:
        """Where a path of the policy leads."""


_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
TWICE = ("Cannot declare", "Cannot overwrite", "Cannot mutate")  # what tomllib says of a table or key that stands twice


def load(build: Callable[..., P], source: str | os.PathLike[str]) -> P:
    """Read a policy from a file and ``build`` it of its data; a str with a line break is the TOML text itself.

    Raises PolicyError when the file cannot be read, is not UTF-8 or not TOML (with line and column), or says
    something impossible.
    """
    if isinstance(source, str) and "\n" in source:
        return loads(build, source)
    path = Path(source)
    read = origin(path, "the policy file")
    return loads(build, _read(path), base=path.parent, name=path.name).at(path.parent, file=read)


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        message = f'there is no policy file "{path.name}"; check the path, or draft one: indistinct policy draft'
        raise PolicyError(message, file=path.name) from None
    except OSError as error:
        reason = "it is a folder" if path.is_dir() else error.strerror or "unknown reason"
        message = f'the policy file "{path.name}" cannot be read: {reason}'
        raise PolicyError(message, file=path.name) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        message = f"{path.name}, line {line}: not UTF-8; save the policy file in the encoding UTF-8"
        raise PolicyError(message, file=path.name, line=line) from None


def loads(build: Callable[..., P], text: str, *, base: Path | None = None, name: str = "") -> P:
    """Read a policy from TOML text; ``base`` is the folder of its paths, ``name`` its file in messages.

    Raises PolicyError as ``load``.
    """
    where: dict[str, str | int] = {"file": name} if name else {}
    try:
        data = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(str(error), text, name) from None
    except RecursionError:
        message = "the policy is nested too deeply to be one"
        raise PolicyError(message, **where) from None
    try:
        policy = build(**data)
    except PolicyError as error:
        message = f"{name}: {error.message}" if name else error.message
        raise PolicyError(message, **{**error.where, **where}) from None
    return policy.at(base or Path(), marks=open_marks(text))


def _syntax_error(reason: str, text: str, name: str) -> PolicyError:
    found = _POSITION.search(reason)
    lines = text.removesuffix("\n").split("\n")
    line, column = (int(found[1]), int(found[2])) if found and found[1] else (len(lines), len(lines[-1]) + 1)
    hint = "; texts stand in quotes, keys before ="
    if "\\" in lines[min(line, len(lines)) - 1]:  # before "u" it begins a number, before "d" it is unknown
        hint = r"; write a path with \ in single quotes, or with /"
    elif any(word in reason for word in TWICE):
        hint = "; a table or key stands twice, keep one of them"
    place = f"{name}, line {line}, column {column}" if name else f"line {line}, column {column}"
    where: dict[str, str | int] = {"file": name, "line": line} if name else {"line": line}
    return PolicyError(f"{place}: not valid TOML: {_POSITION.sub('', reason)}{hint}", **where)


def dumps(policy: Document) -> str:
    """Write a policy as TOML, defaults left out; ``loads`` gives an equal policy back.

    >>> from indistinct.policy import Policy
    >>> print(dumps(Policy(attributes={"age": {"role": "qi"}})))
    version = 1
    <BLANKLINE>
    [attributes.age]
    role = "quasi_identifying"
    <BLANKLINE>
    """
    import tomlkit

    document = tomlkit.document()
    for key, value in policy.plain().items():
        if isinstance(value, dict | list):
            document.add(tomlkit.nl())
        document.add(key, _section(key, value))
    return tomlkit.dumps(document)


def _section(key: str, value: Any) -> Any:
    """Lay out a top-level value: ``[attributes.x]`` and ``[[privacy]]`` as tables, their parts as lines."""
    import tomlkit

    if key == "attributes":
        parent = tomlkit.table(is_super_table=True)
        for position, (name, content) in enumerate(value.items()):
            table = _table(content)
            if position + 1 < len(value):
                table.add(tomlkit.nl())
            parent.add(name, table)
        return parent
    if key == "privacy":
        models = tomlkit.aot()
        for content in value:
            models.append(_table(content))
        return models
    return _table(value) if isinstance(value, dict) else tomlkit.item(value)


def _table(content: dict[str, Any]) -> Any:
    import tomlkit

    table = tomlkit.table()
    for key, value in content.items():
        table.add(key, _inline(value))
    return table


def _inline(value: Any) -> Any:
    import tomlkit

    if not isinstance(value, dict):
        return tomlkit.item(value)
    table = tomlkit.inline_table()
    for key, item in value.items():
        table.add(key, _inline(item))
    return table


def update(text: str, policy: Document) -> str:
    """Return the TOML ``text`` of an earlier policy with only those values changed that differ in ``policy``.

    Comments, order and spelling (synonyms of roles, defaults written out) stay. Where attributes have been
    reordered, or the text cannot be edited in place, the policy is written afresh, without comments.

    Raises PolicyError when ``text`` is not a policy.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    # both sides as meaning, without defaults: what is equal there is left as the person wrote it
    old, new = loads(type(policy), text).plain(), policy.plain()
    try:
        document = tomlkit.parse(text)
        _merge(document, old, new)
        edited = tomlkit.dumps(document)
        same = _listed(loads(type(policy), edited).plain()) == _listed(new)
    except (TOMLKitError, PolicyError):
        same = False
    return edited if same else dumps(policy)


def _listed(data: dict[str, Any]) -> list[Any]:
    """Make the order of the attributes count in a comparison."""
    return [data, list(data.get("attributes", {}))]


def _merge(container: Any, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Bring a TOML table from what it means (``old``) to ``new``."""
    from tomlkit.items import InlineTable

    for key in old.keys() - new.keys():
        container.pop(key, None)
    for key, value in new.items():
        before, present = old.get(key), container.get(key)
        if before == value:
            continue
        if key == "privacy" and isinstance(present, list) and value:
            _merge_models(present, before or [], value)
        elif key == "hierarchy" and _other_kind(before, value):
            container[key] = _inline(value)
        elif isinstance(value, dict) and isinstance(present, dict):
            _merge(present, before or {}, value)
        elif isinstance(container, InlineTable) or key == "hierarchy" or not isinstance(value, dict):
            container[key] = _section(key, value) if key == "privacy" else _inline(value)
        else:
            container[key] = _section(key, value) if key == "attributes" else _block(value)


def _other_kind(before: dict[str, Any] | None, value: dict[str, Any]) -> bool:
    """Whether a hierarchy is replaced by one of another kind, whose settings are others."""
    return before is not None and any(before.get(tag) != value.get(tag) for tag in ("kind", "file"))


def _block(content: dict[str, Any]) -> Any:
    """Lay out a table that is set between others, with a blank line after it."""
    import tomlkit

    table = _table(content)
    table.add(tomlkit.nl())
    return table


def _merge_models(models: Any, old: list[dict[str, Any]], new: list[dict[str, Any]]) -> None:
    for position, content in enumerate(new):
        if position >= len(models):
            models.append(_block(content))
        elif old[position]["model"] == content["model"]:
            _merge(models[position], old[position], content)
        else:
            models[position] = _block(content)
    while len(models) > len(new):
        del models[-1]


def save(policy: Document, path: str | os.PathLike[str]) -> None:
    """Write a policy to a file, whole or not at all; an existing policy is edited in place (``update``).

    Relative paths in the policy are rewritten so that they lead to the same files from the new folder.

    Raises PolicyError when the file exists and is not a policy, or is one that the policy names; DataError when it
    cannot be written.
    """
    target = Path(path)
    policy = moved(policy, target.parent)
    output, others = Output(target, "policy file"), [read for read in policy.origins if read.what != "the policy file"]
    check_outputs([output], others, force=True)
    text = update(_read(target), policy) if target.exists() else dumps(policy)
    write_bytes(output, text.encode(), others, force=True)


def moved(policy: P, folder: Path) -> P:
    """Rewrite the relative paths of a policy for another folder."""
    if policy.base.resolve() == folder.resolve():
        return policy.at(folder, from_flags=policy.from_flags)
    data = policy.plain()
    for text, section, key, _ in files_of(data):
        if "://" not in text and not Path(text).is_absolute():
            section[key] = Path(os.path.relpath(policy.locate(text), folder)).as_posix()
    return type(policy)(**data).at(folder, from_flags=policy.from_flags)
