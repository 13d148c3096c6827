"""Proof of a release from its written file: the rows, the coverage, the models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.algorithms import declared
from indistinct.decision.aggregates import deviating
from indistinct.errors import DataError
from indistinct.formats.columnar import is_text
from indistinct.formats.registry import open_source
from indistinct.hierarchies.item_labels import ItemReader
from indistinct.hierarchies.labels import Reader, masks_of
from indistinct.hierarchies.taxonomy import read_taxonomy
from indistinct.models import Context
from indistinct.proof.published_file import published_options
from indistinct.proof.recount import altered, matches, misplaced, restored
from indistinct.proof.spelling import guard_of, speller
from indistinct.session.absent_columns import range_names
from indistinct.session.blanks import names_of
from indistinct.session.item_sets import sets_of_labels
from indistinct.session.population import detail_of_labels, population_of_labels, recoding_of_labels
from indistinct.session.prepare import reading_of
from indistinct.session.verdicts import judge
from indistinct.tables.classes import classes_of, histograms_of, joint_counts
from indistinct.tables.count import silent, translation
from indistinct.tables.dictionary import texts_of
from indistinct.tables.order import distinct, numbered_rows
from indistinct.tables.records import SUPPRESSED, Classes, Frequencies, Holdings, Population
from indistinct.tables.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from indistinct.decision.decide import Decision
    from indistinct.formats.source import TableOptions
    from indistinct.hierarchies.hierarchy import Hierarchy
    from indistinct.policy import Policy
    from indistinct.session.prepare import Prepared
    from indistinct.tables.count import Progress
    from indistinct.tables.published import Published, PublishedColumn
    from indistinct.tables.recount import Recount


def verify_written(
    decision: Decision,
    path: Path | None,
    *,
    written: Any = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Read the written file (or the table in memory, or what an engine has ``written``) back; say what is proved of it.

    ``rows_match``: its rows are, as a multiset, those that source and recoding give; where columns are published that
    no model looks at, row by row. ``coverage``: every published label covers every original value of its class, by a
    reader of labels that shares nothing with their writer. The models are evaluated on the classes of the re-read rows,
    against the distribution of the whole input.

    Under a policy that publishes means, medians or modes no coverage is claimed; instead ``aggregates_match`` says that
    every published cell is the declared aggregate of its class.
    """
    policy, frequencies, published = decision.policy, decision.frequencies, decision.published
    ends = {new for names in range_names(policy).values() for new in names}  # read and judged apart (``ranges``)
    published = replace(published, columns=tuple(own for own in published.columns if own.name not in ends))
    progress("verify", 0, 3)
    found, rows_match, changed = _compared(decision, published, path, written)
    progress("verify", 1, 3)
    perturbing = declared(policy) == "perturbing"
    uncovered = (
        deviating(decision.prepared, decision.assignment, decision.recoding)
        if perturbing
        else uncovered_columns(decision)
    )
    progress("verify", 2, 3)
    models, classes, _ = judge_reread(
        found,
        frequencies,
        persons_of_labels(decision),
        policy,
        may_exempt=policy.suppression.rows == "exempt",
        prepared=decision.prepared,
    )
    progress("verify", 3, 3)
    proof: dict[str, Any] = {"rows_match": rows_match, "coverage": "refuted" if uncovered else "proven"}
    if perturbing:  # nothing covers its original, and every cell must be what was declared
        proof["coverage"] = "not proven"
        proof["aggregates_match"] = not uncovered
    if not rows_match:
        proof["altered_columns"] = changed
    if uncovered:
        proof["deviating_columns" if perturbing else "uncovered_columns"] = uncovered
    return {
        "verification": proof,
        "models": models,
        "classes": len(classes),
        "satisfied": rows_match and not uncovered and all(entry["satisfied"] for entry in models),
    }


