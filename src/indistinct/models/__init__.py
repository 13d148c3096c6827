"""The privacy models: what a class must satisfy, judged exactly.

``MODELS`` holds them by name. Each has a file with its definition, its source and the argument for its
closure properties; searches use the compiled form (``criteria``), verdicts come from ``evaluate``.
"""

from indistinct.models.contract import Context, Criterion, Evaluation, Model
from indistinct.models.feasibility import feasible_root, infeasible_reason
from indistinct.models.registry import MODELS, achieved, criteria, evaluate

__all__ = [
    "MODELS",
    "Context",
    "Criterion",
    "Evaluation",
    "Model",
    "achieved",
    "criteria",
    "evaluate",
    "feasible_root",
    "infeasible_reason",
]
