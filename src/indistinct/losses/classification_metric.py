"""The classification metric: how far classes mix the labels that a model would learn.

Definition: (1/n) sum over rows of a penalty: 1 for a suppressed row and for a row whose label is not the majority label
of its class, else 0. With several labels of equal count exactly one is the majority: a class costs its rows minus its
largest count. Range [0, 1]. Not monotone.

Source: V. Iyengar, KDD 2002, doi:10.1145/775047.775089.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from indistinct.tables.records import SUPPRESSED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.integer]


def classification_metric(class_of: Integers, label: Integers, count: Integers) -> Fraction:
    """Share of the rows that the majority label of their class misses.

    ``count[i]`` rows of class ``class_of[i]`` (-1: suppressed) have ``label[i]``; all int[.], labels from 0. A pair may
    occur several times.

    >>> classes, labels = np.array([0, 0, 1, -1]), np.array([0, 1, 1, 0])
    >>> classification_metric(classes, labels, np.array([3, 1, 2, 4]))  # 1 + 0 + 4 of 10 rows
    Fraction(1, 2)
    """
    total = int(count.sum())
    if not total:
        return Fraction(0)
    published = class_of != SUPPRESSED
    width = int(label.max()) + 1
    pairs, inverse = np.unique(class_of[published].astype(np.int64) * width + label[published], return_inverse=True)
    counts = np.zeros(len(pairs), np.int64)
    np.add.at(counts, inverse, count[published])
    owner = pairs // width
    first = np.flatnonzero(np.append(True, owner[1:] != owner[:-1])) if len(owner) else np.zeros(0, np.int64)
    right = int(np.maximum.reduceat(counts, first).sum()) if len(first) else 0
    return Fraction(total - right, total)
