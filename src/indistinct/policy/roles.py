"""What a column is to an attacker and to the release: its role."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, WithJsonSchema

from indistinct.policy.problems import nearest

Role = Literal["identifying", "quasi_identifying", "sensitive", "insensitive"]
ROLES: tuple[Role, ...] = get_args(Role)
_SYNONYMS: dict[str, Role] = {
    "identifier": "identifying",
    "id": "identifying",
    "direct_identifier": "identifying",
    "quasi_identifier": "quasi_identifying",
    "qi": "quasi_identifying",
    "key": "quasi_identifying",
    "keyvar": "quasi_identifying",
    "sensitive_attribute": "sensitive",
    "sa": "sensitive",
    "other": "insensitive",
    "none": "insensitive",
}


def _key(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter not in "-_ \t")


_MEANING: dict[str, Role] = {_key(role): role for role in ROLES} | {
    _key(word): role for word, role in _SYNONYMS.items()
}


def normalize(text: object) -> Role:
    """Return the role that a word stands for, in any case and with ``-``, ``_`` or blanks.

    >>> normalize("Quasi-Identifier"), normalize("SA"), normalize("direct identifier")
    ('quasi_identifying', 'sensitive', 'identifying')

    Raises ValueError for any other word, naming the nearest role.
    """
    role = _MEANING.get(_key(text)) if isinstance(text, str) else None
    if role is None:
        choices = f"must be one of {', '.join(ROLES)}"
        hint = nearest(text, [*ROLES, *_SYNONYMS]) if isinstance(text, str) else ""
        message = f"{choices}; {hint}" if hint.startswith("did") else choices
        raise ValueError(message)
    return role


AnyRole = Annotated[
    Role,
    BeforeValidator(normalize),
    WithJsonSchema({"enum": [*ROLES, *_SYNONYMS], "type": "string", "description": "Any case; - _ or blank."}),
]
