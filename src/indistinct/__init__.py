"""Turn a table about people into one that may be published, and prove what it guarantees.

The public names below are loaded on first use, so that importing the package (and ``indistinct --help``) costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    __version__: str

    from indistinct.assess.audit import Audit, audit
    from indistinct.assess.compare import Comparison, compare
    from indistinct.assess.explain import Explanation, explain
    from indistinct.assess.plan import Plan, plan
    from indistinct.assess.private import Private, private
    from indistinct.assess.profile import Profile, profile
    from indistinct.assess.risk import Risk, risk
    from indistinct.assess.session import Picture, Session
    from indistinct.assess.utility import Utility, utility
    from indistinct.assess.verify import Verification, verify
    from indistinct.attacks.run import Attacks, attack
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
        KmAnonymity,
        KMap,
        MInvariance,
        NpdRecursive,
        NTCloseness,
        PdRecursive,
        PopulationUniqueness,
        Profitability,
        PSensitiveK,
        RecursiveCL,
        Safepub,
        SampleUniqueness,
        TCloseness,
        Tiered,
    )
    from indistinct.proof.bounds import bounds
    from indistinct.publish.anonymize import Release, anonymize
    from indistinct.publish.append import Appended, append
    from indistinct.publish.recipient import verify_public
    from indistinct.publish.transform import Transformed, transform
    from indistinct.reports.dataset import dataset
    from indistinct.reports.dictionary import dictionary
    from indistinct.reports.report import report
    from indistinct.utility.private import PrivateCount, PrivateHistogram, PrivateMean

_WHERE: Final = {
    "attacks.run": ("Attacks", "attack"),
    "errors": (
        "IndistinctError", "PolicyError", "SchemaError", "DataError", "HierarchyError", "InfeasibleError",
        "VerificationError", "UnsupportedError", "Cancelled",
    ),
    "policy": ("Attribute", "Policy"),
    "policy.privacy": (
        "AlphaK", "AverageRisk", "BetaLikeness", "DeltaDisclosure", "DeltaPresence", "DistinctL", "EntropyL",
        "EpsIKAnonymity", "EpsMAnonymity", "GradedL", "JointL", "KAnonymity", "KMap", "KeAnonymity", "KmAnonymity",
        "MInvariance", "NTCloseness", "NpdRecursive", "PSensitiveK", "PdRecursive", "PopulationUniqueness",
        "Profitability", "RecursiveCL", "Safepub", "SampleUniqueness", "TCloseness", "Tiered",
    ),
    "publish.anonymize": ("Release", "anonymize"),
    "publish.append": ("Appended", "append"),
    "assess.audit": ("Audit", "audit"),
    "proof.bounds": ("bounds",),
    "assess.compare": ("Comparison", "compare"),
    "assess.explain": ("Explanation", "explain"),
    "assess.plan": ("Plan", "plan"),
    "assess.private": ("Private", "private"),
    "assess.profile": ("Profile", "profile"),
    "assess.risk": ("Risk", "risk"),
    "assess.session": ("Picture", "Session"),
    "publish.transform": ("Transformed", "transform"),
    "assess.utility": ("Utility", "utility"),
    "publish.recipient": ("verify_public",),
    "assess.verify": ("Verification", "verify"),
    "reports.dataset": ("dataset",),
    "reports.dictionary": ("dictionary",),
    "reports.report": ("report",),
    "utility.private": ("PrivateCount", "PrivateHistogram", "PrivateMean"),
}  # fmt: skip
_MODULE: Final = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "AlphaK",
    "Appended",
    "Attacks",
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
    "Explanation",
    "GradedL",
    "HierarchyError",
    "IndistinctError",
    "InfeasibleError",
    "JointL",
    "KAnonymity",
    "KMap",
    "KeAnonymity",
    "KmAnonymity",
    "MInvariance",
    "NTCloseness",
    "NpdRecursive",
    "PSensitiveK",
    "PdRecursive",
    "Picture",
    "Plan",
    "Policy",
    "PolicyError",
    "PopulationUniqueness",
    "Private",
    "PrivateCount",
    "PrivateHistogram",
    "PrivateMean",
    "Profile",
    "Profitability",
    "RecursiveCL",
    "Release",
    "Risk",
    "Safepub",
    "SampleUniqueness",
    "SchemaError",
    "Session",
    "TCloseness",
    "Tiered",
    "Transformed",
    "UnsupportedError",
    "Utility",
    "Verification",
    "VerificationError",
    "anonymize",
    "append",
    "attack",
    "audit",
    "bounds",
    "compare",
    "dataset",
    "dictionary",
    "explain",
    "plan",
    "private",
    "profile",
    "report",
    "risk",
    "transform",
    "utility",
    "verify",
    "verify_public",
]


class _Package(ModuleType):
    """The package; a public function keeps its name when the folder of the same name (``risk``) is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _MODULE and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


if not TYPE_CHECKING:  # else every misspelt name would have a type

    def __getattr__(name: str) -> Any:
        """Load a public name from the module that defines it."""
        if name == "__version__":
            from importlib.metadata import version

            return version("indistinct")
        if name not in _MODULE:
            message = f"module 'indistinct' has no attribute {name!r}"
            raise AttributeError(message)
        if _MODULE[name] != "errors":
            from indistinct.limits import check_address_space

            check_address_space()
        return getattr(import_module(f"indistinct.{_MODULE[name]}"), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
