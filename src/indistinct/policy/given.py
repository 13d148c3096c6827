"""A policy as callers give it: itself, its file or its text."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indistinct.errors import PolicyError
from indistinct.policy import load as toml
from indistinct.policy.document import Policy

if TYPE_CHECKING:
    from pathlib import Path

GivenPolicy = Policy | str | os.PathLike[str]  # a policy, or where it stands


def given(policy: object) -> Policy:
    """Take a policy as it is, or load it from the file that is named.

    >>> given(Policy(attributes={"age": {"role": "qi"}})).quasi_identifiers
    ('age',)

    Raises PolicyError for anything else, and as ``load`` does.
    """
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str | os.PathLike):
        return Policy.load(policy)
    kind = type(policy).__name__
    message = f"a policy is an indistinct.Policy or the path of its file, not a {kind}; make one with Policy(...)"
    raise PolicyError(message)


def loads(text: str, *, base: Path | None = None, name: str = "") -> Policy:
    r"""Read a policy from TOML text; ``base`` is the folder of its paths, ``name`` its file in messages.

    >>> loads('[attributes.age]\nrole = "key"\n[suppression]\nlimit = 0.1').suppression.limit
    Fraction(1, 10)

    Raises PolicyError as ``load``.
    """
    return toml.loads(Policy, text, base=base, name=name)
