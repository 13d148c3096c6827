"""Where new rows go: to classes of an earlier release that cover them, to classes of their own, or nowhere yet.

The *newcomers* of a class are the new rows that go to it. Whoever has both releases sees them as the difference, so
they have to satisfy every model of the policy by themselves, against the distribution of the whole table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from indistinct.decision.decide import decide
from indistinct.errors import InfeasibleError
from indistinct.models import Context, evaluate
from indistinct.proof.release import label_reader
from indistinct.tables.classes import classes_of, recoding_of
from indistinct.tables.engine import Request
from indistinct.tables.records import SUPPRESSED, Assignment
from indistinct.tables.row_questions import OUTSIDE, class_of_rows, rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indistinct.formats.source import Source
    from indistinct.session.prepare import Prepared
    from indistinct.tables.count import Counted, Progress
    from indistinct.tables.records import Frequencies

    Int64 = NDArray[np.int64]
    Labels = tuple[str | None, ...]

PAIRS = 10_000_000  # of tuples and classes that are compared at once


@dataclass(frozen=True)
class Places:
    """Where new rows go: ``class_of`` int64[n] points into ``labels``, -1 for rows kept back, -2 for rows left out.

    The first ``earlier`` labels are those of the earlier release, the others are new.
    """

    class_of: Int64
    labels: Sequence[Labels]
    earlier: int

    @property
    def retained(self) -> NDArray[np.bool_]:
        """bool[n]: the rows that are kept back."""
        found: NDArray[np.bool_] = self.class_of == SUPPRESSED
        return found

    @property
    def placed(self) -> NDArray[np.bool_]:
        """bool[n]: the rows that are published."""
        found: NDArray[np.bool_] = self.class_of >= 0
        return found


def place(arrivals: Source, prepared: Prepared, labels: Sequence[Labels], progress: Progress) -> Places:
    """Place the new rows of a table; ``prepared`` is the whole one, old and new, ``labels`` the earlier classes.

    1. Every new row looks for the tightest class that covers it: that of the least sum of covered shares of the values
       of each quasi-identifier; of equally tight ones that whose labels come first. Sensitive values are not looked at.
    2. The newcomers of a class go there if they satisfy every model by themselves; if they do not, none of them goes.
    3. For all other new rows the algorithm of the policy decides as for a table. What it suppresses, or all of them
       where it finds nothing, is kept back.
    """
    counted = _counted(arrivals, prepared)
    frequencies = counted.frequencies
    tightest = _tightest(frequencies, prepared, labels)
    chosen, class_of_tuple = np.unique(tightest, return_inverse=True)
    class_of_tuple = class_of_tuple.reshape(-1) - int(chosen[0] == SUPPRESSED)
    chosen = chosen[chosen != SUPPRESSED]
    joining = _whole_tuples(frequencies, class_of_tuple, len(chosen))
    hold = np.append(_satisfying(prepared, frequencies, joining), False)  # the last for SUPPRESSED, which is -1
    goes = np.where(hold[class_of_tuple], tightest, SUPPRESSED)
    class_of = class_of_rows(counted, _whole_tuples(frequencies, goes, len(labels)))
    waiting = class_of == SUPPRESSED
    if not waiting.any():
        return Places(class_of, labels, len(labels))
    class_of[waiting], own = _decided(rows_of(arrivals, waiting), prepared, len(labels), progress)
    return Places(class_of, [*labels, *own], len(labels))


def _counted(rows: Source, prepared: Prepared) -> Counted:
    """Count rows by the values of the whole table, against its distributions."""
    whole, roles = prepared.counted.frequencies, prepared.roles
    known = {hierarchy.attribute: hierarchy for hierarchy in (*whole.quasi, *whole.sensitive)}
    sensitive = [hierarchy.attribute for hierarchy in whole.sensitive]
    request = Request(
        [hierarchy.attribute for hierarchy in whole.quasi],
        sensitive,
        lambda name, _: known[name],
        person=roles.person,
        leave_out=[name for name in sensitive if roles.attributes[name].missing == "drop"],
        keep_rows=True,
        carried=[name for name in (*roles.insensitive, *roles.sensitive) if name not in known and name in rows.columns],
    )
    found = prepared.engine.count(rows, request)
    return replace(found, frequencies=replace(found.frequencies, references=whole.references))


def _tightest(frequencies: Frequencies, prepared: Prepared, labels: Sequence[Labels]) -> Int64:
    """int64[u]: the tightest of the classes that cover each tuple, -1 where none does."""
    covers, costs, which = [], np.zeros(len(labels)), []
    for position, hierarchy in enumerate(frequencies.quasi):
        reader = label_reader(hierarchy.attribute, hierarchy.texts, prepared)
        texts = list(dict.fromkeys(own[position] for own in labels))
        number = {text: at for at, text in enumerate(texts)}
        which.append(np.array([number[own[position]] for own in labels], np.int64))
        own = np.stack([reader.covers(text) for text in texts])
        costs += own.mean(axis=1)[which[-1]]
        covers.append(own)
    # the best first: of several that cover a tuple, the first is found
    best = sorted(
        range(len(labels)), key=lambda at: (costs[at], [(text is not None, text or "") for text in labels[at]])
    )
    order = np.array(best, np.int64)
    found = np.full(len(frequencies.tuples), SUPPRESSED, np.int64)
    step = max(1, PAIRS // max(1, len(labels)))
    for begin in range(0, len(found), step):
        part = frequencies.tuples[begin : begin + step]
        fits = np.ones((len(part), len(order)), np.bool_)
        for position, own in enumerate(covers):
            fits &= own[which[position][order]][:, part[:, position]].T
        found[begin : begin + step] = np.where(fits.any(axis=1), order[fits.argmax(axis=1)], SUPPRESSED)
    return found


def _whole_tuples(frequencies: Frequencies, class_of_tuple: Int64, classes: int) -> Assignment:
    cells = np.arange(len(frequencies.rows), dtype=np.int32)
    return Assignment(cells, frequencies.rows, class_of_tuple[frequencies.tuple_of].astype(np.int32), classes)


def _satisfying(prepared: Prepared, frequencies: Frequencies, assignment: Assignment) -> NDArray[np.bool_]:
    """bool[g]: the classes that satisfy every model by themselves."""
    if not assignment.classes:
        return np.zeros(0, np.bool_)
    classes, context = classes_of(frequencies, assignment), Context(frequencies.references)
    found = np.ones(assignment.classes, np.bool_)
    for model in prepared.policy.privacy:
        found &= evaluate(model, classes, context).satisfied
    return found


def _decided(rows: Source, prepared: Prepared, first: int, progress: Progress) -> tuple[Int64, list[Labels]]:
    """Let the algorithm decide on rows as on a table: the class of each, numbered from ``first``, and the labels."""
    counted = _counted(rows, prepared)
    own = replace(prepared, source=rows, counted=counted)
    try:
        assignment = decide(own, progress)
    except InfeasibleError:
        return np.full(int(rows.rows or 0), SUPPRESSED, np.int64), []
    recoding = recoding_of(counted.frequencies, assignment)
    columns = [recoding.labels(position) for position in range(len(recoding.quasi))]
    labels = [
        tuple(texts[code] for (texts, _), code in zip(columns, codes, strict=True))
        for codes in np.column_stack([label_of for _, label_of in columns]).tolist()
    ]
    class_of = class_of_rows(counted, assignment)
    return np.where(class_of >= 0, class_of + first, np.where(class_of == OUTSIDE, OUTSIDE, SUPPRESSED)), labels
