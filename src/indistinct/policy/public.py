"""The public form of a policy: what was decided, without what tells of values that are not published.

Left out: domains, places of files and keys, names of sources, what ``[release]`` does not call public, how the work is
done and which releases came before.
``PRIVATE`` stands for listed values and orders, so that a reader sees that something is asked which the form does not
say. A column with ``public_domain`` keeps its domain, order and values, and those that models list of it. Of a file
stands its SHA-256: whoever gives a file for a hierarchy calls it public.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Protocol

from indistinct.errors import HierarchyError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from indistinct.policy.attribute import Attribute

PRIVATE = "(private)"
_SECTIONS = ("run", "releases")
_PLACES = ("key_file", "key_env", "population")  # one of them may be asked for, so the word stands in their place
_LISTED = ("values", "Y", "W")


class Decided(Protocol):
    """What a policy is to its public form; ``document.Policy`` is one."""

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The columns that it names."""

    def plain(self) -> dict[str, Any]:
        """The policy as data, defaults left out."""

    def locate(self, text: str) -> Path:
        """The path of a file that it names."""


def public_form(policy: Decided) -> dict[str, Any]:
    """Return a policy as plain data (of JSON) without what is private; it is a valid policy again.

    Raises HierarchyError when a hierarchy file cannot be read.

    >>> from indistinct.policy import Policy
    >>> policy = Policy(attributes={"age": {"role": "qi", "type": "integer", "domain": [25, 97]}})
    >>> public_form(policy)
    {'version': 1, 'attributes': {'age': {'role': 'quasi_identifying', 'type': 'integer'}}}
    """
    data: dict[str, Any] = json.loads(json.dumps(policy.plain(), ensure_ascii=False, default=str))
    found = {key: value for key, value in data.items() if key not in _SECTIONS}
    known = {name for name, attribute in policy.attributes.items() if attribute.public_domain}
    if "table" in found:
        found["table"] = {key: value for key, value in found["table"].items() if key != "source"}
    found["attributes"] = {
        name: _attribute(policy, own, known=name in known) for name, own in data["attributes"].items()
    }
    if "release" in found:
        said = set(found["release"].get("public", ()))
        found["release"] = {key: value for key, value in found["release"].items() if key in said | {"public"} and said}
    if "privacy" in found:
        found["privacy"] = [_model(own, known) for own in data["privacy"]]
    if "transforms" in found:
        found["transforms"] = public_transforms(policy)
    return {key: value for key, value in found.items() if value not in ({}, [])}


def fingerprint(form: Mapping[str, Any]) -> str:
    """Return the SHA-256 (hexadecimal) of a public form; nothing private can be guessed and tested with it."""
    text = json.dumps(form, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _attribute(policy: Decided, own: dict[str, Any], *, known: bool) -> dict[str, Any]:
    found = {key: value for key, value in own.items() if key != "mapping_file" and (known or key != "domain")}
    found |= {key: PRIVATE for key in _PLACES if key in found}
    # an order names values, and the texts that are missing stand in cells of the source, perhaps of one row
    found |= {key: [PRIVATE] for key in ("order", "missing_values") if key in found and not known}
    if isinstance(spec := found.get("hierarchy"), dict):
        found["hierarchy"] = _hierarchy(policy, spec, known=known)
    return found


def _hierarchy(policy: Decided, spec: dict[str, Any], *, known: bool) -> dict[str, Any]:
    if "file" in spec:
        return {**spec, "file": file_hash(policy, spec["file"])}
    if "groups" in spec and not known:
        return {**spec, "groups": [[[PRIVATE]]]}
    return {key: value for key, value in spec.items() if known or key != "values"}


def _model(own: dict[str, Any], known: set[str]) -> dict[str, Any]:
    found = {key: value for key, value in own.items() if key != "history"}
    found |= {key: PRIVATE for key in _PLACES if key in found}
    if _about(own) not in known:
        found.pop("domain", None)
        found |= {key: [PRIVATE] for key in _LISTED if found.get(key)}
    if isinstance(found.get("holds"), dict):
        found["holds"] = _model(found["holds"], known)
    return found


def public_transforms(policy: Decided) -> list[dict[str, Any]]:
    """Return the transforms as they stand in public: limits and matrices, which an analyst needs, and no file's name.

    Raises HierarchyError when a hierarchy file cannot be read.
    """
    data: list[dict[str, Any]] = json.loads(json.dumps(policy.plain().get("transforms", []), default=str))
    return [own | ({"hierarchy": file_hash(policy, own["hierarchy"])} if "hierarchy" in own else {}) for own in data]


def _about(own: Mapping[str, Any]) -> str:
    return str(own.get("attribute"))


def file_hash(policy: Decided, file: str) -> str:
    """Return the SHA-256 of a file that a policy names; raises HierarchyError when it cannot be read."""
    try:
        return hashlib.sha256(policy.locate(file).read_bytes()).hexdigest()
    except OSError as error:
        raise HierarchyError(f'the hierarchy file "{file}" cannot be read: {error.strerror}', file=file) from error
