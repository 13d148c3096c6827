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
original; *permuting* that every published value is an original one, but which sensitive value of a group belongs to
which row is not told. Those algorithms set ``Assignment.group_of`` and are in ``GROUPING``: their releases are two
tables, or one with the sensitive values permuted inside each group.
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
    "graded_local": "truthful",
    "eps_m_partition": "truthful",
    "anatomy": "permuting",
    "largest_bucket_first": "permuting",
    "ke_partition": "permuting",
}
GROUPING: Final = frozenset(name for name, word in DECLARES.items() if word == "permuting")
# models that only some algorithms hold
HELD_BY: Final = {"eps_i_k_anonymity": ("largest_bucket_first",)}
# algorithms that repair classes by merging them, and may publish two classes alike
MERGING: Final = ("local", "graded_local")


def require_fit(policy: Policy) -> None:
    """Refuse models that the algorithm of a policy cannot hold; raises PolicyError naming algorithms that can.

    Under a model that is not merge-closed two classes that hold may fail as one.
    """
    from indistinct.models import MODELS

    name = policy.recoding.algorithm
    for model in policy.privacy:
        holders = HELD_BY.get(model.model)
        if holders is not None and name not in holders:
            raise PolicyError(
                f"{name} publishes generalized classes, and {model.model} is held by groups of two tables: set "
                f'algorithm = "{holders[0]}" (audit judges it on any table)',
                key="recoding.algorithm",
            )
        if name in MERGING and not MODELS[model.model].merge_closed:
            own = '"eps_m_partition", ' if model.model == "eps_m_anonymity" else ""
            raise PolicyError(
                f"{name} mends classes by merging them, and under {model.model} two classes that hold may fail as one; "
                f'set algorithm to {own}"optimal" or "generalize_step"',
                key="recoding.algorithm",
            )


def form_of(policy: Policy) -> str:
    """Say how a release is published: ``one_table`` of classes, ``two_tables`` or ``permuted`` in groups."""
    return policy.recoding.form if policy.recoding.algorithm in GROUPING else "one_table"


def algorithm(name: str) -> Algorithm:
    """Return the algorithm of a name; raises PolicyError naming those that exist.

    >>> algorithm("optimal").__name__
    'optimal'
    """
    if name not in DECLARES:
        raise PolicyError(f'there is no algorithm "{name}"; there are {", ".join(DECLARES)}', key="recoding.algorithm")
    found: Algorithm = getattr(import_module(f"indistinct.algorithms.{name}"), name)
    return found
