"""KL divergence of the original table from what a reader of the release would assume.

Definition: sum over combinations t of values of p(t) ln(p(t) / p*(t)), in nats. p is the distribution of the original
rows over the quasi-identifiers and the sensitive attributes that models look at; p* spreads the rows of each class
evenly over the combinations of values of its box and keeps their sensitive values:
p*(t) = sum over classes E whose box holds t of n_{E,s} / (n volume(E)). The volume counts the values of the table that
the published cells cover, so the domain is the same before and after. A suppressed row is spread over the whole domain,
sensitive values included. Range [0, inf); grows when classes are merged. Weights do not enter.

Boxes of local recoding overlap, so p*(t) asks every class: the work is tuples times classes, which the definition
demands. Above ``LARGEST`` pairs it is not computed.

Source: D. Kifer, J. Gehrke, SIGMOD 2006, doi:10.1145/1142473.1142499.
"""

from __future__ import annotations

from math import fsum, log
from typing import TYPE_CHECKING

import numpy as np

from indistinct.losses.cells import boxes, class_rows, covered
from indistinct.losses.contract import Loss
from indistinct.tables.classes import joint_counts
from indistinct.tables.records import SUPPRESSED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indistinct.losses.contract import ByAttribute
    from indistinct.tables.records import Assignment, Frequencies, Recoding

    Int64 = NDArray[np.int64]

LARGEST = 1_000_000_000
CHUNK = 1 << 24


def kullback_leibler(frequencies: Frequencies, assignment: Assignment, recoding: Recoding) -> float | None:
    """KL divergence in nats; None where tuples times classes exceed ``LARGEST``.

    Raises ValueError when no node of a hierarchy covers a class.
    """
    quasi, classes = len(frequencies.quasi), assignment.classes
    if len(frequencies.tuples) * max(classes, 1) > LARGEST:
        return None
    rows, suppressed = class_rows(assignment)
    first, last = boxes(recoding, rows)
    widths = (last - first + 1).astype(np.float64)
    sets = {a: table[recoding.boxes(a)[2]] for a in recoding.held if (table := covered(recoding, a, rows)) is not None}
    for a, table in sets.items():
        widths[:, a] = table.sum(axis=1)
    log_volume = np.log(widths).sum(axis=1)
    inside = assignment.class_of != SUPPRESSED
    own = frequencies.codes[assignment.cell[inside], quasi:]
    sizes = [hierarchy.size for hierarchy in frequencies.sensitive]
    owner, values, count = joint_counts(
        assignment.class_of[inside], own, assignment.count[inside], max(classes, 1), sizes
    )
    radix = np.cumprod([1, *sizes[:0:-1]])[::-1] if sizes else np.zeros(0, np.int64)
    value = values.astype(np.int64) @ radix.astype(np.int64) if sizes else np.zeros(len(owner), np.int64)
    cell_value = frequencies.codes[:, quasi:].astype(np.int64) @ radix.astype(np.int64) if sizes else None
    domain = fsum(log(hierarchy.size) for hierarchy in (*frequencies.quasi, *frequencies.sensitive))
    everywhere = suppressed * np.exp(-domain)
    expected = np.full(len(frequencies.rows), everywhere)
    start = np.searchsorted(owner, np.arange(classes + 1))
    step = max(1, CHUNK // max(classes, 1))
    for begin in range(0, len(frequencies.tuples), step):
        tuples = frequencies.tuples[begin : begin + step]
        held = np.ones((len(tuples), classes), np.bool_)
        for a in range(quasi):
            if a in sets:
                held &= sets[a].T[tuples[:, a]]
                continue
            held &= (tuples[:, a : a + 1] >= first[:, a]) & (tuples[:, a : a + 1] <= last[:, a])
        at, who = np.nonzero(held)
        _add(expected, frequencies.start, begin + at, who, (start, value, count, log_volume), cell_value)
    shares = frequencies.rows / frequencies.total
    return max(0.0, fsum((shares * np.log(frequencies.rows / expected)).tolist()))


def _add(
    expected: NDArray[np.float64],
    cells_of: Int64,
    tuples: Int64,
    who: Int64,
    classes: tuple[Int64, Int64, Int64, NDArray[np.float64]],
    cell_value: Int64 | None,
) -> None:
    """Add to the cells of each tuple what each class that holds it spreads there."""
    start, value, count, log_volume = classes
    lengths = cells_of[tuples + 1] - cells_of[tuples]
    cell = np.repeat(cells_of[tuples] - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
    owner = np.repeat(who, lengths)
    wanted = np.zeros(len(cell), np.int64) if cell_value is None else cell_value[cell]
    span = int(max(value.max(initial=0), wanted.max(initial=0))) + 1
    keys = np.repeat(np.arange(len(start) - 1), np.diff(start)) * span + value
    place = np.searchsorted(keys, owner * span + wanted)
    place[place == len(keys)] = 0
    same = keys[place] == owner * span + wanted if len(keys) else np.zeros(len(cell), np.bool_)
    np.add.at(expected, cell[same], count[place[same]] * np.exp(-log_volume[owner[same]]))


def _measure(frequencies: Frequencies, assignment: Assignment, recoding: Recoding) -> tuple[float | None, ByAttribute]:
    return kullback_leibler(frequencies, assignment, recoding), {}


LOSSES = (Loss("kl", _measure, of_domains=False, of_sizes=None, prices=None, costly=True),)
