"""All algorithms by name, and what callers ask of the one that a policy names.

The name of an algorithm is that of its options (``policy.recoding``) and of its module, here or in ``literature``; the
module is imported when it is asked for.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from indistinct.errors import PolicyError
from indistinct.policy.recoding import ALGORITHMS, option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indistinct.algorithms.contract import Algorithm
    from indistinct.policy import Policy

PACKAGES = ("indistinct.algorithms", "indistinct.algorithms.literature")


@cache
def named(name: str) -> Algorithm:
    """Return the algorithm of a name; raises PolicyError naming those that exist.

    >>> named("optimal").declares
    'truthful'
    """
    if name not in ALGORITHMS:
        raise PolicyError(
            f'there is no algorithm "{name}"; there are {", ".join(ALGORITHMS)}', key="recoding.algorithm"
        )
    place = next(package for package in PACKAGES if find_spec(f"{package}.{name}"))
    found: Algorithm = import_module(f"{place}.{name}").ALGORITHM
    return found


def algorithms() -> Iterator[Algorithm]:
    """Yield all algorithms, in the order of the policy format."""
    return map(named, ALGORITHMS)


def algorithm_of(policy: Policy) -> Algorithm:
    """Return the algorithm that a policy names."""
    return named(policy.recoding.algorithm)


def require_fit(policy: Policy) -> None:
    """Refuse models that the algorithm of a policy cannot hold; raises PolicyError naming algorithms that can."""
    from indistinct.models import is_merge_closed, record_of
    from indistinct.models.contract import EVERY_CLASS

    chosen = algorithm_of(policy)
    _require_bounds(policy, chosen)
    for model in policy.privacy:
        need = record_of(model).needs(model)
        if need is not None and need not in chosen.offers:
            holders = ", ".join(f'"{one.name}"' for one in algorithms() if need in one.offers)
            raise PolicyError(
                f"{chosen.name} cannot hold {model.model}; set algorithm to one that can: {holders} "
                "(audit judges the model on any table)",
                key="recoding.algorithm",
            )
        if chosen.merges and not is_merge_closed(model):
            testing = ", ".join(f'"{one.name}"' for one in algorithms() if EVERY_CLASS in one.offers)
            raise PolicyError(
                f"{chosen.name} mends classes by merging them, and under {model.model} two classes that hold may fail "
                f"as one; set algorithm to one that tests every class: {testing}",
                key="recoding.algorithm",
            )


def _require_bounds(policy: Policy, chosen: Algorithm) -> None:
    """Refuse a ceiling that the algorithm does not look at, and aggregates below a floor."""
    aggregate = option(policy.recoding, "aggregate")
    parts = policy.run.parts
    if isinstance(parts, int) and parts > 1 and not chosen.divides:
        raise PolicyError(
            f"{chosen.name} decides the table as a whole, not in {parts} parts; leave parts out, or set algorithm to "
            f"one that can: {', '.join(one.name for one in algorithms() if one.divides)}",
            key="run.parts",
        )
    for column in policy.quasi_identifiers:
        attribute = policy.attributes[column]
        if attribute.max_level is not None and not chosen.by_level:
            able = ", ".join(one.name for one in algorithms() if one.by_level)
            raise PolicyError(
                f'max_level of "{column}" is not held by {chosen.name}, which may publish any level above; leave it '
                f"out, or set algorithm to one that holds it: {able}",
                key=f"attributes.{column}.max_level",
            )
        if aggregate != "range" and attribute.partial:
            raise PolicyError(
                f'partial = true of "{column}" lets a month or a year stand beside full dates, and aggregate = '
                f'"{aggregate}" needs one day for each; leave partial out, or set aggregate = "range"',
                key="recoding.aggregate",
            )
        floor = attribute.floor
        if aggregate != "range" and floor is not None:
            raise PolicyError(
                f'{floor} of "{column}" forbids single values, and aggregate = "{aggregate}" publishes one for each '
                f'class; leave {floor} out, or set aggregate = "range"',
                key="recoding.aggregate",
            )


def form_of(policy: Policy) -> str:
    """Say how a release is published: ``one_table`` of classes, ``two_tables`` or ``permuted`` in groups."""
    return str(option(policy.recoding, "form")) if algorithm_of(policy).declares == "permuting" else "one_table"


def declared(policy: Policy) -> str:
    """Say what a release under a policy does to data: what its algorithm declares, or ``perturbing``.

    A policy that publishes means, medians or modes makes any algorithm perturbing: one value stands for a class and
    covers nothing.

    >>> from indistinct.policy import Policy
    >>> declared(Policy(attributes={"age": {"role": "qi"}}))
    'truthful'
    """
    return algorithm_of(policy).declares if option(policy.recoding, "aggregate") == "range" else "perturbing"
