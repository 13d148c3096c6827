"""Algorithms that decide on a recoding. One file each, named as the literature names it.

An algorithm is a function ``(frequencies, policy, progress) -> Assignment``:

- it looks at counts only (``Frequencies``), never at rows, and returns a class for every row of every cell;
- the classes that it keeps satisfy every model of ``policy.privacy``, exactly (``models.evaluate``);
- it suppresses whole classes, or rows before classes are formed, never rows of a class: at most ``floor(limit n)``
  rows, and never all of them;
- it raises ``InfeasibleError`` with the reason and the nearest target when no such assignment is found;
- equal frequencies give equal assignments; ties are broken by canonical order;
- it calls ``progress(phase, done, total)``, which may raise ``Cancelled``.

What an algorithm does to data is declared in ``DECLARES``: *truthful* means that every published cell covers its
original.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol

from indistinct.errors import PolicyError

if TYPE_CHECKING:
    from indistinct.policy import Policy
    from indistinct.tables.count import Progress
    from indistinct.tables.records import Assignment, Frequencies


class Algorithm(Protocol):
    """The contract above, as a type."""

    def __call__(self, frequencies: Frequencies, policy: Policy, progress: Progress) -> Assignment:
        """Decide which class every cell goes to."""


DEFAULT: Final = "local"
DECLARES: Final = {
    "local": "truthful",
    "optimal": "truthful",
    "generalize_step": "truthful",
    "datafly": "truthful",
    "samarati": "truthful",
    "incognito": "truthful",
    "ola": "truthful",
    "flash": "truthful",
    "top_down_specialization": "truthful",
    "mu_argus": "truthful",
}


def algorithm(name: str) -> Algorithm:
    """Return the algorithm of a name; raises PolicyError naming those that exist.

    >>> algorithm("optimal").__name__
    'optimal'
    """
    if name not in DECLARES:
        raise PolicyError(f'there is no algorithm "{name}"; there are {", ".join(DECLARES)}', key="recoding.algorithm")
    found: Algorithm = getattr(import_module(f"indistinct.algorithms.{name}"), name)
    return found
