"""Whether the rows and the sensitive values of published groups can come from the original together.

Distinct rows p of QIT (each in a group) occur n_p times, distinct original rows o (with their sensitive value) c_o
times, and ST says that group g has value v m_gv times. A release is possible when numbers x_po >= 0 exist, for pairs
in which o may stand behind p and its value occurs in the group of p, with

    sum_o x_po = n_p        sum of x_po over p in g and o with value v = m_gv        sum_p x_po <= c_o.

Deciding that is hard in general (a three-way table with given margins). Rows that leave no choice are settled first;
what is left goes to an integer program up to a stated size, above it the answer is "not proven".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]
    Bool = NDArray[np.bool_]

MOST_CHOICES = 200_000
SECONDS = 60.0


@dataclass(frozen=True)
class Choices:
    """Pairs that may be matched, as numbers int64[.] of the ``row`` of QIT, the ``entry`` of ST and the ``origin``."""

    row: Int64
    entry: Int64
    origin: Int64

    def taken(self, chosen: Bool) -> Choices:
        """Keep some of the pairs."""
        return Choices(self.row[chosen], self.entry[chosen], self.origin[chosen])


@dataclass(frozen=True)
class Answer:
    """``status``: proven, refuted or not proven; ``rows`` of QIT that cannot be served, ``reason`` a sentence."""

    status: str
    rows: tuple[int, ...] = ()
    reason: str = ""


def feasible(
    choices: Choices, rows: Int64, entries: Int64, origins: Int64, most: int = MOST_CHOICES, seconds: float = SECONDS
) -> Answer:
    """Decide whether all ``rows`` and ``entries`` can be served from the ``origins`` (how often each occurs).

    Exact up to ``most`` pairs that are left when forced ones are settled, and ``seconds`` of search.

    >>> import numpy as np
    >>> one, two = np.array([1]), np.array([1, 1])
    >>> both = Choices(np.array([0, 1]), np.array([0, 0]), np.array([0, 0]))
    >>> feasible(both, two, np.array([2]), one).status, feasible(both, two, np.array([2]), np.array([2])).status
    ('refuted', 'proven')
    """
    rows, entries, origins = rows.copy(), entries.copy(), origins.copy()
    while True:
        choices = choices.taken((rows[choices.row] > 0) & (entries[choices.entry] > 0) & (origins[choices.origin] > 0))
        refuted = _unserved(choices, rows, entries, origins)
        if refuted is not None:
            return refuted
        forced = np.flatnonzero(np.bincount(choices.row, minlength=len(rows))[choices.row] == 1)
        by_row, wanted = True, rows
        if not len(forced):
            forced = np.flatnonzero(np.bincount(choices.entry, minlength=len(entries))[choices.entry] == 1)
            by_row, wanted = False, entries
        if not len(forced):
            break
        amount = wanted[choices.row[forced] if by_row else choices.entry[forced]]
        for side, which in ((rows, choices.row), (entries, choices.entry), (origins, choices.origin)):
            np.subtract.at(side, which[forced], amount)
        short = (rows[choices.row[forced]] < 0) | (entries[choices.entry[forced]] < 0)
        short |= origins[choices.origin[forced]] < 0
        if short.any():
            return _refuted(choices.row[forced[short]])
        settled = np.ones(len(choices.row), np.bool_)
        settled[forced] = False
        choices = choices.taken(settled)
    if not len(choices.row):
        return Answer("proven")
    if len(choices.row) > most:
        return Answer(
            "not proven",
            reason=f"{len(choices.row)} ways to match rows and values are too many to search; rows, group sizes and "
            "values were checked one by one",
        )
    return _searched(choices, rows, entries, origins, seconds)


def _unserved(choices: Choices, rows: Int64, entries: Int64, origins: Int64) -> Answer | None:
    """Rows or entries that all their choices together cannot serve."""
    for wanted, own, other in ((rows, choices.row, choices.entry), (entries, choices.entry, choices.row)):
        others = entries if own is choices.row else rows
        offered = np.zeros(len(wanted), np.int64)
        np.add.at(offered, own, np.minimum(np.minimum(others[other], origins[choices.origin]), wanted[own]))
        short = np.flatnonzero(offered < wanted)
        if len(short):
            return _refuted(short) if own is choices.row else Answer("refuted", reason=_REASON)
    return None


_REASON = "the sensitive values of some groups cannot all belong to their rows"


def _refuted(rows: Int64) -> Answer:
    return Answer("refuted", tuple(np.unique(rows).tolist()), _REASON)


def _searched(choices: Choices, rows: Int64, entries: Int64, origins: Int64, seconds: float) -> Answer:
    """Search an assignment by an integer program; what it finds is checked in integers."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    number = len(choices.row)
    every = np.arange(number)

    def matrix(which: Int64) -> tuple[csr_array, Int64]:
        used, position = np.unique(which, return_inverse=True)
        return csr_array((np.ones(number), (position.reshape(-1), every)), shape=(len(used), number)), used

    (by_row, r), (by_entry, e), (by_origin, o) = (
        matrix(which) for which in (choices.row, choices.entry, choices.origin)
    )
    answer = milp(
        np.zeros(number),
        integrality=np.ones(number),
        bounds=Bounds(0, np.minimum(rows[choices.row], origins[choices.origin])),
        constraints=[
            LinearConstraint(by_row, rows[r], rows[r]),
            LinearConstraint(by_entry, entries[e], entries[e]),
            LinearConstraint(by_origin, 0, origins[o]),
        ],
        options={"time_limit": seconds},
    )
    if answer.status == 2:
        return Answer("refuted", reason=_REASON)
    if answer.x is None:
        return Answer("not proven", reason=f"no matching of rows and values was found within {seconds:.0f} seconds")
    found = np.rint(answer.x).astype(np.int64)
    served = [np.bincount(which, found, minlength=len(side)).astype(np.int64) for which, side in (
        (choices.row, rows), (choices.entry, entries), (choices.origin, origins))]  # fmt: skip
    holds = (found >= 0).all() and (served[0] == rows).all() and (served[1] == entries).all()
    if holds and (served[2] <= origins).all():
        return Answer("proven")
    return Answer("not proven", reason="the matching of rows and values that was found is not exact")
