"""The public form of a policy: what was decided, without what tells of values that are not published."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

# what tells of the table, of its owner's machine or of values that need not be published
PRIVATE = frozenset(
    {"source", "key_file", "key_env", "mapping_file", "order", "domain", "values", "population", "history", "run"}
)


def public_form(plain: dict[str, Any]) -> dict[str, Any]:
    """Return a policy (as ``Policy.plain`` writes it) without what is private.

    A column with ``public_domain`` keeps its domain, values and order. Of a file stands the SHA-256, or nothing where
    it cannot be read.

    >>> public_form({"attributes": {"age": {"role": "sensitive", "domain": [25, 97]}}})
    {'attributes': {'age': {'role': 'sensitive'}}}
    """
    found: dict[str, Any] = _without(plain, PRIVATE)
    return found


def _without(value: Any, private: frozenset[str]) -> Any:
    if isinstance(value, list):
        return [_without(item, private) for item in value]
    if not isinstance(value, dict):
        return value
    hidden = private - {"order", "domain", "values"} if value.get("public_domain") is True else private
    kept = {key: _without(item, hidden) for key, item in value.items() if key not in hidden}
    if "file" in kept:
        kept["file"] = _file_hash(str(kept["file"]))
    return {key: item for key, item in kept.items() if item not in ({}, None)}


def _file_hash(place: str) -> str | None:
    try:
        return hashlib.sha256(Path(place).read_bytes()).hexdigest()
    except OSError:
        return None
