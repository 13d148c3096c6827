"""Non-uniform entropy: the bits about the original values that the published cells leave open.

Definition: - sum over rows and quasi-identifiers of log2(f_a(original) / f_a(published)), where f_a(x) is
the number of rows of the whole table whose original value lies in x. A suppressed row counts as generalised
to the root. Its maximum is n sum_a H(a); the share of that is in [0, 1]. Grows with generalization. Not
weighted.

f_a(published) counts original values table-wide, not the rows that carry the label: with local recoding a
value would otherwise look free of loss. Since sum over rows of log2 f_a(original) depends on the column
alone, only the cells are looked at.

Source: T. de Waal, L. Willenborg, Netherlands Official Statistics 14, 1999; A. Gionis, T. Tassa, IEEE TKDE
21(2), 2009, doi:10.1109/TKDE.2008.129.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from indistinct.losses.cells import Cells, cells, class_rows, spans
from indistinct.losses.contract import Loss

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.losses.contract import ByAttribute
    from indistinct.tables.records import Assignment, Frequencies, Recoding

    Int64 = NDArray[np.int64]


def nonuniform_entropy(frequencies: Frequencies, assignment: Assignment, recoding: Recoding) -> tuple[float, float]:
    """Non-uniform entropy of a release in bits, and its share of the largest possible (0 for constant columns).

    Raises ValueError when no node of a hierarchy covers a class.
    """
    rows, suppressed = class_rows(assignment)
    total = frequencies.total
    open_bits, most = [], []
    for position, hierarchy in enumerate(frequencies.quasi):
        counts = np.zeros(hierarchy.size, np.int64)
        np.add.at(counts, frequencies.codes[:, position], frequencies.rows)
        found = cells(recoding, position, rows)
        known = _bits(counts, counts)
        open_bits += [_bits(found.rows, _covered(found, counts)), suppressed * _log(total), -known]
        most += [total * _log(total), -known]
    bits, largest = max(fsum(open_bits), 0.0), fsum(most)
    return bits, min(bits / largest, 1.0) if largest > 0 else 0.0


def _covered(found: Cells, counts: Int64) -> Int64:
    """Count the rows of the whole table whose value lies in each cell."""
    below = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    first, last = spans(found)
    within = np.asarray(below[last + 1] - below[first])
    return within if found.held is None else np.where(found.listed > 0, found.held @ counts, within)


def _bits(rows: Int64, counts: Int64) -> float:
    """Sum of rows log2(counts), where counts > 0."""
    some = counts > 0
    return float((rows[some] * np.log2(counts[some])).sum())


def _log(number: int) -> float:
    return float(np.log2(number)) if number > 0 else 0.0


def _share(frequencies: Frequencies, assignment: Assignment, recoding: Recoding) -> tuple[float, ByAttribute]:
    return nonuniform_entropy(frequencies, assignment, recoding)[1], {}


LOSSES = (Loss("nonuniform_entropy", _share, of_domains=False, of_sizes=None, prices=None, compared=True),)
