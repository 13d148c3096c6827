"""Where a secret key is found: in a file or in an environment variable, never in the policy itself."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import Field, model_validator

from indistinct.policy.problems import Section, problem, refuse


class Keyed(Section):
    """Settings that name the place of a key."""

    hints: ClassVar[dict[str, str]] = {"key": "a key never stands in a policy; name key_file or key_env"}

    key_file: str | None = Field(default=None, min_length=1)
    """File that holds the key, relative to the policy file; the key itself never stands in a policy."""
    key_env: str | None = Field(default=None, min_length=1)
    """Environment variable that holds the key."""

    @property
    def is_keyed(self) -> bool:
        """Whether a key is named."""
        return self.key_file is not None or self.key_env is not None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.key_file is not None and self.key_env is not None:
            refuse([problem(("key_env",), "stands beside key_file; name one place of the key", self.key_env)])
        return self
