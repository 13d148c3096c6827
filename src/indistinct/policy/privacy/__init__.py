"""The parameters of the privacy models, as a policy states them. What they mean is in ``models/``.

Every class refuses values out of range with a PolicyError that names the parameter and its valid range:

>>> TCloseness("disease", "1.5", distance="equal")
Traceback (most recent call last):
    ...
indistinct.errors.PolicyError: t = 1.5 (t_closeness): must be a number, 0 <= t <= 1

A new model adds its class to a file here, to ``AnyPrivacy`` and to ``__all__``.
"""

from __future__ import annotations

from typing import Annotated, Any, get_args

from pydantic import BeforeValidator, Field

from indistinct.policy.parameters import Privacy
from indistinct.policy.privacy.closeness import BetaLikeness, DeltaDisclosure, Distant, NTCloseness, TCloseness
from indistinct.policy.privacy.diversity import (
    AlphaK,
    DistinctL,
    EntropyL,
    JointL,
    NpdRecursive,
    PdRecursive,
    PSensitiveK,
    RecursiveCL,
)
from indistinct.policy.privacy.identity import (
    AverageRisk,
    DeltaPresence,
    KAnonymity,
    KMap,
    PopulationUniqueness,
    Profitability,
    SampleUniqueness,
)
from indistinct.policy.privacy.item_sets import KmAnonymity
from indistinct.policy.privacy.mechanisms import Safepub
from indistinct.policy.privacy.numeric import EpsIKAnonymity, EpsMAnonymity, GradedL, KeAnonymity, Numeric
from indistinct.policy.privacy.successive import MInvariance
from indistinct.policy.privacy.tiers import Tiered
from indistinct.policy.problems import check_tag, name_of

__all__ = [
    "AlphaK",
    "AnyPrivacy",
    "AverageRisk",
    "BetaLikeness",
    "DeltaDisclosure",
    "DeltaPresence",
    "Distant",
    "DistinctL",
    "EntropyL",
    "EpsIKAnonymity",
    "EpsMAnonymity",
    "GradedL",
    "JointL",
    "KAnonymity",
    "KMap",
    "KeAnonymity",
    "KmAnonymity",
    "MInvariance",
    "NTCloseness",
    "NpdRecursive",
    "Numeric",
    "PSensitiveK",
    "PdRecursive",
    "PopulationUniqueness",
    "Privacy",
    "Profitability",
    "RecursiveCL",
    "Safepub",
    "SampleUniqueness",
    "TCloseness",
    "Tiered",
]


def check_model(item: Any) -> Any:
    """Refuse a ``[[privacy]]`` table whose ``model`` is absent or unknown."""
    if isinstance(item, dict):
        check_tag(item, "model", MODEL_NAMES)
    return item


AnyPrivacy = Annotated[
    KAnonymity
    | PSensitiveK
    | DistinctL
    | EntropyL
    | RecursiveCL
    | AlphaK
    | JointL
    | TCloseness
    | NTCloseness
    | KeAnonymity
    | EpsMAnonymity
    | GradedL
    | EpsIKAnonymity
    | PdRecursive
    | NpdRecursive
    | BetaLikeness
    | DeltaDisclosure
    | KMap
    | DeltaPresence
    | AverageRisk
    | SampleUniqueness
    | PopulationUniqueness
    | Profitability
    | KmAnonymity
    | Tiered
    | Safepub
    | MInvariance,
    Field(discriminator="model"),
    BeforeValidator(check_model),
]  # fmt: skip
MODEL_CLASSES: tuple[type[Privacy], ...] = get_args(get_args(AnyPrivacy)[0])
MODEL_NAMES: tuple[str, ...] = tuple(map(name_of, MODEL_CLASSES))
