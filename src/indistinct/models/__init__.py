"""The privacy models: what a class must satisfy, judged exactly.

``MODELS`` holds their records by name, ``record_of`` gives that of an entry of a policy. Each has a file with its
definition, its source and the argument for its closure properties; searches use the compiled form (``criteria``),
verdicts come from ``evaluate``.

Two classes, one of rows x, x, y and one of a single x, are judged against the column of all four:

>>> import numpy as np
>>> from indistinct.hierarchies import suppression
>>> from indistinct.policy.privacy import KAnonymity, TCloseness
>>> from indistinct.tables.records import Classes, Histogram, Reference
>>> counts = Histogram(np.array([0, 2, 3]), np.array([0, 1, 0], np.int32), np.array([2, 1, 1]))
>>> joint = np.zeros(0, np.int32), np.zeros((0, 1), np.int32), np.zeros(0, np.int64)  # read by joint_l only
>>> classes = Classes(np.array([3, 1]), None, ("s",), {"s": counts}, *joint)
>>> context = Context({"s": Reference(suppression.build("s", ["x", "y"]), np.array([3, 1]), 4)})
>>> evaluate(KAnonymity(2), classes, context).reason
'1 of 2 classes has fewer than 2 rows; the smallest has 1'
>>> evaluate(TCloseness("s", "1/12", distance="equal"), classes, context).satisfied.tolist()
[True, False]
>>> achieved("t_closeness", "s", classes, context, distance="equal")
{'t': {'fraction': '1/4', 'decimal': 0.25}}
"""

from indistinct.models.contract import Context, Criterion, Evaluation, Model
from indistinct.models.feasibility import feasible_root, infeasible_reason
from indistinct.models.registry import (
    MODELS,
    achieved,
    criteria,
    depends_on_persons,
    evaluate,
    is_absorbing,
    is_merge_closed,
    is_of_classes,
    record_of,
    satisfied,
    shortfall,
)

__all__ = [
    "MODELS",
    "Context",
    "Criterion",
    "Evaluation",
    "Model",
    "achieved",
    "criteria",
    "depends_on_persons",
    "evaluate",
    "feasible_root",
    "infeasible_reason",
    "is_absorbing",
    "is_merge_closed",
    "is_of_classes",
    "record_of",
    "satisfied",
    "shortfall",
]
