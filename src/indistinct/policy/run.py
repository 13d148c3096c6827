"""Where and with what the work is done."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import (
    Field,
    model_validator,
)

from indistinct.policy.parameters import exact
from indistinct.policy.problems import Section, problem, refuse

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12} | {
    f"{letter}iB": 2 ** (10 * power) for power, letter in enumerate("KMGT", 1)
}


class Run(Section):
    """Where and with what the work is done; but for ``parts`` it changes nothing about the release."""

    temp_dir: str | None = Field(default=None, min_length=1)
    """Folder for what does not fit into memory, relative to the policy file; default: beside the output."""
    memory_limit: str | None = None
    """Memory that an engine with a limit, and the recount of the written file, stay within, such as "8 GiB"."""
    engine: Literal["local", "duckdb", "postgresql", "spark"] | None = None
    """What counts and publishes: ``local`` in memory, ``duckdb`` within ``memory_limit`` and ``temp_dir``,
    ``postgresql`` in the database of the table, ``spark`` on its cluster; default: the engine in which the table lies,
    else the local one."""

    parts: Literal["auto"] | Annotated[int, Field(ge=1)] = "auto"
    """In how many parts ``local`` decides a table, one after another: so memory is that of a part. ``auto``: one for
    every eight million cells. The result depends on it."""

    @model_validator(mode="after")
    def _limit_has_unit(self) -> Self:
        try:
            amount = self.memory_bytes
        except ValueError:
            amount = 0
        if amount is not None and amount < 1:
            sentence = f'must be an amount with a unit ({", ".join(_UNITS)}), such as "8 GiB"'
            refuse([problem(("memory_limit",), sentence, self.memory_limit)])
        return self

    @property
    def memory_bytes(self) -> int | None:
        """The memory limit in bytes.

        >>> Run(memory_limit="1.5 KiB").memory_bytes
        1536
        """
        if self.memory_limit is None:
            return None
        text = self.memory_limit.strip()
        unit = next((unit for unit in sorted(_UNITS, key=len, reverse=True) if text.endswith(unit)), None)
        if unit is None:
            message = "no unit"
            raise ValueError(message)
        return int(exact(text.removesuffix(unit)) * _UNITS[unit])
