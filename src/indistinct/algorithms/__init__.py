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
tables, or one with the sensitive values permuted inside each group. *Adding* means that there are also rows of nobody
(``Assignment.counterfeits``), each in a group whose other rows are covered by their labels.
A policy that publishes means, medians or modes makes any of them *perturbing* (``declared``): one value stands for a
class and covers nothing.
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
    "mondrian": "truthful",
    "merge": "truthful",
    "hilbert": "truthful",
    "mdav": "truthful",
    "k_member": "truthful",
    "k_similar": "truthful",
    "univariate_microaggregation": "truthful",
    "t_closeness_first": "truthful",
    "sabre": "truthful",
    "graded_local": "truthful",
    "eps_m_partition": "truthful",
    "anatomy": "permuting",
    "largest_bucket_first": "permuting",
    "ke_partition": "permuting",
    "km": "truthful",
    "safepub": "truthful",
    "m_invariance": "adding",
}
GROUPING: Final = frozenset(name for name, word in DECLARES.items() if word == "permuting")
# algorithms of one level for each column: they hold max_level (min_level is held by all)
FULL_DOMAIN: Final = (
    "optimal",
    "generalize_step",
    "datafly",
    "samarati",
    "incognito",
    "ola",
    "flash",
    "safepub",
)
# algorithms that mend classes by merging them, and may publish two classes alike
MENDING: Final = (
    "merge",
    "hilbert",
    "mdav",
    "k_member",
    "k_similar",
    "univariate_microaggregation",
    "t_closeness_first",
)


def require_fit(policy: Policy) -> None:
    """Refuse models that the algorithm of a policy cannot hold; raises PolicyError naming algorithms that can."""
    from indistinct.models import MODELS, is_merge_closed

    name = policy.recoding.algorithm
    _require_bounds(policy)
    for model in policy.privacy:
        held_by = MODELS[model.model].held_by
        able = None if held_by is None else held_by(model)
        if able is not None and name not in able:
            holders = ", ".join(f'"{holder}"' for holder in able)
            raise PolicyError(
                f"{name} cannot hold {model.model}; set algorithm to one that can: {holders} "
                "(audit judges the model on any table)",
                key="recoding.algorithm",
            )
        if name in MENDING and not is_merge_closed(model):
            raise PolicyError(
                f"{name} mends classes by merging them, and under {model.model} two classes that hold may fail as one; "
                'set algorithm to one that tests every class: "mondrian", "optimal" or "generalize_step"',
                key="recoding.algorithm",
            )


def _require_bounds(policy: Policy) -> None:
    """Refuse a ceiling that the algorithm does not look at, and aggregates below a floor."""
    name, aggregate = policy.recoding.algorithm, policy.recoding.aggregate
    for column in policy.quasi_identifiers:
        attribute = policy.attributes[column]
        if attribute.max_level is not None and name not in FULL_DOMAIN:
            raise PolicyError(
                f'max_level of "{column}" is not held by {name}, which may publish any level above; leave it out, or '
                f"set algorithm to one that holds it: {', '.join(FULL_DOMAIN)}",
                key=f"attributes.{column}.max_level",
            )
        spec = attribute.spec or {}
        floor = "min_level" if attribute.min_level else next((end for end in ("top", "bottom") if end in spec), None)
        if aggregate != "range" and floor is not None:
            raise PolicyError(
                f'{floor} of "{column}" forbids single values, and aggregate = "{aggregate}" publishes one for each '
                f'class; leave {floor} out, or set aggregate = "range"',
                key="recoding.aggregate",
            )


def form_of(policy: Policy) -> str:
    """Say how a release is published: ``one_table`` of classes, ``two_tables`` or ``permuted`` in groups."""
    return policy.recoding.form if policy.recoding.algorithm in GROUPING else "one_table"


def declared(policy: Policy) -> str:
    """Say what a release under a policy does to data: a word of ``DECLARES``, or ``perturbing``.

    >>> from indistinct.policy import Policy
    >>> declared(Policy(attributes={"age": {"role": "qi"}}))
    'truthful'
    """
    return DECLARES[policy.recoding.algorithm] if policy.recoding.aggregate == "range" else "perturbing"


def algorithm(name: str) -> Algorithm:
    """Return the algorithm of a name; raises PolicyError naming those that exist.

    >>> algorithm("optimal").__name__
    'optimal'
    """
    if name not in DECLARES:
        raise PolicyError(f'there is no algorithm "{name}"; there are {", ".join(DECLARES)}', key="recoding.algorithm")
    found: Algorithm = getattr(import_module(f"indistinct.algorithms.{name}"), name)
    return found