def _compared(
    decision: Decision, published: Published, path: Path | None, written: Any
) -> tuple[Recount, bool, list[str]]:
    """Read back what was written: its rows, whether they are those that were decided, and which columns are not."""
    policy, frequencies, run = decision.policy, decision.frequencies, decision.policy.run
    looked_at = {hierarchy.attribute for hierarchy in (*frequencies.quasi, *frequencies.sensitive)}
    columns = [column.name for column in published.columns if column.name in looked_at]
    options = published_options(policy, path, decision.prepared.source.dialect)
    place = written if written is not None else path if path is not None else decision.published.table()
    read = decision.prepared.engine.recount(
        place,
        columns,
        options,
        temp_dir=None if run.temp_dir is None else policy.locate(run.temp_dir),
        memory_bytes=run.memory_bytes,
    )
    found = as_spelled(read, published, policy, path)
    rows_match = matches(published, found)
    changed = [] if rows_match else altered(published, found)
    if len(columns) < len(published.names):
        elsewhere = _misplaced(published, place, options, guard_of(policy, path))
        rows_match = rows_match and elsewhere == []
        changed += [name for name in elsewhere or [] if name not in changed]
    return found, rows_match, changed


def _misplaced(
    published: Published, place: Any, options: TableOptions, guard: Callable[[str], str]
) -> list[str] | None:
    """Compare all columns row by row, where the rows lie; ``misplaced`` says what is returned."""
    if isinstance(published, Stored) and published.differing is not None:
        return published.differing()
    return misplaced(published, open_source(place, options), _spelling, guard)


def judge_reread(
    found: Recount,
    frequencies: Frequencies,
    persons: Behind | None,
    policy: Policy,
    *,
    may_exempt: bool,
    prepared: Prepared | None = None,
) -> tuple[list[dict[str, Any]], Classes, int]:
    """Judge re-read rows: an entry for each model, the classes, and how many suppressed rows are no class.

    Rows with the token in every quasi-identifier are a class like others where that satisfies the models; else, if that
    ``may`` be, they are suppressed rows and exempt. Where the policy says that they are no class, that comes first.
    ``prepared`` is needed where models ask what labels cover.
    """
    context = Context(frequencies.references)
    classes = _reread_classes(found, frequencies, persons, policy, prepared, starred_is_class=True)
    models, _ = judge(policy, classes, context)
    holds = all(entry["satisfied"] for entry in models)
    if not may_exempt or (holds and policy.suppression.rows != "exempt"):
        return models, classes, 0
    others = _reread_classes(found, frequencies, persons, policy, prepared, starred_is_class=False)
    apart = judge(policy, others, context)[0] if len(others) else []
    if not apart or (holds and not all(entry["satisfied"] for entry in apart)):
        return models, classes, 0
    return apart, others, int(classes.rows.sum() - others.rows.sum())


def as_spelled(found: Recount, published: Published, policy: Policy, path: Path | None) -> Recount:
    """Give re-read texts the spelling that was to be written, where the format keeps the value only."""
    spellings = {column.name: _spelling(column) for column in published.columns if column.name in found.columns}
    return restored(found, spellings, guard_of(policy, path))


def _spelling(column: PublishedColumn) -> Callable[[str], str]:
    return str if is_text(column.type) else speller(texts_of(column.values, column.name))


def uncovered_columns(decision: Decision) -> list[str]:
    """Names of quasi-identifiers with a published label that does not cover a value of its class."""
    frequencies, assignment = decision.frequencies, decision.assignment
    published = assignment.class_of != SUPPRESSED
    cells, class_of = assignment.cell[published], assignment.class_of[published]
    failing = []
    for position, hierarchy in enumerate(frequencies.quasi):
        labels, label_of = decision.recoding.labels(position)
        pairs = distinct(
            label_of[class_of] * hierarchy.size + frequencies.codes[cells, position], len(labels) * hierarchy.size
        )
        wanted, values = np.divmod(pairs, hierarchy.size)
        # a value that is published as it is needs no reader
        own = {text: code for code, text in enumerate(hierarchy.texts)}
        changed = np.array([own.get(text, -1) for text in labels], np.int64)[wanted] != values
        wanted, values = wanted[changed], values[changed]
        reader = label_reader(hierarchy.attribute, hierarchy.texts, decision.prepared)
        if not reader.agrees(labels, wanted, values).all():
            failing.append(hierarchy.attribute)
    return failing


def label_reader(name: str, texts: Sequence[str | None], prepared: Prepared) -> Reader:
    """Prepare the reader of labels for one quasi-identifier, as the policy declares its values."""
    policy = prepared.policy
    spec = policy.attributes[name].spec or {}
    rows = read_taxonomy(policy.locate(spec["file"])) if "file" in spec else None
    if name in policy.item_columns:
        return ItemReader(texts, str(policy.attributes[name].separator), rows or (), policy.output.suppressed_token)
    return Reader(
        texts,
        **reading_of(policy, prepared.source, name),
        rows=rows,
        token=policy.output.suppressed_token,
        **masks_of(spec),
    )


