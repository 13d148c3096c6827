"""All attacks by name, in the order in which they are run; each module holds its record in ATTACK."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indistinct.attacks.contract import Attack

FILES = (
    "linkage", "uniqueness", "homogeneity", "background", "skewness", "similarity", "proximity", "membership",
    "differencing", "composition", "complementary_release", "unsorted_matching", "minimality", "minimality_posterior",
    "definetti", "downcoding", "inference", "singling_out", "linkability", "membership_inference",
)  # fmt: skip


def _record(file: str) -> Attack:
    found: Attack = import_module(f"indistinct.attacks.{file}").ATTACK
    if found.name != file:
        raise TypeError(f"the module {file} holds the record of the attack {found.name}")
    return found


ATTACKS: Mapping[str, Attack] = {file: _record(file) for file in FILES}
