"""Transforms of single cells and rows, as statistical offices use them. None gives a k; see docs/transforms.md.

One file for each transform, holding one function of the same name::

    def top_coding(asked: TopCoding, columns: Mapping[str, Column], chance: Chance) -> Outcome

``request`` are its parameters from the policy, ``columns`` the columns that it may change, one code per row. It returns
what it changed, the rows that it keeps, and its own loss. Nothing it is given is changed.

``DECLARES`` says what a transform does to data: *truthful* (every published cell covers its original: it is the
original, blank, or a label above it), *perturbing* (a published cell need not be true of its row) or *sampling* (rows
go; those that stay are true). ``RANDOM`` are those that draw anew in every run.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from indistinct.policy.transforms import Transform
    from indistinct.transforms.chance import Chance
    from indistinct.transforms.columns import Column, Outcome

DECLARES: Final = {
    "local_suppression": "truthful",
    "top_coding": "perturbing",
    "bottom_coding": "perturbing",
    "pram": "perturbing",
    "additive_noise": "perturbing",
    "correlated_noise": "perturbing",
    "rank_swapping": "perturbing",
    "shift_dates": "perturbing",
    "km": "truthful",
    "sampling": "sampling",
}
RANDOM: Final = frozenset({"pram", "additive_noise", "correlated_noise", "rank_swapping", "shift_dates", "sampling"})
_FILES: Final = {
    "top_coding": "coding",
    "bottom_coding": "coding",
    "additive_noise": "noise",
    "correlated_noise": "noise",
}


class Function(Protocol):
    """What every transform is."""

    def __call__(self, request: Transform, columns: Mapping[str, Column], chance: Chance) -> Outcome:
        """Transform columns as it was asked."""


def transform(method: str) -> Function:
    """Return the function of a transform."""
    found: Function = getattr(import_module(f"indistinct.transforms.{_FILES.get(method, method)}"), method)
    return found


def declared(methods: Iterable[str]) -> str:
    """Say what several transforms together do to data.

    >>> declared(["top_coding", "sampling"]), declared(["sampling"]), declared([])
    ('perturbing', 'sampling', 'truthful')
    """
    words = {DECLARES[method] for method in methods}
    return next((word for word in ("perturbing", "sampling") if word in words), "truthful")