@dataclass(frozen=True)
class Behind:
    """The persons behind published label tuples: the file alone cannot tell them.

    ``number`` of each label tuple; ``sizes`` int64[.]: persons by that number; ``holdings`` and ``most_rows`` as in
    ``Classes``.
    """

    number: dict[tuple[str | None, ...], int]
    sizes: NDArray[np.int64]
    holdings: Holdings | None = None
    most_rows: NDArray[np.int64] | None = None

    def disclosed(self, classes: Classes, labels: Sequence[tuple[str | None, ...]]) -> Classes:
        """Add to re-read classes, of these ``labels``, who is behind them: nobody known behind labels that are not."""
        own = np.array([self.number.get(label, -1) for label in labels], np.int64)
        sizes = np.append(self.sizes, 0)[own]
        held = self.holdings
        if held is not None:
            class_of = np.full(len(self.sizes), -1, np.int64)
            class_of[own[own >= 0]] = np.flatnonzero(own >= 0)
            there = class_of[held.owner] >= 0
            # rows behind a label that is not known are taken for those of one person each class
            other = own[classes.cell_class] < 0
            held = Holdings.sort(
                np.concatenate([class_of[held.owner[there]], classes.cell_class[other]]).astype(np.int64),
                np.append(held.person[there] + 1, np.zeros(int(other.sum()), np.int64)),
                np.concatenate([held.codes[there], classes.cell_codes[other]]),
                np.append(held.rows[there], classes.cell_rows[other]),
            )
        return replace(classes, persons=sizes, holdings=held, most_rows=self.most_rows)


def persons_of_labels(decision: Decision) -> Behind | None:
    """Persons behind each published label tuple.

    Those of suppressed rows that are published stand behind the token, with those of a class of that label.
    """
    frequencies, assignment, recoding = decision.frequencies, decision.assignment, decision.recoding
    if frequencies.persons is None:
        return None
    columns = [recoding.labels(position) for position in range(len(frequencies.quasi))]
    labels = [
        tuple(texts[code] for (texts, _), code in zip(columns, codes, strict=True))
        for codes in np.column_stack([label_of for _, label_of in columns]).tolist()
    ]
    number: dict[tuple[str | None, ...], int] = {}
    merged = np.array([number.setdefault(label, len(number)) for label in labels], np.int32)
    suppressed, gone = assignment.class_of == SUPPRESSED, SUPPRESSED
    if decision.published.rows > int(assignment.count[~suppressed].sum()):
        token = decision.policy.output.suppressed_token
        gone = number.setdefault((token,) * len(columns), len(number))
    class_of = np.where(suppressed, gone, merged[assignment.class_of]).astype(np.int32)
    classes = classes_of(frequencies, replace(assignment, class_of=class_of, classes=len(number)))
    return Behind(number, classes.sizes, classes.holdings)


def starred(found: Recount, frequencies: Frequencies, policy: Policy) -> NDArray[np.bool_]:
    """bool[distinct rows]: which re-read rows hold the suppression token in every quasi-identifier that is there."""
    token, all_of_them = policy.output.suppressed_token, np.ones(len(found.rows), np.bool_)
    for hierarchy in frequencies.quasi:
        if hierarchy.attribute in found.columns:
            texts, codes = found.column(hierarchy.attribute)
            all_of_them &= np.array([text == token for text in texts], np.bool_)[codes]
    return all_of_them


@dataclass(frozen=True)
class _Judged:
    """The re-read rows that are judged: their sensitive codes and counts, their class, and what classes are called.

    ``columns``: name, texts and int64[classes] of each published quasi-identifier.
    """

    sensitive: NDArray[np.int32]
    counts: NDArray[np.int64]
    class_of: NDArray[np.int32]
    classes: int
    columns: list[tuple[str, Sequence[str | None], NDArray[np.int64]]]


