"""What the user decided: roles, hierarchies, privacy models, suppression, algorithm, output."""

from __future__ import annotations

from indistinct.policy.attribute import Attribute
from indistinct.policy.document import Policy
from indistinct.policy.draft import draft
from indistinct.policy.flags import Flags, Reading, from_flags, given_or_flags
from indistinct.policy.given import GivenPolicy, given, loads
from indistinct.policy.load import update
from indistinct.policy.privacy import (
    MODEL_CLASSES,
    AlphaK,
    DistinctL,
    EntropyL,
    EpsIKAnonymity,
    EpsMAnonymity,
    GradedL,
    JointL,
    KAnonymity,
    KeAnonymity,
    Privacy,
    PSensitiveK,
    RecursiveCL,
    TCloseness,
)
from indistinct.policy.recoding import ALGORITHMS
from indistinct.policy.resolve import Roles, resolve
from indistinct.policy.roles import ROLES, normalize
from indistinct.policy.suggest import ColumnFacts, Suggestion, facts_of, suggest

__all__ = [
    "ALGORITHMS",
    "MODEL_CLASSES",
    "ROLES",
    "AlphaK",
    "Attribute",
    "ColumnFacts",
    "DistinctL",
    "EntropyL",
    "EpsIKAnonymity",
    "EpsMAnonymity",
    "Flags",
    "GivenPolicy",
    "GradedL",
    "JointL",
    "KAnonymity",
    "KeAnonymity",
    "PSensitiveK",
    "Policy",
    "Privacy",
    "Reading",
    "RecursiveCL",
    "Roles",
    "Suggestion",
    "TCloseness",
    "draft",
    "facts_of",
    "from_flags",
    "given",
    "given_or_flags",
    "loads",
    "normalize",
    "resolve",
    "suggest",
    "update",
]
