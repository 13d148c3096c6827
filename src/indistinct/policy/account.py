"""A policy in a few lines: for a terminal and a notebook, where the whole of it would be a wall of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from indistinct import markup
from indistinct.plain import visible
from indistinct.policy.parameters import plain_section
from indistinct.policy.problems import show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indistinct.policy.parameters import Privacy
    from indistinct.policy.recoding import AnyRecoding
    from indistinct.policy.suppression import Suppression
    from indistinct.policy.table import Person

MOST = 8  # names in a line
ROLES = ("identifying", "quasi_identifying", "sensitive", "insensitive")


class Decided(Protocol):
    """What a policy is to its account; ``document.Policy`` is one."""

    @property
    def privacy(self) -> tuple[Privacy, ...]:
        """The models."""

    @property
    def person(self) -> Person | None:
        """Whose rows they are."""

    @property
    def suppression(self) -> Suppression:
        """How many rows may go."""

    @property
    def recoding(self) -> AnyRecoding:
        """The algorithm."""

    @property
    def open_marks(self) -> Sequence[object]:
        """Suggestions of a draft."""

    def names_with(self, role: str) -> tuple[str, ...]:
        """The columns of a role."""


def lines(policy: Decided) -> list[tuple[str, str]]:
    """What was decided, line by line: roles with their columns, promises, what may go."""
    found = [(role.replace("_", "-"), _listed(policy.names_with(role))) for role in ROLES if policy.names_with(role)]
    if policy.person is not None:
        found.append(("person", policy.person.key))
    found += [("promise", _model(model)) for model in policy.privacy] or [("promise", "none yet")]
    limit = f"{100 * float(policy.suppression.limit):g} %"
    found.append(("search", f"{policy.recoding.algorithm}, at most {limit} of the rows left out"))
    if policy.open_marks:
        many = len(policy.open_marks)
        found.append(("open", f"{many} suggestion{'' if many == 1 else 's'} of a draft that nobody has decided"))
    return found


def text(policy: Decided) -> str:
    """Write the account for a terminal."""
    shown = lines(policy)
    width = max(len(word) for word, _ in shown)
    return visible("\n".join(["Policy", *(f"  {word:<{width}}  {said}" for word, said in shown)]), lines=True)


def html(policy: Decided) -> str:
    """Write the account for a notebook."""
    return markup.table("Policy", ("what", "decided"), lines(policy))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(names[:MOST]) + more


def _model(model: Privacy) -> str:
    given = {name: value for name, value in plain_section(model).items() if name not in ("model", "attribute")}
    of = f" of {model.attribute}" if hasattr(model, "attribute") else ""
    return f"{model.model}{of}: {', '.join(f'{name} = {show(value)}' for name, value in given.items())}"
