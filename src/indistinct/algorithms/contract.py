"""What an algorithm is to the rest of the system.

An algorithm is a function ``(frequencies, policy, progress) -> Assignment``:

- it looks at counts only (``Frequencies``), never at rows, and returns a class for every row of every cell;
- the classes that it keeps satisfy every model of ``policy.privacy``, exactly (``models.evaluate``);
- it suppresses whole classes, or rows before classes are formed, never rows of a class: at most ``floor(limit n)``
  rows, and never all of them;
- it raises ``InfeasibleError`` with the reason and the nearest target when no such assignment is found;
- equal frequencies give equal assignments; ties are broken by canonical order;
- it calls ``progress(phase, done, total)``, which may raise ``Cancelled``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from indistinct.policy.problems import name_of

if TYPE_CHECKING:
    from indistinct.policy import Policy
    from indistinct.policy.recoding import Recoding
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies


class Decide(Protocol):
    """The contract above, as a type."""

    def __call__(self, frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
        """Decide which class every cell goes to."""


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One algorithm: its options, its function, and what it does to data.

    ``declares``: *truthful*, every published cell covers its original; *permuting*, every published value is an
    original one, but which sensitive value of a group belongs to which row is not told: such algorithms set
    ``Assignment.group_of``, and their releases are two tables, or one with the sensitive values permuted inside each
    group; *adding*, there are also rows of nobody (``Assignment.counterfeits``), each in a group whose other rows are
    covered by their labels. ``offers``: what models may need of a search (``models.contract``). ``merges``: classes
    that fail are merged, and two classes may be published alike. ``deals``: groups are formed while they can be, then
    what is left is placed. ``by_level``: one level for each column, so that ``max_level`` holds. ``divides``: parts of
    a table may be decided one after another (``[run] parts``).
    """

    options: type[Recoding]
    decide: Decide
    declares: Literal["truthful", "permuting", "adding"]
    offers: frozenset[str] = frozenset()
    merges: bool = False
    deals: bool = False
    by_level: bool = False
    divides: bool = False

    @property
    def name(self) -> str:
        """The name in policies."""
        return name_of(self.options)
