"""What an attack is to the rest of the system."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from indistinct.attacks.context import AttackContext
from indistinct.policy.problems import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pydantic import BaseModel

    from indistinct.attacks.outcome import Idle, Outcome


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack: the function whose name it has, what bounds it, and what it needs.

    ``run(context)`` yields an outcome for each attribute, or one about identity, or says why there is none. Reports
    name the attack by the message ``attack.NAME`` of each catalogue.

    ``supposes``: the strongest attacker that it supposes, as the end of "somebody who ...".
    ``bounded_by``: the parameter classes of the models, and the options of the algorithms, that bound it where strict
    enough; ``remedies``: what else does, in words. ``needs``: fields of the context without which it cannot run, each
    with the sentence that says so; ``options``: others that it looks at, and no attack that lacks the word does.
    ``of_the_file``: it looks at the published table alone, so that anybody can repeat it and a public report may hold
    it.
    """

    run: Callable[[AttackContext], Iterator[Outcome | Idle]]
    supposes: str
    bounded_by: tuple[type[BaseModel], ...]
    of_the_file: bool
    needs: Mapping[str, str]
    options: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse an attack that needs what no context has."""
        known = {field.name for field in fields(AttackContext)}
        unknown = sorted({*self.needs, *self.options} - known)
        if unknown:
            raise TypeError(f"the attack {self.name} needs {unknown[0]}, which no context has")

    @property
    def name(self) -> str:
        """The name in documents and on the command line."""
        return self.run.__name__

    @property
    def stopped_by(self) -> tuple[str, ...]:
        """The names of what bounds it."""
        return (*map(name_of, self.bounded_by), *self.remedies)
