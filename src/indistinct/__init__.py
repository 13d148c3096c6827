"""Turn a table about people into one that may be published, and prove what it guarantees.

The public names below are loaded on first use, so that importing the package (and ``indistinct --help``) costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from indistinct.errors import (
        Cancelled,
        DataError,
        HierarchyError,
        IndistinctError,
        InfeasibleError,
        PolicyError,
        SchemaError,
        UnsupportedError,
        VerificationError,
    )
    from indistinct.policy import Attribute, Policy
    from indistinct.policy.privacy import (
        AlphaK,
        AverageRisk,
        BetaLikeness,
        DeltaDisclosure,
        DeltaPresence,
        DistinctL,
        EntropyL,
        EpsIKAnonymity,
        EpsMAnonymity,
        GradedL,
        JointL,
        KAnonymity,
        KeAnonymity,
        KMap,
        NpdRecursive,
        PdRecursive,
        PopulationUniqueness,
        Profitability,
        PSensitiveK,
        RecursiveCL,
        Safepub,
        SampleUniqueness,
        TCloseness,
    )
    from indistinct.releases.anonymize import Release, anonymize
    from indistinct.releases.audit import Audit, audit
    from indistinct.releases.compare import Comparison, compare
    from indistinct.releases.verify import Verification, verify

_WHERE: Final = {
    "errors": (
        "IndistinctError", "PolicyError", "SchemaError", "DataError", "HierarchyError", "InfeasibleError",
        "VerificationError", "UnsupportedError", "Cancelled",
    ),
    "policy": ("Attribute", "Policy"),
    "policy.privacy": (
        "AlphaK", "DistinctL", "EntropyL", "EpsIKAnonymity", "EpsMAnonymity", "GradedL", "JointL", "KAnonymity",
        "KeAnonymity", "PSensitiveK", "RecursiveCL", "TCloseness",
        "AlphaK", "AverageRisk", "BetaLikeness", "DeltaDisclosure", "DeltaPresence", "DistinctL", "EntropyL",
        "JointL", "KAnonymity", "KMap", "NpdRecursive", "PSensitiveK", "PdRecursive", "PopulationUniqueness",
        "Profitability", "RecursiveCL", "Safepub", "SampleUniqueness", "TCloseness",
    ),
    "releases.anonymize": ("Release", "anonymize"),
    "releases.audit": ("Audit", "audit"),
    "releases.compare": ("Comparison", "compare"),
    "releases.verify": ("Verification", "verify"),
}  # fmt: skip
_MODULE: Final = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "AlphaK",
    "Attribute",
    "Audit",
    "AverageRisk",
    "BetaLikeness",
    "Cancelled",
    "Comparison",
    "DataError",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistinctL",
    "EntropyL",
    "EpsIKAnonymity",
    "EpsMAnonymity",
    "GradedL",
    "HierarchyError",
    "IndistinctError",
    "InfeasibleError",
    "JointL",
    "KAnonymity",
    "KMap",
    "KeAnonymity",
    "NpdRecursive",
    "PSensitiveK",
    "PdRecursive",
    "Policy",
    "PolicyError",
    "PopulationUniqueness",
    "Profitability",
    "RecursiveCL",
    "Release",
    "Safepub",
    "SampleUniqueness",
    "SchemaError",
    "TCloseness",
    "UnsupportedError",
    "Verification",
    "VerificationError",
    "anonymize",
    "audit",
    "compare",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it."""
    if name not in _MODULE:
        message = f"module 'indistinct' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"indistinct.{_MODULE[name]}"), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