def _judged(found: Recount, frequencies: Frequencies, policy: Policy, *, starred_is_class: bool) -> _Judged:
    """Form the classes of the re-read rows: equal published quasi-identifiers.

    Rows that hold the suppression token in every quasi-identifier are left out unless ``starred_is_class``, and so are
    rows with a sensitive value that the original lacks: they are false, whatever the models say.
    """
    names = [h.attribute for h in frequencies.quasi if h.attribute in found.columns]
    columns = [found.column(name) for name in names]
    labels = np.column_stack([codes for _, codes in columns])
    sensitive = np.empty((len(labels), len(frequencies.sensitive)), np.int32)
    for position, hierarchy in enumerate(frequencies.sensitive):
        texts, own = found.column(hierarchy.attribute)
        sensitive[:, position] = translation(texts, hierarchy)[own]
    # a value that the original lacks is nothing that a model could judge
    judged = (sensitive >= 0).all(axis=1)
    if not judged.any():
        raise DataError("no published row has sensitive values that occur in the original; is it the original?")
    if not starred_is_class:
        judged &= ~starred(found, frequencies, policy)
    labels = labels[judged]
    first, class_of = numbered_rows(labels, [len(texts) for texts, _ in columns])
    label_of = labels[first].astype(np.int64)
    return _Judged(
        sensitive[judged],
        found.rows[judged],
        class_of,
        len(first),
        [
            (name, texts, label_of[:, place])
            for place, (name, (texts, _)) in enumerate(zip(names, columns, strict=True))
        ],
    )


def reread_namer(
    found: Recount, frequencies: Frequencies, policy: Policy, *, starred_is_class: bool
) -> Callable[[int], str]:
    """Return what writes the published labels of the classes that ``judge_reread`` gives."""
    return names_of(_judged(found, frequencies, policy, starred_is_class=starred_is_class).columns)


def _reread_classes(
    found: Recount,
    frequencies: Frequencies,
    persons: Behind | None,
    policy: Policy,
    prepared: Prepared | None = None,
    *,
    starred_is_class: bool,
) -> Classes:
    """Form the classes of the re-read rows, with all that models look at."""
    own = _judged(found, frequencies, policy, starred_is_class=starred_is_class)
    sizes = [h.size for h in frequencies.sensitive]
    joint = joint_counts(own.class_of, own.sensitive, own.counts, max(1, own.classes), sizes)
    rows = np.zeros(own.classes, np.int64)
    np.add.at(rows, joint[0], joint[2])
    names = tuple(h.attribute for h in frequencies.sensitive)
    formed = Classes(rows, None, names, histograms_of(names, *joint, own.classes, sizes), *joint)
    if persons is not None:
        lists = [[texts[code] for code in label_of.tolist()] for _, texts, label_of in own.columns]
        formed = persons.disclosed(formed, list(zip(*lists, strict=True)))
    if prepared is None or not own.classes:
        return formed
    present = [h for h in frequencies.quasi if h.attribute in found.columns]
    return with_labels(
        formed, frequencies, prepared, present, [(texts, label_of) for _, texts, label_of in own.columns]
    )


def with_labels(
    classes: Classes,
    frequencies: Frequencies,
    prepared: Prepared,
    present: Sequence[Hierarchy],
    columns: Sequence[tuple[Sequence[str | None], NDArray[np.int64]]],
) -> Classes:
    """Add to classes what their published labels cover or list, where models ask for it: population, domains, items.

    ``columns``: the labels of each ``present`` quasi-identifier, and which of them each class has. Columns that are not
    published cover everything.
    """
    names = [hierarchy.attribute for hierarchy in present]
    classes = replace(classes, sets=sets_of_labels(prepared.policy, dict(zip(names, columns, strict=True))))
    population = frequencies.population
    if population is None and not frequencies.detailed and not frequencies.nested:
        return classes
    readers = [label_reader(hierarchy.attribute, hierarchy.texts, prepared) for hierarchy in present]
    if population is not None:
        places = [position for position, h in enumerate(frequencies.quasi) if h.attribute in names]
        own = Population(population.tuples[:, places], population.rows)
        classes = replace(classes, population=population_of_labels(own, columns, readers))
    if frequencies.detailed:
        classes = replace(classes, detail=detail_of_labels(columns, readers))
    if frequencies.nested:
        classes = replace(classes, recoding=recoding_of_labels(present, columns, readers))
    return classes
