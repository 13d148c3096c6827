"""Information-loss measures of a release: functions over what was counted, grouped and published.

``LM`` (``lm``) is the figure of merit; the others stand beside it. Each file has definition, range, what a
suppressed row costs, and source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indistinct.losses.ambiguity import ambiguity
from indistinct.losses.average_class_size import average_class_size, normalised_class_size
from indistinct.losses.classification_metric import classification_metric
from indistinct.losses.discernibility import discernibility, discernibility_star
from indistinct.losses.gcp import gcp
from indistinct.losses.iloss import iloss
from indistinct.losses.kullback_leibler import kullback_leibler
from indistinct.losses.lm import lm
from indistinct.losses.nonuniform_entropy import nonuniform_entropy
from indistinct.losses.precision import precision
from indistinct.losses.priced import priced

if TYPE_CHECKING:
    from indistinct.tables.records import Assignment, Frequencies, Recoding

__all__ = [
    "ambiguity",
    "average_class_size",
    "classification_metric",
    "discernibility",
    "discernibility_star",
    "gcp",
    "iloss",
    "kullback_leibler",
    "lm",
    "nonuniform_entropy",
    "normalised_class_size",
    "precision",
    "priced",
    "summary",
]


def summary(frequencies: Frequencies, assignment: Assignment, recoding: Recoding) -> dict[str, Any]:
    """All losses of a release as they stand in the JSON documents; ``nonuniform_entropy`` is the share."""
    mean, by_attribute = lm(frequencies, assignment, recoding)
    return {
        "lm": float(mean),
        "lm_by_attribute": {name: float(loss) for name, loss in by_attribute.items()},
        "iloss": float(iloss(frequencies, assignment, recoding)[0]),
        "precision": float(precision(frequencies, assignment, recoding)[0]),
        "gcp": float(gcp(frequencies, assignment, recoding)[0]),
        "average_class_size": float(average_class_size(assignment)),
        "discernibility": discernibility(assignment),
        "discernibility_star": discernibility_star(assignment),
        "ambiguity": float(ambiguity(frequencies, assignment, recoding)[0]),
        "nonuniform_entropy": nonuniform_entropy(frequencies, assignment, recoding)[1],
    }
