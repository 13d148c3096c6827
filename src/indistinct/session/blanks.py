"""Classes that are diverse only because a missing sensitive value counts as a value of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.models import evaluate, record_of
from indistinct.notices import Notice, Sentence, both
from indistinct.tables.classes import histograms_of, recoding_of
from indistinct.tables.records import Holdings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from indistinct.models import Context
    from indistinct.policy import Policy
    from indistinct.policy.parameters import Privacy
    from indistinct.tables.records import Assignment, Classes, Frequencies

CLASSES_SHOWN = 5
# what the sets of rows are called: one of them, several
CLASSES = Sentence("class"), Sentence("classes")
GROUPS = Sentence("group"), Sentence("groups")


def blank_notices(
    policy: Policy,
    classes: Classes,
    context: Context,
    name_of: Callable[[int], str] | None = None,
    *,
    of: tuple[str, str] = CLASSES,
) -> list[Notice]:
    """Name the classes that satisfy a model of l-diversity and would not without the rows whose value is missing.

    A missing value is nothing that an attacker could not guess away: the person has one of the others. ``name_of``
    gives the published labels of a class; without it classes are counted only. ``of``: what the classes are.
    """
    found = []
    for model in policy.privacy:
        names = model.attributes_used
        if not record_of(model).blank_counts or not any(context.references[n].hierarchy.missing >= 0 for n in names):
            continue
        holds = evaluate(model, classes, context).satisfied
        alone = np.flatnonzero(holds & ~_without_blanks(model, classes, context))
        if not len(alone):
            continue
        which: list[str] = [Sentence("{rows} rows", rows=int(classes.rows[alone].sum()))]
        if name_of is not None:
            more = len(alone) - CLASSES_SHOWN
            rest = [Sentence("and {more} more", more=more)] if more > 0 else []
            which = [*(name_of(number) for number in alone[:CLASSES_SHOWN].tolist()), *rest, *which]
        message = Sentence(
            "{n} {things} hold {model} of {column} only because a missing value counts as a value of its own "
            '({which}); missing = "drop" leaves rows without a value out',
            "{n} {things} holds {model} of {column} only because a missing value counts as a value of its own "
            '({which}); missing = "drop" leaves rows without a value out',
            n=len(alone),
            things=of[0] if len(alone) == 1 else of[1],
            model=model.model,
            column=both(f'"{name}"' for name in names),
            which=tuple(which),
        )
        found.append(Notice("diverse-by-missing", names[0], message))
    return found


def namer(frequencies: Frequencies, assignment: Assignment) -> Callable[[int], str]:
    """Return what writes the published labels of a class, as ``{age [20, 30), sex f}``."""
    recoding = recoding_of(frequencies, assignment)
    return names_of([(own.attribute, *recoding.labels(place)) for place, own in enumerate(frequencies.quasi)])


def names_of(columns: Sequence[tuple[str, Sequence[str | None], NDArray[Any]]]) -> Callable[[int], str]:
    """Return what writes the labels of a class, from names of columns, their labels, and which of them a class has."""

    def name_of(number: int) -> str:
        cells = (f"{name} {labels[label_of[number]] or 'missing'}" for name, labels, label_of in columns)
        return f"{{{', '.join(cells)}}}"

    return name_of


def _filled(codes: NDArray[np.int32], missing: Mapping[int, int]) -> NDArray[np.bool_]:
    """bool[rows]: which rows lack no value in the columns asked for, given the code of each column's missing value."""
    places = list(missing)
    return np.asarray((codes[:, places] != np.array([missing[p] for p in places], codes.dtype)).all(axis=1), np.bool_)


def _held_by(held: Holdings, nonblank: NDArray[np.bool_], number: NDArray[np.int32]) -> Holdings:
    return Holdings(
        number[held.owner[nonblank]].astype(np.int64), held.person[nonblank], held.codes[nonblank], held.rows[nonblank]
    )


def _without_blanks(model: Privacy, classes: Classes, context: Context) -> NDArray[np.bool_]:
    """bool[g]: which classes satisfy a model without the rows whose value is missing; sizes stay as they are."""
    missing = {classes.sensitive.index(n): context.references[n].hierarchy.missing for n in model.attributes_used}
    nonblank = _filled(classes.cell_codes, missing)
    rows = np.zeros(len(classes), np.int64)
    np.add.at(rows, classes.cell_class[nonblank], classes.cell_rows[nonblank])
    present = rows > 0
    number = (np.cumsum(present) - 1).astype(np.int32)
    cells = number[classes.cell_class[nonblank]], classes.cell_codes[nonblank], classes.cell_rows[nonblank]
    sizes = [context.references[name].hierarchy.size for name in classes.sensitive]
    satisfied, held = np.zeros(len(classes), np.bool_), classes.holdings
    if present.any():
        rest = replace(
            classes,
            rows=rows[present],
            persons=classes.sizes[present],
            histograms=histograms_of(classes.sensitive, *cells, int(present.sum()), sizes),
            cell_class=cells[0],
            cell_codes=cells[1],
            cell_rows=cells[2],
            population=None,
            detail=None,
            recoding=None,
            sets={},
            holdings=None if held is None else _held_by(held, _filled(held.codes, missing), number),
        )
        satisfied[present] = evaluate(model, rest, context).satisfied
    return satisfied
