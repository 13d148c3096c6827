"""Information-loss measures of a release: functions over what was counted, grouped and published.

``LM`` (``lm``) is the figure of merit; the others stand beside it. Each file has definition, range, what a
suppressed row costs, source, and its record; ``LOSSES`` holds them by name.
"""

from __future__ import annotations

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
from indistinct.losses.registry import LOSSES, costly, of_domains, priced, size_losses, summary

__all__ = [
    "LOSSES",
    "ambiguity",
    "average_class_size",
    "classification_metric",
    "costly",
    "discernibility",
    "discernibility_star",
    "gcp",
    "iloss",
    "kullback_leibler",
    "lm",
    "nonuniform_entropy",
    "normalised_class_size",
    "of_domains",
    "precision",
    "priced",
    "size_losses",
    "summary",
]
